//! Whether a song was already played or accepted at a gig, so that a page asks once more.

use crate::gig::song::SongKey;
use crate::music_request::RequestState;
use crate::timestamp::Timestamp;

/// What a gig already did with a song.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SongTonight {
    /// The song was played, last at this time; a refunded play does not count.
    Played(Timestamp),
    /// The DJ has accepted a request for the song, and has not played it yet.
    Accepted,
}

/// What a gig has already done with a song, from the songs of its requests. The last play takes precedence over an
/// acceptance.
pub fn song_tonight(
    song: SongKey,
    requests: impl IntoIterator<Item = (SongKey, RequestState)>,
) -> Option<SongTonight> {
    let mut played: Option<Timestamp> = None;
    let mut is_accepted = false;
    for (_, state) in requests.into_iter().filter(|(requested, _)| *requested == song) {
        match state {
            RequestState::Played { at, .. } => played = played.max(Some(at)),
            RequestState::Accepted { .. } => is_accepted = true,
            _ => {}
        }
    }
    played.map(SongTonight::Played).or_else(|| is_accepted.then_some(SongTonight::Accepted))
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
        let check = |states: &[(&str, RequestState)], expected| {
            let requests = states.iter().map(|(title, state)| (song(title, "New Order"), *state));
            assert_eq!(song_tonight(asked, requests), expected, "{states:?}");
        };
        check(&[], None);
        check(&[("Blue Monday", pending), ("Blue Monday", refunded)], None);
        check(&[("Temptation", played(after(1))), ("Temptation", accepted)], None);
        check(&[("Blue Monday (Live)", accepted)], Some(SongTonight::Accepted));
        check(
            &[
                ("Blue Monday", played(after(5))),
                ("Blue Mônday", played(after(7))),
                ("Blue Monday", played(after(6))),
                ("Blue Monday", accepted),
            ],
            Some(SongTonight::Played(after(7))),
        );
    }
}
