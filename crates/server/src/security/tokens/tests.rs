use biscuit::jwa::SignatureAlgorithm;
use biscuit::jws::Secret;
use serde_json::{Value, json};

use super::*;

const NOW: i64 = 1_800_000_000;
const NEW_KEY: &[u8] = b"the first key has more than 32 bytes";
const OLD_KEY: &[u8] = b"the second key has more than 32 bytes";

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_unix_micros(seconds.saturating_mul(1_000_000))
}

fn ring() -> KeyRing {
    let base64 = |key| base64::engine::general_purpose::STANDARD.encode(key);
    KeyRing::parse(&format!("new:{}\nold:{}", base64(NEW_KEY), base64(OLD_KEY))).unwrap()
}

fn tokens() -> AccessTokens {
    AccessTokens::new(ring(), Duration::minutes(15), RandomSecrets::new().unwrap())
}

fn ada() -> Identity {
    Identity { user: UserId::new(7).unwrap(), role: Role::Member, is_dj: true }
}

fn issued() -> String {
    tokens().issue(&ada(), at(NOW)).unwrap().token
}

fn header() -> Value {
    json!({ "alg": "HS256", "typ": "JWT", "kid": "new" })
}

fn claims() -> Value {
    json!({
        "iss": ISSUER, "sub": "7", "aud": AUDIENCE, "exp": NOW + 900, "nbf": NOW, "iat": NOW, "jti": "x",
        "role": "member", "dj": true
    })
}

