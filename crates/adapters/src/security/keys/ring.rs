//! The key ring: keys in the order of their file.

use std::fmt;

use anyhow::{Context, ensure};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::session::Candidates;
use secrecy::{ExposeSecret, SecretString};

use super::key::{Algorithm, Key, PublicKey};
use super::line;
use crate::security::random::{RandomSecrets, random};

/// A list of keys with distinct ids.
pub struct KeyRing(Vec<Key>);

impl fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeyRing").field(&self.0).finish()
    }
}

impl KeyRing {
    /// Creates a ring with one random key, which exists only in this process.
    ///
    /// # Errors
    /// When the operating system provides no randomness.
    pub fn random(secrets: RandomSecrets) -> anyhow::Result<Self> {
        let material = Algorithm::Hs256.generate(secrets)?;
        // Another process has another key, which must not have the same id.
        let id = format!("process-{:016x}", u64::from_be_bytes(random(secrets)));
        let line = line::new(&id, Algorithm::Hs256, material.expose_secret(), None)?;
        Self::parse(&SecretString::from(line))
    }

    /// Creates a ring without keys, for commands that need none.
    #[must_use]
    pub const fn empty() -> Self {
        Self(Vec::new())
    }

    /// Parses a text with one key per line. Empty lines and lines that start with `#` are ignored.
    ///
    /// # Errors
    /// When a line is invalid, an id is repeated, or there is no key.
    pub fn parse(text: &SecretString) -> anyhow::Result<Self> {
        let ring = Self(lines(text.expose_secret())?.into_iter().filter_map(|(_, key)| key).collect());
        ensure!(!ring.0.is_empty(), "it has no keys");
        Ok(ring)
    }

    /// Returns the key that signs at `now`: the first in the list that has started to sign and has not
    /// expired.
    #[must_use]
    pub fn signing(&self, now: Timestamp) -> Option<&Key> {
        self.0.iter().find(|key| key.signs(now))
    }

    /// Returns the key with an id, provided that it verifies at `now`.
    #[must_use]
    pub fn verifying(&self, id: &str, now: Timestamp) -> Option<&Key> {
        self.0.iter().find(|key| key.id == id && key.verifies(now))
    }

    /// Returns the key with an id, whether it still signs or not.
    pub(in crate::security) fn find(&self, id: &str) -> Option<&Key> {
        self.0.iter().find(|key| key.id == id)
    }

    /// Returns the key that signs at `now` and the others that verify; `None` if no key signs.
    pub(in crate::security) fn valid(&self, now: Timestamp) -> Option<Candidates<&Key>> {
        let current = self.signing(now)?;
        let others = self.0.iter().filter(|key| key.id != current.id && key.verifies(now)).collect();
        Some(Candidates { current, others })
    }

    /// Returns the key that signs at `now` and all others; `None` if no key signs.
    pub(in crate::security) fn all(&self, now: Timestamp) -> Option<Candidates<&Key>> {
        let current = self.signing(now)?;
        Some(Candidates { current, others: self.0.iter().filter(|key| key.id != current.id).collect() })
    }

    /// Returns the public keys of all keys that verify at `now`, including those that do not sign yet.
    #[must_use]
    pub fn public(&self, now: Timestamp) -> Vec<PublicKey> {
        self.0.iter().filter(|key| key.verifies(now)).filter_map(Key::public).collect()
    }
}

