//! The format of server-sent events, as the HTML standard defines it.

use std::io::Write as _;
use std::time::Duration;

use actix_web::web::Bytes;
use serde::Serialize;

/// Its media type.
pub const MEDIA_TYPE: &str = "text/event-stream";

/// A comment, which clients ignore.
pub const COMMENT: Bytes = Bytes::from_static(b":\n\n");

/// The time after which clients reconnect.
#[must_use]
pub fn retry(after: Duration) -> Bytes {
    Bytes::from(format!("retry: {}\n\n", after.as_millis()))
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
        assert_eq!(retry(Duration::from_millis(2_500)), "retry: 2500\n\n");
    }
}
