//! Encryption of the secrets of webhook endpoints, by keys for nothing else.
//!
//! Below feature level 2, keys that are derived from the signing keys of access tokens encrypt them, which servers of
//! an earlier version can decrypt.

use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use cuepoint_domain::ids::WebhookEndpointId;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::webhook::{SealedSecret, SecretKeys, UndecryptableSecret};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use secrecy::SecretString;
use secrecy::zeroize::Zeroizing;

use super::keys::{Key, KeysInForce};
use super::random::{RandomSecrets, random};

/// The beginning of a text that a webhook key encrypted. No id of a key contains a slash.
const PREFIX: &str = "webhook/";

/// The feature level of the deployment at this moment.
pub type CurrentLevel = Arc<dyn Fn() -> FeatureLevel + Send + Sync>;

/// Encrypts secrets with AES-256-GCM, as `webhook/kid:base64` of a random nonce, the encrypted text and its tag. The
/// id of the key and that of the endpoint are authenticated. Secrets by signing keys have the form `kid:base64`, and
/// only the id of the key is authenticated.
#[derive(Clone)]
pub struct Sealing {
    random: RandomSecrets,
    signing: KeysInForce,
    webhooks: KeysInForce,
    level: CurrentLevel,
}

impl fmt::Debug for Sealing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealing").field("webhooks", &self.webhooks).finish_non_exhaustive()
    }
}

/// No key encrypts at this moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no key encrypts at this moment")]
pub struct NoKey;

impl Sealing {
    /// Encryption with this randomness and these keys, in the form of the deployment's level.
    #[must_use]
    pub fn new(
        random: RandomSecrets,
        signing: KeysInForce,
        webhooks: KeysInForce,
        level: CurrentLevel,
    ) -> Self {
        Self { random, signing, webhooks, level }
    }

    /// The keys that encrypt now.
    fn encrypting(&self) -> SecretKeys {
        if (self.level)() >= FeatureLevel::Level2 { SecretKeys::Webhooks } else { SecretKeys::Signing }
    }

    const fn keys(&self, keys: SecretKeys) -> &KeysInForce {
        match keys {
            SecretKeys::Signing => &self.signing,
            SecretKeys::Webhooks => &self.webhooks,
        }
    }

    /// Encrypts the secret of an endpoint with the current key.
    ///
    /// # Errors
    /// [`NoKey`]
    pub fn seal(
        &self,
        endpoint: WebhookEndpointId,
        secret: &str,
        now: Timestamp,
    ) -> Result<SealedSecret, NoKey> {
        let keys = self.encrypting();
        let ring = self.keys(keys).ring();
        let key = ring.signing(now).ok_or(NoKey)?;
        let nonce: [u8; NONCE_LEN] = random(self.random);
        let mut text = Zeroizing::new(secret.as_bytes().to_vec());
        let data = Aad::from(authenticated(keys, key.id(), endpoint));
        let cipher = cipher(keys, key).ok_or(NoKey)?;
        let sealed = cipher.seal_in_place_separate_tag(Nonce::assume_unique_for_key(nonce), data, &mut text);
        let tag = sealed.map_err(|_| NoKey)?;
        let whole = STANDARD_NO_PAD.encode([&nonce[..], &text[..], tag.as_ref()].concat());
        Ok(SealedSecret(format!("{}{}:{whole}", prefix(keys), key.id())))
    }

    /// Decrypts the secret of an endpoint, whether its key still encrypts or not.
    ///
    /// # Errors
    /// [`UndecryptableSecret`] when its key is missing or differs, or it is the secret of another endpoint.
    pub fn open(
        &self,
        endpoint: WebhookEndpointId,
        sealed: &SealedSecret,
    ) -> Result<SecretString, UndecryptableSecret> {
        let (keys, id, encoded) = parts(sealed);
        self.opened(endpoint, keys, id, encoded)
            .ok_or_else(|| UndecryptableSecret { keys, key: id.to_owned() })
    }

    fn opened(
        &self,
        endpoint: WebhookEndpointId,
        keys: SecretKeys,
        id: &str,
        encoded: &str,
    ) -> Option<SecretString> {
        let ring = self.keys(keys).ring();
        let key = ring.find(id)?;
        let mut whole = STANDARD_NO_PAD.decode(encoded).ok()?;
        let (nonce, text) = whole.split_first_chunk_mut::<NONCE_LEN>()?;
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let data = Aad::from(authenticated(keys, id, endpoint));
        let opened = Zeroizing::new(cipher(keys, key)?.open_in_place(nonce, data, text).ok()?.to_vec());
        Some(SecretString::from(std::str::from_utf8(&opened).ok()?))
    }

    /// Whether a secret is encrypted with the current key.
    #[must_use]
    pub fn is_current(&self, sealed: &SealedSecret, now: Timestamp) -> bool {
        let (keys, id, _) = parts(sealed);
        keys == self.encrypting() && self.keys(keys).ring().signing(now).map(Key::id) == Some(id)
    }
}

/// The keys that encrypted a secret, the id of the key, and the rest.
fn parts(sealed: &SealedSecret) -> (SecretKeys, &str, &str) {
    let (keys, rest) = match sealed.0.strip_prefix(PREFIX) {
        Some(rest) => (SecretKeys::Webhooks, rest),
        None => (SecretKeys::Signing, sealed.0.as_str()),
    };
    let (id, encoded) = rest.split_once(':').unwrap_or((rest, ""));
    (keys, id, encoded)
}

