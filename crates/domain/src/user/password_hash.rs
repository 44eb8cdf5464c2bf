//! The stored form of a password.

/// A password hash in the PHC string format; its `Debug` output is redacted.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(pub String);

/// The salt that all hashes of one password of a user share. It changes only with the password. A proof that is bound to
/// it therefore lasts as long as the password.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordMark(String);

impl PasswordMark {
    /// The mark as bytes, to be signed.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl std::fmt::Debug for PasswordMark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PasswordMark([hidden])")
    }
}

impl PasswordHash {
    /// What is stored for a user without a password. No password verifies against it.
    #[must_use]
    pub fn none() -> Self {
        Self("!".to_owned())
    }

    /// The mark of the password; `None` without a password.
    #[must_use]
    pub fn mark(&self) -> Option<PasswordMark> {
        let salt = self.0.rsplit('$').nth(1).filter(|salt| !salt.is_empty())?;
        Some(PasswordMark(salt.to_owned()))
    }
}

impl std::fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PasswordHash([hidden])")
    }
}
