//! Nonces of `cuepoint doctor`, with which a server echoes what it sees of a request.
//!
//! A nonce is derived from the signing keys, so only who can read them learns what the server sees. It is valid for a
//! minute, and repeatable within it.

use cuepoint_domain::ports::Unavailable;
use cuepoint_domain::timestamp::Timestamp;
use time::Duration;

use super::keys::KeysInForce;
use super::random::{RandomSecrets, encoded};

/// The label of the derivation; see [`secrets`](super::secrets).
const LABEL: &[u8] = b"echo\0";
/// The lifetime of a nonce, also backwards, because the clocks of two machines may differ.
const VALID_FOR: Duration = Duration::seconds(60);

/// Issues and verifies nonces.
#[derive(Clone, Debug)]
pub struct EchoNonces {
    keys: KeysInForce,
}

impl EchoNonces {
    /// Nonces under these signing keys.
    #[must_use]
    pub const fn new(keys: KeysInForce) -> Self {
        Self { keys }
    }

    /// Issues a nonce: the time, a random part and its signature, separated by points.
    ///
    /// # Errors
    /// When no key signs at this moment.
    pub fn issue(&self, secrets: RandomSecrets, now: Timestamp) -> Result<String, Unavailable> {
        let signed = format!("{}.{}", now.unix_micros(), secrets.token().0);
        let ring = self.keys.ring();
        let key = ring.signing(now).ok_or_else(|| Unavailable::new("no key signs at this moment"))?;
        let signature = encoded(key.derivation().derive(&[LABEL, signed.as_bytes()]));
        Ok(format!("{signed}.{}", signature.0))
    }

    /// Whether a nonce was issued under one of the keys that verify now, and is still valid.
    #[must_use]
    pub fn admit(&self, nonce: &str, now: Timestamp) -> bool {
        let Some((signed, signature)) = nonce.rsplit_once('.') else { return false };
        let issued = signed.split_once('.').and_then(|(micros, _)| micros.parse().ok());
        let Some(issued) = issued.map(Timestamp::from_unix_micros) else { return false };
        let ring = self.keys.ring();
        let is_signed = ring.valid(now).is_some_and(|keys| {
            let mut candidates = std::iter::once(keys.current).chain(keys.others);
            candidates.any(|key| key.derivation().verifies(&[LABEL, signed.as_bytes()], signature))
        });
        is_signed && now.since(issued).abs() <= VALID_FOR
    }
}

#[cfg(test)]
mod tests {
    use secrecy::SecretString;

    use super::*;

    const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const OTHER: &str = "HwECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

    fn nonces(keys: &str) -> EchoNonces {
        EchoNonces::new(KeysInForce::parse(&SecretString::from(keys), Timestamp::EPOCH).unwrap())
    }

    #[test]
    fn a_nonce_is_admitted_for_a_minute_under_the_same_keys() {
        let own = nonces(&format!("a:{KEY}"));
        let now = Timestamp::EPOCH.plus(Duration::hours(1));
        let nonce = own.issue(RandomSecrets::new().unwrap(), now).unwrap();
        for (seconds, is_admitted) in [(-61, false), (-60, true), (0, true), (60, true), (61, false)] {
            assert_eq!(own.admit(&nonce, now.plus(Duration::seconds(seconds))), is_admitted, "{seconds}");
        }
        // After a rotation, but not on a server of another deployment.
        assert!(nonces(&format!("b:{OTHER}\na:{KEY}")).admit(&nonce, now));
        assert!(!nonces(&format!("a:{OTHER}")).admit(&nonce, now));
    }

    #[test]
    fn an_altered_nonce_is_not_admitted() {
        let own = nonces(&format!("a:{KEY}"));
        let nonce = own.issue(RandomSecrets::new().unwrap(), Timestamp::EPOCH).unwrap();
        let later = nonce.replacen("0.", "1.", 1);
        let mut shortened = nonce.clone();
        shortened.pop();
        for altered in
            [later.as_str(), &shortened, "", ".", "..", "0.x.", &format!("{nonce}A"), &"9".repeat(90)]
        {
            assert!(!own.admit(altered, Timestamp::EPOCH), "{altered}");
        }
    }
}
