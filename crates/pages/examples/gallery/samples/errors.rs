//! Error pages.

use cuepoint_pages::error::{ErrorPage, Problem};
use cuepoint_pages::frame::{Frame, Viewer};
use cuepoint_pages::language::Language;

use super::{Sample, now, people, site};

pub fn pages(language: Language) -> Vec<Sample> {
    let site = site();
    let guest = people::guest();
    let problems = [
        ("not-found", Problem::NotFound),
        ("not-allowed", Problem::NotAllowed),
        ("suspended", Problem::Suspended),
        ("foreign-form", Problem::ForeignForm),
        ("outdated", Problem::Outdated),
        ("too-large", Problem::TooLarge),
        ("too-many", Problem::TooMany),
        ("unavailable", Problem::Unavailable { may_have_moved_money: false }),
        ("unknown-outcome", Problem::Unavailable { may_have_moved_money: true }),
        ("broken", Problem::Broken { incident: "01J9Z3K7Q2", may_have_moved_money: false }),
    ];
    let page = |(name, problem)| {
        let frame = Frame { viewer: Some(Viewer::of(&guest)), ..Frame::new(&site, language, now()) };
        let is_form = name == "unknown-outcome";
        let page = ErrorPage { frame: &frame, problem, back: "/g/B2C3D4", is_form };
        Sample::new(format!("error-{name}"), page.render())
    };
    problems.into_iter().map(page).collect()
}
