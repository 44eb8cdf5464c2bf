//! Whether a song was already played or accepted at a gig, so that a page asks once more.

use crate::gig::song::SongKey;
use crate::ids::RequestId;
use crate::music_request::RequestState;
use crate::timestamp::Timestamp;

/// What a gig already did with a song.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SongTonight {
    /// The time of its last play; a refunded play does not count.
    pub played_at: Option<Timestamp>,
    /// Its requests that the DJ has accepted, and not played yet.
    pub accepted: Vec<RequestId>,
}

impl SongTonight {
    /// What a gig has already done with a song, from the songs of its requests.
    pub fn of(song: SongKey, requests: impl IntoIterator<Item = (SongKey, RequestId, RequestState)>) -> Self {
        let mut tonight = Self::default();
        for (_, id, state) in requests.into_iter().filter(|(requested, ..)| *requested == song) {
            match state {
                RequestState::Played { at, .. } => tonight.played_at = tonight.played_at.max(Some(at)),
                RequestState::Accepted { .. } => tonight.accepted.push(id),
                _ => {}
            }
        }
        tonight
    }
}

#[cfg(test)]
mod tests {
    use time::Duration;

    use super::*;
    use crate::money::Money;
    use crate::text::Line;

    fn after(minutes: i64) -> Timestamp {
        Timestamp::EPOCH.plus(Duration::minutes(minutes))
    }

    fn song(title: &str, artist: &str) -> SongKey {
        SongKey::of(&Line::new(title).unwrap(), &Line::new(artist).unwrap())
    }

    #[test]
    fn a_song_that_was_played_or_accepted_is_recognised_in_any_spelling() {
        let played = |at| RequestState::Played { at, commission: Money::ZERO };
        let accepted = RequestState::Accepted { at: after(3), play_by: after(60) };
        let pending = RequestState::Pending { answer_by: after(30) };
        let refunded = RequestState::Refunded { at: after(9), commission: Money::ZERO };
        let asked = song("blue monday", "NEW ORDER");
        let check = |states: &[(&str, RequestState)], played_at, accepted: &[i64]| {
            let ids = (1..).map(|id| RequestId::new(id).unwrap());
            let requests =
                states.iter().zip(ids).map(|((title, state), id)| (song(title, "New Order"), id, *state));
            let accepted = accepted.iter().map(|id| RequestId::new(*id).unwrap()).collect();
            assert_eq!(SongTonight::of(asked, requests), SongTonight { played_at, accepted }, "{states:?}");
        };
        check(&[], None, &[]);
        check(&[("Blue Monday", pending), ("Blue Monday", refunded)], None, &[]);
        check(&[("Temptation", played(after(1))), ("Temptation", accepted)], None, &[]);
        check(&[("Blue Monday (Live)", accepted)], None, &[1]);
        check(
            &[
                ("Blue Monday", played(after(5))),
                ("Blue Mônday", played(after(7))),
                ("Blue Monday", played(after(6))),
                ("Blue Monday", accepted),
                ("BLUE MONDAY", accepted),
            ],
            Some(after(7)),
            &[4, 5],
        );
    }
}
