//! The login of a browser.

use std::net::SocketAddr;

use anyhow::Context;
use cuepoint_domain::ids::UserId;
use ureq::http::HeaderMap;
use ureq::http::header::SET_COOKIE;

use crate::seeding::Population;
use crate::single_calls::{call, client};

/// The end of the name of a session's cookie; over https, a prefix comes before it.
const SESSION: &str = "cuepoint";

/// Logs a user of the population in by the form, and returns the cookie of the session as `name=value`.
pub(super) fn log_in(server: SocketAddr, user: UserId) -> anyhow::Result<String> {
    // The characters of the address and the password that a form would write differently.
    let written = |text: &str| text.replace('@', "%40").replace(' ', "+");
    let (email, password) = (written(&Population::email(user)), written(Population::PASSWORD));
    let body = format!("email={email}&password={password}");
    let headers = [("Sec-Fetch-Site", "same-origin"), ("Content-Type", "application/x-www-form-urlencoded")];
    let answer = call(&client(), server, "POST", "/login", &headers, &body)?;
    session(answer.headers()).with_context(|| format!("a login set no cookie: {answer:?}"))
}

/// The cookie of the session that an answer sets.
fn session(headers: &HeaderMap) -> Option<String> {
    headers.get_all(SET_COOKIE).iter().find_map(|cookie| {
        let (pair, _) = cookie.to_str().ok()?.split_once(';')?;
        let (name, _) = pair.split_once('=')?;
        name.ends_with(SESSION).then(|| pair.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cookie_of_the_session_is_found_among_others() {
        let mut headers = HeaderMap::new();
        headers.insert("location", "/; a=cuepoint".parse().unwrap());
        headers.append(SET_COOKIE, "cuepoint-draft=; Max-Age=0".parse().unwrap());
        assert_eq!(session(&headers), None);
        headers.append(SET_COOKIE, "__Host-cuepoint=abc=; HttpOnly".parse().unwrap());
        assert_eq!(session(&headers).as_deref(), Some("__Host-cuepoint=abc="));
    }
}
