//! The page on which a guest account gets an e-mail address and a password.

use askama::Template;
use cuepoint_domain::ledger::Balance;

use crate::forms::{FieldState, FormError, errors};
use crate::frame::{Frame, renders};

/// The page `/claim`: `POST /claim` with `email`, `password` and `next`. The account keeps its name.
#[derive(Template, Clone, Debug)]
#[template(path = "front/claim.html")]
pub struct ClaimPage<'a> {
    pub frame: &'a Frame<'a>,
    /// The balance that the claim saves.
    pub balance: Balance,
    pub email: FieldState,
    /// Only its error is shown.
    pub password: FieldState,
    /// The local path to which the claim leads.
    pub next: Option<&'a str>,
}

impl ClaimPage<'_> {
    fn errors(&self) -> Vec<FormError<'_>> {
        let t = self.frame.t;
        errors([("email", t.email(), &self.email), ("password", t.password(), &self.password)])
    }
}

renders!(ClaimPage);
