//! The page that asks for the password again.

use askama::Template;

use crate::forms::FieldState;
use crate::frame::{Frame, renders};

/// The page that asks for the password: a form with `password` and the fields that it keeps.
///
/// The page `/account/confirm` keeps the field `next`. A form that needs the password answers with this page too, which sends the
/// form again with its fields: amounts and addresses stay out of the address bar.
#[derive(Template, Clone, Debug)]
#[template(path = "account/password.html")]
pub struct PasswordPage<'a> {
    pub frame: &'a Frame<'a>,
    /// The address of the account, for password managers.
    pub email: &'a str,
    /// Only its error is shown.
    pub password: FieldState,
    /// The local path of the form.
    pub action: &'a str,
    /// Its other fields, by name.
    pub fields: &'a [(&'a str, &'a str)],
}

renders!(PasswordPage);
