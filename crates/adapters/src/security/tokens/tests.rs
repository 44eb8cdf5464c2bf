use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::{Arc, OnceLock};

use base64::engine::general_purpose::STANDARD;
use biscuit::jws::Secret;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

const HS256: SignatureAlgorithm = SignatureAlgorithm::HS256;
const NOW: i64 = 1_800_000_000;
/// The first epoch: that of tokens without the claim.
const EPOCH: Epoch = Epoch(0);
const NEW_KEY: &[u8] = b"the first key has more than 32 bytes";
const OLD_KEY: &[u8] = b"the second key has more than 32 bytes";

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_unix_micros(seconds.saturating_mul(1_000_000))
}

/// Returns keys of both algorithms, and one expired key.
fn keys() -> KeysInForce {
    let [new, old, ec] = [NEW_KEY, OLD_KEY, ec_key()].map(|key| STANDARD.encode(key));
    let text = format!("new:{new}\nold:{old}\nec:es256:{ec}\nended:{new} until=2027-01-15T08:00:00Z");
    KeysInForce::parse(&text.into(), at(NOW)).unwrap()
}

fn tokens() -> SignedTokens {
    SignedTokens::new(keys(), Duration::minutes(15), RandomSecrets::new().unwrap())
}

/// Returns an ES256 key, the same for the whole process.
fn ec_key() -> &'static [u8] {
    static KEY: OnceLock<Vec<u8>> = OnceLock::new();
    KEY.get_or_init(|| {
        let (algorithm, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap().as_ref().to_vec()
    })
}

fn ec_pair(pkcs8: &[u8]) -> EcdsaKeyPair {
    EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8, &SystemRandom::new()).unwrap()
}

fn ada() -> Principal {
    let session = SessionId::new(9).unwrap();
    Principal { user: UserId::new(7).unwrap(), role: Role::Member, is_dj: true, session }
}

fn issued() -> String {
    tokens().issue(&ada(), EPOCH, at(NOW)).unwrap().token
}

fn header() -> Value {
    json!({ "alg": "HS256", "typ": "JWT", "kid": "new" })
}

fn ec_header() -> Value {
    json!({ "alg": "ES256", "typ": "JWT", "kid": "ec" })
}

fn claims() -> Value {
    json!({
        "iss": ISSUER, "sub": "7", "aud": AUDIENCE, "exp": NOW + 900, "nbf": NOW, "iat": NOW, "jti": "x",
        "role": "member", "dj": true, "sid": 9
    })
}