const fn prefix(keys: SecretKeys) -> &'static str {
    match keys {
        SecretKeys::Signing => "",
        SecretKeys::Webhooks => PREFIX,
    }
}

/// The data that are authenticated with a secret.
fn authenticated(keys: SecretKeys, key: &str, endpoint: WebhookEndpointId) -> String {
    match keys {
        SecretKeys::Signing => key.to_owned(),
        SecretKeys::Webhooks => format!("{key}:{endpoint}"),
    }
}

fn cipher(keys: SecretKeys, key: &Key) -> Option<LessSafeKey> {
    let label: &[u8] = match keys {
        SecretKeys::Signing => b"sealed secret\0",
        SecretKeys::Webhooks => b"secret of a webhook endpoint\0",
    };
    let bytes = Zeroizing::new(key.derivation().derive(&[label]));
    UnboundKey::new(&AES_256_GCM, &*bytes).map(LessSafeKey::new).ok()
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    const A: &str = "a:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const B: &str = "b:HwECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const NOW: Timestamp = Timestamp::EPOCH;

    fn id(number: i64) -> WebhookEndpointId {
        WebhookEndpointId::new(number).unwrap()
    }

    fn sealing_at(level: FeatureLevel, signing: &str, webhooks: &str) -> Sealing {
        let [signing, webhooks] =
            [signing, webhooks].map(|keys| KeysInForce::parse(&SecretString::from(keys), NOW).unwrap());
        Sealing::new(RandomSecrets::new().unwrap(), signing, webhooks, Arc::new(move || level))
    }

    fn sealing(webhooks: &str) -> Sealing {
        sealing_at(FeatureLevel::Level2, A, webhooks)
    }

    fn open(sealing: &Sealing, endpoint: i64, sealed: &SealedSecret) -> Result<String, String> {
        let opened = sealing.open(id(endpoint), sealed);
        opened.map(|secret| secret.expose_secret().to_owned()).map_err(|problem| problem.key)
    }

    #[test]
    fn a_sealed_secret_opens_only_with_its_key() {
        let sealed = sealing(A).seal(id(1), "whsec_secret", NOW).unwrap();
        assert!(sealed.0.starts_with("webhook/a:") && !sealed.0.contains("secret"), "{sealed:?}");
        assert_eq!(open(&sealing(A), 1, &sealed).as_deref(), Ok("whsec_secret"));
        let rotated = sealing(&format!("{B}\n{A}"));
        assert_eq!(open(&rotated, 1, &sealed).as_deref(), Ok("whsec_secret"), "after a rotation");
        assert_eq!(open(&sealing(B), 1, &sealed), Err("a".to_owned()), "also a signing key of this id");
        let other = A.replace("a:AA", "a:BA");
        assert_eq!(open(&sealing(&other), 1, &sealed), Err("a".to_owned()), "another key of this id");
        assert_ne!(sealing(A).seal(id(1), "whsec_secret", NOW).unwrap(), sealed, "each has its nonce");
    }

    #[test]
    fn a_secret_moved_to_another_endpoint_cannot_be_opened() {
        let sealed = sealing(A).seal(id(1), "whsec_secret", NOW).unwrap();
        assert_eq!(open(&sealing(A), 2, &sealed), Err("a".to_owned()));
    }

    #[test]
    fn feature_level_1_seals_with_signing_keys_and_level_2_with_webhook_keys() {
        let before = sealing_at(FeatureLevel::Level1, A, B);
        let sealed = before.seal(id(1), "whsec_secret", NOW).unwrap();
        assert!(sealed.0.starts_with("a:") && before.is_current(&sealed, NOW), "{sealed:?}");
        let after = sealing_at(FeatureLevel::Level2, A, B);
        // By a server of the version before webhook keys.
        let earlier = SealedSecret("a:AAECAwQFBgcICQoLHUSwZlhStKuwvmtFvq0Kav2BcXnl92vBzxW6sQ".to_owned());
        assert_eq!(open(&before, 1, &earlier).as_deref(), Ok("whsec_secret"));
        assert_eq!(open(&after, 1, &earlier).as_deref(), Ok("whsec_secret"));
        assert_eq!(open(&after, 1, &sealed).as_deref(), Ok("whsec_secret"));
        assert!(!after.is_current(&sealed, NOW), "it is encrypted anew");
        let resealed = after.seal(id(1), "whsec_secret", NOW).unwrap();
        assert!(resealed.0.starts_with("webhook/b:") && after.is_current(&resealed, NOW));
    }

    #[test]
    fn a_modified_secret_cannot_be_opened() {
        let (one, other) = (sealing(&format!("{A}\n{B}")), sealing(&format!("{B}\n{A}")));
        let sealed = one.seal(id(1), "whsec_secret", NOW).unwrap();
        let encoded = sealed.0.strip_prefix("webhook/a:").unwrap();
        let changed = format!("webhook/a:{}", encoded.chars().rev().collect::<String>());
        for text in
            ["", "a", "webhook/", "webhook/a", "webhook/a:", "webhook/a:AAAA", "webhook/a:!", &changed]
        {
            assert!(open(&one, 1, &SealedSecret(text.to_owned())).is_err(), "{text}");
        }
        for text in [format!("webhook/b:{encoded}"), format!("a:{encoded}")] {
            assert!(open(&one, 1, &SealedSecret(text.clone())).is_err(), "{text}");
        }
        assert!(one.is_current(&sealed, NOW) && !other.is_current(&sealed, NOW));
    }
}
