//! The format of server-sent events, as the HTML standard defines it.

use std::io::Write as _;
use std::time::Duration;

use actix_web::web::Bytes;
use cuepoint_views::wire::names;
use cuepoint_views::wire::schema::Described;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder};
use utoipa::openapi::{RefOr, Schema};

use crate::wire::kinds;

/// Its media type.
pub const MEDIA_TYPE: &str = "text/event-stream";

/// The minimum reconnect delay of clients, and the range above it, in milliseconds.
const RETRY_AT_LEAST: u64 = 2_000;
const RETRY_SPREAD: u64 = 2_001;
/// Step between the reconnect delays of successive streams; coprime with the range.
const SPREAD_STEP: u64 = 617;

/// The reconnection time of the stream with this number: spread, so that clients do not all come back at once
/// after a restart.
#[must_use]
pub fn retry_after(number: u64) -> Duration {
    let spread = number.wrapping_mul(SPREAD_STEP).checked_rem(RETRY_SPREAD).unwrap_or_default();
    Duration::from_millis(RETRY_AT_LEAST.saturating_add(spread))
}

/// The first message of a stream without ids: the reconnection time.
#[must_use]
pub fn retry(after: Duration) -> Bytes {
    Bytes::from(format!("retry: {}\n\n", after.as_millis()))
}

/// An event without an id.
///
/// # Errors
/// When the data cannot be serialized.
pub fn without_id(event_type: &str, data: &impl Serialize) -> serde_json::Result<Bytes> {
    Ok(Bytes::from(format!("event: {event_type}\ndata: {}\n\n", serde_json::to_string(data)?)))
}

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

/// The schema of a stream with these data: a text of messages, each of lines with a name and a value.
#[must_use]
pub fn schema<T: ToSchema>() -> RefOr<Schema> {
    let line = |schema: ObjectBuilder, description: &str| schema.description(Some(description));
    let data = line(kinds::text(), "The event, as JSON on one line.")
        .content_media_type("application/json")
        .content_schema(Some(Described::named::<T>().used()));
    let message = ObjectBuilder::new()
        .description(Some("A message: lines of the form `name: value`, up to an empty line. A line that begins with a colon is a \
            comment."))
        .property("id", line(kinds::whole_number(), "Position after which the client resumes."))
        .property("event", Described::named::<names::EventType>().used())
        .property("data", data)
        .property("retry", line(kinds::whole_number(), "Milliseconds to wait before a reconnection. Only the first message \
            has this line."))
        .required("id");
    let messages = ArrayBuilder::new().items(message);
    let stream = kinds::text()
        .description(Some("Server-sent events, as the HTML standard defines them. The first message has `id` and `retry`, the \
            message of an event has `id`, `event` and `data`, and a message that keeps the connection open has `id` alone."))
        .content_media_type(MEDIA_TYPE)
        .content_schema(Some(Schema::from(messages.build())));
    RefOr::T(Schema::from(stream.build()))
}

/// The schema of a stream without ids.
#[must_use]
pub fn schema_of_signals<T: ToSchema>() -> RefOr<Schema> {
    let data = kinds::text()
        .content_media_type("application/json")
        .content_schema(Some(Described::named::<T>().used()));
    let message = ObjectBuilder::new()
        .description(Some("A message: lines of the form `name: value`, up to an empty line."))
        .property("event", kinds::text().enum_values(Some([CHANGED])))
        .property("data", data.description(Some("The event, as JSON on one line.")))
        .property(
            "retry",
            kinds::whole_number().description(Some(
                "Milliseconds to wait before a reconnection. Only the first message has this line.",
            )),
        );
    let stream = kinds::text()
        .description(Some("Server-sent events, as the HTML standard defines them. The first message has `retry` alone, the others have \
            `event` and `data`."))
        .content_media_type(MEDIA_TYPE)
        .content_schema(Some(Schema::from(ArrayBuilder::new().items(message).build())));
    RefOr::T(Schema::from(stream.build()))
}

/// A stream with this event.
#[must_use]
pub fn example(event: &Value) -> String {
    let position = event.get("position").and_then(Value::as_i64).unwrap_or_default();
    let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
    let mut stream = begin(position.saturating_sub(1), Duration::from_millis(2_500)).to_vec();
    // A JSON value can always be written to memory.
    let _ = append(&mut stream, position, kind, event);
    String::from_utf8_lossy(&stream).into_owned()
}

/// The type of an event that says that an object has changed.
pub const CHANGED: &str = "changed";

/// A stream without ids, with this event.
#[must_use]
pub fn example_of_signal(event: &Value) -> String {
    let begin = retry(Duration::from_millis(2_500));
    // A JSON value can always be written to memory.
    let event = without_id(CHANGED, event).unwrap_or_default();
    String::from_utf8_lossy(&[begin, event].concat()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_an_id_a_type_and_one_line_of_data() {
        let mut chunk = Vec::new();
        append(&mut chunk, 7, "topup.created", &"two\nlines").unwrap();
        assert_eq!(chunk, b"id: 7\nevent: topup.created\ndata: \"two\\nlines\"\n\n");
        assert_eq!(begin(6, Duration::from_millis(2_500)), "id: 6\nretry: 2500\n\n");
        assert_eq!(comment(7), ":\nid: 7\n\n");
    }
}
