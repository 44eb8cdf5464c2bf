//! Single calls about gigs, whose answers are read.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, ensure};
use cuepoint_domain::ids::UserId;

/// The longest wait for an answer, or for an event on a stream.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// The body of a request for a song of a `popular` or `upcoming` artist.
pub(crate) fn song(dj: UserId, artist_type: &str) -> String {
    format!(
        r#"{{"dj_id":{dj},"song_title":"Blue Monday","artist_name":"New Order","artist_type":"{artist_type}","music_url":"https://example.com/song"}}"#
    )
}

/// The first value with this name in a JSON text.
pub(crate) fn field(json: &str, name: &str) -> anyhow::Result<String> {
    let (_, rest) = json.split_once(&format!(r#""{name}":"#)).context("an answer lacks a field")?;
    let end = rest.find([',', '}']).context("a field has no end")?;
    Ok(rest.get(..end).unwrap_or_default().trim_matches('"').to_owned())
}

/// Makes a call and returns its body.
pub(crate) fn fetch(
    server: SocketAddr,
    method: &str,
    path: &str,
    token: &str,
    body: &str,
) -> anyhow::Result<String> {
    let mut socket = TcpStream::connect(server)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    let length = body.len();
    let call = format!(
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    socket.write_all(call.as_bytes())?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").context("an answer has no end of its head")?;
    ensure!(head.starts_with("HTTP/1.1 2"), "{method} {path}: {answer}");
    Ok(body.to_owned())
}
