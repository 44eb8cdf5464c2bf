//! The responses of pages: HTML, redirects after a form, parts and files.

use actix_web::HttpResponse;
use actix_web::body::{BodyStream, BoxBody, MessageBody};
use actix_web::cookie::Cookie;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_web::web::Bytes;
use cuepoint_pages::done::DoneNotice;
use cuepoint_pages::frame::{RenderedPart, digest_of_content};
use cuepoint_pages::language::Language;
use cuepoint_transport::compression::gzip;
use flate2::Compression;
use futures_util::Stream;

/// The header that says which digest a part has.
pub const DIGEST: HeaderName = HeaderName::from_static("x-cuepoint-digest");

/// What pages may load and do: their own parts alone.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'; trusted-types cuepoint; \
     require-trusted-types-for 'script'";

/// The length from which a body is compressed, in bytes.
const WORTH_COMPRESSING: usize = 1_024;

/// The status of a page with errors in its form.
pub const INVALID: StatusCode = StatusCode::UNPROCESSABLE_ENTITY;

/// A response of a page.
#[derive(Debug)]
pub struct PageResponse {
    response: HttpResponse,
}

impl PageResponse {
    /// A page.
    #[must_use]
    pub fn html(status: StatusCode, body: String) -> Self {
        Self::content(status, "text/html; charset=utf-8", body)
    }

    /// A page with the status 200.
    #[must_use]
    pub fn page(body: String) -> Self {
        Self::html(StatusCode::OK, body)
    }

    /// The way to another page, which the browser reads by GET.
    #[must_use]
    pub fn see(path: &str) -> Self {
        let mut response = HttpResponse::new(StatusCode::SEE_OTHER);
        insert(response.headers_mut(), header::LOCATION, path);
        Self { response }
    }

    /// The way to a page that says what the form did.
    #[must_use]
    pub fn done(path: &str, done: DoneNotice) -> Self {
        Self::see(&with_done(path, done))
    }

    /// A part of a page, or no content if the reader shows it already. Both have the digest, because the version at its end
    /// can change alone.
    #[must_use]
    pub fn part(RenderedPart { html, digest }: RenderedPart, shown: &str) -> Self {
        let mut part = match digest_of_content(&digest) == digest_of_content(shown) {
            true => Self { response: HttpResponse::new(StatusCode::NO_CONTENT) },
            false => Self::page(html),
        };
        insert(part.response.headers_mut(), DIGEST, &digest);
        part
    }

    /// A file with this name for the user's disk, in chunks. It is incomplete if the connection ends before the file.
    #[must_use]
    pub fn streamed_download(
        media_type: &'static str,
        name: &str,
        chunks: impl Stream<Item = Result<Bytes, Box<dyn std::error::Error>>> + 'static,
    ) -> Self {
        let attachment = format!("attachment; filename=\"{name}\"");
        Self::content(StatusCode::OK, media_type, BodyStream::new(chunks))
            .with_header(header::CONTENT_DISPOSITION, &attachment)
    }

    /// The response of a static file.
    #[must_use]
    pub const fn file(response: HttpResponse) -> Self {
        Self { response }
    }

    fn content(status: StatusCode, media_type: &str, body: impl MessageBody + 'static) -> Self {
        let mut response = HttpResponse::new(status).set_body(body).map_into_boxed_body();
        insert(response.headers_mut(), header::CONTENT_TYPE, media_type);
        Self { response }
    }

    /// Whether the response sets a cookie.
    #[must_use]
    pub fn sets_cookies(&self) -> bool {
        self.response.headers().contains_key(header::SET_COOKIE)
    }

    /// The response with another cookie.
    #[must_use]
    pub fn with_cookie(mut self, cookie: &Cookie<'_>) -> Self {
        if let Ok(value) = HeaderValue::from_str(&cookie.to_string()) {
            self.response.headers_mut().append(header::SET_COOKIE, value);
        }
        self
    }

    /// Whether a form had no effect.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        self.response.status().is_client_error()
    }

    /// The response with another header.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: &str) -> Self {
        insert(self.response.headers_mut(), name, value);
        self
    }

    /// The response with a compressed body, if it is worth it and the client takes it.
    fn compressed(self, accepts_gzip: bool) -> Self {
        let is_coded = self.response.headers().contains_key(header::CONTENT_ENCODING);
        if !accepts_gzip || is_coded {
            return self;
        }
        let (head, body) = self.response.into_parts();
        let (body, is_gzip) = match body.try_into_bytes() {
            Ok(bytes) if bytes.len() < WORTH_COMPRESSING => (BoxBody::new(bytes), false),
            Ok(bytes) => match gzip(&bytes, Compression::fast()) {
                Ok(smaller) => (BoxBody::new(smaller), true),
                Err(_) => (BoxBody::new(bytes), false),
            },
            Err(stream) => (stream, false),
        };
        let mut response = head.set_body(body);
        if is_gzip {
            insert(response.headers_mut(), header::CONTENT_ENCODING, "gzip");
        }
        Self { response }
    }

    /// The response with the headers of all pages.
    #[must_use]
    pub fn finish(self, language: Language, accepts_gzip: bool) -> HttpResponse {
        let mut finished = self.compressed(accepts_gzip);
        finished.add_headers(language);
        finished.response
    }

    fn add_headers(&mut self, language: Language) {
        let headers = self.response.headers_mut();
        insert(headers, header::CONTENT_SECURITY_POLICY, POLICY);
        // With `no-referrer`, browsers would send `Origin: null` with forms.
        insert(headers, header::REFERRER_POLICY, "same-origin");
        insert(headers, HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
        insert(
            headers,
            HeaderName::from_static("permissions-policy"),
            "geolocation=(self), camera=(), microphone=()",
        );
        if !headers.contains_key(header::CACHE_CONTROL) {
            insert(headers, header::CACHE_CONTROL, "no-store");
            insert(headers, header::VARY, "Accept-Language, Cookie, Accept-Encoding");
            insert(headers, header::CONTENT_LANGUAGE, language.tag());
        }
    }
}

/// The local path with what a form did, as its page shows it.
fn with_done(path: &str, done: DoneNotice) -> String {
    let (page, fragment) = path.split_at(path.find('#').unwrap_or(path.len()));
    let joint = if page.contains('?') { '&' } else { '?' };
    format!("{page}{joint}{}={}{fragment}", DoneNotice::PARAMETER, done.name())
}

fn insert(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_form_did_is_part_of_the_query() {
        for (path, expected) in [
            ("/", "/?done=saved"),
            ("/account?email=code", "/account?email=code&done=saved"),
            ("/g/K7TW3M#request-5", "/g/K7TW3M?done=saved#request-5"),
        ] {
            assert_eq!(with_done(path, DoneNotice::Saved), expected);
        }
    }
}
