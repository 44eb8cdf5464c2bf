//! `/wallet-link`: a link of the operator moves a guest account to this browser.
//!
//! Only the button of the page uses the link, because previews and scanners of messages read the page, too.

use actix_web::http::StatusCode;
use cuepoint_domain::user::wallet_link::LinkEnd;
use cuepoint_pages::done::DoneNotice;
use cuepoint_pages::wallet::{LinkOverPage, OwnSession, WalletLinkPage};

use crate::call::{FormKey, PageCall};
use crate::failure::{PageFailure, or_refusal};
use crate::guest_cookie::NextGuestCookie;
use crate::handlers::draft::Draft;
use crate::response::{INVALID, PageResponse};

/// The field and the query parameter with the secret of a link.
const LINK: &str = "link";

pub(super) async fn show(call: PageCall) -> Result<PageResponse, PageFailure> {
    let link = call.query.text(LINK);
    let profile = match or_refusal(call.use_cases().wallet_links.shown(link).await)? {
        Ok(profile) => profile,
        Err(end) => return over(&call, StatusCode::OK, end).await,
    };
    let reader = call.profile().await?;
    let own = match &reader {
        Some(reader) if !reader.user.is_guest_account() => OwnSession::Login,
        Some(reader) if reader.user.id != profile.user.id => OwnSession::Wallet,
        _ => OwnSession::Nothing,
    };
    let (frame, key) = (call.frame(reader.as_ref()), call.new_key());
    let name = &profile.user.name;
    let page = WalletLinkPage { frame: &frame, link, key: &key, name, balance: profile.balance, own };
    Ok(PageResponse::html(StatusCode::OK, page.render()))
}

pub(super) async fn open(call: PageCall) -> Result<PageResponse, PageFailure> {
    let key = FormKey::of(&call.form)?;
    call.count_valid()?;
    let (links, link) = (&call.use_cases().wallet_links, call.form.text(LINK));
    let opened = or_refusal(links.shown(link).await)?.ok().map(|profile| profile.user.id);
    let reader = call.profile().await?.map(|profile| profile.user.id);
    // This comes before the use of the link. If the guest cookie has no room, the link still works.
    let kept = if opened.is_some() && opened == reader {
        NextGuestCookie::with_ended_wallet(&call).await?
    } else {
        NextGuestCookie::with_own_wallet(&call).await?
    };
    let session = match or_refusal(links.open(&call.client_context(), link, key.as_str()).await)? {
        Ok(session) => session,
        Err(end) => return over(&call, INVALID, end).await,
    };
    let answer = kept.begin(&call, PageResponse::done("/wallet", DoneNotice::WalletOpened), &session);
    Ok(Draft::dropped_with(&call, answer))
}

async fn over(call: &PageCall, status: StatusCode, end: LinkEnd) -> Result<PageResponse, PageFailure> {
    let reader = call.profile().await?;
    let frame = call.frame(reader.as_ref());
    Ok(PageResponse::html(status, LinkOverPage { frame: &frame, end }.render()))
}
