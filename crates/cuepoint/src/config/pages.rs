//! The pages for browsers.

use cuepoint_adapters::outgoing::parse_written;
use cuepoint_pages::accent::Colour;
use cuepoint_pages::frame::SiteLink;
use serde::Deserialize;

use super::values::{Flag, FromList, FromText, TextList, TextValue};

/// The maximum number of links at the foot of a page.
const MOST_LINKS: usize = 5;
/// The maximum length of the text of a link, in characters.
const MAX_LINK_TEXT: usize = 40;

/// The section `pages`.
#[derive(Clone, Debug)]
pub struct PagesSettings {
    /// Whether the service has pages.
    pub enabled: bool,
    /// The links at the foot of each page.
    pub links: Vec<SiteLink>,
    /// The accent colour.
    pub accent: Colour,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PagesSection {
    enabled: Flag,
    links: TextList<Links>,
    accent: TextValue<Accent>,
}

impl From<PagesSection> for PagesSettings {
    fn from(section: PagesSection) -> Self {
        let PagesSection {
            enabled: Flag(enabled),
            links: TextList(Links(links)),
            accent: TextValue(Accent(accent)),
        } = section;
        Self { enabled, links, accent }
    }
}

/// Links, each a text and a URL with a space between them.
struct Links(Vec<SiteLink>);

impl FromList for Links {
    fn from_list(texts: Vec<&str>) -> Result<Self, String> {
        if texts.len() > MOST_LINKS {
            return Err(format!("must have at most {MOST_LINKS} links"));
        }
        texts.into_iter().filter(|text| !text.is_empty()).map(link).collect::<Result<_, _>>().map(Self)
    }
}

fn link(written: &str) -> Result<SiteLink, String> {
    let required = || {
        format!(
            "must be a text and an http or https URL, such as \"Imprint https://example.com/imprint\": {written:?}"
        )
    };
    let (text, address) = written.rsplit_once(' ').ok_or_else(required)?;
    let text = text.trim();
    let url = parse_written(address, true).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let url = url.filter(|url| url.has_host() && url.username().is_empty() && url.password().is_none());
    if text.is_empty() || text.chars().count() > MAX_LINK_TEXT {
        return Err(required());
    }
    Ok(SiteLink { text: text.to_owned(), url: url.ok_or_else(required)?.into() })
}

/// A colour.
struct Accent(Colour);

impl FromText for Accent {
    fn from_text(text: &str) -> Result<Self, String> {
        Colour::parse(text.trim()).map(Self).ok_or_else(|| "must be a colour such as \"#ff5a1f\"".to_owned())
    }
}
