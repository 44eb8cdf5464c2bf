//! The display on a wall, and the overlay of streaming software.

use askama::Template;
use cuepoint_domain::gig::{Board, BoardGig, GigStatus, NextSong};
use cuepoint_domain::money::Money;
use cuepoint_domain::user::ArtistType;

use super::qr::Svg;
use super::readable;
use crate::frame::{Frame, RenderedPart, digest, renders};
use crate::language::Language;

/// The maximum number of songs that are up next on a display. Beside a long message there is room for fewer.
const UP_NEXT: usize = 8;
/// The songs that are up next on an overlay, which leaves room for the picture below.
const OVERLAY_UP_NEXT: usize = 3;

/// Where a board is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DisplayKind {
    /// On a wall, at `/g/{code}/display`.
    Wall,
    /// Above the picture of streaming software, without a background, at `/g/{code}/overlay`.
    Overlay,
}

/// The display of a board. It has no names of guests, no titles that are not accepted, and no interaction.
#[derive(Template, Clone, Debug)]
#[template(path = "display/page.html")]
pub struct DisplayPage<'a> {
    pub frame: &'a Frame<'a>,
    pub part: &'a DisplayPart<'a>,
}

/// The live part of a display, at `/g/{code}/display/live` and `/g/{code}/overlay/live`.
#[derive(Template, Clone, Debug)]
#[template(path = "display/part.html")]
pub struct DisplayPart<'a> {
    pub frame: &'a Frame<'a>,
    pub board: &'a Board,
    /// The public address of the gig's page, such as `https://cuepoint.example/g/B2C3D4`.
    pub url: &'a str,
    pub kind: DisplayKind,
    /// The language that the address of the page names. The address of the live part names it, too.
    pub named_language: Option<Language>,
}

impl DisplayPage<'_> {
    fn kind(&self) -> &'static str {
        self.part.kind()
    }
}

impl DisplayPart<'_> {
    /// The part in its live element.
    #[must_use]
    pub fn render(&self) -> RenderedPart {
        let content = self.content();
        let digest = digest(&content, None);
        let language = self.named_language.map(|language| format!("?lang={}", language.tag()));
        let html = format!(
            "<section id=\"display\" class=\"display\" data-live=\"/g/{code}/{kind}/live{language}\" \
             data-digest=\"{digest}\" data-stream=\"/api/v1/boards/{code}/stream\" data-keep data-awake>\
             {content}</section>",
            code = self.board.code,
            kind = self.kind(),
            language = language.unwrap_or_default(),
        );
        RenderedPart { html, digest }
    }

    fn content(&self) -> String {
        // Rendering fails only if formatting does, and no text of a page does.
        Template::render(self).unwrap_or_default()
    }

    fn kind(&self) -> &'static str {
        match self.kind {
            DisplayKind::Wall => "display",
            DisplayKind::Overlay => "overlay",
        }
    }

    fn is_wall(&self) -> bool {
        self.kind == DisplayKind::Wall
    }

    fn gig(&self) -> Option<&BoardGig> {
        self.board.gig.as_ref()
    }

    fn is_open(&self) -> bool {
        self.gig().is_some_and(|gig| gig.status == GigStatus::Open)
    }

    fn is_paused(&self) -> bool {
        self.gig().is_some_and(|gig| gig.status == GigStatus::Paused)
    }

    fn up_next(&self) -> impl Iterator<Item = &NextSong> {
        let most = if self.is_wall() { UP_NEXT } else { OVERLAY_UP_NEXT };
        self.gig().into_iter().flat_map(|gig| &gig.up_next).take(most)
    }

    fn has_next(&self) -> bool {
        self.up_next().next().is_some()
    }

    fn price(&self) -> Money {
        self.board.dj.list_price(ArtistType::Popular)
    }

    fn qr(&self) -> Option<Svg> {
        Svg::new(self.url, self.frame.t.code_to_scan())
    }

    fn address(&self) -> (&str, &str) {
        readable(self.url)
    }
}

renders!(DisplayPage);
