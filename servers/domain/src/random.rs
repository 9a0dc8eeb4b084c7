//! Numbers that look random and are the same every time.

/// A small generator of numbers: `SplitMix64` (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
pub(crate) struct Random(u64);

impl Random {
    /// The numbers that belong to `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from `lowest` to `highest`.
    pub(crate) fn between(&mut self, lowest: u32, highest: u32) -> u32 {
        let width = u64::from(highest - lowest) + 1;
        lowest + u32::try_from(self.next() % width).expect("less than a width that came from u32")
    }

    /// One of `choices`.
    pub(crate) fn one_of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        let last = u32::try_from(choices.len() - 1).expect("lists here are short");
        &choices[self.between(0, last) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn the_first_numbers_are_those_of_the_publication() {
        let mut random = Random::new(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn a_number_lies_between_its_bounds_and_reaches_both() {
        let mut random = Random::new(1);
        let drawn: Vec<u32> = (0..200).map(|_| random.between(3, 6)).collect();
        assert!((3..=6).all(|number| drawn.contains(&number)));
        assert!(drawn.iter().all(|number| (3..=6).contains(number)));
    }
}
