//! Client messages of PostgreSQL's protocol, as far as needed to find prepared statements.

use std::io::{self, Read};

/// The codes in place of a version that request encryption.
const SSL_REQUEST: u32 = 80_877_103;
const GSS_REQUEST: u32 = 80_877_104;

/// The maximum length of a message in bytes.
const LONGEST: usize = 1 << 30;

/// A statement and the types of its parameters, 0 if the server is to infer the type.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Prepared {
    pub(super) sql: String,
    pub(super) types: Vec<u32>,
}

/// The first words of statements that read or change rows; others, such as `SET`, cannot be prepared by their
/// text.
const KINDS: &[&str] = &["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "WITH "];

impl Prepared {
    /// Whether the statement reads or changes rows.
    pub(super) fn is_about_rows(&self) -> bool {
        KINDS.iter().any(|kind| self.sql.starts_with(kind))
    }
}

/// Reads the next message, including the bytes in front of its length; `None` if the client has disconnected.
pub(super) fn read(input: &mut impl Read, before: usize) -> io::Result<Option<Vec<u8>>> {
    let mut message = vec![0; before.saturating_add(4)];
    match input.read_exact(&mut message) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let length = message.get(before..).and_then(number).unwrap_or_default();
    let rest = usize::try_from(length).unwrap_or(usize::MAX).checked_sub(4).filter(|rest| *rest < LONGEST);
    let rest = rest.ok_or_else(|| io::Error::other("a message has an impossible length"))?;
    let start = message.len();
    message.resize(start.saturating_add(rest), 0);
    input.read_exact(message.get_mut(start..).unwrap_or_default())?;
    Ok(Some(message))
}

/// The name of the application in the first message of a connection, which has no type. `None` is a request for encryption,
/// which another first message follows. A request to cancel a statement has no name, and nothing follows it.
pub(super) fn opening(message: &[u8]) -> Option<String> {
    if matches!(message.get(4..).and_then(number), Some(SSL_REQUEST | GSS_REQUEST)) {
        return None;
    }
    let texts: Vec<&[u8]> = message.get(8..).unwrap_or_default().split(|byte| *byte == 0).collect();
    let name = texts.chunks_exact(2).find_map(|pair| match pair {
        [b"application_name", value] => Some(String::from_utf8_lossy(value).into_owned()),
        _ => None,
    });
    Some(name.unwrap_or_default())
}

/// The content of a later message of this type, which its length precedes.
fn content(message: &[u8], kind: u8) -> Option<&[u8]> {
    message.get(5..).filter(|_| message.first() == Some(&kind))
}

/// The new name of the application, if the message changes it.
pub(super) fn renamed(message: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(content(message, b'Q')?);
    let name = text.strip_prefix("SET application_name = '")?.split('\'').next();
    name.map(str::to_owned)
}

/// The statement that the message prepares: a zero-terminated name, the zero-terminated statement, the number of types, and
/// the types.
pub(super) fn prepared(message: &[u8]) -> Option<Prepared> {
    let mut parts = content(message, b'P')?.splitn(3, |byte| *byte == 0);
    let (_name, sql, types) = (parts.next()?, parts.next()?, parts.next()?);
    let types = types.get(2..)?.chunks_exact(4).filter_map(number).collect();
    let sql = String::from_utf8_lossy(sql);
    let lines: Vec<&str> = sql.lines().map(str::trim).collect();
    Some(Prepared { sql: lines.join(" "), types })
}

fn number(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: &[u8], content: &[u8]) -> Vec<u8> {
        let length = u32::try_from(content.len()).unwrap().saturating_add(4);
        [kind, &length.to_be_bytes(), content].concat()
    }

    #[test]
    fn messages_are_read_one_at_a_time() {
        let (one, two) = (message(b"Q", b"SELECT 1\0"), message(b"S", b""));
        let bytes = [one.clone(), two.clone()].concat();
        let mut input = bytes.as_slice();
        assert_eq!(read(&mut input, 1).unwrap(), Some(one));
        assert_eq!(read(&mut input, 1).unwrap(), Some(two));
        assert_eq!(read(&mut input, 1).unwrap(), None);
        assert!(read(&mut [b'Q', 0, 0, 0, 3].as_slice(), 1).is_err());
    }

    #[test]
    fn startup_messages_are_told_apart_and_the_program_name_is_read() {
        let session = message(b"", b"\0\x03\0\0user\0ada\0application_name\0cuepoint\0\0");
        assert_eq!(opening(&session).as_deref(), Some("cuepoint"));
        assert_eq!(opening(&message(b"", b"\0\x03\0\0user\0ada\0\0")).as_deref(), Some(""));
        assert_eq!(opening(&message(b"", &SSL_REQUEST.to_be_bytes())), None);
        let cancel: u32 = 80_877_102;
        assert_eq!(opening(&message(b"", &cancel.to_be_bytes())).as_deref(), Some(""));
    }

    #[test]
    fn a_prepared_statement_is_recorded_with_its_types() {
        let content = b"s1\0SELECT $1,\n    $2\0\0\x02\0\0\0\x14\0\0\0\0";
        let expected = Prepared { sql: "SELECT $1, $2".to_owned(), types: vec![20, 0] };
        assert!(expected.is_about_rows());
        assert_eq!(prepared(&message(b"P", content)), Some(expected));
        assert!(!Prepared { sql: "SET TIME ZONE 'UTC'".to_owned(), types: Vec::new() }.is_about_rows());
        assert_eq!(prepared(&message(b"B", content)), None);
        let set = message(b"Q", b"SET application_name = 'other'; SELECT 1\0");
        assert_eq!((renamed(&set).as_deref(), renamed(&message(b"P", content))), (Some("other"), None));
    }
}
