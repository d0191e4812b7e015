//! The independent book: an account rebuilt from fills alone.

use crate::rows::{FillRow, Leg};

/// Position, cost basis and cash flow after some fills. It knows nothing of the account that the backtest kept, so
/// that agreement between the two means something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Book {
    /// Lots held.
    pub position: i128,
    /// Cost basis, price units times lots.
    pub basis: i128,
    /// Gains of closed lots before fees, money units.
    pub realised: i128,
    /// Σ x·P·tv, money units: what all purchases cost less what all sales brought.
    pub traded: i128,
    /// Fees, money units.
    pub fees: i128,
}

/// Why a fill cannot be booked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BookError {
    /// A fill of nothing.
    #[error("a fill of 0 lots")]
    NoLots,
    /// A fill that closes a position and opens the opposite one; a flip is two fills, each with its own fee.
    #[error("a fill that crosses flat: a flip is two fills")]
    CrossesFlat,
}

impl Book {
    /// Books a fill, with `tv` money units per price unit and lot.
    ///
    /// Closing x of p lots takes `sign(B) · floor(|B| · |x| / |p|)` out of the basis, all of it when x = p, and
    /// realises `(−x·P − cost_out) · tv` (section 4 of the market rules).
    ///
    /// # Errors
    ///
    /// A fill of nothing, and one that crosses flat.
    pub fn apply(&mut self, fill: &FillRow, tv: i64) -> Result<(), BookError> {
        let (x, price, tv) = (i128::from(fill.lots), i128::from(fill.price), i128::from(tv));
        if x == 0 {
            return Err(BookError::NoLots);
        }
        let reduces = self.position.signum() == -x.signum();
        if reduces && x.abs() > self.position.abs() {
            return Err(BookError::CrossesFlat);
        }
        if reduces {
            let cost_out = if x.abs() == self.position.abs() {
                self.basis
            } else {
                self.basis.signum() * (self.basis.abs() * x.abs() / self.position.abs())
            };
            self.basis -= cost_out;
            // Closing a long sells (−x·P is income), its cost comes out positive; a short is the mirror image.
            self.realised += (-x * price - cost_out) * tv;
        } else {
            self.basis += x * price;
        }
        self.position += x;
        self.traded += x * price * tv;
        self.fees += i128::from(fill.fee);
        Ok(())
    }

    /// Equity with the position marked at `mark`: `start − Σ x·P·tv − fees − financing + position·mark·tv`.
    pub fn equity(&self, start: i64, financing: i64, mark: i32, tv: i64) -> i128 {
        i128::from(start) - self.traded - self.fees - i128::from(financing)
            + self.position * i128::from(mark) * i128::from(tv)
    }

    /// Books the fills of one bar that come before its adverse move, and returns how many they were.
    ///
    /// Those are fills at the open and fills that add to the position; what reduces it fills after the adverse move,
    /// and so does everything after that (steps (a) to (g) of section 2 of the market rules). The position then held
    /// meets its worst price of the bar, and so does one that a flip opens afterwards: [`BarRow::worst`](crate::BarRow::worst)
    /// is of whichever had the lower equity.
    ///
    /// # Errors
    ///
    /// As [`apply`](Self::apply).
    pub fn before_worst(&mut self, fills: &[FillRow], tv: i64) -> Result<usize, BookError> {
        for (k, fill) in fills.iter().enumerate() {
            let reduces = self.position.signum() == -i128::from(fill.lots.signum());
            let after = match fill.leg {
                Leg::Open => false,
                Leg::Twap | Leg::Maker => reduces,
                Leg::Stop | Leg::Liquidation => fill.reason.in_bar(),
                Leg::CloseOut => true,
            };
            if after {
                return Ok(k);
            }
            self.apply(fill, tv)?;
        }
        Ok(fills.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::FillReason;

    fn fill(lots: i32, price: i32, fee: i64) -> FillRow {
        FillRow {
            member: 0,
            bar: 1,
            leg: Leg::Open,
            lots,
            price,
            reference_x4: 4 * i64::from(price),
            decision_close: price,
            half_spread: 0,
            impact_x4: 0,
            fee,
            reason: FillReason::Order,
            quoted_x4: 0,
        }
    }

    /// Case 3 of the market rules: cash 9,994,986, equity 10,017,986.
    #[test]
    fn a_purchase() {
        let mut book = Book::default();
        book.apply(&fill(100, 10_027, 5_014), 10).unwrap();
        assert_eq!((book.position, book.basis, book.realised), (100, 1_002_700, 0));
        assert_eq!(book.equity(10_000_000, 0, 10_050, 10), 10_017_986);
    }

    /// Cases 9 and 10: three sales of one lot, and their mirror image.
    #[test]
    fn basis_leaves_without_a_remainder() {
        for (sign, realised) in [(1, [-100, -200, -310]), (-1, [100, 200, 310])] {
            let mut book =
                Book { position: 3 * i128::from(sign), basis: 30_031 * i128::from(sign), ..Book::default() };
            let mut seen = Vec::new();
            for _ in 0..3 {
                book.apply(&fill(-sign, 10_000, 0), 10).unwrap();
                seen.push((book.basis * i128::from(sign), book.realised));
            }
            let bases = [20_021, 10_011, 0];
            assert_eq!(seen, bases.into_iter().zip(realised).collect::<Vec<_>>());
        }
    }

    /// Case 11: long 30 with basis 300,600, sell 80 at 10,050, as two fills.
    #[test]
    fn a_flip_is_two_fills() {
        let long = Book { position: 30, basis: 300_600, ..Book::default() };
        let mut book = long;
        assert_eq!(book.apply(&fill(-80, 10_050, 4_021), 10), Err(BookError::CrossesFlat));
        assert_eq!(book, long);
        book.apply(&fill(-30, 10_050, 1_508), 10).unwrap();
        assert_eq!((book.basis, book.realised), (0, 9_000));
        book.apply(&fill(-50, 10_050, 2_513), 10).unwrap();
        assert_eq!((book.position, book.basis, book.fees), (-50, -502_500, 4_021));
        assert_eq!(book.apply(&fill(0, 1, 0), 10), Err(BookError::NoLots));
    }
}
