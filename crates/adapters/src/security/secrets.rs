//! Refresh tokens, reset tokens and codes, random or derived, and their stored hashes.

use cuepoint_domain::gig::DjCode;
use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::ports::{LowEntropyValue, PasswordHash, Secrets, Token, Unavailable};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::guest_account::GuestKey;
use cuepoint_domain::user::session::{Candidates, SecretKind, TokenHash};
use sha2::{Digest, Sha256};

use super::keys::KeysInForce;
use super::random::{RandomSecrets, encoded, random};

/// The labels of derivations, one per purpose; none is a prefix of another.
const SUCCESSOR_LABEL: &[u8] = b"successor\0";
const REGISTRATION_LABEL: &[u8] = b"registration\0";
const REGISTRATION_COOKIE_LABEL: &[u8] = b"cookie of registration\0";
const GUEST_LABEL: &[u8] = b"guest account\0";
const GUEST_COOKIE_LABEL: &[u8] = b"cookie of guest account\0";
const RESTORATION_LABEL: &[u8] = b"restoration\0";
const CODE_LABEL: &[u8] = b"code\0";
const PHONE_NUMBER_LABEL: &[u8] = b"phone number\0";
const NETWORK_LABEL: &[u8] = b"network\0";
const ENDPOINT_BODY_LABEL: &[u8] = b"endpoint body\0";

/// The reason why a derivation fails.
const NO_KEY_SIGNS: &str = "no key signs at this moment";

/// A source of random secrets, and of refresh tokens and hashes derived from the signing keys of access
/// tokens.
#[derive(Clone, Debug)]
pub struct KeyedSecrets {
    random: RandomSecrets,
    keys: KeysInForce,
}

impl KeyedSecrets {
    /// Creates a source from this randomness and these keys.
    #[must_use]
    pub const fn new(random: RandomSecrets, keys: KeysInForce) -> Self {
        Self { random, keys }
    }

    /// Returns the token that each valid key derives from the parts. Only the last part may vary in length,
    /// so that distinct lists never have the same concatenation.
    fn derive(&self, parts: &[&[u8]], now: Timestamp) -> Result<Candidates<Token>, Unavailable> {
        let ring = self.keys.ring();
        let keys = ring.valid(now).ok_or_else(|| Unavailable::new(NO_KEY_SIGNS))?;
        Ok(keys.map(|key| encoded(key.derivation().derive(parts))))
    }
}

impl Secrets for KeyedSecrets {
    fn token(&self) -> Token {
        self.random.token()
    }

    fn code(&self) -> Token {
        // 2^64 is so much larger than a million that no code is likelier than another by more than 1 in
        // 10^13.
        let number = u64::from_be_bytes(random(self.random)).checked_rem(1_000_000).unwrap_or_default();
        Token(format!("{number:06}"))
    }

    fn dj_code(&self) -> DjCode {
        // As for a code of six digits.
        DjCode::of_number(u64::from_be_bytes(random(self.random)))
    }

    fn successors(&self, presented: &Token, now: Timestamp) -> Result<Candidates<Token>, Unavailable> {
        self.derive(&[SUCCESSOR_LABEL, presented.0.as_bytes()], now)
    }

    fn first_secrets(
        &self,
        kind: SecretKind,
        session: SessionId,
        password: &PasswordHash,
        now: Timestamp,
    ) -> Result<Candidates<Token>, Unavailable> {
        let label = match kind {
            SecretKind::RefreshToken => REGISTRATION_LABEL,
            SecretKind::Cookie => REGISTRATION_COOKIE_LABEL,
        };
        self.derive(&[label, &session.get().to_be_bytes(), password.0.as_bytes()], now)
    }

    fn guest_secrets(
        &self,
        kind: SecretKind,
        key: &GuestKey,
        now: Timestamp,
    ) -> Result<Candidates<Token>, Unavailable> {
        let label = match kind {
            SecretKind::RefreshToken => GUEST_LABEL,
            SecretKind::Cookie => GUEST_COOKIE_LABEL,
        };
        self.derive(&[label, &key.0], now)
    }

    fn restore_tokens(
        &self,
        user: UserId,
        changed_at: Timestamp,
        now: Timestamp,
    ) -> Result<Candidates<Token>, Unavailable> {
        let (user, changed_at) = (user.get().to_be_bytes(), changed_at.unix_micros().to_be_bytes());
        let ring = self.keys.ring();
        let keys = ring.all(now).ok_or_else(|| Unavailable::new(NO_KEY_SIGNS))?;
        Ok(keys.map(|key| encoded(key.derivation().derive(&[RESTORATION_LABEL, &user, &changed_at]))))
    }

