//! The page on which the first operator begins.

use askama::Template;

use crate::forms::{AccountFields, FieldState, FormError, errors};
use crate::frame::{Frame, renders};

/// The page `/first-operator`: `POST /first-operator` with `code` (from the terminal), `name`, `email` and `password`.
#[derive(Template, Clone, Debug)]
#[template(path = "front/first_operator.html")]
pub struct FirstOperatorPage<'a> {
    pub frame: &'a Frame<'a>,
    pub code: FieldState,
    pub account: AccountFields,
}

impl FirstOperatorPage<'_> {
    fn errors(&self) -> Vec<FormError<'_>> {
        let t = self.frame.t;
        errors([("code", t.terminal_code(), &self.code)].into_iter().chain(self.account.labelled(t)))
    }
}

renders!(FirstOperatorPage);
