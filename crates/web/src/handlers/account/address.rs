//! The change of the e-mail address.

use cuepoint_domain::application::{ConfirmEmailRefusal, Confirmation, RequestEmailRefusal};
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::ports::Token;
use cuepoint_domain::text::Email;
use cuepoint_pages::account::EmailChange;
use cuepoint_pages::done::DoneNotice;
use cuepoint_pages::forms::FieldState;

use super::page::{self, Left};
use crate::call::PageCall;
use crate::failure::{PageFailure, or_refusal};
use crate::recent_password::{self, Confirmed};
use crate::response::PageResponse;

/// `POST /account/email`: sends a code to a new address. It needs a recent password.
pub(super) async fn request(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let (typed, frame) = (call.form.text("email"), call.frame(None));
    let email = match Email::to_own(typed) {
        Ok(email) => email,
        Err(error) => {
            let field = FieldState::refused(typed, frame.refused_email(error));
            return again(&call, &principal, EmailChange::Open(field)).await;
        }
    };
    let repeated = match recent_password::ensure(&call, &principal, &["email"]).await? {
        Confirmed::Recent(repeated) => repeated,
        Confirmed::Asked(page) => return Ok(page),
    };
    let (context, confirmation) = (call.context(&principal, None, ""), Confirmation::Recent(repeated.recent));
    let requested = call.use_cases().email_changes.request(&context, email, confirmation).await;
    let (open, t) = (|error| EmailChange::Open(FieldState::refused(typed, error)), frame.t);
    let email = match or_refusal(requested)? {
        Ok(()) => return Ok(repeated.kept_by(PageResponse::see("/account?email=code"))),
        Err(refusal) => match refusal {
            RequestEmailRefusal::WrongPassword => open(t.wrong_password()),
            RequestEmailRefusal::SameAddress => open(t.same_address()),
            RequestEmailRefusal::TooMany { .. } => open(t.too_many_codes()),
            RequestEmailRefusal::NotYet => return Err(PageFailure::before_change()),
            RequestEmailRefusal::Restorable(until) => EmailChange::Locked(until),
            RequestEmailRefusal::NotOffered => EmailChange::NotOffered,
        },
    };
    Ok(repeated.kept_by(again(&call, &principal, email).await?))
}

/// `POST /account/email/confirm`: changes the address by the code that it received.
pub(super) async fn confirm(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let (typed, t) = (call.form.text("code"), call.language.texts());
    let context = call.context(&principal, None, "");
    let changed = call.use_cases().email_changes.confirm(&context, &Token(typed.to_owned())).await;
    let email = match or_refusal(changed)? {
        Ok(_) => return Ok(PageResponse::done("/account", DoneNotice::EmailChanged)),
        Err(refusal) => match refusal {
            ConfirmEmailRefusal::InvalidCode => {
                EmailChange::CodeSent(FieldState::refused(typed, t.wrong_code()))
            }
            ConfirmEmailRefusal::EmailTaken => EmailChange::Open(FieldState::refused("", t.email_taken())),
            ConfirmEmailRefusal::Restorable(until) => EmailChange::Locked(until),
        },
    };
    again(&call, &principal, email).await
}

async fn again(
    call: &PageCall,
    principal: &Principal,
    email: EmailChange,
) -> Result<PageResponse, PageFailure> {
    page::again(call, principal, Left { email: Some(email), ..Left::default() }).await
}
