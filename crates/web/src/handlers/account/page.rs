//! `GET /account`.

use actix_web::http::StatusCode;
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::page::PageRequest;
use cuepoint_pages::account::{AccountPage, EmailChange, ErasureProblem, PasswordFields};
use cuepoint_pages::forms::FieldState;

use crate::call::PageCall;
use crate::failure::PageFailure;
use crate::response::{INVALID, PageResponse};

/// What a form left on the page.
#[derive(Default)]
pub(super) struct Left {
    pub(super) name: Option<FieldState>,
    pub(super) phone: Option<FieldState>,
    pub(super) email: Option<EmailChange>,
    pub(super) passwords: PasswordFields,
    pub(super) erasure: Option<ErasureProblem>,
}

pub(super) async fn show(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let is_code_sent = call.query.text("email") == "code";
    let email = is_code_sent.then(|| EmailChange::CodeSent(FieldState::default()));
    render(&call, &principal, StatusCode::OK, Left { email, ..Left::default() }).await
}

/// The page after a refused form.
pub(super) async fn again(
    call: &PageCall,
    principal: &Principal,
    left: Left,
) -> Result<PageResponse, PageFailure> {
    render(call, principal, INVALID, left).await
}

async fn render(
    call: &PageCall,
    principal: &Principal,
    status: StatusCode,
    left: Left,
) -> Result<PageResponse, PageFailure> {
    let reader = call.profile().await?.ok_or(PageFailure::Login)?;
    let Left { name, phone, email, passwords, erasure } = left;
    let user = &reader.user;
    let shown_phone = user.phone.as_ref().map_or("", |phone| phone.as_str());
    let email = match (email, user.is_guest_account() || !call.use_cases().settings.sends_email()) {
        (_, true) => EmailChange::NotOffered,
        (Some(left), false) => left,
        (None, false) => match call.use_cases().email_changes.restorable_until(principal).await? {
            Some(until) => EmailChange::Locked(until),
            None => EmailChange::Open(FieldState::default()),
        },
    };
    let many = PageRequest::new(1, PageRequest::MAX_SIZE);
    let sessions = call.use_cases().sessions.list(principal, many).await?;
    let frame = call.frame(Some(&reader));
    let page = AccountPage {
        frame: &frame,
        user,
        name: name.unwrap_or_else(|| FieldState::with(user.name.as_str())),
        phone: phone.unwrap_or_else(|| FieldState::with(shown_phone)),
        email,
        passwords,
        sessions: &sessions,
        current: principal.session,
        erasure,
    };
    Ok(PageResponse::html(status, page.render()))
}
