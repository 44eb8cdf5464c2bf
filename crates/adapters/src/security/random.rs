//! Randomness from the operating system.

use anyhow::Context;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cuepoint_domain::ports::Token;

/// A generator of secrets from the operating system's randomness.
#[derive(Clone, Copy, Debug)]
pub struct RandomSecrets(());

impl RandomSecrets {
    /// Creates a generator after checking that the operating system provides randomness.
    ///
    /// # Errors
    /// When it does not.
    pub fn new() -> anyhow::Result<Self> {
        getrandom::fill(&mut [0; 32]).context("the operating system provides no randomness")?;
        Ok(Self(()))
    }

    /// Returns a new token of 256 random bits.
    #[must_use]
    pub fn token(self) -> Token {
        encoded(random(self))
    }
}

/// Returns random bytes.
#[allow(
    clippy::expect_used,
    reason = "a system that provided randomness once keeps doing so; a guessable secret would be worse"
)]
#[must_use]
pub fn random<const BYTES: usize>(_: RandomSecrets) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).expect("the operating system provided randomness at the start");
    bytes
}

/// Encodes bytes as a token.
pub(crate) fn encoded(bytes: [u8; 32]) -> Token {
    Token(URL_SAFE_NO_PAD.encode(bytes))
}
