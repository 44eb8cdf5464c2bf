//! The page of a registration.

use askama::Template;

use crate::forms::{AccountFields, FormError, errors};
use crate::frame::{Frame, renders};

/// The page `/register`: `POST /register` with `name`, `email`, `password`, `is_dj` (`1` or `0`) and `next`.
#[derive(Template, Clone, Debug)]
#[template(path = "front/register.html")]
pub struct RegisterPage<'a> {
    pub frame: &'a Frame<'a>,
    pub account: AccountFields,
    /// Whether a DJ registers.
    pub is_dj: bool,
    /// The local path to which the registration leads.
    pub next: Option<&'a str>,
}

impl RegisterPage<'_> {
    fn errors(&self) -> Vec<FormError<'_>> {
        errors(self.account.labelled(self.frame.t))
    }
}

renders!(RegisterPage);
