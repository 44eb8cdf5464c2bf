//! The format of server-sent events, as the HTML standard defines it.

use std::io::Write as _;
use std::time::Duration;

use actix_web::web::Bytes;
use serde::Serialize;

/// Its media type.
pub const MEDIA_TYPE: &str = "text/event-stream";

/// The beginning of a stream: the id after which a client resumes that receives nothing else, and the time after
/// which it reconnects.
#[must_use]
pub fn begin(id: i64, retry: Duration) -> Bytes {
    Bytes::from(format!("id: {id}\nretry: {}\n\n", retry.as_millis()))
}

/// A comment, with the id after which a client resumes from then on. Clients dispatch no event for it.
#[must_use]
pub fn comment(id: i64) -> Bytes {
    Bytes::from(format!(":\nid: {id}\n\n"))
}

/// Appends an event to a chunk. Its data are one line, since JSON escapes line breaks.
///
/// # Errors
/// When the data cannot be serialized.
pub fn append(
    chunk: &mut Vec<u8>,
    id: i64,
    event_type: &str,
    data: &impl Serialize,
) -> serde_json::Result<()> {
    write!(chunk, "id: {id}\nevent: {event_type}\ndata: ").map_err(serde_json::Error::io)?;
    serde_json::to_writer(&mut *chunk, data)?;
    chunk.extend_from_slice(b"\n\n");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_its_id_its_type_and_its_data_on_one_line() {
        let mut chunk = Vec::new();
        append(&mut chunk, 7, "topup.created", &"two\nlines").unwrap();
        assert_eq!(chunk, b"id: 7\nevent: topup.created\ndata: \"two\\nlines\"\n\n");
        assert_eq!(begin(6, Duration::from_millis(2_500)), "id: 6\nretry: 2500\n\n");
        assert_eq!(comment(7), ":\nid: 7\n\n");
    }
}
