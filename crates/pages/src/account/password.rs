//! The page that asks for the password again.

use askama::Template;

use crate::forms::FieldState;
use crate::frame::{Frame, renders};

/// The page `/account/confirm`: `POST /account/confirm` with `password` and `next`.
#[derive(Template, Clone, Debug)]
#[template(path = "account/password.html")]
pub struct PasswordPage<'a> {
    pub frame: &'a Frame<'a>,
    /// The address of the account, for password managers.
    pub email: &'a str,
    /// Only its error is shown.
    pub password: FieldState,
    /// The local path of the step that needs the password.
    pub next: &'a str,
}

renders!(PasswordPage);
