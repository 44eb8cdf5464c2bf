//! Known browsers, in which a session of an account began. Wrong passwords elsewhere do not stop their logins.
//!
//! The browser keeps a proof for each of its accounts. A signing key signs the proof together with the mark of the
//! password. Every server accepts the proof, and none stores it. It is void once the password changes. It logs nobody in.

use cuepoint_domain::ids::{SessionId, UserId, written};
use cuepoint_domain::ports::Unavailable;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::PasswordMark;

use super::keys::KeysInForce;
use super::random::encoded;

/// The label of the derivation; see [`secrets`](super::secrets).
const LABEL: &[u8] = b"known browser\0";

/// The number of accounts whose proofs a browser keeps.
const MOST_ACCOUNTS: usize = 4;

/// Separates the proofs of a cookie.
const SEPARATOR: char = '~';

/// The length of a signature in base64: 256 bits.
const SIGNATURE_LENGTH: usize = 43;

/// Issues and reads the proofs of browsers.
#[derive(Clone, Debug)]
pub struct KnownBrowsers {
    keys: KeysInForce,
}

/// A proof as a browser sent it: user, session and signature, separated by points.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Proof<'c> {
    user: UserId,
    session: SessionId,
    signature: &'c str,
}

impl<'c> Proof<'c> {
    fn read(text: &'c str) -> Option<Self> {
        let (user, rest) = text.split_once('.')?;
        let (session, signature) = rest.split_once('.')?;
        let user = written(user).and_then(UserId::new)?;
        let session = written(session).and_then(SessionId::new)?;
        (signature.len() == SIGNATURE_LENGTH).then_some(Self { user, session, signature })
    }
}

/// The proofs in a cookie, newest first. Malformed ones are skipped.
fn proofs(cookie: &str) -> impl Iterator<Item = (Proof<'_>, &str)> {
    let read = cookie.split(SEPARATOR).map(|text| Proof::read(text).map(|proof| (proof, text)));
    read.flatten().take(MOST_ACCOUNTS)
}

impl KnownBrowsers {
    /// Known browsers under these signing keys.
    #[must_use]
    pub const fn new(keys: KeysInForce) -> Self {
        Self { keys }
    }

    /// The cookie of a browser in which this session of a user with this password began. It keeps the newest proofs of
    /// other users from the cookie `before`.
    ///
    /// # Errors
    /// When no key signs at this moment.
    pub fn issue(
        &self,
        before: Option<&str>,
        (user, session): (UserId, SessionId),
        mark: &PasswordMark,
        now: Timestamp,
    ) -> Result<String, Unavailable> {
        let ring = self.keys.ring();
        let key = ring.signing(now).ok_or_else(|| Unavailable::new("no key signs at this moment"))?;
        let signature = encoded(key.derivation().derive(&[LABEL, &named(user, session), mark.as_bytes()]));
        let mut cookie = format!("{user}.{session}.{}", signature.0);
        let others = proofs(before.unwrap_or_default()).filter(|(proof, _)| proof.user != user);
        for (_, other) in others.take(MOST_ACCOUNTS.saturating_sub(1)) {
            cookie.push(SEPARATOR);
            cookie.push_str(other);
        }
        Ok(cookie)
    }

    /// Whether a cookie has a well-formed proof. Only then is its user read from the database.
    #[must_use]
    pub fn may_know(cookie: &str) -> bool {
        proofs(cookie).next().is_some()
    }

    /// The session that began in the browser with this cookie, if the cookie has a genuine proof for this user with this
    /// password.
    #[must_use]
    pub fn session(
        &self,
        cookie: &str,
        user: UserId,
        mark: &PasswordMark,
        now: Timestamp,
    ) -> Option<SessionId> {
        let (proof, _) = proofs(cookie).find(|(proof, _)| proof.user == user)?;
        let ring = self.keys.ring();
        let keys = ring.valid(now)?;
        let signed = named(user, proof.session);
        let mut candidates = std::iter::once(keys.current).chain(keys.others);
        let parts: [&[u8]; 3] = [LABEL, &signed, mark.as_bytes()];
        let is_signed = candidates.any(|key| key.derivation().verifies(&parts, proof.signature));
        is_signed.then_some(proof.session)
    }
}

