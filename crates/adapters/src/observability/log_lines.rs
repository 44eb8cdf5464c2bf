//! The formats of log lines.
//!
//! A line is as `tracing_subscriber` writes it for an event in a span named `request`. There is no such span, because
//! it would cost every request more than its line, and few requests log anything else.

use std::fmt::{self, Write as _};

use cuepoint_domain::timestamp::Timestamp;
use cuepoint_views::wire::time::WireTimestamp;
use cuepoint_views::wire::write_json::{WriteJson as _, write_escaped};
use time::OffsetDateTime;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::{Format, Full, Writer};
use tracing_subscriber::fmt::time::{FormatTime as _, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use crate::observability::logged_request::LoggedRequest;

/// The initial size in bytes of a line's buffer.
const LINE: usize = 512;

/// One JSON object per line. `tracing_subscriber` serializes it piece by piece, which costs five times as much.
pub(super) struct JsonLines;

impl<S, N> FormatEvent<S, N> for JsonLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut to: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let metadata = event.metadata();
        let mut line = Vec::with_capacity(LINE);
        line.extend_from_slice(b"{\"timestamp\":");
        WireTimestamp(now()).write_json(&mut line);
        line.extend_from_slice(b",\"level\":");
        metadata.level().as_str().write_json(&mut line);
        let mut fields = Fields { line: &mut line, described: Ok(()) };
        event.record(&mut fields);
        fields.described?;
        line.extend_from_slice(b",\"target\":");
        metadata.target().write_json(&mut line);
        if let Some(LoggedRequest { id, method }) = LoggedRequest::current() {
            line.extend_from_slice(b",\"span\":{\"method\":");
            method.write_json(&mut line);
            line.extend_from_slice(b",\"request_id\":");
            id.write_json(&mut line);
            line.extend_from_slice(b",\"name\":\"request\"}");
        }
        line.extend_from_slice(b"}\n");
        to.write_str(std::str::from_utf8(&line).map_err(|_| fmt::Error)?)
    }
}

#[allow(clippy::disallowed_methods, reason = "a log line has the time of the machine")]
fn now() -> Timestamp {
    Timestamp::new(OffsetDateTime::now_utc())
}

/// Appends the fields of an event to a JSON object.
struct Fields<'a> {
    line: &'a mut Vec<u8>,
    /// Whether each value could describe itself.
    described: fmt::Result,
}

impl Fields<'_> {
    /// Appends the name of a field.
    fn name(&mut self, field: &Field) -> &mut Vec<u8> {
        self.line.extend_from_slice(b",\"");
        // A name in the code has nothing to escape.
        self.line.extend_from_slice(field.name().as_bytes());
        self.line.extend_from_slice(b"\":");
        self.line
    }
}

impl Visit for Fields<'_> {
    fn record_f64(&mut self, field: &Field, value: f64) {
        value.write_json(self.name(field));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        value.write_json(self.name(field));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        value.write_json(self.name(field));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        value.write_json(self.name(field));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        value.write_json(self.name(field));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let line = self.name(field);
        line.push(b'"');
        let described = write!(Escaped(line), "{value:?}");
        line.push(b'"');
        self.described = self.described.and(described);
    }
}

/// Escapes what is written, for a place between quotation marks.
struct Escaped<'a>(&'a mut Vec<u8>);

impl fmt::Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        write_escaped(text, self.0);
        Ok(())
    }
}

/// Text for a terminal.
pub(super) struct TextLines(Format<Full, ()>);

impl Default for TextLines {
    fn default() -> Self {
        // The time and the level precede the span, and the format writes the span before the rest.
        Self(Format::default().with_ansi(false).without_time().with_level(false))
    }
}

