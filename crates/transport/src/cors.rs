//! Cross-origin access for scripts of the configured origins only.

use actix_cors::Cors;
use actix_web::http::{Method, header};
use actix_web::middleware::Condition;

/// Seconds for which a browser may cache a preflight.
const MAX_AGE: usize = 3_600;

/// The middleware for these origins; disabled without any.
#[must_use]
pub fn cors(origins: &[String]) -> Condition<Cors> {
    let policy = Cors::default()
        .allowed_methods([
            Method::GET,
            Method::HEAD,
            Method::POST,
            Method::PUT,
            Method::PATCH,
            Method::DELETE,
        ])
        .allowed_headers([header::ACCEPT, header::AUTHORIZATION, header::CONTENT_TYPE])
        .allowed_header("Idempotency-Key")
        .allowed_header("Last-Event-ID")
        .allowed_header("X-Request-Id")
        .expose_headers([
            "X-Request-Id",
            "Location",
            "Idempotency-Replayed",
            "Retry-After",
            "X-RateLimit-Limit",
            "X-RateLimit-Remaining",
            "X-RateLimit-Reset",
            "X-RateLimit-Resource",
        ])
        .max_age(MAX_AGE);
    let policy = origins.iter().fold(policy, |policy, origin| policy.allowed_origin(origin));
    Condition::new(!origins.is_empty(), policy)
}
