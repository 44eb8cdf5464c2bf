//! Access tokens: only a signed token with every claim valid authenticates a principal.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use cuepoint_adapters::security::keys::KeysInForce;
use cuepoint_adapters::security::random::RandomSecrets;
use cuepoint_adapters::security::tokens::SignedTokens;
use cuepoint_domain::authorization::{Epoch, Principal};
use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::Role;
use hmac::{Hmac, KeyInit, Mac};
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::Sha256;
use time::Duration;

use crate::split;

/// The second at which every token is presented.
const NOW: i64 = 1_800_000_000;
/// The tolerated clock skew between two servers, in seconds.
const LEEWAY: i64 = 30;
/// The keys of the ring by id; the first one signs.
const KEYS: [(&str, &[u8]); 2] =
    [("new", b"the first key has more than 32 bytes"), ("old", b"the second key has more than 32 bytes")];

/// Returns the service's tokens with these keys; the only place that depends on their construction.
fn tokens() -> Option<SignedTokens> {
    let ring = KEYS.map(|(id, key)| format!("{id}:{}", STANDARD.encode(key))).join("\n");
    let keys = KeysInForce::parse(&ring.into(), now()).ok()?;
    Some(SignedTokens::new(keys, Duration::minutes(15), RandomSecrets::new().ok()?))
}

/// Returns a token as the service issues it.
fn issued(tokens: &SignedTokens) -> Option<String> {
    let session = SessionId::new(9)?;
    let caller = Principal { user: UserId::new(7)?, role: Role::Member, is_dj: true, session };
    Some(tokens.issue(&caller, Epoch(0), now()).ok()?.token)
}

/// The input is a token, or the header and the claims of a token on two lines, signed here with the key that
/// the header names, or with the first key.
pub(crate) fn check(input: &[u8]) {
    let Some(tokens) = tokens() else { return };
    let (header, claims) = split(input);
    let header_value: Value = serde_json::from_slice(header).unwrap_or_default();
    let known = KEYS.iter().find(|(id, _)| header_value.get("kid").is_some_and(|kid| kid == id));
    let (_, key) = known.unwrap_or(&KEYS[0]);
    let Some(signed) = signed(key, header, claims) else { return };
    if let Ok(caller) = tokens.verify(&signed, Epoch(0), now()) {
        assert!(known.is_some(), "signed with a key that it does not name");
        check_header(&header_value);
        check_claims(claims, &caller);
    }
    check_forgery(&tokens, input, &signed);
}

fn check_header(header: &Value) {
    assert_eq!(header.get("alg").and_then(Value::as_str), Some("HS256"), "{header}");
    assert_eq!(header.get("typ").and_then(Value::as_str), Some("JWT"), "{header}");
    assert!(header.get("crit").is_none_or(Value::is_null), "{header}");
}

/// Checks the claims by their names; a value that the service does not read is any JSON text in UTF-8.
fn check_claims(claims: &[u8], caller: &Principal) {
    let claims: Claims<'_> = serde_json::from_slice(claims).unwrap_or_default();
    let text = |name| value::<String>(&claims, name);
    let time = |name| value::<i64>(&claims, name);
    let issued = (text("iss"), text("aud"));
    assert_eq!(issued, (Some("cuepoint".to_owned()), Some("cuepoint-api".to_owned())), "{claims:?}");
    let subject = text("sub").and_then(|subject| subject.parse().ok()).and_then(UserId::new);
    assert_eq!(subject, Some(caller.user), "{claims:?}");
    assert!(text("jti").is_some(), "{claims:?}");
    assert!(time("exp").is_some_and(|ends| ends.saturating_add(LEEWAY) >= NOW), "{claims:?}");
    for begins in ["nbf", "iat"] {
        assert!(time(begins).is_some_and(|begins| begins.saturating_sub(LEEWAY) <= NOW), "{claims:?}");
    }
    let role = match caller.role {
        Role::Guest => "guest",
        Role::Member => "member",
        Role::Operator => "operator",
        Role::Auditor => "auditor",
        Role::Unknown(name) => name.as_str(),
    };
    assert!(!matches!(caller.role, Role::Unknown(_)), "a token gives the role {role}");
    assert_eq!(text("role").as_deref(), Some(role), "{claims:?}");
    assert_eq!(time("sid").and_then(SessionId::new), Some(caller.session), "{claims:?}");
    assert_eq!(value::<bool>(&claims, "dj"), Some(caller.is_dj), "{claims:?}");
}

/// The text of the value of each claim by its name.
type Claims<'a> = BTreeMap<String, &'a RawValue>;

fn value<T: DeserializeOwned>(claims: &Claims<'_>, name: &str) -> Option<T> {
    claims.get(name).and_then(|text| serde_json::from_str(text.get()).ok())
}

/// Checks that the input is never accepted as a token, as a signature, or as a modification of a genuine
/// token.
fn check_forgery(tokens: &SignedTokens, input: &[u8], signed: &str) {
    let text = String::from_utf8_lossy(input);
    let refused = |token: &str| tokens.verify(token, Epoch(0), now()).is_err();
    assert!(refused(&text), "{text:?} was accepted as a token");
    let (unsigned, _) = signed.rsplit_once('.').unwrap_or_default();
    for forged in [unsigned.to_owned(), format!("{unsigned}."), format!("{unsigned}.{text}")] {
        assert!(refused(&forged), "{forged:?} is not signed");
    }
    let Some(genuine) = issued(tokens) else { return };
    assert!(!refused(&genuine), "the service refuses its own token");
    let parts: Vec<&str> = genuine.split('.').collect();
    for (at, part) in parts.iter().enumerate() {
        let other = URL_SAFE_NO_PAD.encode(input);
        if other != *part {
            let changed: Vec<&str> = parts
                .iter()
                .enumerate()
                .map(|(i, part)| if i == at { other.as_str() } else { *part })
                .collect();
            assert!(refused(&changed.join(".")), "{other:?} in place of part {at}");
        }
    }
}

fn signed(key: &[u8], header: &[u8], claims: &[u8]) -> Option<String> {
    let unsigned = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
    let tag = Hmac::<Sha256>::new_from_slice(key).ok()?.chain_update(&unsigned).finalize().into_bytes();
    Some(format!("{unsigned}.{}", URL_SAFE_NO_PAD.encode(tag)))
}

fn now() -> Timestamp {
    Timestamp::from_unix_micros(NOW.saturating_mul(1_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_token_is_accepted() {
        let (header, claims) = split(include_bytes!("../corpus/token/accepted"));
        let token = signed(KEYS[0].1, header, claims).unwrap();
        assert!(
            tokens().unwrap().verify(&token, Epoch(0), now()).is_ok(),
            "the seed lacks what a token needs"
        );
    }
}
