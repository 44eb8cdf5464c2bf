//! Signatures of Standard Webhooks: HMAC-SHA256 over the id, the timestamp and the body of a message.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cuepoint_domain::timestamp::Timestamp;
use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretSlice};
use sha2::Sha256;
use thiserror::Error;
use time::Duration;

/// The prefix of a secret, followed by its base64.
pub(crate) const PREFIX: &str = "whsec_";
/// The prefix of symmetric signatures, of which there is only version 1.
const VERSION: &str = "v1,";
/// The tolerance for clock differences and for the delay of a message.
const TOLERANCE: Duration = Duration::minutes(5);
/// The valid lengths of a secret in bytes.
const SECRET_BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// An invalid secret. The error does not contain the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum SecretError {
    /// The prefix is missing.
    #[error("a secret begins with whsec_")]
    Prefix,
    /// The part after the prefix is not base64.
    #[error("a secret is base64 after whsec_")]
    Base64,
    /// The secret is too short to be secure, or too long.
    #[error("a secret has 24 to 64 bytes")]
    Length,
}

/// A received message.
#[derive(Clone, Copy, Debug)]
pub struct SignedMessage<'a> {
    pub id: &'a str,
    /// The time of sending, in seconds since 1970-01-01T00:00:00Z.
    pub timestamp: &'a str,
    /// The signatures, separated by spaces.
    pub signatures: &'a str,
    /// The body, byte for byte.
    pub body: &'a [u8],
}

/// The secrets shared with a provider. The first one signs and all of them verify, so that secrets can be
/// rotated. Without any, no message is accepted.
#[derive(Clone, Default)]
pub struct SigningSecrets(Arc<[SecretSlice<u8>]>);

impl std::fmt::Debug for SigningSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SigningSecrets({})", self.0.len())
    }
}

impl SigningSecrets {
    /// Parses secrets, each of which is `whsec_` followed by base64.
    ///
    /// # Errors
    /// [`SecretError`] of the first invalid secret.
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, SecretError> {
        let secrets = texts.into_iter().map(|text| {
            let encoded = text.strip_prefix(PREFIX).ok_or(SecretError::Prefix)?;
            let bytes = STANDARD.decode(encoded).map_err(|_| SecretError::Base64)?;
            let fits = SECRET_BYTES.contains(&bytes.len());
            fits.then(|| SecretSlice::from(bytes)).ok_or(SecretError::Length)
        });
        secrets.collect::<Result<_, _>>().map(Self)
    }

    /// Returns whether there are no secrets.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the signature of a message sent at `timestamp`; `None` without a secret.
    #[must_use]
    pub fn sign(&self, id: &str, timestamp: &str, body: &[u8]) -> Option<String> {
        let tag = mac(self.0.first()?, id, timestamp, body)?.finalize().into_bytes();
        Some(format!("{VERSION}{}", STANDARD.encode(tag)))
    }

    /// Returns whether one of the secrets signed the message, within five minutes of `now`.
    #[must_use]
    pub fn verify(&self, message: SignedMessage<'_>, now: Timestamp) -> bool {
        let SignedMessage { id, timestamp, signatures, body } = message;
        is_current(timestamp, now)
            && self.0.iter().filter_map(|secret| mac(secret, id, timestamp, body)).any(|mac| {
                let tags = signatures.split_ascii_whitespace().filter_map(|one| one.strip_prefix(VERSION));
                let mut tags = tags.filter_map(|tag| STANDARD.decode(tag).ok());
                // Compares in constant time.
                tags.any(|tag| mac.clone().verify_slice(&tag).is_ok())
            })
    }
}

fn is_current(timestamp: &str, now: Timestamp) -> bool {
    let plain = !timestamp.is_empty() && timestamp.bytes().all(|byte| byte.is_ascii_digit());
    let sent = timestamp.parse::<i64>().ok().filter(|_| plain);
    let now = now.to_utc().unix_timestamp();
    sent.is_some_and(|sent| sent.abs_diff(now) <= TOLERANCE.whole_seconds().unsigned_abs())
}

