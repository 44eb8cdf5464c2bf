//! Whether a song was already played or accepted at a gig, so that a page asks once more.

use crate::gig::song::SongKey;
use crate::music_request::{MusicRequest, RequestState};
use crate::timestamp::Timestamp;

/// What a gig already did with a song.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SongTonight {
    /// The song was played, last at this time; a refunded play does not count.
    Played(Timestamp),
    /// The DJ has accepted a request for the song, and has not played it yet.
    Accepted,
}

/// What a gig with these requests already did with a song, in any spelling; the last play comes before an acceptance.
#[must_use]
pub fn song_tonight<'a>(
    song: &SongKey,
    requests: impl IntoIterator<Item = &'a MusicRequest>,
) -> Option<SongTonight> {
    let mut played: Option<Timestamp> = None;
    let mut is_accepted = false;
    for request in requests {
        let is_same = || SongKey::of(&request.song_title, &request.artist_name) == *song;
        match request.state {
            RequestState::Played { at, .. } if is_same() => played = played.max(Some(at)),
            RequestState::Accepted { .. } if is_same() => is_accepted = true,
            _ => {}
        }
    }
    played.map(SongTonight::Played).or_else(|| is_accepted.then_some(SongTonight::Accepted))
}

#[cfg(test)]
mod tests {
    use time::Duration;

    use super::*;
    use crate::ids::{RequestId, UserId};
    use crate::money::Money;
    use crate::text::{Line, MusicUrl};
    use crate::user::ArtistType;

    fn after(minutes: i64) -> Timestamp {
        Timestamp::EPOCH.plus(Duration::minutes(minutes))
    }

    fn request(title: &str, state: RequestState) -> MusicRequest {
        MusicRequest {
            id: RequestId::LAST,
            requester: UserId::LAST,
            dj: UserId::LAST,
            song_title: Line::new(title).unwrap(),
            artist_name: Line::new("New Order").unwrap(),
            artist_type: ArtistType::Popular,
            music_url: MusicUrl::new("https://example.com/").unwrap(),
            fee: Money::ZERO,
            gig: None,
            state,
            created_at: Timestamp::EPOCH,
        }
    }

    #[test]
    fn a_song_that_was_played_or_accepted_is_recognised_in_any_spelling() {
        let played = |at| RequestState::Played { at, commission: Money::ZERO };
        let accepted = RequestState::Accepted { at: after(3), play_by: after(60) };
        let pending = RequestState::Pending { answer_by: after(30) };
        let refunded = RequestState::Refunded { at: after(9), commission: Money::ZERO };
        let song = SongKey::of(&Line::new("blue monday").unwrap(), &Line::new("NEW ORDER").unwrap());
        let check = |states: &[(&str, RequestState)], expected| {
            let requests: Vec<MusicRequest> =
                states.iter().map(|(title, state)| request(title, *state)).collect();
            assert_eq!(song_tonight(&song, &requests), expected, "{states:?}");
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
