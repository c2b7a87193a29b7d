//! Small deterministic randomness: one seed per resource, so that resource N never depends on N-1.

/// SplitMix64: a counter and a mixer, good enough to make files look varied.
pub(crate) struct Dice {
    state: u64,
}

const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

impl Dice {
    /// The dice for one thing (`purpose`, number), the same on every machine.
    pub(crate) fn new(purpose: &str, number: usize) -> Self {
        let seed = purpose.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
        });
        let mut dice = Self { state: seed ^ (number as u64).wrapping_mul(GAMMA) };
        // Neighbouring numbers give neighbouring states; one throw takes them apart.
        dice.state = dice.throw();
        dice
    }

    pub(crate) fn throw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GAMMA);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from `low` to `high`, both among them.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.throw() % (high - low + 1)
    }

    /// True in `percent` of a hundred throws.
    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.throw() % 100 < percent
    }

    pub(crate) fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        let last = from.len() as u64 - 1;
        from[usize::try_from(self.between(0, last)).expect("an index fits")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_throws_the_same() {
        let throws = |purpose, number| {
            let mut dice = Dice::new(purpose, number);
            [dice.throw(), dice.throw(), dice.throw()]
        };
        assert_eq!(throws("a", 1), throws("a", 1));
        assert_ne!(throws("a", 1), throws("a", 2));
        assert_ne!(throws("a", 1), throws("b", 1));
    }

    #[test]
    fn throws_stay_in_their_range_and_reach_its_ends() {
        let mut dice = Dice::new("range", 0);
        let mut seen = [false; 4];
        for _ in 0..200 {
            seen[usize::try_from(dice.between(2, 5)).expect("small") - 2] = true;
        }
        assert_eq!(seen, [true; 4]);
    }
}
