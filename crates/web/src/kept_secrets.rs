//! The secrets of sessions that a browser keeps: the session cookie, and the guest cookie with the secrets of guest
//! wallets beside it, newest first.

use actix_web::cookie::Cookie;
use actix_web::cookie::time::Duration;
use actix_web::{HttpMessage as _, HttpRequest};
use cuepoint_domain::user::cookie_session::CookieSession;
use cuepoint_domain::user::session::Session;

use crate::cookies::{Cookies, PageCookie};
use crate::response::PageResponse;

/// The maximum number of secrets in the guest cookie.
pub(crate) const MOST: usize = 4;
/// The maximum number of secrets of one cookie, or of several of its name, that are looked up: no browser of this service
/// sends more.
const MOST_READ: usize = 2 * MOST;
/// Separates secrets. None of them contains it.
const SEPARATOR: char = '.';
/// The time for which a browser keeps the cookie of a session. No session lasts longer, and the service decides its end.
const KEPT_SECONDS: i64 = Session::GUEST_LIFETIME.whole_seconds();

/// A cookie with the secret of a session.
pub(crate) fn kept(cookies: Cookies, cookie: PageCookie, secret: String) -> Cookie<'static> {
    cookies.keep(cookie, secret, KEPT_SECONDS)
}

/// The guest cookie with these secrets; without one, the cookie that makes the browser forget it.
pub(crate) fn guest(cookies: Cookies, secrets: &[String]) -> Cookie<'static> {
    match secrets {
        [] => cookies.forget(PageCookie::Guest),
        secrets => kept(cookies, PageCookie::Guest, secrets.join(&SEPARATOR.to_string())),
    }
}

/// The secrets in the guest cookie of a request that count, newest first.
pub(crate) fn secrets(cookies: Cookies, request: &HttpRequest) -> Vec<String> {
    let cookie = cookies.read(PageCookie::Guest, request);
    well_formed(cookie.iter().flat_map(|cookie| cookie.split(SEPARATOR)), MOST)
}

/// The secrets in all session cookies and in all guest cookies of a request. An answer replaces these cookies.
pub(crate) fn all(cookies: Cookies, request: &HttpRequest) -> (Vec<String>, Vec<String>) {
    let [own, kept] =
        [PageCookie::Session, PageCookie::Guest].map(|cookie| cookies.read_all(cookie, request));
    let own = well_formed(own.iter().map(String::as_str), MOST_READ);
    let kept = well_formed(kept.iter().flat_map(|cookie| cookie.split(SEPARATOR)), MOST_READ);
    (own, kept)
}

/// The first well-formed secrets of these texts, without repetitions.
fn well_formed<'a>(texts: impl Iterator<Item = &'a str>, most: usize) -> Vec<String> {
    let mut secrets: Vec<String> = Vec::new();
    for text in texts.filter(|text| CookieSession::is_well_formed(text)) {
        if secrets.len() < most && secrets.iter().all(|known| known != text) {
            secrets.push(text.to_owned());
        }
    }
    secrets
}

/// A visit of a guest with cookies that are older than a day, and are therefore set again. Otherwise, the browser would
/// forget them 400 days after the first visit instead of the last one.
#[derive(Clone, Copy, Debug)]
struct Visit;

/// Notes a request with this session of a guest account, which was read from the database.
pub(crate) fn note_visit(request: &HttpRequest, session: &Session) {
    if session.used_at >= session.began_at.plus(Duration::DAY) {
        request.extensions_mut().insert(Visit);
    }
}

/// The answer to a visit, which sets the cookies again as the browser sent them. An answer that sets cookies itself stays
/// as it is.
pub(crate) fn renewed(cookies: Cookies, request: &HttpRequest, mut answer: PageResponse) -> PageResponse {
    if request.extensions().get::<Visit>().is_none() || answer.sets_cookies() {
        return answer;
    }
    if let Some(own) =
        cookies.read(PageCookie::Session, request).filter(|own| CookieSession::is_well_formed(own))
    {
        answer = answer.with_cookie(&kept(cookies, PageCookie::Session, own));
    }
    let secrets = secrets(cookies, request);
    if secrets.is_empty() { answer } else { answer.with_cookie(&guest(cookies, &secrets)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Attack API2: a guest cookie of a stranger's making.
    #[test]
    fn a_guest_cookie_counts_for_its_first_four_secrets_that_can_be_one() {
        let all: Vec<String> = ('a'..='f').map(|letter| letter.to_string().repeat(43)).collect();
        let read = |text: &str| well_formed(text.split(SEPARATOR), MOST);
        assert_eq!(read(&all.join(".")), &all[..4]);
        assert_eq!(read(&format!("..x.{0}.{0}.{1}A.{1}", all[0], all[1])), &all[..2]);
        assert!(read(&"a".repeat(8_000)).is_empty());
    }
}
