//! The interquartile mean.

/// Mean of the middle half: the ⌊n/4⌋ least and the ⌊n/4⌋ greatest values are left out. None without values.
///
/// Agarwal et al. 2021; equal to `scipy.stats.trim_mean(x, 0.25)`, which rliable uses. Up to three values it is the mean.
pub fn iqm(values: &[f64]) -> Option<f64> {
    let order = sorted(values);
    let counts = vec![1; values.len()];
    (!values.is_empty()).then(|| iqm_of_counts(values, &order, &counts))
}

/// Numbers of the values, from the least value to the greatest.
pub(super) fn sorted(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    order
}

/// [`iqm`] of a sample of as many values that holds value `i` `counts[i]` times: linear in n where sorting each resample
/// would not be.
pub(super) fn iqm_of_counts(values: &[f64], order: &[usize], counts: &[u32]) -> f64 {
    let cut = values.len() / 4;
    let (first, last) = (cut, values.len() - cut);
    let (mut rank, mut sum) = (0, 0.0);
    for &i in order {
        let (from, to) = (rank, rank + counts[i] as usize);
        let inside = to.min(last).saturating_sub(from.max(first));
        sum += values[i] * inside as f64;
        rank = to;
    }
    sum / (last - first) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_half() {
        assert_eq!(iqm(&[]), None);
        assert_eq!(iqm(&[7.0, 1.0, 1.0]), Some(3.0));
        assert_eq!(iqm(&[1000.0, 2.0, 4.0, -1000.0]), Some(3.0));
        // Nine values: two go on each side.
        assert_eq!(iqm(&[9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 100.0]), Some(6.0));
        let (values, counts) = ([1.0, 2.0, 3.0, 10.0], [0, 2, 0, 2]);
        assert_eq!(iqm_of_counts(&values, &sorted(&values), &counts), 6.0, "of 2, 2, 10, 10");
    }
}
