//! Feeds and streams of events.

use serde::Deserialize;
use time::Duration;

use super::values::Whole;

/// The settings of feeds and streams of events.
#[derive(Clone, Copy, Debug)]
pub struct EventSettings {
    /// The maximum number of open streams on this server.
    pub max_streams: usize,
    /// The age up to which events are shown; `None` means without limit.
    pub shown_for: Option<Duration>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EventsSection {
    max_streams: Whole<usize, 1, 1_000_000>,
    shown_for_days: Whole<u32, 0, 36_500>,
}

impl From<EventsSection> for EventSettings {
    fn from(section: EventsSection) -> Self {
        let days = i64::from(section.shown_for_days.0);
        Self { max_streams: section.max_streams.0, shown_for: (days > 0).then(|| Duration::days(days)) }
    }
}
