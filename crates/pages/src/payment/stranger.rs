//! The page `/topups/{reference}` without the owner's session, such as in another browser of the same phone.

use askama::Template;
use cuepoint_domain::gig::DjCode;
use cuepoint_domain::topup::TopupStatus;

use crate::frame::{Frame, Live, RenderedPart, render_live, renders};

/// The page of a payment for a reader without the owner's session.
#[derive(Template, Clone, Debug)]
#[template(path = "payment/stranger.html")]
pub struct StrangerPaymentPage<'a> {
    pub frame: &'a Frame<'a>,
    pub part: StrangerPaymentPart<'a>,
}

/// The state of a payment for a reader without the owner's session. It names no amount and leads to no login.
#[derive(Template, Clone, Debug)]
#[template(path = "payment/stranger_part.html")]
pub struct StrangerPaymentPart<'a> {
    pub frame: &'a Frame<'a>,
    pub state: StrangerState,
    /// The gig in which the payment began, if it is known.
    pub gig: Option<DjCode>,
    pub live: Live<'a>,
}

/// What a reader without the owner's session learns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StrangerState {
    Arrived,
    Waiting,
    Failed,
}

impl From<TopupStatus> for StrangerState {
    fn from(status: TopupStatus) -> Self {
        match status {
            TopupStatus::Confirmed => Self::Arrived,
            TopupStatus::Pending | TopupStatus::Unknown(_) => Self::Waiting,
            TopupStatus::Failed | TopupStatus::Reversed => Self::Failed,
        }
    }
}

impl StrangerPaymentPage<'_> {
    /// The live part.
    fn live(&self) -> String {
        self.part.render().html
    }
}

impl StrangerPaymentPart<'_> {
    /// The part in its live element.
    #[must_use]
    pub fn render(&self) -> RenderedPart {
        let content = Template::render(self).unwrap_or_default();
        render_live("payment-live", self.live, None, &content)
    }
}

renders!(StrangerPaymentPage);
