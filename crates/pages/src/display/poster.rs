//! The poster with the code of a DJ.

use askama::Template;
use cuepoint_domain::gig::DjCode;

use super::qr::Svg;
use super::readable;
use crate::frame::{Frame, renders};
use crate::language::Language;

/// The size of a poster.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PosterSize {
    /// A sheet of 210 by 297 millimetres.
    #[default]
    A4,
    /// A card of 105 by 148 millimetres.
    A6,
    /// The whole screen.
    Screen,
}

impl PosterSize {
    /// Every size.
    pub const ALL: [Self; 3] = [Self::A4, Self::A6, Self::Screen];

    /// The value of `size` in the address.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::A4 => "a4",
            Self::A6 => "a6",
            Self::Screen => "screen",
        }
    }

    /// The size with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|size| size.name() == name)
    }

    /// The name as people write it.
    const fn label(self) -> &'static str {
        match self {
            Self::A4 => "A4",
            Self::A6 => "A6",
            Self::Screen => "",
        }
    }
}

/// The poster, black on white: `/booth/qr?size=a4`.
#[derive(Template, Clone, Debug)]
#[template(path = "display/poster.html")]
pub struct Poster<'a> {
    pub frame: &'a Frame<'a>,
    /// The title: that of the gig, or the name of the DJ without one.
    pub title: &'a str,
    pub code: DjCode,
    /// The public address of the gig's page, such as `https://cuepoint.example/g/B2C3D4`.
    pub url: &'a str,
    pub size: PosterSize,
    /// The language that the address of the page names. The links to other sizes keep it.
    pub named_language: Option<Language>,
}

impl Poster<'_> {
    fn qr(&self) -> Option<Svg> {
        Svg::new(self.url, self.frame.t.code_to_scan())
    }

    /// What the links to other sizes add to their addresses.
    fn language(&self) -> String {
        self.named_language.map(|language| format!("&lang={}", language.tag())).unwrap_or_default()
    }

    fn address(&self) -> (&str, &str) {
        readable(self.url)
    }
}

renders!(Poster);
