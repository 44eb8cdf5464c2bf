//! Dice that fall the same way every time.

/// `SplitMix64`: the same on every machine, so that every run asks for the same.
#[derive(Clone, Debug)]
pub struct Dice(u64);

/// How far the state goes on each time.
pub(crate) const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// What falls in this state.
pub(crate) const fn mixed(state: u64) -> u64 {
    let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

impl Dice {
    /// Dice that fall as this seed has them.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below this one; 0 where there is none.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(STEP);
        let fell = mixed(self.0);
        let below = u64::try_from(end).ok().and_then(|end| fell.checked_rem(end)).unwrap_or_default();
        usize::try_from(below).unwrap_or_default()
    }

    /// One of these, if there is any.
    pub fn one_of<'a, T>(&mut self, things: &'a [T]) -> Option<&'a T> {
        things.get(self.below(things.len()))
    }

    /// Puts them into another order.
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for left in (1..things.len()).rev() {
            things.swap(left, self.below(left.saturating_add(1)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_fall_within_their_bounds_and_the_same_way_again() {
        let throw = || {
            let mut dice = Dice::new(7);
            (0..100).map(|_| dice.below(6)).collect::<Vec<_>>()
        };
        assert_eq!(throw(), throw());
        assert!((0..6).all(|number| throw().contains(&number)));
        assert!(throw().iter().all(|number| *number < 6));
        assert_eq!(Dice::new(7).below(0), 0);
    }

    #[test]
    fn what_is_shuffled_is_all_still_there() {
        let mut things: Vec<u32> = (0..50).collect();
        Dice::new(7).shuffle(&mut things);
        assert!(!things.is_sorted());
        things.sort_unstable();
        assert!(things.into_iter().eq(0..50));
    }
}
