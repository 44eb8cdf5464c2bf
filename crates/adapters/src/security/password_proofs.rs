//! Proofs that a session has presented the right password a short time ago.
//!
//! A proof is signed under the signing keys, so that every server accepts it and none stores it. It names its session:
//! it is useless in another one, and ends with it.

use cuepoint_domain::ids::SessionId;
use cuepoint_domain::ports::Unavailable;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::RecentPassword;

use super::keys::KeysInForce;
use super::random::encoded;

/// The label of the derivation; see [`secrets`](super::secrets).
const LABEL: &[u8] = b"recent password\0";

/// Issues and reads proofs.
#[derive(Clone, Debug)]
pub struct PasswordProofs {
    keys: KeysInForce,
}

impl PasswordProofs {
    /// Proofs under these signing keys.
    #[must_use]
    pub const fn new(keys: KeysInForce) -> Self {
        Self { keys }
    }

    /// Issues a proof: the time of the check and its signature with the session, separated by a point.
    ///
    /// # Errors
    /// When no key signs at this moment.
    pub fn issue(&self, recent: RecentPassword, now: Timestamp) -> Result<String, Unavailable> {
        let checked_at = recent.checked_at.unix_micros();
        let ring = self.keys.ring();
        let key = ring.signing(now).ok_or_else(|| Unavailable::new("no key signs at this moment"))?;
        let signature = encoded(key.derivation().derive(&[LABEL, &signed(recent.session, checked_at)]));
        Ok(format!("{checked_at}.{}", signature.0))
    }

    /// The password that a proof names, if it was issued for this session under one of the keys that verify now, and still
    /// counts.
    #[must_use]
    pub fn read(&self, proof: &str, session: SessionId, now: Timestamp) -> Option<RecentPassword> {
        let (checked_at, signature) = proof.split_once('.')?;
        let checked_at: i64 = checked_at.parse().ok()?;
        let ring = self.keys.ring();
        let keys = ring.valid(now)?;
        let mut candidates = std::iter::once(keys.current).chain(keys.others);
        let signed = signed(session, checked_at);
        let is_signed = candidates.any(|key| key.derivation().verifies(&[LABEL, &signed], signature));
        let recent = RecentPassword { session, checked_at: Timestamp::from_unix_micros(checked_at) };
        (is_signed && recent.counts(session, now)).then_some(recent)
    }
}

/// What a proof signs: its session and the time.
fn signed(session: SessionId, checked_at: i64) -> [u8; 16] {
    let both = (i128::from(session.get()) << 64) | i128::from(checked_at.cast_unsigned());
    both.to_be_bytes()
}

#[cfg(test)]
mod tests {
    use secrecy::SecretString;
    use time::Duration;

    use super::*;

    const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const OTHER: &str = "HwECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

    fn proofs(keys: &str) -> PasswordProofs {
        PasswordProofs::new(KeysInForce::parse(&SecretString::from(keys), Timestamp::EPOCH).unwrap())
    }

    fn session(id: i64) -> SessionId {
        SessionId::new(id).unwrap()
    }

    /// Attack API2: the proof of one session is used in another one, later, or by a server of another deployment.
    #[test]
    fn a_proof_counts_for_five_minutes_in_its_session_and_under_the_same_keys() {
        let own = proofs(&format!("a:{KEY}"));
        let now = Timestamp::EPOCH.plus(Duration::hours(1));
        let recent = RecentPassword { session: session(7), checked_at: now };
        let proof = own.issue(recent, now).unwrap();
        let later = |seconds| now.plus(Duration::seconds(seconds));
        assert_eq!(own.read(&proof, session(7), later(300)), Some(recent));
        assert_eq!(own.read(&proof, session(7), later(301)), None);
        assert_eq!(own.read(&proof, session(8), now), None);
        assert_eq!(proofs(&format!("b:{OTHER}\na:{KEY}")).read(&proof, session(7), now), Some(recent));
        assert_eq!(proofs(&format!("a:{OTHER}")).read(&proof, session(7), now), None);
    }

    /// Attack API2: the time of a proof is changed, or a proof is made up.
    #[test]
    fn an_altered_proof_does_not_count() {
        let own = proofs(&format!("a:{KEY}"));
        let recent = RecentPassword { session: session(7), checked_at: Timestamp::EPOCH };
        let proof = own.issue(recent, Timestamp::EPOCH).unwrap();
        let later = proof.replacen("0.", "300000000.", 1);
        let (_, signature) = proof.split_once('.').unwrap();
        let short = proof.get(..proof.len() - 1).unwrap().to_owned();
        for altered in ["", ".", "0.", "x.y", signature, later.as_str(), &short, &format!("{proof}A")] {
            assert_eq!(own.read(altered, session(7), Timestamp::EPOCH), None, "{altered}");
        }
    }
}