/// Returns a token with arbitrary header and claims, signed with any key.
fn forged(header: &str, claims: impl AsRef<[u8]>, algorithm: SignatureAlgorithm, key: &[u8]) -> String {
    let signed = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
    let secret = match algorithm {
        SignatureAlgorithm::None => Secret::None,
        SignatureAlgorithm::ES256 => Secret::EcdsaKeyPair(Arc::new(ec_pair(key))),
        _ => Secret::Bytes(key.to_vec()),
    };
    let signature = algorithm.sign(signed.as_bytes(), &secret).unwrap();
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

fn signed(header: &Value, claims: &Value) -> String {
    forged(&header.to_string(), claims.to_string(), HS256, NEW_KEY)
}

/// Returns a valid token of the ES256 key, except for its header.
fn signed_ec(header: &Value) -> String {
    forged(&header.to_string(), claims().to_string(), SignatureAlgorithm::ES256, ec_key())
}

fn check(token: &str, expected: Result<Principal, TokenRefusal>, why: &str) {
    assert_eq!(tokens().verify(token, EPOCH, at(NOW)), expected, "{why}: {token}");
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
fn a_token_identifies_its_principal() {
    let (user, session) = (UserId::new(i64::MAX).unwrap(), SessionId::new(i64::MAX).unwrap());
    for identity in [ada(), Principal { user, role: Role::Operator, is_dj: false, session }] {
        let issued = tokens().issue(&identity, EPOCH, at(NOW)).unwrap();
        assert_eq!(issued.expires_in_seconds, 900);
        check(&issued.token, Ok(identity), "just issued");
    }
}

#[test]
fn valid_handmade_tokens_are_accepted() {
    check(&signed(&header(), &claims()), Ok(ada()), "as issued");
    let old = forged(&with(header(), "kid", json!("old")).to_string(), claims().to_string(), HS256, OLD_KEY);
    check(&old, Ok(ada()), "signed with the key before");
    check(&signed_ec(&ec_header()), Ok(ada()), "signed with the other algorithm");
}

#[test]
fn tokens_issued_to_one_principal_at_the_same_time_differ() {
    assert_ne!(issued(), issued());
}

#[test]
fn tokens_are_valid_with_30_seconds_of_leeway() {
    let token = issued();
    for (moment, valid) in
        [(-31, false), (-30, true), (0, true), (899, true), (900, true), (930, true), (931, false)]
    {
        let verified = tokens().verify(&token, EPOCH, at(NOW + moment));
        assert_eq!(verified.is_ok(), valid, "{moment} seconds after its issue");
    }
}

#[test]
fn expiry_includes_the_leeway() {
    let (token, tokens) = (issued(), tokens());
    for moment in [0, 899, 929] {
        assert_eq!(tokens.expiry(&token, EPOCH, at(NOW + moment)), Ok(at(NOW + 930)), "{moment}");
    }
    assert_eq!(tokens.verify(&token, EPOCH, at(NOW + 929)), Ok(ada()));
    assert_eq!(tokens.verify(&token, EPOCH, at(NOW + 931)), Err(TokenRefusal::Expired(ada().session)));
    assert_eq!(tokens.expiry(&token, EPOCH, at(NOW + 931)), Err(TokenRefusal::Expired(ada().session)));
}

#[test]
fn only_otherwise_valid_tokens_count_as_expired() {
    let expired = with(claims(), "exp", json!(NOW - 31));
    check(&signed(&header(), &expired), Err(TokenRefusal::Expired(ada().session)), "expired");
    for (key, value) in [
        ("iss", json!("somebody")),
        ("aud", json!("something")),
        ("nbf", json!(NOW + 31)),
        ("role", json!("root")),
        ("sid", json!(0)),
        ("epoch", json!(3)),
    ] {
        check(&signed(&header(), &with(expired.clone(), key, value)), Err(TokenRefusal::Invalid), key);
    }
}

#[test]
fn every_claim_is_required_and_checked() {
    for key in ["iss", "sub", "aud", "exp", "nbf", "iat", "jti", "role", "dj", "sid"] {
        check(&signed(&header(), &without(claims(), key)), Err(TokenRefusal::Invalid), key);
        check(&signed(&header(), &with(claims(), key, Value::Null)), Err(TokenRefusal::Invalid), key);
        check(&signed(&header(), &with(claims(), key, json!([]))), Err(TokenRefusal::Invalid), key);
    }
    for (key, value) in [
        ("iss", json!("somebody")),
        ("aud", json!("something")),
        ("sub", json!("0")),
        ("sub", json!("-7")),
        ("sub", json!("seven")),
        ("sub", json!("9223372036854775808")),
        ("sub", json!(7)),
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
        ("jti", json!("")),
        ("sid", json!(0)),
        ("sid", json!(-9)),
        ("sid", json!("9")),
        ("sid", json!(9.5)),
    ] {
        check(&signed(&header(), &with(claims(), key, value)), Err(TokenRefusal::Invalid), key);
    }
}

#[test]
fn each_key_verifies_only_its_own_algorithm() {
    use SignatureAlgorithm::{HS384, HS512, None};
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
        check(&forged(&header, &claims, with, key), Err(TokenRefusal::Invalid), alg);
    }
    // Public data is no secret, and the secret of one key does not serve for another.
    let stranger = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
    let (pair, stranger) = (ec_pair(ec_key()), stranger.unwrap());
    let point = pair.public_key().as_ref();
    for (kid, alg, with, key) in [
        ("ec", "HS256", HS256, point),
        ("ec", "HS256", HS256, &point[1..]),
        ("ec", "ES256", HS256, point),
        ("ec", "HS256", HS256, NEW_KEY),
        ("ec", "HS256", HS256, ec_key()),
        ("ec", "none", None, point),
        ("ec", "ES256", None, point),
        ("ec", "HS384", HS384, point),
        ("ec", "ES384", SignatureAlgorithm::ES256, ec_key()),
        ("ec", "ES256", SignatureAlgorithm::ES256, stranger.as_ref()),
        ("new", "ES256", SignatureAlgorithm::ES256, ec_key()),
        ("new", "HS256", SignatureAlgorithm::ES256, ec_key()),
        ("old", "ES256", SignatureAlgorithm::ES256, ec_key()),
    ] {
        let header = json!({ "alg": alg, "typ": "JWT", "kid": kid }).to_string();
        check(&forged(&header, &claims, with, key), Err(TokenRefusal::Invalid), alg);
    }
    let unsigned = issued();
    let unsigned = unsigned.rsplit_once('.').unwrap().0;
    check(&format!("{unsigned}."), Err(TokenRefusal::Invalid), "no signature");
    check(unsigned, Err(TokenRefusal::Invalid), "two parts");
}

#[test]
fn json_arrays_are_refused_as_token_headers_or_claims() {
    let listed = json!(["cuepoint", "7", "cuepoint-api", NOW + 900, NOW, NOW, "x", "member", true, 9]);
    check(&signed(&header(), &listed), Err(TokenRefusal::Invalid), "the claims' values without their names");
    check(&signed(&json!(["HS256", "JWT", "new"]), &claims()), Err(TokenRefusal::Invalid), "the header's");
}

#[test]
fn token_claims_that_are_not_utf_8_are_refused() {
    let mut claims = with(claims(), "extra", json!("?")).to_string().into_bytes();
    for byte in &mut claims {
        if *byte == b'?' {
            *byte = 0x98;
        }
    }
    check(&forged(&header().to_string(), claims, HS256, NEW_KEY), Err(TokenRefusal::Invalid), "not UTF-8");
}

#[test]
fn unexpected_token_headers_are_refused() {
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
        with(header(), "crit", json!(null)),
        with(header(), "kid", json!("ended")),
        with(header(), "b64", json!(false)),
        with(header(), "jku", json!("https://evil.example.com/jwks.json")),
        with(header(), "jwk", json!({ "kty": "oct", "k": "AAAA" })),
        json!(["HS256", "JWT", "new"]),
        json!([]),
        json!(null),
        json!("HS256"),
    ] {
        check(&signed(&header, &claims()), Err(TokenRefusal::Invalid), "header");
    }
    for header in [
        without(ec_header(), "alg"),
        without(ec_header(), "kid"),
        with(ec_header(), "kid", json!("new")),
        with(ec_header(), "kid", json!("unknown")),
        with(ec_header(), "typ", json!("jwt")),
        with(ec_header(), "crit", json!(["b64"])),
        with(ec_header(), "alg", json!("none")),
        with(ec_header(), "alg", json!("es256")),
    ] {
        check(&signed_ec(&header), Err(TokenRefusal::Invalid), "header");
    }
}