impl<S, N> FormatEvent<S, N> for TextLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut to: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        SystemTime.format_time(&mut to)?;
        write!(to, " {:>5} ", event.metadata().level())?;
        if let Some(LoggedRequest { id, method }) = LoggedRequest::current() {
            write!(to, "request{{request_id={id} method={method:?}}}: ")?;
        }
        self.0.format_event(context, to, event)
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use futures_util::FutureExt as _;
    use tracing_subscriber::fmt::{self as subscriber, MakeWriter};
    use tracing_subscriber::layer::SubscriberExt as _;
    use tracing_subscriber::{Layer, Registry};

    use super::*;

    type Lines = Box<dyn Layer<Registry> + Send + Sync>;

    const ID: &str = "my.request_id-1";
    const METHOD: &str = "GET";

    /// An output that records each line.
    #[derive(Clone, Default)]
    struct Output(Arc<Mutex<Vec<String>>>);

    impl io::Write for Output {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().push(String::from_utf8(line.to_vec()).unwrap());
            Ok(line.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl MakeWriter<'_> for Output {
        type Writer = Self;

        fn make_writer(&self) -> Self {
            self.clone()
        }
    }

    /// A line without its time, and the time.
    fn without_time(line: &str) -> (String, &str) {
        let (before, from) = line.split_at(line.find("20").unwrap());
        let (time, after) = from.split_at("2026-11-26T12:00:00.000000Z".len());
        (format!("{before}{after}"), time)
    }

    /// Logs events with every type of value.
    fn log() {
        let hostile = "\"quotes\" \\ \u{0} \u{8} \u{1b}[31m \u{7f} \r\n\t é 🎵 </script> \u{2028}";
        let error: &(dyn std::error::Error + 'static) = &io::Error::other(hostile);
        let (method, route) = ("GET", "/api/v1/requests/{id}");
        tracing::info!(request_id = ID, method, route, status = 200_u16, milliseconds = 7_u64, "answered");
        tracing::info!(
            request_id = hostile,
            method,
            route,
            status = 404_u16,
            milliseconds = 0_u64,
            "answered"
        );
        tracing::error!(%hostile, text = hostile, debug = ?hostile, "failed: {hostile}");
        tracing::warn!(error, "an error");
        tracing::debug!(least = i64::MIN, most = u64::MAX, yes = true, no = false);
        tracing::trace!(whole = 1.0, tiny = 1e-300, none = f64::NAN, endless = f64::INFINITY, "floats");
        tracing::info!(wide = u128::MAX, negative = i128::MIN, bytes = &b"\x00\xff"[..], "other numbers");
        tracing::info!(target: "a \"target\"", absent = None::<u64>, present = Some(1_u64), "options");
        tracing::info!(some.path = "x", r#type = "y", "names");
    }

    /// Returns the lines of the events outside and within a request, which is a span or not.
    fn logged(lines: impl FnOnce(Output) -> Lines, is_span: bool) -> Vec<String> {
        let output = Output::default();
        let logs = tracing_subscriber::registry().with(lines(output.clone()));
        tracing::subscriber::with_default(logs, || {
            log();
            if is_span {
                tracing::info_span!("request", request_id = %ID, method = METHOD).in_scope(log);
            } else {
                let request = LoggedRequest { id: ID.into(), method: METHOD };
                request.scope(async { log() }).now_or_never().unwrap();
            }
        });
        std::mem::take(&mut *output.0.lock().unwrap())
    }

    fn compare(theirs: impl Fn(Output) -> Lines, ours: impl FnOnce(Output) -> Lines) {
        let [before, ours, after] = [logged(&theirs, true), logged(ours, false), logged(&theirs, true)];
        assert_eq!([before.len(), ours.len(), after.len()], [18; 3]);
        for ((before, ours), after) in before.iter().zip(&ours).zip(&after) {
            let [(expected, before), (line, at), (_, after)] =
                [before, ours, after].map(|line| without_time(line));
            assert_eq!(line, expected);
            assert!((before..=after).contains(&at), "{before} {at} {after}");
        }
    }

    #[test]
    fn json_log_lines_equal_those_of_tracing_subscriber() {
        let theirs = || subscriber::layer().json().flatten_event(true).with_span_list(false);
        compare(
            |output| theirs().with_writer(output).boxed(),
            |output| subscriber::layer().event_format(JsonLines).with_writer(output).boxed(),
        );
    }

    #[test]
    fn text_log_lines_equal_those_of_tracing_subscriber() {
        let theirs = || subscriber::layer().with_ansi(false);
        compare(
            |output| theirs().with_writer(output).boxed(),
            |output| theirs().event_format(TextLines::default()).with_writer(output).boxed(),
        );
    }
}
