//! Which requests are for the same song.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::checksum::ChecksumFields;
use crate::text::Line;

/// The most letters and digits of a field that are compared regardless of their spelling.
const MOST_LETTERS: usize = 64;
/// The most characters of a decomposed field that are looked at: one letter can decompose into eighteen.
const MOST_CHARACTERS: usize = 2 * MOST_LETTERS;
/// Room for the fields of most songs, in bytes.
const USUAL_BYTES: usize = 128;

/// A key that is equal for different spellings of one song, such as other capitals, accents, or a featured artist. A
/// field with more than 64 letters is compared as typed.
///
/// It groups requests. It refuses nothing, and is never stored. Its size and its work are the same for every text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SongKey([u8; 32]);

impl SongKey {
    /// The key of a song.
    #[must_use]
    pub fn of(title: &Line, artist: &Line) -> Self {
        let mut fields = ChecksumFields::with_capacity(USUAL_BYTES);
        for text in [title.as_str(), artist.as_str()] {
            match folded(text) {
                Some(folded) => [&[0], folded.as_bytes()].map(|field| fields.push(field)),
                None => [&[1], text.as_bytes()].map(|field| fields.push(field)),
            };
        }
        Self(fields.sha256())
    }

    pub(super) fn add_to(&self, fields: &mut ChecksumFields) {
        fields.push(&self.0);
    }
}

/// The letters and digits of a text in lower case, without marks, without text in brackets, and without the artists
/// after "feat." or "ft."; `None` if the text is too long. A text of which nothing would remain keeps its brackets, and
/// one without letters and digits its signs.
fn folded(text: &str) -> Option<String> {
    // No text gets shorter when it is decomposed.
    if text.chars().nth(MOST_CHARACTERS).is_some() {
        return None;
    }
    let (mut plain, mut main) = (String::new(), String::new());
    let mut depth: u32 = 0;
    for (place, character) in text.nfkd().enumerate() {
        if place >= MOST_CHARACTERS {
            return None;
        }
        if is_combining_mark(character) {
            continue;
        }
        plain.extend(character.to_lowercase());
        match character {
            '(' | '[' | '{' => depth = depth.saturating_add(1),
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ if depth == 0 => main.extend(character.to_lowercase()),
            _ => {}
        }
    }
    let key = letters(without_featured_artists(&main));
    let key = if key.is_empty() { letters(plain.chars()) } else { key };
    let key = if key.is_empty() { plain } else { key };
    key.chars().nth(MOST_LETTERS).is_none().then_some(key)
}

/// The letters and digits, up to the first one too many.
fn letters(text: impl Iterator<Item = char>) -> String {
    text.filter(|c| c.is_alphanumeric()).take(MOST_LETTERS.saturating_add(1)).collect()
}

/// The characters of the words before "feat." or "ft.".
fn without_featured_artists(text: &str) -> impl Iterator<Item = char> {
    let is_mark = |word: &str| matches!(word, "feat." | "ft.");
    let words = text.split_whitespace().enumerate();
    words.take_while(move |(place, word)| *place == 0 || !is_mark(word)).flat_map(|(_, word)| word.chars())
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

    /// Attack API4: texts of a letter that decomposes into eighteen ones, so that a comparison of songs takes long.
    #[test]
    fn a_text_that_grows_is_compared_as_typed() {
        // The letters that grow most by compatibility, by canonical decomposition, and in lower case.
        for (letter, most) in [("\u{fdfa}", 4), ("\u{1f82}", 32), ("\u{130}", 64), ("\u{3356}", 12)] {
            let (longest, longer) = (letter.repeat(most), letter.repeat(most + 1));
            assert!(folded(&longest).is_some(), "{letter}");
            for text in [longer, letter.repeat(255)] {
                assert_eq!(folded(&text), None, "{letter}");
                assert_eq!(key(&text, &text), key(&text, &text), "{letter}");
            }
            assert_ne!(key(&letter.repeat(254), "A"), key(&letter.repeat(255), "A"), "{letter}");
        }
        // Marks count as well, although no key contains them.
        assert_eq!(folded(&format!("a{}", "\u{301}".repeat(127))), Some("a".to_owned()));
        assert_eq!(folded(&format!("a{}", "\u{344}".repeat(127))), None);
    }

    #[test]
    fn long_titles_with_equal_beginnings_are_different_songs() {
        let (sixty_four, more) = ("a".repeat(64), "a".repeat(65));
        assert_eq!(key(&sixty_four, "A"), key(&sixty_four.to_uppercase(), "A"));
        assert_eq!(key(&format!("{sixty_four} (Live)"), "A"), key(&sixty_four, "A"));
        assert_ne!(key(&more, "A"), key(&sixty_four, "A"));
        assert_ne!(key(&more, "A"), key(&more.to_uppercase(), "A"), "longer ones are compared as typed");
        assert_ne!(key(&format!("{sixty_four}b"), "A"), key(&format!("{sixty_four}c"), "A"));
        assert_ne!(key("A", &format!("{sixty_four}b")), key("A", &format!("{sixty_four}c")));
        // The other field is compared in any spelling.
        assert_eq!(key(&more, "Beyoncé"), key(&more, "BEYONCE"));
    }
}
