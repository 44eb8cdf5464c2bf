//! Links with a place for a text.

use url::Url;

use crate::outgoing::parse_written;

/// A link with a place for a text, such as `{token}`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkTemplate {
    written: String,
    place: &'static str,
    url: Url,
}

impl LinkTemplate {
    /// Parses an http(s) URL with the place once behind the host; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str, place: &'static str) -> Option<Self> {
        let url = |filled: &str| parse_written(&text.replace(place, filled), true).ok();
        let (one, other) = (url("1")?, url("2")?);
        let bare = one.username().is_empty() && one.password().is_none();
        let is_web = one.has_host() && matches!(one.scheme(), "http" | "https");
        let has_place = text.matches(place).count() == 1 && one.origin() == other.origin();
        (bare && is_web && has_place).then(|| Self { written: text.to_owned(), place, url: one })
    }

    /// The link with this text, whose characters need no encoding in a URL.
    #[must_use]
    pub fn link(&self, text: &str) -> String {
        self.written.replace(self.place, text)
    }

    /// The link with a placeholder.
    #[must_use]
    pub const fn url(&self) -> &Url {
        &self.url
    }
}
