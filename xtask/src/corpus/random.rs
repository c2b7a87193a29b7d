//! A small deterministic random number generator with one seed per resource, so that resource N does not depend on N-1.

/// SplitMix64, which is good enough to generate varied files.
pub(crate) struct Random {
    state: u64,
}

const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

impl Random {
    /// The generator for `purpose` and `number`; its numbers are the same on every machine.
    pub(crate) fn new(purpose: &str, number: usize) -> Self {
        let seed = purpose.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
        });
        let mut random = Self { state: seed ^ (number as u64).wrapping_mul(GAMMA) };
        // Consecutive numbers give similar states; one step separates them.
        random.state = random.next_u64();
        random
    }

    pub(crate) fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GAMMA);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from `low` to `high`, inclusive.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next_u64() % (high - low + 1)
    }

    /// True with a probability of `percent` percent.
    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.next_u64() % 100 < percent
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
    fn the_same_seed_gives_the_same_numbers() {
        let numbers = |purpose, number| {
            let mut random = Random::new(purpose, number);
            [random.next_u64(), random.next_u64(), random.next_u64()]
        };
        assert_eq!(numbers("a", 1), numbers("a", 1));
        assert_ne!(numbers("a", 1), numbers("a", 2));
        assert_ne!(numbers("a", 1), numbers("b", 1));
    }

    #[test]
    fn between_includes_both_ends() {
        let mut random = Random::new("range", 0);
        let mut seen = [false; 4];
        for _ in 0..200 {
            seen[usize::try_from(random.between(2, 5)).expect("small") - 2] = true;
        }
        assert_eq!(seen, [true; 4]);
    }
}
