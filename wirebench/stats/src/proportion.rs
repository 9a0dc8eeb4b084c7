//! The exact (Clopper–Pearson) interval of a proportion.

use statrs::distribution::{Beta, ContinuousCDF as _};

/// The two-sided 95 % interval of the rate behind `hits` of `trials`; 0..=1 without trials.
pub fn interval(hits: u64, trials: u64) -> (f64, f64) {
    let (hit, missed) = (hits as f64, trials.saturating_sub(hits) as f64);
    let quantile = |a: f64, b: f64, share: f64| Beta::new(a, b).map_or(f64::NAN, |beta| beta.inverse_cdf(share));
    let low = if hits == 0 {
        0.0
    } else {
        quantile(hit, missed + 1.0, 0.025)
    };
    let high = if hits >= trials {
        1.0
    } else {
        quantile(hit + 1.0, missed, 0.975)
    };
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::interval;

    #[test]
    fn as_published_for_small_counts() {
        // Rule of three's exact form: 1 − 0.025^(1/n).
        let (low, high) = interval(0, 200);
        assert!(
            low == 0.0 && (high - (1.0 - 0.025_f64.powf(1.0 / 200.0))).abs() < 1e-6,
            "{high}"
        );
        // 5 of 10: 0.1871 … 0.8129.
        let (low, high) = interval(5, 10);
        assert!(
            (low - 0.1871).abs() < 1e-4 && (high - 0.8129).abs() < 1e-4,
            "{low} {high}"
        );
        assert_eq!(interval(0, 0), (0.0, 1.0));
        assert!((interval(10, 10).1 - 1.0).abs() < 1e-12);
    }
}
