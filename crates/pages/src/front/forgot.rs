//! The pages of a forgotten password.

use askama::Template;

use crate::forms::{FieldState, FormError, errors};
use crate::frame::{Frame, renders};

/// The page `/forgot`: `POST /forgot` with `email`.
#[derive(Template, Clone, Debug)]
#[template(path = "front/forgot.html")]
pub struct ForgotPage<'a> {
    pub frame: &'a Frame<'a>,
    pub email: FieldState,
    pub state: ForgotState,
}

/// What the page of a forgotten password shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ForgotState {
    /// The form.
    Form,
    /// The message was sent, if there is such an account.
    Sent,
    /// The deployment sends no e-mail.
    NotOffered,
}

/// The page `/reset`: `POST /reset` with `token` and `password`. The script takes the token from the fragment of the
/// address.
#[derive(Template, Clone, Debug)]
#[template(path = "front/reset.html")]
pub struct ResetPage<'a> {
    pub frame: &'a Frame<'a>,
    pub token: FieldState,
    /// Only its error is shown.
    pub password: FieldState,
}

impl ResetPage<'_> {
    fn errors(&self) -> Vec<FormError<'_>> {
        let t = self.frame.t;
        errors([("token", t.token(), &self.token), ("password", t.new_password(), &self.password)])
    }
}

renders!(ForgotPage, ResetPage);
