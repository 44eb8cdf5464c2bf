//! The request headers that a call is checked by.

use actix_web::HttpRequest;
use actix_web::http::header::{self, Accept, Header as _, HeaderMap, Quality};
use actix_web::mime;
use cuepoint_domain::operation::Position;
use cuepoint_domain::provider_message::WebhookId;

use crate::wire::error::{ApiError, Code};
use crate::wire::query::integer;

/// The longest idempotency key, in characters.
const MAX_KEY: usize = 255;

/// The token of the one Authorization header.
///
/// # Errors
/// [`Code::Unauthenticated`] without the header, [`Code::InvalidToken`] when it is not one `Bearer` token.
pub fn bearer(headers: &HeaderMap) -> Result<&str, ApiError> {
    let mut values = headers.get_all(header::AUTHORIZATION);
    let value = values.next().ok_or(Code::Unauthenticated)?;
    if values.next().is_some() {
        return Err(Code::InvalidToken.into());
    }
    // What `to_str` accepts, without its check of each byte for control characters, which no header value has.
    let value = std::str::from_utf8(value.as_bytes()).ok().filter(|value| value.is_ascii());
    let (scheme, token) = value.and_then(|value| value.split_once(' ')).ok_or(Code::InvalidToken)?;
    let token = token.trim();
    let fits = scheme.eq_ignore_ascii_case("bearer") && !token.is_empty();
    if fits { Ok(token) } else { Err(Code::InvalidToken.into()) }
}

/// The headers of a provider's message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signature<'a> {
    /// The message's id.
    pub id: &'a str,
    /// The time of sending.
    pub timestamp: &'a str,
    pub signatures: &'a str,
}

/// The headers that authenticate a provider's message.
///
/// # Errors
/// [`Code::Unauthenticated`] if one is missing, [`Code::InvalidSignature`] if one is repeated or another than the id
/// is not text, [`Code::BadRequest`] for an invalid id.
pub fn signature(headers: &HeaderMap) -> Result<Signature<'_>, ApiError> {
    let one = |name: &'static str| {
        let mut values = headers.get_all(name);
        let value = values.next().ok_or(Code::Unauthenticated)?;
        if values.next().is_none() { Ok(value) } else { Err(Code::InvalidSignature) }
    };
    let text = |name| one(name)?.to_str().map_err(|_| Code::InvalidSignature);
    let id = one("webhook-id")?.to_str().ok().filter(|id| WebhookId::new(id).is_some());
    let id = id.ok_or_else(|| {
        let message = "The webhook-id header must have 1 to 255 visible ASCII characters.";
        ApiError::saying(Code::BadRequest, message)
    })?;
    Ok(Signature { id, timestamp: text("webhook-timestamp")?, signatures: text("webhook-signature")? })
}

/// Checks that the client accepts this media type, which is the default.
///
/// # Errors
/// [`Code::NotAcceptable`].
pub fn accepts(media_type: &str, request: &HttpRequest) -> Result<(), ApiError> {
    let (kind, subtype) = media_type.split_once('/').unwrap_or((media_type, ""));
    let Accept(ranges) = Accept::parse(request)
        .map_err(|_| ApiError::saying(Code::BadRequest, "The Accept header is invalid."))?;
    let quality = |kind: &str, subtype: &str| {
        let mut same =
            ranges.iter().filter(|range| range.item.type_() == kind && range.item.subtype() == subtype);
        same.next().map(|range| range.quality)
    };
    let taken = quality(kind, subtype).or_else(|| quality(kind, "*")).or_else(|| quality("*", "*"));
    if ranges.is_empty() || taken.is_some_and(|quality| quality > Quality::ZERO) {
        Ok(())
    } else {
        Err(ApiError::saying(Code::NotAcceptable, format!("Only {media_type} is available.")))
    }
}

/// The position of the last event that a client received, if it resumes a stream.
///
/// # Errors
/// [`Code::BadRequest`] if it is repeated or not a position.
pub fn last_event_id(headers: &HeaderMap) -> Result<Option<Position>, ApiError> {
    let mut values = headers.get_all("last-event-id").filter(|value| !value.is_empty());
    let Some(value) = values.next() else { return Ok(None) };
    let position = value.to_str().ok().and_then(integer).and_then(Position::new);
    match position.filter(|_| values.next().is_none()) {
        Some(position) => Ok(Some(position)),
        None => Err(ApiError::saying(
            Code::BadRequest,
            "The Last-Event-ID header must be the position of an event.",
        )),
    }
}

/// Whether the media type of the body is JSON, in UTF-8 and without a content encoding.
#[must_use]
pub fn is_json(headers: &HeaderMap) -> bool {
    let coded = headers.get(header::CONTENT_ENCODING).is_some_and(|coding| coding != "identity");
    let mut types = headers.get_all(header::CONTENT_TYPE);
    let (Some(value), None, false) = (types.next(), types.next(), coded) else { return false };
    value.to_str().ok().and_then(|value| value.parse::<mime::Mime>().ok()).is_some_and(|kind| {
        kind.essence_str() == mime::APPLICATION_JSON.essence_str()
            && kind.params().all(|(name, value)| name == mime::CHARSET && value == mime::UTF_8)
    })
}