    fn keyed_hashes(
        &self,
        what: LowEntropyValue,
        text: &str,
        now: Timestamp,
    ) -> Result<Candidates<TokenHash>, Unavailable> {
        let label = match what {
            LowEntropyValue::Code => CODE_LABEL,
            LowEntropyValue::PhoneNumber => PHONE_NUMBER_LABEL,
            LowEntropyValue::Network => NETWORK_LABEL,
            LowEntropyValue::EndpointBody => ENDPOINT_BODY_LABEL,
        };
        let ring = self.keys.ring();
        let keys = ring.all(now).ok_or_else(|| Unavailable::new(NO_KEY_SIGNS))?;
        Ok(keys.map(|key| TokenHash(key.derivation().derive(&[label, text.as_bytes()]))))
    }

    fn fingerprint(&self, token: &Token) -> TokenHash {
        TokenHash(Sha256::digest(token.0.as_bytes()).into())
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use secrecy::SecretString;
    use time::Duration;

    use super::*;
    use crate::security::keys::{Algorithm, KeyRing, OlderKeys, Rotation, rotate};

    const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const OTHER: &str = "HwECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const THIRD: &str = "IAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const NOW: Timestamp = Timestamp::EPOCH;

    fn secrets(keys: &str) -> KeyedSecrets {
        let keys = KeysInForce::parse(&SecretString::from(keys), NOW).unwrap();
        KeyedSecrets::new(RandomSecrets::new().unwrap(), keys)
    }

    fn successor(keys: &str, presented: &str) -> Token {
        secrets(keys).successors(&Token(presented.to_owned()), NOW).unwrap().current
    }

    fn first_token(kind: SecretKind, keys: &str, session: i64, password: &str) -> Token {
        let (session, password) = (SessionId::new(session).unwrap(), PasswordHash(password.to_owned()));
        secrets(keys).first_secrets(kind, session, &password, NOW).unwrap().current
    }

    fn guest_secret(kind: SecretKind) -> Token {
        let key = GuestKey::new(&"k".repeat(22)).unwrap();
        secrets(&format!("a:{KEY}")).guest_secrets(kind, &key, NOW).unwrap().current
    }

    #[test]
    fn tokens_have_32_random_bytes_and_codes_six_digits() {
        let secrets = secrets(&format!("a:{KEY}"));
        let (one, two) = (secrets.token(), secrets.token());
        assert!(one != two);
        assert_eq!(URL_SAFE_NO_PAD.decode(&one.0).unwrap().len(), 32);
        let code = secrets.code().0;
        assert!(code.len() == 6 && code.bytes().all(|byte| byte.is_ascii_digit()), "{code}");
    }

    #[test]
    fn the_fingerprint_of_a_token_is_its_sha256_hash() {
        let TokenHash(hash) = secrets(&format!("a:{KEY}")).fingerprint(&Token("abc".to_owned()));
        assert_eq!(hash[..4], [0xba, 0x78, 0x16, 0xbf]);
    }

    #[test]
    fn restoration_tokens_are_derived_with_every_key() {
        let user = UserId::new(1).unwrap();
        let tokens = |keys: &str, at| secrets(keys).restore_tokens(user, at, NOW).unwrap();
        let before = tokens(&format!("a:{KEY}"), NOW).current;
        assert!(
            tokens(&format!("b:{OTHER}\na:{KEY} until=1970-01-01T00:00:00Z"), NOW).others.contains(&before)
        );
        assert_ne!(tokens(&format!("a:{KEY}"), NOW.plus(Duration::MICROSECOND)).current, before);
    }

    #[test]
    fn a_derived_token_depends_on_its_key_and_inputs() {
        let (a, b) = (format!("a:{KEY}"), format!("a:{OTHER}"));
        let tokens = [
            successor(&a, "one"),
            successor(&a, "two"),
            successor(&b, "one"),
            first_token(SecretKind::RefreshToken, &a, 1, "hash"),
            first_token(SecretKind::RefreshToken, &a, 2, "hash"),
            first_token(SecretKind::RefreshToken, &a, 1, "hash of another"),
            first_token(SecretKind::RefreshToken, &b, 1, "hash"),
            first_token(SecretKind::Cookie, &a, 1, "hash"),
            guest_secret(SecretKind::RefreshToken),
            guest_secret(SecretKind::Cookie),
        ];
        for (number, token) in tokens.iter().enumerate() {
            assert_eq!(URL_SAFE_NO_PAD.decode(&token.0).unwrap().len(), 32);
            assert!(!tokens[..number].contains(token), "{number}");
        }
        // Another process with the same key material under another id.
        assert!(successor(&format!("b:{KEY}"), "one") == tokens[0]);
        assert!(first_token(SecretKind::RefreshToken, &format!("b:{KEY}"), 1, "hash") == tokens[3]);
    }

    #[test]
    fn token_successors_are_derived_with_each_valid_key() {
        let before = SecretString::from(format!("old:{KEY}"));
        let presented = Token("one".to_owned());
        for algorithm in [Algorithm::Hs256, Algorithm::Es256] {
            let asked = Rotation {
                algorithm: Some(algorithm),
                signs_in: Duration::seconds(10),
                access_token_ttl: Duration::minutes(15),
                older: OlderKeys::Verify,
            };
            let random = RandomSecrets::new().unwrap();
            let rotated = KeyRing::parse(&rotate(&before, asked, NOW, random).unwrap().text).unwrap();
            let secrets = KeyedSecrets::new(random, KeysInForce::fixed(rotated));
            let at = |seconds| {
                let now = NOW.plus(Duration::seconds(seconds));
                secrets.successors(&presented, now).unwrap()
            };
            let (before_it_signs, after) = (at(9), at(10));
            let old = successor(&format!("old:{KEY}"), "one");
            assert!(before_it_signs.current == old && before_it_signs.others.len() == 1);
            assert!(after.current == before_it_signs.others[0] && after.others == [old]);
            // An expired key derives nothing.
            assert!(at(3_600).others.is_empty());
        }
    }

    #[test]
    fn low_entropy_values_are_hashed_under_each_key() {
        let hashes = |keys: &str, what, text: &str| secrets(keys).keyed_hashes(what, text, NOW).unwrap();
        let (a, b) = (format!("a:{KEY}"), format!("b:{OTHER}"));
        let of_a = hashes(&a, LowEntropyValue::Code, "email:2:042137");
        assert!(of_a.others.is_empty());
        // The hash depends on the purpose but not on the id of the key, and no unkeyed hash equals it.
        assert!(hashes(&format!("x:{KEY}"), LowEntropyValue::Code, "email:2:042137") == of_a);
        let different = [
            hashes(&a, LowEntropyValue::Code, "email:2:042138").current,
            hashes(&a, LowEntropyValue::PhoneNumber, "email:2:042137").current,
            hashes(&a, LowEntropyValue::Network, "email:2:042137").current,
            hashes(&b, LowEntropyValue::Code, "email:2:042137").current,
            secrets(&a).fingerprint(&Token("email:2:042137".to_owned())),
            TokenHash(Sha256::digest(b"code\0email:2:042137").into()),
        ];
        assert!(!different.contains(&of_a.current));
        for what in [LowEntropyValue::PhoneNumber, LowEntropyValue::Network, LowEntropyValue::EndpointBody] {
            assert!(hashes(&a, what, "one").current != hashes(&b, what, "one").current, "{what:?}");
            assert!(hashes(&a, what, "one").current != hashes(&a, LowEntropyValue::Code, "one").current);
        }
        // Keys that have expired or do not sign yet are included.
        let keys = format!("{b}\n{a} until=1970-01-01T00:00:00Z\nc:{THIRD} from=2100-01-01T00:00:00Z");
        let all = hashes(&keys, LowEntropyValue::Code, "email:2:042137");
        assert!(all.current != of_a.current && all.others.contains(&of_a.current) && all.others.len() == 2);
    }

    #[test]
    fn no_token_or_keyed_hash_is_derived_without_a_valid_key() {
        let keys = format!("a:{KEY} until=1970-01-01T00:00:01Z");
        let secrets = secrets(&keys);
        assert!(secrets.successors(&Token("one".to_owned()), NOW).is_ok());
        let later = NOW.plus(Duration::SECOND);
        assert!(secrets.successors(&Token("one".to_owned()), later).is_err());
        assert!(secrets.keyed_hashes(LowEntropyValue::Code, "one", later).is_err());
    }
}
