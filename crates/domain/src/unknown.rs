//! Unknown names: statuses, roles and kinds written by a newer version of the service.
//!
//! The rows of a newer version survive its rollback. They are shown with their stored name; no rule acts on
//! it.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// A name unknown to this version.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnknownName(&'static str);

/// All unknown names encountered. They are few, since each is an identifier of another version's code, and
/// are interned until the process ends, so that the enums with such a name remain `Copy`.
static MET: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

impl UnknownName {
    /// The maximum length, in bytes.
    pub const LONGEST: usize = 64;
    /// The maximum number of interned names.
    pub const MAX: usize = 1_000;

    /// Interns a stored name; `None` if no version writes such a name: empty, longer than [`Self::LONGEST`],
    /// with characters other than lower-case letters, digits and underscores, or beyond [`Self::MAX`].
    #[must_use]
    pub fn stored(name: &str) -> Option<Self> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        if !(1..=Self::LONGEST).contains(&name.len()) || !name.bytes().all(plain) {
            return None;
        }
        let mut met = MET.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = met.get(name) {
            return Some(Self(known));
        }
        if met.len() >= Self::MAX {
            return None;
        }
        let kept: &'static str = name.to_owned().leak();
        met.insert(kept);
        Some(Self(kept))
    }

    /// The name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Debug for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_interned_unchanged() {
        let (one, again) = (UnknownName::stored("frozen"), UnknownName::stored("frozen"));
        assert_eq!(one.map(UnknownName::as_str), Some("frozen"));
        assert!(one.zip(again).is_some_and(|(one, again)| std::ptr::eq(one.0, again.0)));
    }

    #[test]
    fn malformed_names_are_refused() {
        let longest = "a".repeat(UnknownName::LONGEST);
        assert!(UnknownName::stored(&longest).is_some());
        for text in ["", "Frozen", "on hold", "é", "a-b", &format!("{longest}a")] {
            assert_eq!(UnknownName::stored(text), None, "{text}");
        }
    }
}
