//! Requests as the bytes on the wire.

use std::io::Write;

use fastrand::Rng;

/// Returns the bytes of a request on a persistent connection.
pub(crate) fn request(method: &str, path: &str, token: Option<&str>, body: Option<&str>) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_request(&mut bytes, method, path, token, body);
    bytes
}

/// Appends the bytes of a request to a buffer.
pub(crate) fn write_request(
    into: &mut Vec<u8>,
    method: &str,
    path: &str,
    token: Option<&str>,
    body: Option<&str>,
) {
    // Writing into memory cannot fail.
    let _ = write!(into, "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\n");
    if let Some(token) = token {
        let _ = write!(into, "Authorization: Bearer {token}\r\n");
    }
    match body {
        Some(body) => {
            let length = body.len();
            let _ = write!(into, "Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}");
        }
        None => into.extend_from_slice(b"\r\n"),
    }
}

/// Returns the bytes of a GET with these headers, on a persistent connection.
pub(crate) fn read_with(path: &str, headers: &[(&str, &str)]) -> Vec<u8> {
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{headers}\r\n").into_bytes()
}

/// Returns an endless sequence of random picks from these requests, the same in every run.
///
/// The bytes are contiguous in memory, unlike those of a vector per request.
pub(crate) fn at_random(requests: &[Vec<u8>]) -> impl FnMut(&mut Vec<u8>) -> bool + use<> {
    let all = requests.concat();
    let mut ends = 0_usize;
    let places: Vec<(usize, usize)> = requests
        .iter()
        .map(|request| {
            let begins = ends;
            ends = ends.saturating_add(request.len());
            (begins, ends)
        })
        .collect();
    let mut rng = Rng::with_seed(1);
    move |into| {
        let Some(&(begins, ends)) = rng.choice(&places) else { return false };
        into.extend_from_slice(all.get(begins..ends).unwrap_or_default());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_serialized_as_http() {
        let bare = request("GET", "/x", None, None);
        assert_eq!(bare, b"GET /x HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\n\r\n");
        let full = String::from_utf8(request("POST", "/y", Some("t"), Some("{}"))).unwrap();
        assert!(full.contains("\r\nAuthorization: Bearer t\r\n"), "{full}");
        assert!(full.ends_with("\r\nContent-Length: 2\r\n\r\n{}"), "{full}");
        let read = read_with("/z", &[("Cookie", "a=b")]);
        assert_eq!(read, b"GET /z HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: a=b\r\n\r\n");
    }

    #[test]
    fn requests_are_picked_evenly_and_copied_whole() {
        let requests = [b"one".to_vec(), b"three".to_vec(), b"eleven".to_vec()];
        let mut next = at_random(&requests);
        let mut seen = [0; 3];
        for _ in 0..300 {
            let mut bytes = Vec::new();
            assert!(next(&mut bytes));
            seen[requests.iter().position(|request| *request == bytes).unwrap()] += 1;
        }
        assert!(seen.iter().all(|times| *times > 50), "{seen:?}");
        assert!(!at_random(&[])(&mut Vec::new()));
    }
}
