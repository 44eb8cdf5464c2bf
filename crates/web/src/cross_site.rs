//! Posts from other sites: a browser states from where a form was sent, and only this service's own forms are read.
//!
//! Browsers send `Sec-Fetch-Site` to https and localhost. To other addresses over plain http, they send `Origin` alone.

use actix_web::http::header::{self, HeaderMap, HeaderName};

/// The header by which a browser names the relation of the sending page to this service.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The addresses from which forms are accepted.
#[derive(Clone, Debug)]
pub struct OwnOrigins {
    /// The public origin, such as `https://music.example.com`.
    pub public: String,
    /// Whether the address that the request itself names is accepted as well, outside production.
    pub accepts_host: bool,
}

impl OwnOrigins {
    /// Whether a post was sent by a page of this service, or by a person who typed no page's address.
    #[must_use]
    pub fn accept(&self, headers: &HeaderMap) -> bool {
        if let Some(site) = headers.get(SEC_FETCH_SITE) {
            return site == "same-origin" || site == "none";
        }
        let Some(origin) = headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok()) else {
            return false;
        };
        origin == self.public || (self.accepts_host && is_host(origin, headers))
    }
}

/// Whether a browser says that a request does not come from a page of this service.
pub(crate) fn is_from_elsewhere(headers: &HeaderMap) -> bool {
    headers.get(SEC_FETCH_SITE).is_some_and(|site| site != "same-origin")
}

/// Whether an origin has the host and port of the request.
fn is_host(origin: &str, headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let named = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    host.is_some() && host == named
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    fn accepted(accepts_host: bool, headers: &[(&'static str, &'static str)]) -> bool {
        let own = OwnOrigins { public: "https://music.example.com".to_owned(), accepts_host };
        let request = TestRequest::post().insert_header(("host", "192.168.0.7:8080"));
        let request = headers.iter().fold(request, |request, header| request.insert_header(*header));
        own.accept(request.to_http_request().headers())
    }

    /// Attack API2: a page of another site posts a form with the victim's cookie.
    #[test]
    fn posts_of_other_sites_and_of_unknown_origin_are_refused() {
        for site in ["cross-site", "same-site", "", "Same-Origin", "same-origin, none"] {
            let forged = ("origin", "https://music.example.com");
            assert!(!accepted(true, &[("sec-fetch-site", site), forged]), "{site}");
        }
        for origin in [
            "null",
            "",
            "https://evil.example",
            "https://music.example.com.evil.example",
            "https://music.example.com:444",
            "http://music.example.com",
            "https://music.example.com/",
            "http://192.168.0.7",
            "ftp://192.168.0.7:8080",
        ] {
            assert!(!accepted(true, &[("origin", origin)]), "{origin}");
        }
        assert!(!accepted(true, &[]));
        assert!(!accepted(true, &[("referer", "https://music.example.com/")]));
    }

    #[test]
    fn posts_of_own_pages_are_accepted() {
        assert!(accepted(false, &[("sec-fetch-site", "same-origin"), ("origin", "https://evil.example")]));
        assert!(accepted(false, &[("sec-fetch-site", "none")]));
        assert!(accepted(false, &[("origin", "https://music.example.com")]));
    }

    #[test]
    fn the_address_of_the_request_is_accepted_outside_production_alone() {
        let phone = [("origin", "http://192.168.0.7:8080")];
        assert!(accepted(true, &phone));
        assert!(!accepted(false, &phone));
    }
}
