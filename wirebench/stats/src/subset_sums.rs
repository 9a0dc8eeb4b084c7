//! The distribution of sums of random subsets, for exact tests on ranks and signs.

/// The probability of each sum, from 0 to the sum of all `sizes`, if a fair coin decides for each size whether it is
/// added.
pub fn chances(sizes: impl IntoIterator<Item = usize>) -> Vec<f64> {
    let mut chance = vec![1.0];
    for size in sizes {
        let before = chance.len();
        chance.resize(before + size, 0.0);
        for sum in (0..chance.len()).rev() {
            let with = if sum >= size { chance[sum - size] } else { 0.0 };
            chance[sum] = f64::midpoint(chance[sum], with);
        }
    }
    chance
}

#[cfg(test)]
mod tests {
    use super::chances;

    #[test]
    fn two_coins_and_a_size_of_nothing() {
        assert_eq!(chances([1, 2]), [0.25, 0.25, 0.25, 0.25]);
        assert_eq!(chances([1, 1]), [0.25, 0.5, 0.25]);
        assert_eq!(chances([0, 3]), [0.5, 0.0, 0.0, 0.5]);
        assert_eq!(chances([]), [1.0]);
    }
}