/// The Idempotency-Key, if there is one.
///
/// # Errors
/// [`Code::BadRequest`] if it is repeated, empty, longer than 255 characters, or has a character other than
/// visible ASCII.
pub fn idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, ApiError> {
    let mut values = headers.get_all("idempotency-key");
    let Some(value) = values.next() else { return Ok(None) };
    let bytes = value.as_bytes();
    let fits = (1..=MAX_KEY).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_graphic);
    match value.to_str() {
        Ok(key) if fits && values.next().is_none() => Ok(Some(key)),
        _ => Err(ApiError::saying(
            Code::BadRequest,
            "The Idempotency-Key header must be given once, with 1 to 255 visible ASCII characters.",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;
    use actix_web::test::TestRequest;

    fn request(headers: &[(&'static str, &'static str)]) -> HttpRequest {
        let request = TestRequest::default();
        headers.iter().fold(request, |request, header| request.append_header(*header)).to_http_request()
    }

    #[test]
    fn exactly_one_bearer_token_is_accepted() {
        for value in ["Bearer abc", "bearer abc", "BEARER  abc "] {
            let request = request(&[("authorization", value)]);
            assert_eq!(bearer(request.headers()).unwrap(), "abc", "{value}");
        }
        for value in ["", "Bearer", "Bearer ", "Basic abc", "abc", "Bearer: abc"] {
            let request = request(&[("authorization", value)]);
            assert_eq!(bearer(request.headers()).unwrap_err().code, Code::InvalidToken, "{value}");
        }
        for value in
            ["Bearer \u{a0}abc", "Bearer é"].map(str::as_bytes).into_iter().chain([&b"Bearer \xff"[..]])
        {
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, HeaderValue::from_bytes(value).unwrap());
            assert_eq!(bearer(&headers).unwrap_err().code, Code::InvalidToken, "{value:?}");
        }
        assert_eq!(bearer(request(&[]).headers()).unwrap_err().code, Code::Unauthenticated);
        let twice = request(&[("authorization", "Bearer a"), ("authorization", "Bearer a")]);
        assert_eq!(bearer(twice.headers()).unwrap_err().code, Code::InvalidToken);
    }

    #[test]
    fn provider_message_ids_must_be_short_visible_ascii() {
        let message = |id: &[u8]| {
            let mut headers = HeaderMap::new();
            for (name, value) in [("webhook-timestamp", "1"), ("webhook-signature", "v1,x")] {
                headers.insert(header::HeaderName::from_static(name), HeaderValue::from_static(value));
            }
            let id = HeaderValue::from_bytes(id).unwrap();
            headers.insert(header::HeaderName::from_static("webhook-id"), id);
            signature(&headers).map(|signature| signature.id.to_owned()).map_err(|error| error.code)
        };
        assert_eq!(message(b"msg_1"), Ok("msg_1".to_owned()));
        for id in [&b"msg_\xff"[..], "msg_é".as_bytes(), b"msg 1", b"msg\t1", b"", &[b'x'; 256]] {
            assert_eq!(message(id), Err(Code::BadRequest), "{id:?}");
        }
    }

    #[test]
    fn accept_headers_are_matched_to_media_types() {
        for (accept, taken) in [
            ("application/json", true),
            ("*/*", true),
            ("application/*;q=0.5", true),
            ("text/html, */*;q=0.1", true),
            ("application/json;q=0.9, text/html", true),
            ("", true),
            ("text/html", false),
            ("text/*", false),
            ("application/xml", false),
            ("application/json;q=0, */*", false),
            ("*/*;q=0", false),
        ] {
            let request = request(&[("accept", accept)]);
            assert_eq!(accepts("application/json", &request).is_ok(), taken, "{accept}");
        }
        for (accept, taken) in [("text/event-stream", true), ("text/*", true), ("application/json", false)] {
            let request = request(&[("accept", accept)]);
            assert_eq!(accepts("text/event-stream", &request).is_ok(), taken, "{accept}");
        }
        assert!(accepts("application/json", &request(&[])).is_ok());
    }

    #[test]
    fn json_content_types_are_recognized() {
        for (kind, json) in [
            ("application/json", true),
            ("Application/JSON", true),
            ("application/json; charset=utf-8", true),
            ("application/json;charset=\"UTF-8\"", true),
            ("application/json; charset=latin1", false),
            ("application/vnd.api+json", false),
            ("text/json", false),
            ("application/x-www-form-urlencoded", false),
            ("", false),
        ] {
            assert_eq!(is_json(request(&[("content-type", kind)]).headers()), json, "{kind}");
        }
        assert!(!is_json(request(&[]).headers()));
        let coded = request(&[("content-type", "application/json"), ("content-encoding", "gzip")]);
        assert!(!is_json(coded.headers()));
    }

    #[test]
    fn idempotency_keys_must_be_short_visible_ascii() {
        let (longest, longer) = ("k".repeat(255), "k".repeat(256));
        for (key, fits) in [("a", true), (&longest, true), (&longer, false), ("", false), ("a b", false)] {
            let request = TestRequest::default().insert_header(("idempotency-key", key)).to_http_request();
            assert_eq!(idempotency_key(request.headers()).is_ok(), fits, "{key:?}");
        }
        assert_eq!(idempotency_key(request(&[]).headers()).unwrap(), None);
        let twice = request(&[("idempotency-key", "a"), ("idempotency-key", "a")]);
        assert_eq!(idempotency_key(twice.headers()).unwrap_err().code, Code::BadRequest);
    }
}
