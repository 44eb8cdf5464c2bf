//! The songs that DJs play most, which a server keeps for a while.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::lock::Mutex as AsyncMutex;
use time::Duration;

use crate::application::environment::Environment;
use crate::gig::Song;
use crate::gig::most_played::{COUNTED_FOR, most_played};
use crate::ids::UserId;
use crate::ports::Unavailable;
use crate::timestamp::Timestamp;

/// The period in which a server does not read the songs of a DJ again.
const SONGS_FRESH_FOR: Duration = Duration::minutes(10);
/// The maximum number of plays that are counted, the newest ones.
const MOST_PLAYS: u32 = 2_000;

/// Songs, and when they were read; `None` before the first time.
type Read = Option<(Timestamp, Arc<[Song]>)>;

/// The songs of DJs by DJ: the first reader reads them, and the others wait.
#[derive(Clone, Default)]
pub(super) struct MostPlayed {
    kept: Arc<Mutex<HashMap<UserId, Arc<AsyncMutex<Read>>>>>,
}

impl MostPlayed {
    /// The songs that a DJ played most. They may be ten minutes old.
    pub(super) async fn of(&self, env: &Environment, dj: UserId) -> Result<Arc<[Song]>, Unavailable> {
        let slot = self.slot(dj, env.now());
        let mut read = slot.lock().await;
        let now = env.now();
        if let Some((at, songs)) = &*read
            && is_fresh(*at, now)
        {
            return Ok(Arc::clone(songs));
        }
        let created_after = env.terms.requests.oldest_open(now.minus(COUNTED_FOR));
        let plays = env.gigs.plays(dj, created_after, MOST_PLAYS).await?;
        let songs: Arc<[Song]> = most_played(plays, now).into();
        *read = Some((now, Arc::clone(&songs)));
        Ok(songs)
    }

    /// The place of a DJ's songs, which may be new. Outdated songs of other DJs are removed before.
    fn slot(&self, dj: UserId, now: Timestamp) -> Arc<AsyncMutex<Read>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = kept.get(&dj) {
            return Arc::clone(slot);
        }
        kept.retain(|_, slot| match slot.try_lock() {
            Some(read) => read.as_ref().is_some_and(|(at, _)| is_fresh(*at, now)),
            // It has a reader now.
            None => true,
        });
        Arc::clone(kept.entry(dj).or_default())
    }
}

fn is_fresh(at: Timestamp, now: Timestamp) -> bool {
    now.since(at).abs() < SONGS_FRESH_FOR
}
