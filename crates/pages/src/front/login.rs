//! The page of the login.

use askama::Template;
use cuepoint_domain::application::LoginRefusal;
use cuepoint_domain::money::Money;

use crate::forms::FieldState;
use crate::frame::{Frame, renders};
use crate::texts::Text;

/// The page `/login`: `POST /login` with `email`, `password` and `next`.
#[derive(Template, Clone, Debug)]
#[template(path = "front/login.html")]
pub struct LoginPage<'a> {
    pub frame: &'a Frame<'a>,
    pub email: FieldState,
    /// Why the last attempt was refused.
    pub refusal: Option<LoginRefusal>,
    /// The local path to which the login leads.
    pub next: Option<&'a str>,
    /// Whether the browser has a secret that belongs to no session, and has no session.
    pub has_unknown_key: bool,
    /// The money in the guest account of this browser, which keeps its own wallet.
    pub guest_money: Option<Money>,
}

impl LoginPage<'_> {
    fn problem(&self) -> Option<Text> {
        let t = self.frame.t;
        Some(match self.refusal? {
            LoginRefusal::InvalidCredentials => t.wrong_credentials(),
            LoginRefusal::Suspended => t.account_suspended(),
        })
    }
}

renders!(LoginPage);
