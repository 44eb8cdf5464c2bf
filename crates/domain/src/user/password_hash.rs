//! The stored form of a password.

/// A password hash in a self-describing format; its `Debug` output is redacted.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(pub String);

impl PasswordHash {
    /// What is stored for a user without a password. No password verifies against it.
    #[must_use]
    pub fn none() -> Self {
        Self("!".to_owned())
    }
}

impl std::fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PasswordHash([hidden])")
    }
}
