//! The forms of the profile and the password.

use cuepoint_domain::application::ChangePasswordRefusal;
use cuepoint_domain::application::commands::ChangeProfile;
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::text::{Line, Password};
use cuepoint_domain::user::{Field, ProfileChange, ProfileRefusal};
use cuepoint_pages::account::PasswordFields;
use cuepoint_pages::done::DoneNotice;
use cuepoint_pages::forms::FieldState;
use cuepoint_pages::texts::Text;

use super::page::{self, Left};
use crate::call::PageCall;
use crate::failure::{PageFailure, or_refusal};
use crate::known_browser;
use crate::response::PageResponse;

pub(super) async fn name(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let typed = call.form.text("name");
    match Line::new(typed) {
        Ok(name) => {
            let change = ProfileChange { name: Field::Set(name), ..ProfileChange::default() };
            changed(change_profile(&call, &principal, change).await?, "/account", DoneNotice::Saved)
        }
        Err(error) => {
            let name = FieldState::refused(typed, call.frame(None).refused_text(error));
            page::again(&call, &principal, Left { name: Some(name), ..Left::default() }).await
        }
    }
}

pub(super) async fn phone(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let (typed, frame) = (call.form.text("phone"), call.frame(None));
    let error = match call.form.optional("phone", Line::new) {
        Err(error) => frame.refused_phone(error),
        Ok(phone) => {
            let change = ProfileChange { phone: Field::Set(phone), ..ProfileChange::default() };
            match change_profile(&call, &principal, change).await? {
                Err(ProfileRefusal::Phone) => frame.t.not_a_phone(),
                answer => return changed(answer, "/account", DoneNotice::Saved),
            }
        }
    };
    let phone = Some(FieldState::refused(typed, error));
    page::again(&call, &principal, Left { phone, ..Left::default() }).await
}

/// `POST /account/dj`: the member becomes a DJ, for good.
pub(super) async fn become_dj(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let change = ProfileChange { is_dj: Field::Set(true), ..ProfileChange::default() };
    changed(change_profile(&call, &principal, change).await?, "/booth", DoneNotice::BecameDj)
}

async fn change_profile(
    call: &PageCall,
    principal: &Principal,
    change: ProfileChange,
) -> Result<Result<(), ProfileRefusal>, PageFailure> {
    let changed = call.run(principal, None, ChangeProfile { sets_dj_fields: false }, change, "").await;
    Ok(or_refusal(changed)?.map(drop))
}

/// The way on from a change of the profile. The forms cause no other refusal.
fn changed(
    answer: Result<(), ProfileRefusal>,
    path: &str,
    done: DoneNotice,
) -> Result<PageResponse, PageFailure> {
    match answer {
        Ok(()) => Ok(PageResponse::done(path, done)),
        Err(_) => Err(PageFailure::NoForm),
    }
}

pub(super) async fn password(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let frame = call.frame(None);
    let new = match Password::new(call.form.secret("password")) {
        Ok(new) => new,
        Err(error) => return refused(&call, &principal, None, Some(frame.refused_text(error))).await,
    };
    let current = Password::presented(call.form.secret("current"));
    let context = call.context(&principal, None, "");
    let changed = call.use_cases().passwords.change(&context, &current, &new).await;
    call.limits().refund_unhashed(&changed);
    let t = frame.t;
    match or_refusal(changed)? {
        Ok(()) => {
            let response = PageResponse::done("/account", DoneNotice::PasswordChanged);
            Ok(known_browser::remembered(&call, response, (principal.user, principal.session)).await)
        }
        Err(ChangePasswordRefusal::WrongPassword) => {
            refused(&call, &principal, Some(t.wrong_password()), None).await
        }
        Err(ChangePasswordRefusal::BreachedPassword) => {
            refused(&call, &principal, None, Some(t.breached_password())).await
        }
    }
}

async fn refused(
    call: &PageCall,
    principal: &Principal,
    current: Option<Text>,
    new: Option<Text>,
) -> Result<PageResponse, PageFailure> {
    let field = |error| FieldState { value: String::new(), error };
    let passwords = PasswordFields { current: field(current), new: field(new) };
    page::again(call, principal, Left { passwords, ..Left::default() }).await
}
