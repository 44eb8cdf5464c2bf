//! The page on which the first operator begins.

use askama::Template;

use crate::forms::{FieldState, FormError, errors};
use crate::frame::{Frame, renders};

/// The page `/first-operator`: `POST /first-operator` with `code` (from the terminal), `name`, `email` and `password`.
#[derive(Template, Clone, Debug)]
#[template(path = "front/first_operator.html")]
pub struct FirstOperatorPage<'a> {
    pub frame: &'a Frame<'a>,
    pub code: FieldState,
    pub name: FieldState,
    pub email: FieldState,
    /// Only its error is shown.
    pub password: FieldState,
}

impl FirstOperatorPage<'_> {
    fn errors(&self) -> Vec<FormError<'_>> {
        let t = self.frame.t;
        errors([
            ("code", t.terminal_code(), &self.code),
            ("name", t.name(), &self.name),
            ("email", t.email(), &self.email),
            ("password", t.password(), &self.password),
        ])
    }
}

renders!(FirstOperatorPage);
