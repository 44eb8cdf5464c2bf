//! The songs that a DJ plays most, which a page suggests.

use std::collections::HashMap;

use time::Duration;

use crate::gig::Song;
use crate::gig::song::SongKey;
use crate::timestamp::Timestamp;

/// A play of a song.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Play {
    pub song: Song,
    pub at: Timestamp,
}

/// The period in which plays count.
pub const COUNTED_FOR: Duration = Duration::days(90);
/// The maximum number of suggested songs.
pub const MOST_SONGS: usize = 20;

/// The songs that were played most within [`COUNTED_FOR`], most plays first, of as many plays the one that was played
/// last. A song is spelled as in its newest play.
#[must_use]
pub fn most_played(plays: impl IntoIterator<Item = Play>, now: Timestamp) -> Vec<Song> {
    let since = now.minus(COUNTED_FOR);
    let mut songs: HashMap<SongKey, (u64, Play)> = HashMap::new();
    for play in plays.into_iter().filter(|play| play.at > since) {
        let key = SongKey::of(&play.song.title, &play.song.artist);
        let (count, newest) = songs.entry(key).or_insert_with(|| (0, play.clone()));
        *count = count.saturating_add(1);
        if play.at > newest.at {
            *newest = play;
        }
    }
    let mut songs: Vec<(u64, Play)> = songs.into_values().collect();
    // The spelling decides between equal songs, so that every server shows the same order.
    songs.sort_unstable_by(|(count, play), (other_count, other)| {
        let by_numbers = (other_count, other.at).cmp(&(count, play.at));
        let (song, other) = (&play.song, &other.song);
        by_numbers.then_with(|| (&song.title, &song.artist).cmp(&(&other.title, &other.artist)))
    });
    songs.into_iter().take(MOST_SONGS).map(|(_, play)| play.song).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Line;

    fn play(title: &str, hours: i64) -> Play {
        let song = Song { title: Line::new(title).unwrap(), artist: Line::new("New Order").unwrap() };
        Play { song, at: after(hours) }
    }

    fn after(hours: i64) -> Timestamp {
        Timestamp::EPOCH.plus(Duration::hours(hours))
    }

    fn titles(plays: &[Play], now: Timestamp) -> Vec<String> {
        let songs = most_played(plays.to_vec(), now);
        songs.iter().map(|song| song.title.as_str().to_owned()).collect()
    }

    #[test]
    fn songs_are_ordered_by_plays_and_spelled_as_played_last() {
        let plays = [
            play("True Faith", 9),
            play("Blue Monday (Live)", 3),
            play("BLUE MONDAY", 1),
            play("Regret", 2),
            play("Confusion", 9),
        ];
        let expected = ["Blue Monday (Live)", "Confusion", "True Faith", "Regret"];
        assert_eq!(titles(&plays, after(10)), expected);
        let mut reversed = plays;
        reversed.reverse();
        assert_eq!(titles(&reversed, after(10)), expected, "in any order of the plays");
    }

    #[test]
    fn plays_of_the_last_ninety_days_count_and_twenty_songs_are_shown() {
        let plays: Vec<_> = (1..=30).map(|hour| play(&format!("Song {hour}"), hour)).collect();
        let shown = titles(&plays, after(30));
        assert_eq!((shown.len(), shown[0].as_str(), shown[19].as_str()), (20, "Song 30", "Song 11"));
        let later = after(28).plus(COUNTED_FOR);
        assert_eq!(titles(&plays, later), ["Song 30", "Song 29"]);
    }
}
