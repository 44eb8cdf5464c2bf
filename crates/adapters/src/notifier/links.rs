//! The links in messages.

use url::Url;

use crate::outgoing::parse_written;

/// The place of the token in a link.
const TOKEN: &str = "{token}";

/// The links that messages contain beside their tokens.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MessageLinks {
    /// The page that sets a new password.
    pub reset: Option<LinkTemplate>,
    /// The page that restores the previous e-mail address.
    pub restore: Option<LinkTemplate>,
}

/// A link in a message, with a place for its token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkTemplate {
    written: String,
    url: Url,
}

impl LinkTemplate {
    /// Parses an http(s) URL with `{token}` once behind the host; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let url = |token: &str| parse_written(&text.replace(TOKEN, token), true).ok();
        let (one, other) = (url("1")?, url("2")?);
        let bare = one.username().is_empty() && one.password().is_none();
        let is_web = one.has_host() && matches!(one.scheme(), "http" | "https");
        let has_token = text.matches(TOKEN).count() == 1 && one.origin() == other.origin();
        (bare && is_web && has_token).then(|| Self { written: text.to_owned(), url: one })
    }

    /// The link with this token, whose characters need no encoding in a URL.
    #[must_use]
    pub fn link(&self, token: &str) -> String {
        self.written.replace(TOKEN, token)
    }

    /// The link with a placeholder.
    #[must_use]
    pub const fn url(&self) -> &Url {
        &self.url
    }
}
