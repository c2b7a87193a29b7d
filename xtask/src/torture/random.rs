//! A random number generator with a seed, so that an attempt can be repeated.

/// The generator "SplitMix64": good enough to choose where to interrupt a run, and a few lines.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    /// The generator of one attempt: independent of how many attempts came before, and in which thread.
    pub(super) fn new(seed: u64, phase: &str, attempt: u64) -> Self {
        let mut random = Self(seed);
        for byte in phase.bytes().map(u64::from).chain([attempt]) {
            random.0 = random.next() ^ byte;
        }
        random
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).expect("it is smaller than a usize")
    }

    /// A number from zero to one.
    pub(super) fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(super) fn choose<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}
