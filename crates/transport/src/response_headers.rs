//! The headers of every response: its request id, security headers and caching.

use std::sync::Arc;

use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};

/// The header that carries a request id.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The content security policy of API answers, which allows nothing.
const NOTHING_POLICY: &str = "default-src 'none'; frame-ancestors 'none'";
/// The content security policy of the documentation pages: their own parts, and calls to this service.
const DOCUMENTATION_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
     img-src 'self' data:; connect-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'";

/// The headers of every response.
pub(crate) struct ResponseHeaders {
    pub request_id: Arc<str>,
    /// Whether the response is part of the documentation, whose pages run scripts of their own.
    pub is_documentation: bool,
    /// The value of `Strict-Transport-Security`; `None` sends no such header.
    pub transport_security: Option<HeaderValue>,
}

/// The value of `Strict-Transport-Security` for this time; 0 ends an earlier value. It names neither `includeSubDomains` nor
/// `preload`: other names of the domain belong to other services.
#[must_use]
pub fn strict_transport_security(seconds: u32) -> HeaderValue {
    // Digits are always a value of a header.
    HeaderValue::try_from(format!("max-age={seconds}")).unwrap_or(HeaderValue::from_static("max-age=0"))
}

impl ResponseHeaders {
    /// Adds the headers. The caching and the policies of the handler itself stay.
    pub(crate) fn add_to(&self, headers: &mut HeaderMap) {
        if let Ok(id) = HeaderValue::from_str(&self.request_id) {
            headers.insert(REQUEST_ID, id);
        }
        let cacheable = headers.contains_key(header::CACHE_CONTROL);
        let has_policies = headers.contains_key(header::CONTENT_SECURITY_POLICY);
        let mut set = |name, value| drop(headers.insert(name, HeaderValue::from_static(value)));
        set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
        if !has_policies {
            set(header::REFERRER_POLICY, "no-referrer");
        }
        if self.is_documentation {
            set(header::CONTENT_SECURITY_POLICY, DOCUMENTATION_POLICY);
        } else {
            if !has_policies {
                set(header::CONTENT_SECURITY_POLICY, NOTHING_POLICY);
            }
            if !cacheable {
                set(header::CACHE_CONTROL, "no-store");
            }
        }
        if let Some(value) = &self.transport_security {
            headers.insert(header::STRICT_TRANSPORT_SECURITY, value.clone());
        }
    }
}
