//! Request headers: an accepted value comes from exactly one header, as the client wrote it.

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use actix_web::test::TestRequest;
use cuepoint_api::wire::headers;

/// The input is one header per line.
pub(crate) fn check(input: &[u8]) {
    let map = read(input);
    if let Ok(token) = headers::bearer(&map) {
        let value = only(&map, "authorization");
        assert!(!token.is_empty() && token == token.trim(), "{token:?}");
        assert!(value.trim_end().ends_with(token), "{token:?} is not in {value:?}");
        assert!(value.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer ")), "{value:?}");
    }
    match headers::idempotency_key(&map) {
        Ok(Some(key)) => {
            assert_eq!(key, only(&map, "idempotency-key"));
            assert!((1..=255).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic()));
        }
        Ok(None) => assert!(!map.contains_key("idempotency-key")),
        Err(_) => assert!(map.contains_key("idempotency-key")),
    }
    if headers::is_json(&map) {
        let value = only(&map, "content-type").to_ascii_lowercase();
        assert!(value.trim().starts_with("application/json"), "{value:?}");
    }
    let request = map.iter().fold(TestRequest::default(), |request, header| request.append_header(header));
    let accepted = headers::accepts("application/json", &request.to_http_request()).is_ok();
    assert!(accepted || map.contains_key("accept"), "a missing Accept header was refused");
}

/// Parses the valid headers of the input.
pub(crate) fn read(input: &[u8]) -> HeaderMap {
    let mut map = HeaderMap::new();
    for line in input.split(|byte| *byte == b'\n') {
        let mut parts = line.splitn(2, |byte| *byte == b':');
        let (Some(name), Some(value)) = (parts.next(), parts.next()) else { continue };
        if let (Ok(name), Ok(value)) =
            (HeaderName::from_bytes(name), HeaderValue::from_bytes(value.trim_ascii()))
        {
            map.append(name, value);
        }
    }
    map
}

/// Returns the value of a header, which must occur exactly once.
fn only<'a>(map: &'a HeaderMap, name: &str) -> &'a str {
    let values: Vec<&HeaderValue> = map.get_all(name).collect();
    assert_eq!(values.len(), 1, "{name} occurs {} times", values.len());
    values.first().and_then(|value| value.to_str().ok()).unwrap_or_default()
}