/// A token of any two parts, signed as its author likes.
fn forged(header: &str, claims: &str, algorithm: SignatureAlgorithm, key: &[u8]) -> String {
    let signed = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
    let secret = match algorithm {
        SignatureAlgorithm::None => Secret::None,
        _ => Secret::Bytes(key.to_vec()),
    };
    let signature = algorithm.sign(signed.as_bytes(), &secret).unwrap();
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

fn signed(header: &Value, claims: &Value) -> String {
    forged(&header.to_string(), &claims.to_string(), ALGORITHM, NEW_KEY)
}

fn check(token: &str, expected: Result<Identity, InvalidToken>, why: &str) {
    assert_eq!(tokens().verify(token, at(NOW)), expected, "{why}: {token}");
}

fn with(object: Value, key: &str, value: Value) -> Value {
    let mut object = object;
    object[key] = value;
    object
}

fn without(object: Value, key: &str) -> Value {
    let mut object = object;
    object.as_object_mut().unwrap().remove(key).unwrap();
    object
}

#[test]
fn a_token_says_who_calls() {
    for identity in
        [ada(), Identity { user: UserId::new(i64::MAX).unwrap(), role: Role::Operator, is_dj: false }]
    {
        let issued = tokens().issue(&identity, at(NOW)).unwrap();
        assert_eq!(issued.expires_in_seconds, 900);
        check(&issued.token, Ok(identity), "just issued");
    }
}

#[test]
fn the_tests_own_forgery_is_accepted_where_nothing_is_wrong() {
    check(&signed(&header(), &claims()), Ok(ada()), "as issued");
    let old =
        forged(&with(header(), "kid", json!("old")).to_string(), &claims().to_string(), ALGORITHM, OLD_KEY);
    check(&old, Ok(ada()), "signed with the key before");
}

#[test]
fn no_two_tokens_are_the_same() {
    assert_ne!(issued(), issued());
}

#[test]
fn a_token_is_valid_from_its_issue_to_its_end_give_or_take_thirty_seconds() {
    let token = issued();
    for (moment, valid) in
        [(-31, false), (-30, true), (0, true), (899, true), (900, true), (930, true), (931, false)]
    {
        let verified = tokens().verify(&token, at(NOW + moment));
        assert_eq!(verified.is_ok(), valid, "{moment} seconds after its issue");
    }
}

#[test]
fn every_claim_is_required_and_checked() {
    for key in ["iss", "sub", "aud", "exp", "nbf", "iat", "jti", "role", "dj"] {
        check(&signed(&header(), &without(claims(), key)), Err(InvalidToken), key);
        check(&signed(&header(), &with(claims(), key, Value::Null)), Err(InvalidToken), key);
        check(&signed(&header(), &with(claims(), key, json!([]))), Err(InvalidToken), key);
    }
    for (key, value) in [
        ("iss", json!("somebody")),
        ("aud", json!("something")),
        ("sub", json!("0")),
        ("sub", json!("-7")),
        ("sub", json!("seven")),
        ("sub", json!("9223372036854775808")),
        ("sub", json!(7)),
        ("exp", json!(NOW - 31)),
        ("exp", json!(i64::MIN)),
        ("exp", json!(i64::MAX)),
        ("exp", json!(1.5)),
        ("exp", json!("1900000000")),
        ("nbf", json!(NOW + 31)),
        ("nbf", json!(i64::MAX)),
        ("iat", json!(NOW + 31)),
        ("iat", json!(i64::MIN)),
        ("role", json!("Operator")),
        ("role", json!("root")),
        ("dj", json!(1)),
    ] {
        check(&signed(&header(), &with(claims(), key, value)), Err(InvalidToken), key);
    }
}

#[test]
fn the_algorithm_is_pinned() {
    use SignatureAlgorithm::{HS256, HS384, HS512, None};
    let claims = claims().to_string();
    for (alg, with, key) in [
        ("none", None, NEW_KEY),
        ("HS384", HS384, NEW_KEY),
        ("HS512", HS512, NEW_KEY),
        ("HS384", HS256, NEW_KEY),
        ("HS256", HS384, NEW_KEY),
        ("RS256", HS256, NEW_KEY),
        ("ES256", HS256, NEW_KEY),
        ("hs256", HS256, NEW_KEY),
        ("", HS256, NEW_KEY),
        ("HS256", HS256, OLD_KEY),
        ("HS256", HS256, b""),
    ] {
        let header = super::tests::with(header(), "alg", json!(alg)).to_string();
        check(&forged(&header, &claims, with, key), Err(InvalidToken), alg);
    }
    let unsigned = issued();
    let unsigned = unsigned.rsplit_once('.').unwrap().0;
    check(&format!("{unsigned}."), Err(InvalidToken), "no signature");
    check(unsigned, Err(InvalidToken), "two parts");
}

#[test]
fn a_header_says_what_is_expected_and_no_more() {
    for header in [
        without(header(), "alg"),
        without(header(), "kid"),
        without(header(), "typ"),
        with(header(), "kid", json!("unknown")),
        with(header(), "kid", json!("")),
        with(header(), "kid", json!("old")),
        with(header(), "kid", json!(1)),
        with(header(), "typ", json!("at+jwt")),
        with(header(), "typ", json!(null)),
        with(header(), "crit", json!(["exp"])),
        with(header(), "crit", json!([])),
        json!([]),
        json!(null),
        json!("HS256"),
    ] {
        check(&signed(&header, &claims()), Err(InvalidToken), "header");
    }
}

#[test]
fn a_key_that_comes_twice_is_refused() {
    let header = header().to_string();
    let twice = claims().to_string().replacen('{', r#"{"sub":"8","#, 1);
    check(&forged(&header, &twice, ALGORITHM, NEW_KEY), Err(InvalidToken), "sub");
    let twice = header.replacen('{', r#"{"kid":"old","#, 1);
    check(&forged(&twice, &claims().to_string(), ALGORITHM, NEW_KEY), Err(InvalidToken), "kid");
    let twice = header.replacen('{', r#"{"alg":"none","#, 1);
    check(&forged(&twice, &claims().to_string(), ALGORITHM, NEW_KEY), Err(InvalidToken), "alg");
}

#[test]
fn a_token_beyond_four_kibibytes_is_not_looked_at() {
    let long = |jti: usize| signed(&header(), &with(claims(), "jti", json!("x".repeat(jti))));
    check(&long(2_800), Ok(ada()), "below");
    check(&long(3_000), Err(InvalidToken), "above");
}

#[test]
fn every_flipped_bit_breaks_the_token() {
    let token = issued();
    for position in 0..token.len() {
        for bit in 0..7 {
            let mut bytes = token.clone().into_bytes();
            bytes[position] ^= 1 << bit;
            let Ok(flipped) = String::from_utf8(bytes) else { continue };
            check(&flipped, Err(InvalidToken), "flipped");
        }
    }
}

#[test]
fn hostile_texts_are_refused_without_a_panic() {
    let token = issued();
    let parts: Vec<&str> = token.split('.').collect();
    let pieces = [
        parts[0], parts[1], parts[2], "", ".", "..", "=", "e30", "bnVsbA", "W10", "\u{0}", "é", "A", "____",
        "Bearer ",
    ];
    // Every sequence of four, with and without dots between.
    for number in 0..pieces.len().pow(4) {
        let chosen: Vec<&str> =
            (0..4_u32).map(|n| pieces[number / pieces.len().pow(n) % pieces.len()]).collect();
        for text in [chosen.concat(), chosen.join("."), chosen[..3].join(".")] {
            if text != token {
                assert_eq!(tokens_once().verify(&text, at(NOW)), Err(InvalidToken), "{text}");
            }
        }
    }
}

#[test]
fn random_bytes_in_every_part_are_refused_without_a_panic() {
    let secrets = RandomSecrets::new().unwrap();
    for _ in 0..5_000 {
        let [header, claims] = [random::<24>(secrets), random::<24>(secrets)];
        let token =
            forged(&String::from_utf8_lossy(&header), &String::from_utf8_lossy(&claims), ALGORITHM, NEW_KEY);
        assert_eq!(tokens_once().verify(&token, at(NOW)), Err(InvalidToken), "{token}");
        let signed =
            forged(&self::header().to_string(), &String::from_utf8_lossy(&claims), ALGORITHM, NEW_KEY);
        assert_eq!(tokens_once().verify(&signed, at(NOW)), Err(InvalidToken), "{signed}");
    }
}

fn tokens_once() -> &'static AccessTokens {
    static TOKENS: std::sync::OnceLock<AccessTokens> = std::sync::OnceLock::new();
    TOKENS.get_or_init(tokens)
}
