//! The page on which a guest account gets an e-mail address and a password.

use askama::Template;
use cuepoint_domain::ledger::Balance;

use crate::forms::{AccountFields, FormError, errors};
use crate::frame::{Frame, renders};

/// The page `/claim`: `POST /claim` with `name`, `email`, `password` and `next`.
#[derive(Template, Clone, Debug)]
#[template(path = "front/claim.html")]
pub struct ClaimPage<'a> {
    pub frame: &'a Frame<'a>,
    /// The balance that the claim saves.
    pub balance: Balance,
    pub account: AccountFields,
    /// The local path to which the claim leads.
    pub next: Option<&'a str>,
}

impl ClaimPage<'_> {
    fn errors(&self) -> Vec<FormError<'_>> {
        errors(self.account.labelled(self.frame.t))
    }
}

renders!(ClaimPage);