#[test]
fn a_token_that_repeats_a_claim_or_header_parameter_is_refused() {
    let header = header().to_string();
    let twice = claims().to_string().replacen('{', r#"{"sub":"8","#, 1);
    check(&forged(&header, &twice, HS256, NEW_KEY), Err(TokenRefusal::Invalid), "sub");
    let twice = header.replacen('{', r#"{"kid":"old","#, 1);
    check(&forged(&twice, claims().to_string(), HS256, NEW_KEY), Err(TokenRefusal::Invalid), "kid");
    let twice = header.replacen('{', r#"{"alg":"none","#, 1);
    check(&forged(&twice, claims().to_string(), HS256, NEW_KEY), Err(TokenRefusal::Invalid), "alg");
}

#[test]
fn a_token_above_four_kibibytes_is_refused() {
    let long = |jti: usize| signed(&header(), &with(claims(), "jti", json!("x".repeat(jti))));
    check(&long(2_800), Ok(ada()), "below");
    check(&long(3_000), Err(TokenRefusal::Invalid), "above");
}

#[test]
fn flipping_any_bit_invalidates_the_token() {
    for token in [issued(), signed_ec(&ec_header())] {
        flip_every_bit(&token);
    }
}

fn flip_every_bit(token: &str) {
    for position in 0..token.len() {
        for bit in 0..7 {
            let mut bytes = token.to_owned().into_bytes();
            bytes[position] ^= 1 << bit;
            let Ok(flipped) = String::from_utf8(bytes) else { continue };
            assert_eq!(
                tokens_once().verify(&flipped, EPOCH, at(NOW)),
                Err(TokenRefusal::Invalid),
                "{flipped}"
            );
        }
    }
}

#[test]
fn recombined_token_parts_are_refused_without_a_panic() {
    let token = issued();
    let parts: Vec<&str> = token.split('.').collect();
    let pieces = [
        parts[0], parts[1], parts[2], "", ".", "..", "=", "e30", "bnVsbA", "W10", "\u{0}", "é", "A", "____",
        "Bearer ",
    ];
    // Every sequence of four pieces, with and without dots in between.
    for number in 0..pieces.len().pow(4) {
        let chosen: Vec<&str> =
            (0..4_u32).map(|n| pieces[number / pieces.len().pow(n) % pieces.len()]).collect();
        for text in [chosen.concat(), chosen.join("."), chosen[..3].join(".")] {
            if text != token {
                assert_eq!(tokens_once().verify(&text, EPOCH, at(NOW)), Err(TokenRefusal::Invalid), "{text}");
            }
        }
    }
}

#[test]
fn random_bytes_are_refused_without_a_panic() {
    let secrets = RandomSecrets::new().unwrap();
    for _ in 0..5_000 {
        let [header, claims] = [random::<24>(secrets), random::<24>(secrets)];
        let token = forged(&String::from_utf8_lossy(&header), claims, HS256, NEW_KEY);
        assert_eq!(tokens_once().verify(&token, EPOCH, at(NOW)), Err(TokenRefusal::Invalid), "{token}");
        let signed = forged(&self::header().to_string(), claims, HS256, NEW_KEY);
        assert_eq!(tokens_once().verify(&signed, EPOCH, at(NOW)), Err(TokenRefusal::Invalid), "{signed}");
    }
}

fn tokens_once() -> &'static SignedTokens {
    static TOKENS: OnceLock<SignedTokens> = OnceLock::new();
    TOKENS.get_or_init(tokens)
}

/// Verifies a token again that was already verified at `NOW`.
fn remembered(key: &str, after: i64, counts: Result<(), TokenRefusal>) {
    let then = at(NOW.saturating_add(after));
    let new = STANDARD.encode(NEW_KEY);
    let keys = KeysInForce::parse(&format!("new:{new} {key}").into(), at(NOW)).unwrap();
    let tokens = SignedTokens::new(keys, Duration::minutes(15), RandomSecrets::new().unwrap());
    let token = tokens.issue(&ada(), EPOCH, at(NOW)).unwrap().token;
    assert_eq!(tokens.verify(&token, EPOCH, at(NOW)), Ok(ada()));
    assert_eq!(tokens.verify(&token, EPOCH, then), counts.map(|()| ada()), "{after}");
    assert_eq!(tokens.verify(&token, EPOCH, at(NOW)), Ok(ada()));
}

#[test]
fn caching_a_token_does_not_make_other_signatures_valid() {
    for token in [issued(), signed_ec(&ec_header())] {
        let tokens = tokens();
        assert_eq!(tokens.verify(&token, EPOCH, at(NOW)), Ok(ada()));
        let (claims, signature) = token.rsplit_once('.').unwrap();
        let another = issued();
        let (_, another) = another.rsplit_once('.').unwrap();
        let reversed: String = signature.chars().rev().collect();
        let (first, last) = signature.split_at(1);
        for forged in ["", another, &reversed, first, last, &format!("{signature}A")] {
            let forged = format!("{claims}.{forged}");
            assert_eq!(tokens.verify(&forged, EPOCH, at(NOW)), Err(TokenRefusal::Invalid), "{forged}");
        }
        assert_eq!(tokens.verify(&token, EPOCH, at(NOW)), Ok(ada()));
    }
}

#[test]
fn a_cached_token_is_accepted_only_while_it_and_its_key_are_valid() {
    let (expired, invalid) = (Err(TokenRefusal::Expired(ada().session)), Err(TokenRefusal::Invalid));
    for (after, counts) in [(-31, invalid), (-30, Ok(())), (899, Ok(())), (930, Ok(())), (931, expired)] {
        remembered("", after, counts);
    }
    for (after, counts) in [(299, Ok(())), (300, invalid)] {
        remembered("until=2027-01-15T08:05:00Z", after, counts);
    }
}

#[test]
fn a_cached_token_is_refused_after_its_key_is_replaced() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("keys");
    let write = |key: &[u8]| {
        let _ = std::fs::remove_file(&path);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).unwrap();
        writeln!(file, "k:{}", STANDARD.encode(key)).unwrap();
    };
    write(NEW_KEY);
    let keys = KeysInForce::read(&path, at(NOW)).unwrap();
    let tokens = SignedTokens::new(keys, Duration::minutes(15), RandomSecrets::new().unwrap());
    let token = tokens.issue(&ada(), EPOCH, at(NOW)).unwrap().token;
    assert_eq!(tokens.verify(&token, EPOCH, at(NOW)), Ok(ada()));
    write(OLD_KEY);
    tokens.keys().reload(at(NOW)).unwrap().unwrap();
    assert_eq!(tokens.verify(&token, EPOCH, at(NOW)), Err(TokenRefusal::Invalid));
}

#[test]
fn cached_tokens_of_another_epoch_are_refused() {
    let tokens = tokens();
    let token = tokens.issue(&ada(), Epoch(5), at(NOW)).unwrap().token;
    for (epoch, expected) in [
        (Epoch(5), Ok(ada())),
        (Epoch(6), Err(TokenRefusal::Invalid)),
        (EPOCH, Err(TokenRefusal::Invalid)),
        (Epoch(5), Ok(ada())),
    ] {
        assert_eq!(tokens.verify(&token, epoch, at(NOW)), expected, "{epoch:?}");
    }
    // As issued by servers that predate epochs.
    let without = signed(&header(), &claims());
    assert_eq!(tokens.verify(&without, EPOCH, at(NOW)), Ok(ada()));
    assert_eq!(tokens.verify(&without, Epoch(5), at(NOW)), Err(TokenRefusal::Invalid));
}
