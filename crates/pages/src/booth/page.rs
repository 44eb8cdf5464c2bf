//! The booth with an open gig, and without one.

use askama::Template;
use cuepoint_domain::ids::GigId;

use super::{GigForm, QueuePart};
use crate::forms::Keys;
use crate::frame::{Frame, renders};

/// `/booth` without an open gig: the form to open one.
#[derive(Template, Clone, Debug)]
#[template(path = "booth/open.html")]
pub struct OpenPage<'a> {
    pub frame: &'a Frame<'a>,
    pub form: &'a GigForm,
    pub keys: Keys<'a>,
    /// The last gig of the DJ, which the form repeats.
    pub last_gig: Option<GigId>,
}

/// `/booth` with an open gig.
#[derive(Template, Clone, Debug)]
#[template(path = "booth/page.html")]
pub struct BoothPage<'a> {
    pub frame: &'a Frame<'a>,
    pub part: &'a QueuePart<'a>,
    /// The settings of the gig.
    pub form: &'a GigForm,
}

impl OpenPage<'_> {
    fn is_new(&self) -> bool {
        true
    }

    /// Whether the title is the proposed date. It is in UTC, and the script replaces it by the local date.
    fn proposes_date(&self) -> bool {
        self.last_gig.is_none() && self.form.errors(self.frame).is_empty()
    }
}

impl BoothPage<'_> {
    fn is_new(&self) -> bool {
        false
    }

    fn has_errors(&self) -> bool {
        !self.form.errors(self.frame).is_empty()
    }
}

renders!(OpenPage, BoothPage);
