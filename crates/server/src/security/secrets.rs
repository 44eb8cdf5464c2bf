//! Random refresh tokens, reset tokens and codes, and what they are stored as.

use anyhow::Context;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cuepoint_domain::ports::{Secrets, Token};
use cuepoint_domain::session::TokenHash;
use sha2::{Digest, Sha256};

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

impl Secrets for RandomSecrets {
    fn token(&self) -> Token {
        Token(URL_SAFE_NO_PAD.encode(random::<32>(*self)))
    }

    fn code(&self) -> Token {
        // 2^64 is so much more than a million that no code is likelier than another by more than 1 in 10^13.
        let number = u64::from_be_bytes(random(*self)).checked_rem(1_000_000).unwrap_or_default();
        Token(format!("{number:06}"))
    }

    fn fingerprint(&self, token: &Token) -> TokenHash {
        TokenHash(Sha256::digest(token.0.as_bytes()).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_tokens_are_the_same() {
        let secrets = RandomSecrets::new().unwrap();
        let (one, two) = (secrets.token(), secrets.token());
        assert!(one != two);
        assert_eq!(URL_SAFE_NO_PAD.decode(&one.0).unwrap().len(), 32);
        let code = secrets.code().0;
        assert!(code.len() == 6 && code.bytes().all(|byte| byte.is_ascii_digit()), "{code}");
    }

    #[test]
    fn a_token_is_stored_as_its_sha256() {
        let secrets = RandomSecrets::new().unwrap();
        let TokenHash(hash) = secrets.fingerprint(&Token("abc".to_owned()));
        assert_eq!(hash[..4], [0xba, 0x78, 0x16, 0xbf]);
    }
}
