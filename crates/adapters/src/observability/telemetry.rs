//! Logging: text for people in development, JSON for machines in production, always on standard error.
//!
//! Commands write their lines directly. The service must not wait for a log consumer and logs through a
//! [`LogQueue`].

use std::io;
use std::panic::{self, PanicHookInfo};
use std::thread;

use anyhow::{Context, anyhow, ensure};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry, fmt};

use crate::observability::log_lines::{JsonLines, TextLines};
use crate::observability::log_queue::{LogQueue, OnLoss};
use crate::observability::metrics;

/// The variable that holds the log filter, such as `info,cuepoint=debug`.
const FILTER_VARIABLE: &str = "CUEPOINT_LOG";
/// Without it, the web server logs each of its threads, and each malformed request as an error.
const DEFAULT_FILTER: &str = "info,actix_server=warn,actix_http::h1=off";
/// The target of the lines that a supervisor waits for.
pub const ANNOUNCEMENTS: &str = "cuepoint::announcements";
/// The events that no filter hides: announcements, and those of this module, which are panics and lost lines.
const ALWAYS: [(&str, LevelFilter); 2] =
    [(module_path!(), LevelFilter::WARN), (ANNOUNCEMENTS, LevelFilter::INFO)];

type Lines = Box<dyn Layer<Registry> + Send + Sync>;

/// The format of log lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogFormat {
    /// One JSON object per line.
    Json,
    /// Text for a terminal.
    Text,
}

/// Starts the queue through which the service writes to standard error.
///
/// # Errors
/// When the operating system refuses another thread.
pub fn queue() -> io::Result<LogQueue> {
    let on_loss = OnLoss {
        count: Box::new(metrics::log_lines_lost),
        report: Box::new(|lost| tracing::warn!(lost, "log lines were lost")),
    };
    LogQueue::start(io::stderr(), on_loss)
}

/// Installs the logger once per process. With a queue, panics are logged through it too.
///
/// # Errors
/// When the filter is invalid, or another logger is already installed.
pub fn start(format: LogFormat, queue: Option<&LogQueue>) -> anyhow::Result<()> {
    let mut filter = configured_filter()?;
    for (target, level) in ALWAYS {
        filter = filter.add_directive(format!("{target}={level}").parse()?);
    }
    let lines = match queue {
        Some(queue) => lines(format, queue.writer()),
        None => lines(format, io::stderr),
    };
    let logs = tracing_subscriber::registry().with(lines).with(filter);
    logs.try_init().context("another logger is installed already")?;
    if queue.is_some() {
        // The default hook would wait for the consumer of standard error.
        panic::set_hook(Box::new(log_panic));
    }
    Ok(())
}

/// The filter of the log that the environment sets.
///
/// # Errors
/// When it is invalid.
pub fn configured_filter() -> anyhow::Result<EnvFilter> {
    let filter = std::env::var_os(FILTER_VARIABLE).filter(|filter| !filter.is_empty());
    let filter = filter.map_or_else(|| DEFAULT_FILTER.into(), |filter| filter.to_string_lossy().into_owned());
    parse(&filter).context(FILTER_VARIABLE)
}

/// Writes the sentences of a failure that ends the service through the queue, in the format of its log. It needs no
/// installed logger, because its installation may have failed.
pub fn report_failure(format: LogFormat, queue: &LogQueue, sentences: &[String]) {
    match format {
        LogFormat::Json => {
            let logs = tracing_subscriber::registry().with(lines(format, queue.writer()));
            tracing::subscriber::with_default(logs, || {
                for sentence in sentences {
                    tracing::error!("{sentence}");
                }
            });
        }
        LogFormat::Text => queue.writer().push(&failure_lines(sentences)),
    }
}

/// The sentences of a failure as lines for a terminal.
#[must_use]
pub fn failure_lines(sentences: &[String]) -> String {
    sentences.iter().map(|sentence| format!("cuepoint: {sentence}\n")).collect()
}

/// Parses a filter. A word that is no level is refused: it would be taken for a module, the only one that is logged.
/// The name of a span is refused as well, because the service has no spans.
fn parse(filter: &str) -> anyhow::Result<EnvFilter> {
    ensure!(
        !filter.contains('['),
        "{filter:?} names a span; use levels and modules, as in \"warn,cuepoint=debug\""
    );
    let directives = filter.split(',').map(str::trim);
    for directive in directives.filter(|directive| !directive.contains('=')) {
        ensure!(
            !directive.is_empty() && directive.parse::<LevelFilter>().is_ok(),
            "{directive:?} is not a level; use error, warn, info, debug, trace or off"
        );
    }
    EnvFilter::try_new(filter).map_err(|error| {
        // The source of the error repeats its message.
        anyhow!("{filter:?} is not a filter such as \"info\" or \"warn,cuepoint=debug\": {error}")
    })
}

fn lines<W>(format: LogFormat, writer: W) -> Lines
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    match format {
        LogFormat::Json => fmt::layer().event_format(JsonLines).with_writer(writer).boxed(),
        LogFormat::Text => {
            fmt::layer().with_ansi(false).event_format(TextLines::default()).with_writer(writer).boxed()
        }
    }
}

fn log_panic(info: &PanicHookInfo<'_>) {
    let thread = thread::current();
    let message = info.payload_as_str().unwrap_or("a value that is not text");
    let location = info.location().map(ToString::to_string);
    tracing::error!(thread = thread.name(), location, "panicked: {message}");
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// An output that records all writes.
    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Kept {
        fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(lines)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn unknown_log_levels_and_span_filters_are_refused_with_an_explanation() {
        for filter in ["warning", "verbose", "quiet", "info,cuepoint", "info,", " "] {
            let message = format!("{:#}", parse(filter).unwrap_err());
            assert!(message.ends_with("use error, warn, info, debug, trace or off"), "{message}");
        }
        for filter in [DEFAULT_FILTER, "warn", "INFO", "off", "warn,cuepoint=debug"] {
            parse(filter).unwrap();
        }
        for filter in ["[request]=info", "info,cuepoint[{request_id=abc}]=debug"] {
            let message = format!("{:#}", parse(filter).unwrap_err());
            assert!(message.contains("names a span"), "{message}");
        }
        let message = format!("{:#}", parse("info,foo=bar").unwrap_err());
        assert_eq!(message.matches("expected one of").count(), 1, "{message}");
    }

    #[test]
    fn a_panic_is_logged_on_one_line_with_its_location() {
        let kept = Kept::default();
        let on_loss = OnLoss { count: Box::new(|_| {}), report: Box::new(|_| {}) };
        let queue = LogQueue::start(kept.clone(), on_loss).unwrap();
        let layer = lines(LogFormat::Json, queue.writer());
        let logs = tracing_subscriber::registry().with(layer);
        let (here, before) = (thread::current().id(), Arc::new(panic::take_hook()));
        let others = before.clone();
        // The other tests of this process keep their hook.
        panic::set_hook(Box::new(move |info| {
            if thread::current().id() == here { log_panic(info) } else { others(info) }
        }));
        tracing::subscriber::with_default(logs, || {
            assert!(panic::catch_unwind(|| panic!("no song left")).is_err());
        });
        panic::set_hook(Box::new(move |info| before(info)));
        drop(queue);
        let text = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
        let line: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&line["level"], &line["message"]), (&"ERROR".into(), &"panicked: no song left".into()));
        assert!(line["location"].as_str().unwrap().contains("telemetry.rs:"), "{text}");
    }
}
