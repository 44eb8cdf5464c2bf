//! The size and the pace of batches.

use diesel::SqliteConnection;
use tokio::time::{Instant, sleep};

use crate::connect::failure::SqliteFailure;
use crate::writer::{Repetition, Writer};

/// Rows per batch: few enough that no batch occupies the writer for long.
pub(crate) const BATCH: i64 = 500;

/// The pace of batches.
#[derive(Clone, Copy)]
pub(crate) enum Pace {
    /// No pauses.
    Brisk,
    /// A pause after each batch for as long as it took, which leaves half of the writer's time to others.
    Gentle,
}

impl Pace {
    /// Waits until the next batch may follow the one that began then.
    async fn rest(self, began: Instant) {
        match self {
            Self::Brisk => {}
            Self::Gentle => sleep(began.elapsed()).await,
        }
    }
}

/// Runs batches from a position on, each as a change of its own, until one returns no position for the next.
/// It can be interrupted at any time and repeated, as each batch can.
///
/// # Errors
/// The failure of a batch; those before it are committed then.
pub(crate) async fn in_batches<Position: Clone + Send + 'static>(
    writer: &Writer,
    pace: Pace,
    start: Position,
    batch: impl FnMut(&mut SqliteConnection, &Position) -> Result<Option<Position>, SqliteFailure>
    + Clone
    + Send
    + 'static,
) -> Result<(), SqliteFailure> {
    let mut next = Some(start);
    while let Some(position) = next {
        let began = Instant::now();
        let mut batch = batch.clone();
        let change = move |connection: &mut SqliteConnection| batch(connection, &position);
        next = writer.change(Repetition::Repeatable, change).await?;
        if next.is_some() {
            pace.rest(began).await;
        }
    }
    Ok(())
}

/// Whether this number of rows was a whole batch, so that more may follow.
pub(crate) fn is_whole(rows: usize) -> bool {
    i64::try_from(rows).is_ok_and(|rows| rows >= BATCH)
}