/// The user and the session that a proof names, as bytes.
fn named(user: UserId, session: SessionId) -> [u8; 16] {
    let both = (i128::from(user.get()) << 64) | i128::from(session.get());
    both.to_be_bytes()
}

#[cfg(test)]
mod tests {
    use cuepoint_domain::user::PasswordHash;
    use secrecy::SecretString;

    use super::*;

    const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const OTHER: &str = "HwECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const NOW: Timestamp = Timestamp::EPOCH;

    fn browsers(keys: &str) -> KnownBrowsers {
        KnownBrowsers::new(KeysInForce::parse(&SecretString::from(keys), NOW).unwrap())
    }

    fn user(id: i64) -> UserId {
        UserId::new(id).unwrap()
    }

    fn session(id: i64) -> SessionId {
        SessionId::new(id).unwrap()
    }

    fn mark(salt: &str) -> PasswordMark {
        PasswordHash(format!("$argon2id$v=19$m=8192,t=2,p=1${salt}$hash")).mark().unwrap()
    }

    /// Attack API2: the proof of an account is used for another one, or after its password changed.
    #[test]
    fn a_proof_counts_for_its_user_until_the_password_changes() {
        let own = browsers(&format!("a:{KEY}"));
        let cookie = own.issue(None, (user(7), session(41)), &mark("salt"), NOW).unwrap();
        assert_eq!(own.session(&cookie, user(7), &mark("salt"), NOW), Some(session(41)));
        assert_eq!(own.session(&cookie, user(8), &mark("salt"), NOW), None);
        assert_eq!(own.session(&cookie, user(7), &mark("other"), NOW), None);
        let rotated = browsers(&format!("b:{OTHER}\na:{KEY}"));
        assert_eq!(rotated.session(&cookie, user(7), &mark("salt"), NOW), Some(session(41)));
        assert_eq!(browsers(&format!("a:{OTHER}")).session(&cookie, user(7), &mark("salt"), NOW), None);
    }

    /// Attack API2: a proof is made up, or names another user or session.
    #[test]
    fn an_altered_proof_does_not_count() {
        let own = browsers(&format!("a:{KEY}"));
        let cookie = own.issue(None, (user(7), session(41)), &mark("salt"), NOW).unwrap();
        let signature = cookie.rsplit('.').next().unwrap();
        for altered in [
            String::new(),
            "~~~".to_owned(),
            "7.41".to_owned(),
            "7.41.".to_owned(),
            format!("7.42.{signature}"),
            format!("07.41.{signature}"),
            format!("-7.41.{signature}"),
            format!("{cookie}A"),
            cookie.replacen('.', "..", 1),
        ] {
            assert_eq!(own.session(&altered, user(7), &mark("salt"), NOW), None, "{altered}");
        }
        let other = cookie.replacen("7.", "8.", 1);
        assert_eq!(own.session(&other, user(8), &mark("salt"), NOW), None);
    }

    #[test]
    fn a_browser_keeps_the_proofs_of_its_newest_four_accounts() {
        let own = browsers(&format!("a:{KEY}"));
        let mut cookie = String::from("rubbish~1.2.x");
        for id in [2, 3, 4, 5, 6, 4] {
            cookie = own.issue(Some(&cookie), (user(id), session(id)), &mark("salt"), NOW).unwrap();
        }
        let kept = |id| own.session(&cookie, user(id), &mark("salt"), NOW).is_some();
        assert_eq!([1, 2, 3, 4, 5, 6].map(kept), [false, false, true, true, true, true]);
        assert!(cookie.len() < 400, "{cookie}");
    }
}
