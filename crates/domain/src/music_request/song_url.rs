//! The link to a song of a request without one.

use url::form_urlencoded::byte_serialize;

use crate::text::{Line, MusicUrl, TextError};

/// The place of the song in a template.
const SONG: &str = "{song}";

/// A template of links to songs: a web address with `{song}` in the place of title and artist. The service never fetches
/// it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SongUrl {
    before: String,
    after: String,
}

impl SongUrl {
    /// The template.
    ///
    /// # Errors
    /// [`TextError`] unless `{song}` occurs once, after the host, and the address without a song is a [`MusicUrl`] with room
    /// for one.
    pub fn new(template: &str) -> Result<Self, TextError> {
        let (before, after) = template.split_once(SONG).ok_or(TextError::Malformed)?;
        let behind_host = before.split_once("://").is_some_and(|(_, rest)| rest.contains(['/', '?', '#']));
        if !behind_host || after.contains(SONG) {
            return Err(TextError::Malformed);
        }
        let example = format!("{before}a+%26{after}");
        if example.chars().count() > MusicUrl::MAX_CHARACTERS.div_euclid(2) {
            return Err(TextError::TooLong(MusicUrl::MAX_CHARACTERS.div_euclid(2)));
        }
        MusicUrl::new(&example)?;
        Ok(Self { before: before.to_owned(), after: after.to_owned() })
    }

    /// The link to a song. A text that does not fit is cut after a character.
    #[must_use]
    pub fn of_song(&self, title: &Line, artist: &Line) -> MusicUrl {
        let song = format!("{} {}", title.as_str(), artist.as_str());
        let fixed = self.before.chars().count().saturating_add(self.after.chars().count());
        let mut room = MusicUrl::MAX_CHARACTERS.saturating_sub(fixed);
        let mut url = self.before.clone();
        let mut bytes = [0; 4];
        for character in song.chars() {
            let encoded: String = byte_serialize(character.encode_utf8(&mut bytes).as_bytes()).collect();
            match room.checked_sub(encoded.len()) {
                Some(rest) => room = rest,
                None => break,
            }
            url.push_str(&encoded);
        }
        url.push_str(&self.after);
        MusicUrl::from_stored(url)
    }
}

impl Default for SongUrl {
    fn default() -> Self {
        Self { before: "https://www.youtube.com/results?search_query=".to_owned(), after: String::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn songs_are_encoded() {
        let template = SongUrl::new("https://example.com/find?q={song}&x=1").unwrap();
        let [title, artist] = ["Déjà & Vu", "A/B"].map(|text| Line::new(text).unwrap());
        let url = template.of_song(&title, &artist);
        assert_eq!(url.as_str(), "https://example.com/find?q=D%C3%A9j%C3%A0+%26+Vu+A%2FB&x=1");
        assert_eq!(MusicUrl::new(url.as_str()), Ok(url));
    }

    #[test]
    fn long_songs_are_cut_after_a_character() {
        let emoji = Line::new(&"🎧".repeat(255)).unwrap();
        let url = SongUrl::default().of_song(&emoji, &emoji);
        assert!(url.as_str().len() <= MusicUrl::MAX_CHARACTERS);
        assert!(url.as_str().ends_with("%F0%9F%8E%A7"), "{}", url.as_str());
        assert_eq!(MusicUrl::new(url.as_str()), Ok(url));
    }

    #[test]
    fn invalid_templates_are_refused() {
        let long = format!("https://example.com/{}?q={{song}}", "a".repeat(1_100));
        for template in [
            "https://example.com/",
            "ftp://example.com/{song}",
            "{song}",
            "https://{song}.example.com/",
            "https://example.com/{song}/{song}",
            &long,
        ] {
            assert!(SongUrl::new(template).is_err(), "{template}");
        }
    }
}
