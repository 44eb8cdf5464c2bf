//! Encryption of secrets that the store keeps, by keys derived from the signing keys of access tokens.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use cuepoint_domain::timestamp::Timestamp;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use secrecy::SecretString;
use secrecy::zeroize::Zeroizing;
use thiserror::Error;

use super::keys::{Key, SigningKeys};
use super::random::{RandomSecrets, random};

/// The label under which the encryption keys are derived.
const LABEL: &[u8] = b"sealed secret\0";

/// Why a secret cannot be encrypted or decrypted. The error contains no part of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum SealingError {
    /// No key signs at this moment.
    #[error("no key signs at this moment")]
    NoKey,
    /// The key that encrypted the secret was removed.
    #[error("the key that encrypted the secret was removed")]
    UnknownKey,
    /// The secret was not encrypted by this service, or was changed.
    #[error("the encrypted secret is damaged")]
    Damaged,
}

/// Encrypts secrets with AES-256-GCM, as `kid:base64` of a random nonce, the encrypted text and its tag. The id
/// of the key is authenticated.
#[derive(Clone, Debug)]
pub struct Sealing {
    random: RandomSecrets,
    keys: SigningKeys,
}

impl Sealing {
    /// Encryption with this randomness and keys derived from these.
    #[must_use]
    pub const fn new(random: RandomSecrets, keys: SigningKeys) -> Self {
        Self { random, keys }
    }

    /// Encrypts a secret with the key that signs.
    ///
    /// # Errors
    /// [`SealingError::NoKey`]
    pub fn seal(&self, secret: &str, now: Timestamp) -> Result<String, SealingError> {
        let ring = self.keys.ring();
        let key = ring.signing(now).ok_or(SealingError::NoKey)?;
        let nonce: [u8; NONCE_LEN] = random(self.random);
        let mut text = Zeroizing::new(secret.as_bytes().to_vec());
        let id = Aad::from(key.id());
        let sealed =
            cipher(key)?.seal_in_place_separate_tag(Nonce::assume_unique_for_key(nonce), id, &mut text);
        let tag = sealed.map_err(|_| SealingError::Damaged)?;
        let whole = [&nonce[..], &text[..], tag.as_ref()].concat();
        Ok(format!("{}:{}", key.id(), STANDARD_NO_PAD.encode(whole)))
    }

    /// Decrypts a secret, whether its key still signs or not.
    ///
    /// # Errors
    /// [`SealingError`]
    pub fn open(&self, sealed: &str, now: Timestamp) -> Result<SecretString, SealingError> {
        let (id, encoded) = sealed.split_once(':').ok_or(SealingError::Damaged)?;
        let ring = self.keys.ring();
        let keys = ring.all(now).ok_or(SealingError::NoKey)?;
        let key = keys.iter().find(|key| key.id() == id).ok_or(SealingError::UnknownKey)?;
        let mut whole = STANDARD_NO_PAD.decode(encoded).map_err(|_| SealingError::Damaged)?;
        let (nonce, text) = whole.split_first_chunk_mut::<NONCE_LEN>().ok_or(SealingError::Damaged)?;
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let opened = cipher(key)?.open_in_place(nonce, Aad::from(id), text);
        let opened = Zeroizing::new(opened.map_err(|_| SealingError::Damaged)?.to_vec());
        let text = std::str::from_utf8(&opened).map_err(|_| SealingError::Damaged)?;
        Ok(SecretString::from(text))
    }

    /// Whether a secret is encrypted with the key that signs now.
    #[must_use]
    pub fn is_current(&self, sealed: &str, now: Timestamp) -> bool {
        let ring = self.keys.ring();
        let current = ring.signing(now).map(Key::id);
        sealed.split_once(':').is_some_and(|(id, _)| current == Some(id))
    }
}

fn cipher(key: &Key) -> Result<LessSafeKey, SealingError> {
    let bytes = Zeroizing::new(key.derivation().derive(&[LABEL]));
    UnboundKey::new(&AES_256_GCM, &*bytes).map(LessSafeKey::new).map_err(|_| SealingError::Damaged)
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    const A: &str = "a:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const B: &str = "b:HwECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const NOW: Timestamp = Timestamp::EPOCH;

    fn sealing(keys: &str) -> Sealing {
        let keys = SigningKeys::parse(&SecretString::from(keys), NOW).unwrap();
        Sealing::new(RandomSecrets::new().unwrap(), keys)
    }

    #[test]
    fn a_sealed_secret_is_opened_by_its_key_alone() {
        let sealed = sealing(A).seal("whsec_secret", NOW).unwrap();
        assert!(sealed.starts_with("a:") && !sealed.contains("secret"), "{sealed}");
        let open = |keys: &str, sealed: &str| {
            sealing(keys).open(sealed, NOW).map(|secret| secret.expose_secret().to_owned())
        };
        assert_eq!(open(A, &sealed).as_deref(), Ok("whsec_secret"));
        assert_eq!(open(&format!("{B}\n{A}"), &sealed).as_deref(), Ok("whsec_secret"), "after a rotation");
        assert_eq!(open(B, &sealed), Err(SealingError::UnknownKey));
        let other = A.replace("a:AA", "a:BA");
        assert_eq!(open(&other, &sealed), Err(SealingError::Damaged), "another key of this id");
        assert_ne!(sealing(A).seal("whsec_secret", NOW).unwrap(), sealed, "each has its nonce");
    }

    #[test]
    fn a_changed_text_is_not_opened() {
        let (one, other) = (sealing(&format!("{A}\n{B}")), sealing(&format!("{B}\n{A}")));
        let sealed = one.seal("whsec_secret", NOW).unwrap();
        let encoded = sealed.strip_prefix("a:").unwrap();
        let changed = format!("a:{}", encoded.chars().rev().collect::<String>());
        for text in ["", "a", "a:", "a:AAAA", "a:!", changed.as_str(), &format!("b:{encoded}")] {
            assert_eq!(one.open(text, NOW).unwrap_err(), SealingError::Damaged, "{text}");
        }
        assert!(one.is_current(&sealed, NOW) && !other.is_current(&sealed, NOW));
    }
}