/// Returns the MAC state over a message, not finalized. HMAC accepts keys of any length.
fn mac(secret: &SecretSlice<u8>, id: &str, timestamp: &str, body: &[u8]) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.expose_secret()).ok()?;
    for part in [id.as_bytes(), b".", timestamp.as_bytes(), b".", body] {
        mac.update(part);
    }
    Some(mac)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const NEW: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const SECOND: i64 = 1_614_265_330;
    const BODY: &[u8] = br#"{"test": 2432232314}"#;
    /// The example in the specification.
    const SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

    fn secrets(texts: &[&str]) -> SigningSecrets {
        SigningSecrets::parse(texts.iter().copied()).unwrap()
    }

    fn verified(secrets: &SigningSecrets, signatures: &str, change: impl Fn(&mut SignedMessage<'_>)) -> bool {
        let timestamp = SECOND.to_string();
        let mut message = SignedMessage { id: ID, timestamp: &timestamp, signatures, body: BODY };
        change(&mut message);
        secrets.verify(message, Timestamp::from_unix_micros(SECOND * 1_000_000))
    }

    #[test]
    fn the_specification_example_is_signed_and_verified() {
        let secrets = secrets(&[OLD]);
        assert_eq!(secrets.sign(ID, &SECOND.to_string(), BODY).as_deref(), Some(SIGNATURE));
        assert!(verified(&secrets, SIGNATURE, |_| ()));
    }

    #[test]
    fn the_first_secret_signs_and_every_secret_verifies() {
        let (both, old) = (secrets(&[NEW, OLD]), secrets(&[OLD]));
        let new_signature = both.sign(ID, &SECOND.to_string(), BODY).unwrap();
        assert!(verified(&both, &new_signature, |_| ()) && verified(&both, SIGNATURE, |_| ()));
        assert!(!verified(&old, &new_signature, |_| ()));
        assert!(verified(&old, &format!("{new_signature} v1a,abcd {SIGNATURE}"), |_| ()));
        assert!(!verified(&secrets(&[]), SIGNATURE, |_| ()));
        assert_eq!(secrets(&[]).sign(ID, "1", BODY), None);
    }

    #[test]
    fn a_changed_message_or_signature_fails_verification() {
        let secrets = secrets(&[OLD]);
        assert!(!verified(&secrets, SIGNATURE, |message| message.id = "msg_other"));
        assert!(!verified(&secrets, SIGNATURE, |message| message.body = br#"{"test": 2432232315}"#));
        assert!(!verified(&secrets, SIGNATURE, |message| message.timestamp = "1614265331"));
        for signatures in [
            "",
            "v1,",
            "v1",
            "v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
            "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        ] {
            assert!(!verified(&secrets, signatures, |_| ()), "{signatures}");
        }
        assert!(!verified(&secrets, SIGNATURE.trim_end_matches("1OE="), |_| ()));
    }

    #[test]
    fn a_timestamp_may_differ_from_the_clock_by_up_to_five_minutes() {
        let secrets = secrets(&[OLD]);
        for (late, fresh) in
            [(0, true), (300, true), (301, false), (-300, true), (-301, false), (i64::MAX, false)]
        {
            let timestamp = SECOND.saturating_add(late).to_string();
            let signatures = secrets.sign(ID, &timestamp, BODY).unwrap();
            let now = Timestamp::from_unix_micros(SECOND * 1_000_000 + 999_999);
            let message =
                SignedMessage { id: ID, timestamp: &timestamp, signatures: &signatures, body: BODY };
            assert_eq!(secrets.verify(message, now), fresh, "{late}");
        }
        for timestamp in ["", "+1614265330", "-1", "1614265330.0", " 1614265330", "99999999999999999999"] {
            let signatures = secrets.sign(ID, timestamp, BODY).unwrap();
            assert!(!verified(&secrets, &signatures, |message| message.timestamp = timestamp), "{timestamp}");
        }
    }

    #[test]
    fn invalid_webhook_secrets_are_refused() {
        for (text, error) in [
            ("", SecretError::Prefix),
            ("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", SecretError::Prefix),
            ("whsec_", SecretError::Length),
            ("whsec_AAECAwQF", SecretError::Length),
            ("whsec_not base64", SecretError::Base64),
        ] {
            assert_eq!(SigningSecrets::parse([text]).unwrap_err(), error, "{text}");
        }
        assert_eq!(format!("{:?}", secrets(&[OLD, NEW])), "SigningSecrets(2)");
    }
}
