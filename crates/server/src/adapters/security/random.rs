//! Randomness of the operating system.

use anyhow::Context;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cuepoint_domain::ports::Token;

/// Makes secrets from the operating system's randomness.
#[derive(Clone, Copy, Debug)]
pub struct RandomSecrets(());

impl RandomSecrets {
    /// The maker, once the operating system has shown that it gives randomness.
    ///
    /// # Errors
    /// When it does not.
    pub fn new() -> anyhow::Result<Self> {
        getrandom::fill(&mut [0; 32]).context("the operating system gives no randomness")?;
        Ok(Self(()))
    }

    /// A new token of 256 random bits.
    #[must_use]
    pub fn token(self) -> Token {
        encoded(random(self))
    }
}

/// Random bytes.
#[allow(
    clippy::expect_used,
    reason = "a system that once gave randomness goes on; a guessable secret is worse"
)]
pub(crate) fn random<const BYTES: usize>(_: RandomSecrets) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).expect("randomness was there when the process started");
    bytes
}

/// A token of these bytes.
pub(crate) fn encoded(bytes: [u8; 32]) -> Token {
    Token(URL_SAFE_NO_PAD.encode(bytes))
}
