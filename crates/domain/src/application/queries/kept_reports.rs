//! The numbers of settled gigs. A server keeps them until a request of the gig changes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::application::environment::Environment;
use crate::gig::Gig;
use crate::gig::quarters::QuarterHour;
use crate::gig::report::GigReport;
use crate::ids::GigId;
use crate::operation::{Entity, Position, PositionedOperation};
use crate::ports::Unavailable;

/// The maximum size of all kept numbers: 16 MiB.
const MOST_BYTES: usize = 16 * 1_024 * 1_024;
/// The maximum number of a DJ's operations that are searched for a change of a kept gig. After more, the gig is counted
/// again.
const MOST_OPERATIONS: u32 = 50;

/// The numbers of a gig that are counted from its requests and their ratings: its report without tips.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct GigNumbers {
    pub(super) report: GigReport,
    pub(super) quarters: Vec<QuarterHour>,
}

impl GigNumbers {
    /// Its approximate size in memory, in bytes.
    fn bytes(&self) -> usize {
        let songs = self.report.top_songs.iter();
        let texts = songs.map(|song| {
            let texts = song.song_title.as_str().len().saturating_add(song.artist_name.as_str().len());
            texts.saturating_add(size_of_val(song))
        });
        let quarters = self.quarters.len().saturating_mul(size_of::<QuarterHour>());
        texts.fold(quarters.saturating_add(OVERHEAD), usize::saturating_add)
    }
}

/// The size of what each kept gig has besides songs and quarters, in bytes.
const OVERHEAD: usize = 1_024;

struct Kept {
    counted: Arc<GigNumbers>,
    /// The position up to which no operation has changed a request of the gig since it was counted.
    current_to: Position,
    bytes: usize,
    /// The number of the last use.
    used: u64,
}

#[derive(Default)]
struct Shelf {
    gigs: HashMap<GigId, Kept>,
    bytes: usize,
    uses: u64,
}

/// The kept numbers of gigs. The least recently used ones make room for others.
#[derive(Default)]
pub(super) struct KeptReports(Mutex<Shelf>);

impl KeptReports {
    /// The numbers of a gig, if they are kept and no request of the gig has changed.
    pub(super) async fn of(
        &self,
        env: &Environment,
        gig: &Gig,
    ) -> Result<Option<Arc<GigNumbers>>, Unavailable> {
        let Some((counted, current_to)) = self.used(gig.id) else { return Ok(None) };
        let page = env.operations.operations(Some(gig.dj), current_to, MOST_OPERATIONS).await?;
        let is_whole = u32::try_from(page.operations.len()).is_ok_and(|number| number < MOST_OPERATIONS);
        let is_changed = page.operations.iter().any(|operation| changes(operation, gig.id));
        if !is_whole || is_changed || page.lost_after(current_to).is_some() {
            self.lock().forget(gig.id);
            return Ok(None);
        }
        self.lock().renew(gig.id, current_to, page.newest);
        Ok(Some(counted))
    }

    /// Keeps the numbers of a gig. `current_to` was the newest position before its requests were read.
    pub(super) fn keep(&self, gig: GigId, counted: &Arc<GigNumbers>, current_to: Position) {
        let mut shelf = self.lock();
        shelf.forget(gig);
        let bytes = counted.bytes();
        let used = shelf.next_use();
        shelf.bytes = shelf.bytes.saturating_add(bytes);
        shelf.gigs.insert(gig, Kept { counted: Arc::clone(counted), current_to, bytes, used });
        while shelf.bytes > MOST_BYTES
            && let Some(oldest) = shelf.gigs.iter().min_by_key(|(_, kept)| kept.used).map(|(gig, _)| *gig)
        {
            shelf.forget(oldest);
        }
    }

    fn used(&self, gig: GigId) -> Option<(Arc<GigNumbers>, Position)> {
        let mut shelf = self.lock();
        let used = shelf.next_use();
        let kept = shelf.gigs.get_mut(&gig)?;
        kept.used = used;
        Some((Arc::clone(&kept.counted), kept.current_to))
    }

    fn lock(&self) -> MutexGuard<'_, Shelf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf {
    fn next_use(&mut self) -> u64 {
        self.uses = self.uses.saturating_add(1);
        self.uses
    }

    fn forget(&mut self, gig: GigId) {
        if let Some(kept) = self.gigs.remove(&gig) {
            self.bytes = self.bytes.saturating_sub(kept.bytes);
        }
    }

    /// Advances the position of a gig, unless the gig was counted again meanwhile.
    fn renew(&mut self, gig: GigId, from: Position, to: Position) {
        if let Some(kept) = self.gigs.get_mut(&gig).filter(|kept| kept.current_to == from) {
            kept.current_to = to;
        }
    }
}

/// Whether an operation changed a request of a gig, or the rating of any request.
fn changes(operation: &PositionedOperation, gig: GigId) -> bool {
    // Only receipts of profiles are redacted.
    match operation.receipt.whole().map(|receipt| &receipt.outcome.entity) {
        Some(Entity::MusicRequest(request)) => request.gig == Some(gig),
        // A rating names no gig.
        Some(Entity::Rating(_)) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gig::report::RequestedSong;
    use crate::text::Line;

    /// Attack API4: many ended gigs with long titles, so that their kept reports fill the memory.
    #[test]
    fn kept_reports_have_a_limited_size_and_the_least_used_ones_go_first() {
        let line = || Line::new(&"\u{fdfa}".repeat(255)).unwrap();
        let song = RequestedSong { song_title: line(), artist_name: line(), requests: 1, played: 0 };
        let report = GigReport { top_songs: vec![song; 10], ..GigReport::default() };
        let counted = Arc::new(GigNumbers { report, quarters: Vec::new() });
        let (kept, gig) = (KeptReports::default(), |number| GigId::new(number).unwrap());
        for number in 1..=3_000 {
            kept.keep(gig(number), &counted, Position::START);
            kept.used(gig(1));
        }
        let shelf = kept.lock();
        let real: usize = shelf.gigs.values().map(|kept| kept.counted.bytes()).sum();
        assert_eq!(shelf.bytes, real);
        assert!(real <= MOST_BYTES && real > MOST_BYTES / 2, "{real}");
        let is_kept = [1, 2, 3_000].map(|number| shelf.gigs.contains_key(&gig(number)));
        assert_eq!(is_kept, [true, false, true]);
    }
}
