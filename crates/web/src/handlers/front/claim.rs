//! The claim of a guest account.

use actix_web::http::StatusCode;
use cuepoint_domain::application::{AccountClaim, BrowserSession, ClaimRefusal, RegisterRefusal};
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::text::Password;
use cuepoint_domain::user::guest_account::ClaimDetails;
use cuepoint_pages::done::DoneNotice;
use cuepoint_pages::forms::AccountFields;
use cuepoint_pages::front::ClaimPage;
use cuepoint_transport::rate_limits::Class;

use super::account_fields;
use crate::call::PageCall;
use crate::failure::{PageFailure, or_refusal};
use crate::form::Form;
use crate::guest_cookie::NextGuestCookie;
use crate::known_browser;
use crate::next_path;
use crate::response::{INVALID, PageResponse};

pub(super) async fn show(call: PageCall, _: Principal) -> Result<PageResponse, PageFailure> {
    // A link that fills in an address would let its author take the wallet.
    let fields = account_fields::unsent(Form::EMPTY);
    render(&call, StatusCode::OK, &call.query, fields).await
}

pub(super) async fn send(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let frame = call.frame(None);
    let is_breached = |password: &Password| call.use_cases().sign_ins.is_breached(password);
    let read = match account_fields::read_login(&call.form, &frame) {
        Ok((_, password)) if is_breached(&password) => {
            Err(account_fields::refused(&call.form, RegisterRefusal::BreachedPassword, &frame))
        }
        read => read.map_err(|fields| *fields),
    };
    let (email, password) = match read {
        Ok(login) => login,
        Err(fields) => {
            // A count for each account would not help, because guest accounts cost nothing.
            call.limits().count_for_network_instead(Class::Boards).map_err(PageFailure::rate_limited)?;
            return render(&call, INVALID, &call.form, fields).await;
        }
    };
    let kept = NextGuestCookie::with_ended_wallet(&call).await?;
    let trust = call.use_cases().profiles.guest_trust(&principal).await?;
    let attempt = call.limits().admit_claim(&call.state.password_queue, &email, trust)?;
    let details = ClaimDetails { email, name: None, phone: None };
    let (context, claim) = (call.context(&principal, None, ""), AccountClaim { details, password });
    let claimed = call.use_cases().sign_ins.claim::<BrowserSession>(&context, claim).await;
    call.limits().conclude(attempt, &claimed, |refusal| {
        matches!(refusal, ClaimRefusal::EmailTaken | ClaimRefusal::NotAGuest)
    });
    let refusal = match or_refusal(claimed)? {
        Ok(begun) => {
            let next = next_page(&call, &principal).await;
            let response = kept.begin(&call, PageResponse::done(&next, DoneNotice::Claimed), &begun);
            return Ok(known_browser::remembered(&call, response, (principal.user, begun.session)).await);
        }
        Err(ClaimRefusal::EmailTaken) => RegisterRefusal::EmailTaken,
        Err(ClaimRefusal::BreachedPassword) => RegisterRefusal::BreachedPassword,
        Err(ClaimRefusal::NotAGuest) => return Ok(PageResponse::see("/wallet")),
    };
    render(&call, INVALID, &call.form, account_fields::refused(&call.form, refusal, &frame)).await
}

/// The page after a claim: the one that the form names, or else the gig in which the guest waits for a song, or else the
/// wallet. The claim has taken effect, so that a failed read leads to the wallet.
async fn next_page(call: &PageCall, principal: &Principal) -> String {
    if let Some(next) = next_path::local(call.form.text("next")) {
        return next.to_owned();
    }
    let gigs = call.use_cases().boards.gigs_of_guest(principal).await.unwrap_or_default();
    gigs.first().map_or_else(|| "/wallet".to_owned(), |joined| format!("/g/{}", joined.gig.code))
}

async fn render(
    call: &PageCall,
    status: StatusCode,
    form: &Form,
    account: AccountFields,
) -> Result<PageResponse, PageFailure> {
    let reader = call.profile().await?.ok_or(PageFailure::Login)?;
    if !reader.user.is_guest_account() {
        return Ok(PageResponse::see("/wallet"));
    }
    let frame = call.frame(Some(&reader));
    let next = next_path::local(form.text("next"));
    let AccountFields { email, password, .. } = account;
    let page = ClaimPage { frame: &frame, balance: reader.balance, email, password, next };
    Ok(PageResponse::html(status, page.render()))
}
