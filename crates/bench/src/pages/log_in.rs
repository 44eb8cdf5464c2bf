//! The login of a browser.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use anyhow::{Context, ensure};
use cuepoint_domain::ids::UserId;

use crate::seeding::Population;
use crate::single_calls::PATIENCE;

/// The end of the name of a session's cookie; over https, a prefix comes before it.
const SESSION: &str = "cuepoint";

/// Logs a user of the population in by the form, and returns the cookie of the session as `name=value`.
pub(super) fn log_in(server: SocketAddr, user: UserId) -> anyhow::Result<String> {
    let mut socket = TcpStream::connect(server)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    // The characters of the address and the password that a form would write differently.
    let written = |text: &str| text.replace('@', "%40").replace(' ', "+");
    let (email, password) = (written(&Population::email(user)), written(Population::PASSWORD));
    let body = format!("email={email}&password={password}");
    let length = body.len();
    let form = format!(
        "POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nSec-Fetch-Site: same-origin\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    socket.write_all(form.as_bytes())?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer)?;
    ensure!(answer.starts_with("HTTP/1.1 303"), "a login was refused: {answer}");
    session(&answer).with_context(|| format!("a login set no cookie: {answer}"))
}

/// The cookie of the session that an answer sets.
fn session(answer: &str) -> Option<String> {
    answer.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        let (pair, _) = value.split_once(';')?;
        let (cookie, _) = pair.split_once('=')?;
        (name.eq_ignore_ascii_case("set-cookie") && cookie.ends_with(SESSION)).then(|| pair.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cookie_of_the_session_is_found_among_others() {
        let answer = "HTTP/1.1 303 See Other\r\nlocation: /\r\nset-cookie: cuepoint-draft=; Max-Age=0\r\n\
                      Set-Cookie: __Host-cuepoint=abc=; HttpOnly\r\n\r\n";
        assert_eq!(session(answer).as_deref(), Some("__Host-cuepoint=abc="));
        assert_eq!(session("HTTP/1.1 303 See Other\r\nlocation: /; a=cuepoint\r\n\r\n"), None);
    }
}
