//! Which requests are for the same song.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::text::Line;

/// A key that is equal for different spellings of one song, such as other capitals, accents, or a featured artist.
/// It groups requests. It refuses nothing, and is never stored.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SongKey {
    title: String,
    artist: String,
}

impl SongKey {
    /// The key of a song.
    #[must_use]
    pub fn of(title: &Line, artist: &Line) -> Self {
        Self { title: folded(title.as_str()), artist: folded(artist.as_str()) }
    }
}

/// The letters and digits of a text in lower case, without marks, without text in brackets, and without the artists
/// after "feat." or "ft.". A text of which nothing would remain keeps its brackets, and one without letters and digits its signs.
fn folded(text: &str) -> String {
    let plain: String = text.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase).collect();
    let main = without_brackets(&plain);
    let key = letters(&without_featured_artists(&main));
    let key = if key.is_empty() { letters(&plain) } else { key };
    if key.is_empty() { plain } else { key }
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

fn without_brackets(text: &str) -> String {
    let mut depth: u32 = 0;
    let mut kept = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '(' | '[' | '{' => depth = depth.saturating_add(1),
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ if depth == 0 => kept.push(character),
            _ => {}
        }
    }
    kept
}

/// The words before "feat." or "ft.".
fn without_featured_artists(text: &str) -> String {
    let is_mark = |word: &str| matches!(word, "feat." | "ft.");
    let words = text.split_whitespace().enumerate();
    words.take_while(|(place, word)| *place == 0 || !is_mark(word)).map(|(_, word)| word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(title: &str, artist: &str) -> SongKey {
        SongKey::of(&Line::new(title).unwrap(), &Line::new(artist).unwrap())
    }

    #[test]
    fn spellings_of_one_song_have_the_same_key() {
        for (title, artist) in [
            ("Déjà Vu", "Beyoncé"),
            ("deja vu!", "BEYONCE"),
            ("Déjà Vu (Radio Edit)", "Beyoncé feat. Jay-Z"),
            ("Deja-Vu [Live]", "Beyonce ft. Jay-Z"),
            ("De\u{301}ja\u{300} vu", "Beyonce\u{301}"),
        ] {
            assert_eq!(key(title, artist), key("Deja Vu", "Beyonce"), "{title} by {artist}");
        }
    }

    #[test]
    fn different_songs_have_different_keys() {
        for (title, artist) in
            [("Deja Vu 2", "Beyonce"), ("Deja Vu", "Olivia Rodrigo"), ("Deja", "Vu Beyonce")]
        {
            assert_ne!(key(title, artist), key("Deja Vu", "Beyonce"), "{title} by {artist}");
        }
    }

    #[test]
    fn a_title_in_brackets_keeps_its_letters() {
        assert_ne!(key("(I Can't Get No)", "The Rolling Stones"), key("(Sittin' On)", "The Rolling Stones"));
        assert_ne!(key("feat", "A"), key("ft", "A"));
        assert_ne!(key("Six Ft Under", "A"), key("Six Ft Above", "A"));
        assert_ne!(key("!!!", "A"), key("???", "A"));
    }
}
