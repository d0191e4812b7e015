/// A matrix in F64 for references.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
    /// Row-major values.
    pub data: Vec<f64>,
}

impl Matrix {
    /// From a function of row and column.
    pub fn from_fn(rows: usize, cols: usize, f: impl Fn(usize, usize) -> f64) -> Self {
        let data = (0..rows * cols).map(|i| f(i / cols, i % cols)).collect();
        Matrix { rows, cols, data }
    }

    /// From F32 values.
    pub fn from_f32(rows: usize, cols: usize, values: &[f32]) -> Self {
        Matrix { rows, cols, data: values.iter().map(|x| f64::from(*x)).collect() }
    }

    /// Element.
    pub fn at(&self, r: usize, c: usize) -> f64 {
        self.data[r * self.cols + c]
    }

    /// One row.
    pub fn row(&self, r: usize) -> &[f64] {
        &self.data[r * self.cols..(r + 1) * self.cols]
    }

    /// `self · otherᵀ`.
    pub fn times_transposed(&self, other: &Matrix) -> Matrix {
        Matrix::from_fn(self.rows, other.rows, |r, c| {
            self.row(r).iter().zip(other.row(c)).map(|(a, b)| a * b).sum()
        })
    }

    /// Element by element.
    pub fn map(&self, f: impl Fn(f64) -> f64) -> Matrix {
        Matrix { data: self.data.iter().map(|x| f(*x)).collect(), ..*self }
    }

    /// Sum of two matrices; a single row is added to every row.
    pub fn plus(&self, other: &Matrix) -> Matrix {
        Matrix::from_fn(self.rows, self.cols, |r, c| self.at(r, c) + other.at(r % other.rows, c))
    }

    /// Sum of products of elements.
    pub fn dot(&self, other: &Matrix) -> f64 {
        self.data.iter().zip(&other.data).map(|(a, b)| a * b).sum()
    }

    /// Root mean square.
    pub fn rms(&self) -> f64 {
        (self.data.iter().map(|x| x * x).sum::<f64>() / self.data.len().max(1) as f64).sqrt()
    }
}
