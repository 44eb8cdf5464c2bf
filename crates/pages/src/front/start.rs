//! The start page.

use askama::Template;
use cuepoint_domain::application::FirstOperatorWay;
use cuepoint_domain::application::queries::{GigOfGuest, NearbyBoard};
use cuepoint_domain::gig::Gig;
use cuepoint_domain::user::Kilometres;

use crate::forms::FieldState;
use crate::frame::{Frame, renders};

/// The page `/`. Its forms are `GET /g` with `code`, and `POST /nearby` with `latitude` and `longitude` (two decimals),
/// which the script shows. The answer to the latter is this page with [`Self::nearby`]. Browsers also get it, with status
/// 404, for a path that belongs neither to a page nor to the API.
#[derive(Template, Clone, Debug)]
#[template(path = "front/start.html")]
pub struct StartPage<'a> {
    pub frame: &'a Frame<'a>,
    /// The open gigs in which the reader has an open request.
    pub gigs: &'a [GigOfGuest],
    /// The reader's own open gig.
    pub own_gig: Option<&'a Gig>,
    /// The field of the code.
    pub code: FieldState,
    /// The open gigs near the position that the guest sent, nearest first; `None` before that.
    pub nearby: Option<&'a [NearbyBoard]>,
    /// How the first operator begins, for a reader at the machine of a service without one.
    pub first_operator: Option<FirstOperatorWay>,
}

impl StartPage<'_> {
    fn is_for_dj(&self) -> bool {
        self.frame.viewer.is_some_and(|viewer| viewer.is_dj)
    }

    /// The distance in kilometres with one decimal.
    fn kilometres(&self, distance: &Kilometres) -> String {
        let text = format!("{:.1}", distance.get());
        match self.frame.language.decimal_separator() {
            '.' => text,
            separator => text.replace('.', &separator.to_string()),
        }
    }
}

renders!(StartPage);
