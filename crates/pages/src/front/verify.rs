//! The page that confirms an e-mail address or a phone number.

use askama::Template;
use cuepoint_domain::application::Address;

use crate::forms::FieldState;
use crate::frame::{Frame, renders};

/// The page `/verify`: `POST /verify` with `address` (`email` or `phone`) and `code`, and `POST /verify/send` with
/// `address`.
#[derive(Template, Clone, Debug)]
#[template(path = "front/verify.html")]
pub struct VerifyPage<'a> {
    pub frame: &'a Frame<'a>,
    pub address: Address,
    /// The address of the user.
    pub shown: &'a str,
    /// Whether a code was sent.
    pub is_sent: bool,
    pub code: FieldState,
    /// Why no code could be sent.
    pub problem: Option<crate::texts::Text>,
}

impl VerifyPage<'_> {
    const fn is_phone(&self) -> bool {
        matches!(self.address, Address::Phone)
    }

    const fn name(&self) -> &'static str {
        match self.address {
            Address::Email => "email",
            Address::Phone => "phone",
        }
    }
}

renders!(VerifyPage);
