//! Fewer points that look the same.

/// Keeps of every one of `buckets` equal stretches of x the first, lowest, highest and last point, in order, so that no
/// peak or trough is lost. `xs` must not fall; points whose y is not finite are dropped.
pub(crate) fn min_max(points: &[(f64, f64)], buckets: usize) -> Vec<(f64, f64)> {
    let points: Vec<(f64, f64)> = points.iter().copied().filter(|(_, y)| y.is_finite()).collect();
    let (Some(&(first, _)), Some(&(last, _))) = (points.first(), points.last()) else {
        return points;
    };
    if points.len() <= 4 * buckets.max(1) || last <= first {
        return points;
    }
    let bucket_of = |x: f64| (((x - first) / (last - first)) * buckets as f64) as usize;
    let mut kept = Vec::with_capacity(4 * buckets);
    for run in points.chunk_by(|a, b| bucket_of(a.0) == bucket_of(b.0)) {
        let by_y = |a: &usize, b: &usize| run[*a].1.total_cmp(&run[*b].1);
        let low = (0..run.len()).min_by(by_y).unwrap_or(0);
        let high = (0..run.len()).max_by(by_y).unwrap_or(0);
        let mut picks = [0, low, high, run.len() - 1];
        picks.sort_unstable();
        let mut previous = None;
        for pick in picks {
            if previous != Some(pick) {
                kept.push(run[pick]);
            }
            previous = Some(pick);
        }
    }
    kept
}

/// Lowest and highest of several lines in each of `buckets` equal stretches of `x_range`; empty stretches are left out.
pub(crate) fn band(lines: &[Vec<(f64, f64)>], x_range: (f64, f64), buckets: usize) -> Vec<(f64, f64, f64)> {
    let (low, high) = x_range;
    let width = (high - low) / buckets.max(1) as f64;
    if width.is_nan() || width <= 0.0 {
        return Vec::new();
    }
    let mut found = vec![(f64::INFINITY, f64::NEG_INFINITY); buckets.max(1)];
    for &(x, y) in lines.iter().flatten().filter(|(_, y)| y.is_finite()) {
        let k = (((x - low) / width) as usize).min(buckets.max(1) - 1);
        found[k] = (found[k].0.min(y), found[k].1.max(y));
    }
    let full = found.into_iter().enumerate().filter(|(_, (min, max))| min <= max);
    full.map(|(k, (min, max))| (low + (k as f64 + 0.5) * width, min, max)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_extreme_is_lost() {
        let points: Vec<(f64, f64)> =
            (0..10_000).map(|k| (f64::from(k), f64::from(k * 7_919 % 1_000))).collect();
        let mut spiky = points.clone();
        spiky[4_321].1 = 5e6;
        spiky[4_322].1 = -5e6;
        let kept = min_max(&spiky, 100);
        assert!(kept.len() <= 404, "{}", kept.len());
        assert!(kept.contains(&(4_321.0, 5e6)) && kept.contains(&(4_322.0, -5e6)));
        assert!(kept.windows(2).all(|w| w[0].0 < w[1].0), "in order, none twice");
        assert_eq!((kept[0], kept[kept.len() - 1]), (spiky[0], spiky[9_999]));
    }

    #[test]
    fn few_points_stay() {
        let points = [(0.0, 1.0), (1.0, f64::NAN), (2.0, 3.0)];
        assert_eq!(min_max(&points, 1), [(0.0, 1.0), (2.0, 3.0)]);
        assert_eq!(min_max(&[], 10), []);
    }

    #[test]
    fn bands_hold_every_line() {
        let lines = vec![vec![(0.0, 1.0), (9.0, 4.0)], vec![(0.5, 3.0), (9.5, f64::NAN), (10.0, 2.0)]];
        assert_eq!(band(&lines, (0.0, 10.0), 5), [(1.0, 1.0, 3.0), (9.0, 2.0, 4.0)]);
        assert_eq!(band(&lines, (1.0, 1.0), 5), []);
    }
}
