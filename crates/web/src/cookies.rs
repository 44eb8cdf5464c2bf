//! The cookies of pages.
//!
//! Over https, each name begins with `__Host-`, so that no other host of the domain can set the cookie. Over plain http,
//! which production refuses, browsers do not accept that prefix.

use actix_web::HttpRequest;
use actix_web::cookie::time::Duration;
use actix_web::cookie::{Cookie, SameSite};
use actix_web::http::header;

/// A cookie of pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PageCookie {
    /// The session.
    Session,
    /// The request that waits for its payment.
    Draft,
    /// The sessions of guest wallets, except the browser's own session.
    Guest,
    /// The proof that the password was repeated a short time ago.
    Password,
    /// The proofs that make this browser known: sessions of accounts began in it.
    KnownBrowser,
}

impl PageCookie {
    const fn name(self, is_encrypted: bool) -> &'static str {
        match (self, is_encrypted) {
            (Self::Session, true) => "__Host-cuepoint",
            (Self::Session, false) => "cuepoint",
            (Self::Draft, true) => "__Host-cuepoint-draft",
            (Self::Draft, false) => "cuepoint-draft",
            (Self::Guest, true) => "__Host-cuepoint-guest",
            (Self::Guest, false) => "cuepoint-guest",
            (Self::Password, true) => "__Host-cuepoint-password",
            (Self::Password, false) => "cuepoint-password",
            (Self::KnownBrowser, true) => "__Host-cuepoint-browser",
            (Self::KnownBrowser, false) => "cuepoint-browser",
        }
    }
}

/// Reads and writes the cookies of a deployment.
#[derive(Clone, Copy, Debug)]
pub struct Cookies {
    /// Whether clients reach the service by https.
    pub is_encrypted: bool,
}

impl Cookies {
    /// The value of a cookie of the request. If a browser sends several of this name, there is no telling which one is
    /// this service's, and none counts. The value is the one that was set: a draft is decoded once, as a form.
    #[must_use]
    pub fn read(self, cookie: PageCookie, request: &HttpRequest) -> Option<String> {
        let mut values = self.read_all(cookie, request).into_iter();
        let first = values.next()?;
        values.next().is_none().then_some(first)
    }

    /// The values of all cookies of this name. An answer replaces one of them, so the caller must lose no value.
    #[must_use]
    pub fn read_all(self, cookie: PageCookie, request: &HttpRequest) -> Vec<String> {
        let name = cookie.name(self.is_encrypted);
        let headers = request.headers().get_all(header::COOKIE);
        headers
            .flat_map(|header| header.as_bytes().split(|byte| *byte == b';'))
            .filter_map(value_of(name))
            .collect()
    }

    /// The cookie with this value, kept by the browser for this time.
    #[must_use]
    pub fn keep(self, cookie: PageCookie, value: String, seconds: i64) -> Cookie<'static> {
        Cookie::build(cookie.name(self.is_encrypted), value)
            .path("/")
            .http_only(true)
            .secure(self.is_encrypted)
            .same_site(SameSite::Lax)
            .max_age(Duration::seconds(seconds))
            .finish()
    }

    /// The cookie that makes the browser forget it.
    #[must_use]
    pub fn forget(self, cookie: PageCookie) -> Cookie<'static> {
        self.keep(cookie, String::new(), 0)
    }
}

/// The value of a pair with exactly this name. Cookies of other applications change nothing, whatever their bytes are: a
/// cookie whose name has other white space before the prefix can be set by every host of the domain.
fn value_of(name: &'static str) -> impl Fn(&[u8]) -> Option<String> {
    move |pair| {
        let value = pair.trim_ascii().strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
        Some(str::from_utf8(value).ok()?.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    const HTTPS: Cookies = Cookies { is_encrypted: true };
    const HTTP: Cookies = Cookies { is_encrypted: false };

    fn read(cookies: Cookies, header: impl AsRef<[u8]>) -> Option<String> {
        let value = header::HeaderValue::from_bytes(header.as_ref()).unwrap();
        let request = TestRequest::default().insert_header((header::COOKIE, value)).to_http_request();
        cookies.read(PageCookie::Session, &request)
    }

    #[test]
    fn cookies_are_for_this_host_alone_and_hidden_from_scripts() {
        let kept = HTTPS.keep(PageCookie::Session, "secret".to_owned(), 60).to_string();
        assert_eq!(kept, "__Host-cuepoint=secret; HttpOnly; SameSite=Lax; Secure; Path=/; Max-Age=60");
        let plain = HTTP.keep(PageCookie::Draft, "song".to_owned(), 60).to_string();
        assert_eq!(plain, "cuepoint-draft=song; HttpOnly; SameSite=Lax; Path=/; Max-Age=60");
        let forgotten = HTTPS.forget(PageCookie::Guest).to_string();
        assert_eq!(forgotten, "__Host-cuepoint-guest=; HttpOnly; SameSite=Lax; Secure; Path=/; Max-Age=0");
    }

    /// Attack API2: another host of the domain sets a cookie of its own beside the session's.
    #[test]
    fn a_second_cookie_of_the_name_makes_both_void() {
        assert_eq!(read(HTTPS, "a=b; __Host-cuepoint=secret").as_deref(), Some("secret"));
        assert_eq!(read(HTTPS, "__Host-cuepoint=fixed; __Host-cuepoint=secret"), None);
        assert_eq!(read(HTTPS, "cuepoint=fixed"), None);
        assert_eq!(read(HTTP, "cuepoint=secret").as_deref(), Some("secret"));
    }

    /// Attack API2: another host of the domain evades the prefix, or makes the header unreadable.
    #[test]
    fn cookies_of_other_applications_change_nothing() {
        let spaces = ["\u{2003}", "\u{a0}", "\u{85}", "\u{3000}"];
        let fixed = spaces.map(|space| format!("{space}__Host-cuepoint=fixed; __Host-cuepoint{space}=fixed"));
        let fixed = fixed.iter().map(|pairs| pairs.as_bytes());
        for pairs in fixed.chain([&b"city=M\xfcnchen"[..], b"__Host-cuepoint=\xff"]) {
            assert_eq!(read(HTTPS, pairs), None, "{pairs:?}");
            for header in [[pairs, b"__Host-cuepoint=secret"], [b"__Host-cuepoint=secret", pairs]] {
                assert_eq!(read(HTTPS, header.join(&b"; "[..])).as_deref(), Some("secret"), "{pairs:?}");
            }
        }
    }

    #[test]
    fn a_value_is_read_as_it_was_set() {
        assert_eq!(read(HTTP, "cuepoint=a=R%26B+%2B; b=%ff").as_deref(), Some("a=R%26B+%2B"));
    }
}
