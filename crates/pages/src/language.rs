//! The languages of pages.

use crate::texts::{English, German, Texts};

/// A language of pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Language {
    /// The language without a preference for another one.
    #[default]
    English,
    German,
}

impl Language {
    /// Every language.
    pub const ALL: [Self; 2] = [Self::English, Self::German];

    /// The best language for the value of an `Accept-Language` header; the first one of equal quality.
    #[must_use]
    pub fn of_header(header: Option<&str>) -> Self {
        let mut best = None;
        for range in header.unwrap_or_default().split(',') {
            let Some((language, quality)) = offered(range) else { continue };
            if quality > best.map_or(0, |(_, quality)| quality) {
                best = Some((language, quality));
            }
        }
        best.map_or_else(Self::default, |(language, _)| language)
    }

    /// The language with this tag, in lower case.
    #[must_use]
    pub fn tagged(tag: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.tag() == tag)
    }

    /// The tag of `lang` and `Content-Language`.
    #[must_use]
    pub const fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
        }
    }

    /// The character between whole units and decimals.
    #[must_use]
    pub const fn decimal_separator(self) -> char {
        match self {
            Self::English => '.',
            Self::German => ',',
        }
    }

    /// The texts of the pages.
    #[must_use]
    pub fn texts(self) -> &'static dyn Texts {
        match self {
            Self::English => &English,
            Self::German => &German,
        }
    }
}

/// The language of a range such as `de-AT;q=0.8`, with its quality in thousandths; `None` for another language.
fn offered(range: &str) -> Option<(Language, u16)> {
    let mut parts = range.split(';').map(str::trim);
    let tag = parts.next()?;
    let primary = tag.split('-').next()?;
    let language = Language::ALL.into_iter().find(|language| primary.eq_ignore_ascii_case(language.tag()));
    let language = language.or_else(|| (tag == "*").then(Language::default))?;
    let quality = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
    Some((language, quality.map_or(Some(1_000), thousandths)?))
}

/// The thousandths of a quality such as `0.8`; `None` for another text.
fn thousandths(quality: &str) -> Option<u16> {
    let (whole, decimals) = quality.split_once('.').unwrap_or((quality, ""));
    if decimals.len() > 3 || !decimals.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let decimals: u16 = format!("{decimals:0<3}").parse().ok()?;
    let whole: u16 = whole.parse::<u16>().ok()?.checked_mul(1_000)?;
    whole.checked_add(decimals).filter(|quality| *quality <= 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_gets_the_language_that_it_prefers() {
        for (header, language) in [
            ("", Language::English),
            ("de", Language::German),
            ("de-AT,de;q=0.9,en;q=0.8", Language::German),
            ("en-GB,en;q=0.9,de;q=0.8", Language::English),
            ("fr,de;q=0.4,en;q=0.3", Language::German),
            ("fr-FR", Language::English),
            ("*;q=0.5,de;q=0.4", Language::English),
            ("en;q=0.1, DE ; q=0.25", Language::German),
            ("de;q=0", Language::English),
            ("de;q=2,en;q=x", Language::English),
            ("de;q=0.1234", Language::English),
            ("dea;;,,;q=", Language::English),
        ] {
            assert_eq!(Language::of_header(Some(header)), language, "{header}");
        }
        assert_eq!(Language::of_header(None), Language::English);
    }
}
