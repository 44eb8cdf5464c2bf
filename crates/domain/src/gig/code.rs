//! The codes of DJs.

use std::fmt;

use time::Duration;

use crate::ids::UserId;
use crate::timestamp::Timestamp;

/// The code of a DJ: six characters under which guests find the DJ's gig. It stays the same from gig to gig.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DjCode([u8; DjCode::LENGTH]);

impl DjCode {
    /// The number of characters.
    pub const LENGTH: usize = 6;
    /// The characters: no vowels, so that no code is a word, and none that look alike.
    pub const ALPHABET: &'static str = "23456789BCDFGHJKMNPQRSTVWXYZ";

    /// The number of different characters.
    const BASE: u64 = 28;

    /// The code that a person typed, in upper or lower case; `None` for another text.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let upper =
            <[u8; Self::LENGTH]>::try_from(text.as_bytes()).ok()?.map(|byte| byte.to_ascii_uppercase());
        upper.iter().all(|byte| Self::ALPHABET.as_bytes().contains(byte)).then_some(Self(upper))
    }

    /// The code of a random number, with the digits of the number to the base of the alphabet.
    #[must_use]
    pub fn of_number(number: u64) -> Self {
        let mut code = [0; Self::LENGTH];
        let mut rest = number;
        for place in &mut code {
            let digit = rest.checked_rem(Self::BASE).and_then(|digit| usize::try_from(digit).ok());
            rest = rest.div_euclid(Self::BASE);
            *place = digit.and_then(|digit| Self::ALPHABET.as_bytes().get(digit)).copied().unwrap_or(b'2');
        }
        Self(code)
    }

    /// The code in upper case.
    #[must_use]
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.0).unwrap_or_default()
    }
}

/// The assignment of a code to a DJ. The newest one of a DJ is the current one. No code is ever assigned to another DJ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AssignedCode {
    pub code: DjCode,
    pub dj: UserId,
    /// The time of the assignment, later than that of the DJ's earlier codes.
    pub at: Timestamp,
}

impl AssignedCode {
    /// The assignment of a code at `now`, or just after the previous one if another server's clock is ahead.
    #[must_use]
    pub fn following(previous: Option<&Self>, code: DjCode, dj: UserId, now: Timestamp) -> Self {
        let later = |previous: &Self| previous.at.plus(Duration::microseconds(1));
        Self { code, dj, at: previous.map_or(now, |previous| now.max(later(previous))) }
    }
}

impl fmt::Display for DjCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for DjCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DjCode({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_accepted_in_lower_case() {
        assert_eq!(DjCode::new("b2c3d4").unwrap().as_str(), "B2C3D4");
    }

    #[test]
    fn other_texts_are_no_codes() {
        for text in ["", "B2C3D", "B2C3D45", "B2C3DA", "B2C3D1", "B2C3D0", "B2C3 D", "ßßß"] {
            assert_eq!(DjCode::new(text), None, "{text:?}");
        }
    }

    #[test]
    fn codes_are_distinct_until_the_number_wraps() {
        let codes = 28_u64.pow(6);
        for (number, code) in [(0, "222222"), (1, "322222"), (28, "232222"), (codes - 1, "ZZZZZZ")] {
            assert_eq!(DjCode::of_number(number).as_str(), code);
            assert_eq!(DjCode::of_number(number + codes).as_str(), code);
            assert_eq!(DjCode::new(code), Some(DjCode::of_number(number)));
        }
        assert_eq!(u64::try_from(DjCode::ALPHABET.len()), Ok(DjCode::BASE));
    }
}