/// Returns each line of a text, with the key in it, if any.
///
/// # Errors
/// When a line is neither a key nor a comment, or an id is repeated.
pub(super) fn lines(text: &str) -> anyhow::Result<Vec<(&str, Option<Key>)>> {
    let mut lines: Vec<(&str, Option<Key>)> = Vec::new();
    for (number, line) in (1_usize..).zip(text.lines()) {
        let key = line::parse(line).with_context(|| format!("line {number}"))?;
        if let Some(Key { id, .. }) = &key {
            let known = lines.iter().filter_map(|(_, other)| other.as_ref()).any(|other| other.id == *id);
            ensure!(!known, "line {number}: the key id {id} is repeated");
        }
        lines.push((line, key));
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_unix_micros(seconds.saturating_mul(1_000_000))
    }

    fn ring(text: &str) -> anyhow::Result<KeyRing> {
        KeyRing::parse(&SecretString::from(text))
    }

    fn es256() -> String {
        let secrets = RandomSecrets::new().unwrap();
        Algorithm::Es256.generate(secrets).unwrap().expose_secret().to_owned()
    }

    fn refused(text: &str, reason: &str) {
        let error = format!("{:#}", ring(text).unwrap_err());
        assert!(error.contains(reason), "{text:?}: {error}");
        assert!(!error.contains("AAECAwQF"), "{error}");
    }

    #[test]
    fn the_first_key_signs_and_every_key_verifies() {
        let ring = ring(&format!("# keys\n\n new: {KEY}\nold:{}\n", KEY.trim_end_matches('='))).unwrap();
        assert_eq!(ring.signing(at(0)).unwrap().id(), "new");
        for (id, known) in [("new", true), ("old", true), ("", false), ("ol", false), ("OLD", false)] {
            assert_eq!(ring.verifying(id, at(0)).is_some(), known, "{id}");
        }
    }

    #[test]
    fn keys_sign_from_their_start_and_verify_until_their_end() {
        let text = format!(
            "c:{KEY} from=1970-01-01T00:00:30Z\n\
             b:hs256:{KEY} until=1970-01-01T00:01:00Z from=1970-01-01T01:00:10+01:00\n\
             a:{KEY} until=1970-01-01T00:00:20Z\n"
        );
        let ring = ring(&text).unwrap();
        for (seconds, signs, verify) in [
            (0, "a", "cba"),
            (9, "a", "cba"),
            (10, "b", "cba"),
            (20, "b", "cb"),
            (29, "b", "cb"),
            (30, "c", "cb"),
            (59, "c", "cb"),
            (60, "c", "c"),
        ] {
            assert_eq!(ring.signing(at(seconds)).unwrap().id(), signs, "{seconds}");
            let found: String =
                ["c", "b", "a"].into_iter().filter(|id| ring.verifying(id, at(seconds)).is_some()).collect();
            assert_eq!(found, verify, "{seconds}");
        }
    }

    #[test]
    fn a_key_ring_publishes_only_the_public_halves_of_es256_keys() {
        let (one, other) = (es256(), es256());
        let text = format!(
            "x:es256:{one} from=2100-01-01T00:00:00Z\nh:{KEY}\ny:es256:{other} until=1970-01-01T00:01:00Z"
        );
        let ring = ring(&text).unwrap();
        assert_eq!(ring.signing(at(0)).unwrap().algorithm(), Algorithm::Hs256);
        let ids = |seconds| ring.public(at(seconds)).into_iter().map(|key| key.id).collect::<Vec<_>>();
        assert_eq!(ids(59), ["x", "y"]);
        assert_eq!(ids(60), ["x"]);
        for PublicKey { x, y, .. } in ring.public(at(0)) {
            assert_eq!((x.len(), y.len()), (43, 43));
        }
    }

    #[test]
    fn debug_output_contains_no_key() {
        let (text, secret) = (format!("a:{KEY}\nb:es256:"), es256());
        let shown = format!("{:?}", ring(&format!("{text}{secret}")).unwrap());
        assert!(shown.contains("\"a\"") && shown.contains("Es256"), "{shown}");
        // Neither as text nor as bytes.
        for piece in [KEY.get(..12), Some("0, 1, 2"), secret.get(40..52)] {
            assert!(!shown.contains(piece.unwrap()), "{shown}");
        }
    }

    #[test]
    fn invalid_key_rings_are_refused() {
        refused("", "it has no keys");
        refused("# only a remark", "it has no keys");
        refused(KEY, "line 1: must be `kid:key`");
        refused(&format!("a:{KEY}\na:{KEY}"), "line 2: the key id a is repeated");
        refused(&format!(":{KEY}"), "line 1: a key id has");
        refused(&format!("a b:{KEY}"), "line 1: a key id has");
        refused(&format!("{KEY}:a"), "line 1: a key id has");
        refused("a:AAECAwQF", "line 1: the key is shorter than 32 bytes");
        refused("a:", "line 1: the key is shorter than 32 bytes");
        refused(&format!("a:{KEY}!"), "line 1: the key is not base64");
        refused(&format!("a:hs512:{KEY}"), "line 1: the algorithm must be hs256 or es256");
        refused(&format!("a:none:{KEY}"), "line 1: the algorithm must be hs256 or es256");
        refused(&format!("a:es256:{KEY}"), "line 1: the key is not PKCS #8 of a P-256 key");
        refused(&format!("a:{KEY} {KEY}"), "line 1: only `from=…` and `until=…` may follow the key");
        refused(&format!("a:{KEY} from=tomorrow"), "line 1: `from` is not a timestamp");
        refused(&format!("a:{KEY} until=2026-11-20"), "line 1: `until` is not a timestamp");
        let twice = "until=2026-11-20T12:00:00Z until=2026-11-20T12:00:00Z";
        refused(&format!("a:{KEY} {twice}"), "line 1: `until` is repeated");
    }
}
