//! Signed provider messages: accepted only if one of the secrets signed exactly these bytes, within the
//! tolerance.

use actix_web::http::header::HeaderValue;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cuepoint_adapters::signed_messages::{SignedMessage, SigningSecrets};
use cuepoint_api::wire::headers::{self, Signature};
use cuepoint_domain::timestamp::Timestamp;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::headers::read;

/// The second at which every message arrives.
const NOW: i64 = 1_800_000_000;
/// The tolerated deviation of a message's timestamp, in seconds.
const TOLERANCE: u64 = 300;
const SECRETS: [&[u8]; 2] = [b"the secret that signs has 32 byt", b"the secret before it, still good"];

/// The input is the headers, an empty line, and the body.
pub(crate) fn check(input: &[u8]) {
    let end = input.windows(2).position(|pair| pair == b"\n\n").unwrap_or(input.len());
    let body = input.get(end.saturating_add(2)..).unwrap_or_default();
    let map = read(input.get(..end).unwrap_or_default());
    let Some(secrets) = secrets() else { return };
    if let Ok(signature) = headers::signature(&map) {
        let ids: Vec<&[u8]> = map.get_all("webhook-id").map(HeaderValue::as_bytes).collect();
        assert_eq!(ids, [signature.id.as_bytes()], "the id is another one");
        let is_visible = signature.id.bytes().all(|byte| (b'!'..=b'~').contains(&byte));
        assert!(is_visible && (1..=255).contains(&signature.id.len()), "{:?}", signature.id);
        check_message(&secrets, signature, body);
    }
}

fn check_message(
    secrets: &SigningSecrets,
    Signature { id, timestamp, signatures }: Signature<'_>,
    body: &[u8],
) {
    let verified = |id: &str, timestamp: &str, signatures: &str, body: &[u8]| {
        let message = SignedMessage { id, timestamp, signatures, body };
        secrets.verify(message, Timestamp::from_unix_micros(NOW.saturating_mul(1_000_000)))
    };
    let genuine: Vec<String> =
        SECRETS.iter().filter_map(|secret| sign(secret, id, timestamp, body)).collect();
    let in_time = timestamp.bytes().all(|byte| byte.is_ascii_digit())
        && timestamp.parse::<i64>().is_ok_and(|sent| sent.abs_diff(NOW) <= TOLERANCE);
    let signed = signatures.split_ascii_whitespace().any(|one| genuine.iter().any(|tag| tag == one));
    assert_eq!(verified(id, timestamp, signatures, body), in_time && signed, "{signatures:?}");

    // The genuine message, and the forgeries that an attacker would derive from it.
    for tag in &genuine {
        assert_eq!(verified(id, timestamp, tag, body), in_time);
        assert_eq!(verified(id, timestamp, &format!("{signatures} {tag} v1,"), body), in_time);
        let longer = [body, b" "].concat();
        assert!(!verified(id, timestamp, tag, &longer) && !verified(&format!("{id}x"), timestamp, tag, body));
        assert!(!verified(id, timestamp, tag.trim_start_matches("v1,"), body), "without its version");
    }
    assert_eq!(secrets.sign(id, timestamp, body).as_ref(), genuine.first());
}

fn secrets() -> Option<SigningSecrets> {
    let texts = SECRETS.map(|secret| format!("whsec_{}", STANDARD.encode(secret)));
    SigningSecrets::parse(texts.iter().map(String::as_str)).ok()
}

/// Signs a message as the specification prescribes.
fn sign(secret: &[u8], id: &str, timestamp: &str, body: &[u8]) -> Option<String> {
    let signed = [id.as_bytes(), timestamp.as_bytes(), body].join(&b"."[..]);
    let mac = Hmac::<Sha256>::new_from_slice(secret).ok()?.chain_update(signed);
    Some(format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes())))
}
