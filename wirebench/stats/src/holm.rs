//! Holm's step-down correction: which of several tests pass if the probability of any false positive must stay below
//! `alpha`.

/// For each probability whether its test passes.
pub fn passing(probabilities: &[f64], alpha: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|a, b| probabilities[*a].total_cmp(&probabilities[*b]));
    let mut passes = vec![false; probabilities.len()];
    for (place, i) in order.iter().enumerate() {
        if probabilities[*i] > alpha / (probabilities.len() - place) as f64 {
            break;
        }
        passes[*i] = true;
    }
    passes
}

#[cfg(test)]
mod tests {
    use super::passing;
    use proptest::prelude::*;

    #[test]
    fn the_textbook_example() {
        assert_eq!(passing(&[0.01, 0.04, 0.03, 0.005], 0.05), [true, false, false, true]);
        assert_eq!(passing(&[], 0.05), Vec::<bool>::new());
    }

    #[test]
    fn a_test_that_fails_stops_all_greater_ones() {
        // 0.04 alone would pass at 0.05; the smaller 0.03 fails at 0.025 first.
        assert_eq!(passing(&[0.04, 0.03], 0.05), [false, false]);
    }

    proptest! {
        #[test]
        fn between_bonferroni_and_none(p in prop::collection::vec(0.0f64..1.0, 1..30)) {
            let found = passing(&p, 0.05);
            let each = 0.05 / p.len() as f64;
            for (p, passes) in p.iter().zip(found) {
                prop_assert!(!passes || *p <= 0.05);
                prop_assert!(passes || *p > each);
            }
        }
    }
}
