//! A stream that signals changes of a board, without its data.

use std::sync::Arc;
use std::time::Duration;

use cuepoint_domain::application::Failure;
use cuepoint_domain::application::queries::BOARD_FRESH_FOR;
use cuepoint_domain::gig::{BoardVersion, DjCode};
use tokio::time::{Instant, timeout_at};

use crate::event_hub::BoardWatch;
use crate::service::Service;

/// The interval of messages on a stream of an unchanged board, so that proxies keep its connection open.
const SILENT_FOR: Duration = Duration::from_secs(15);
/// The minimum interval between messages.
const MIN_INTERVAL: Duration = Duration::from_secs(3);

/// The state of a stream on its reader's side.
pub struct BoardStream {
    service: Arc<Service>,
    code: DjCode,
    watch: BoardWatch,
    /// The version that the reader has received last, and the time of this message.
    sent: (BoardVersion, Instant),
}

impl BoardStream {
    /// The stream of a board whose reader receives this version first.
    #[must_use]
    pub fn new(service: Arc<Service>, code: DjCode, watch: BoardWatch, first: BoardVersion) -> Self {
        Self { service, code, watch, sent: (first, Instant::now()) }
    }

    /// Waits for the next message, with the version of the board; `None` at the end of the stream.
    pub async fn next(&mut self) -> Option<BoardVersion> {
        let (before, at) = self.sent;
        let silent_until = after(at, SILENT_FOR);
        loop {
            let is_woken = timeout_at(silent_until, self.watch.woken()).await.is_ok();
            if is_woken {
                // Until then the server may show a board from before the event.
                let quiet_until =
                    after(Instant::now(), BOARD_FRESH_FOR.unsigned_abs()).max(after(at, MIN_INTERVAL));
                // Ends early at the end of the stream.
                let _ = timeout_at(quiet_until, self.watch.ended()).await;
            }
            if self.watch.is_ended() {
                return None;
            }
            let version = match self.service.use_cases.boards.board(self.code).await {
                Ok(board) => board.version(),
                Err(Failure::NotFound) => return None,
                Err(error) => {
                    tracing::debug!(%error, "a board cannot be read for its stream");
                    before
                }
            };
            if version != before || Instant::now() >= silent_until {
                self.sent = (version, Instant::now());
                return Some(version);
            }
        }
    }
}

/// The time this long after another.
fn after(at: Instant, time: Duration) -> Instant {
    at.checked_add(time).unwrap_or(at)
}
