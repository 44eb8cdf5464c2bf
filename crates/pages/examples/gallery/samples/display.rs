//! Pages of the subject `display`.

use cuepoint_domain::gig::{Board, GigStatus};
use cuepoint_pages::display::{DisplayKind, DisplayPage, DisplayPart, Poster, PosterSize};
use cuepoint_pages::frame::Frame;
use cuepoint_pages::language::Language;

use super::{Sample, boards, now, people, site};

const URL: &str = "https://cuepoint.example/g/B2C3D4";

pub fn pages(language: Language) -> Vec<Sample> {
    let site = site();
    let frame = Frame::new(&site, language, now());
    let mut hostile = boards::board(GigStatus::Open, 8);
    if let Some(gig) = &mut hostile.gig {
        gig.up_next.iter_mut().for_each(|next| next.song.title = boards::line(&super::hostile(255)));
    }
    let boards = [
        ("open", boards::board(GigStatus::Open, 9)),
        ("empty", boards::board(GigStatus::Open, 0)),
        ("paused", boards::board(GigStatus::Paused, 3)),
        ("ended", boards::board(GigStatus::Ended, 0)),
        ("hostile", hostile),
    ];
    let mut pages = Vec::new();
    for (state, board) in &boards {
        for (name, kind) in [("display", DisplayKind::Wall), ("overlay", DisplayKind::Overlay)] {
            pages.push(Sample::new(format!("{name}-{state}"), shown(&frame, board, kind)));
        }
    }
    for size in PosterSize::ALL {
        let code = boards::gig().code;
        let dj = people::dj();
        let poster =
            Poster { frame: &frame, title: dj.name.as_str(), code, url: URL, size, named_language: None };
        pages.push(Sample::new(format!("poster-{}", size.name()), poster.render()));
    }
    pages
}

fn shown(frame: &Frame<'_>, board: &Board, kind: DisplayKind) -> String {
    let part = DisplayPart { frame, board, url: URL, kind, named_language: None };
    DisplayPage { frame, part: &part }.render()
}
