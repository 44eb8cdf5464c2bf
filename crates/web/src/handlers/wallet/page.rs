//! `GET /wallet` and `GET /wallet/statement`.

use actix_web::http::StatusCode;
use cuepoint_domain::address::{AddressPolicy, OptionsTable};
use cuepoint_domain::application::queries::OwnRequestFilter;
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::ledger::{Balance, Entry};
use cuepoint_domain::money::Money;
use cuepoint_domain::music_request::{MusicRequest, RequestStatus};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::tip::{Tip, TipDirection};
use cuepoint_domain::topup::Topup;
use cuepoint_domain::withdrawal::{Clearing, Withdrawal};
use cuepoint_pages::forms::{FieldState, Keys};
use cuepoint_pages::frame::{Frame, Notice, NoticeKind};
use cuepoint_pages::texts::Text;
use cuepoint_pages::wallet::{Hold, Payout, StatementPage, TipRow, TopupForm, WalletPage};

use super::payout_fields::PayoutFields;
use crate::call::PageCall;
use crate::failure::PageFailure;
use crate::response::PageResponse;

/// The entries on a page of the statement.
const ENTRIES: u32 = 50;
/// The newest rows of each list in the wallet.
const NEWEST: u32 = 10;

/// What a refused form left on the page.
#[derive(Default)]
pub(in crate::handlers) struct Refused {
    /// The amount of a top-up.
    pub(in crate::handlers) topup: FieldState,
    /// The fields of a withdrawal.
    pub(in crate::handlers) payout: PayoutFields,
    /// What belongs to no field.
    pub(in crate::handlers) notice: Option<Text>,
}

pub(super) async fn show(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    render(&call, &principal, StatusCode::OK, Refused::default()).await
}

/// The wallet with this status.
pub(in crate::handlers) async fn render(
    call: &PageCall,
    principal: &Principal,
    status: StatusCode,
    refused: Refused,
) -> Result<PageResponse, PageFailure> {
    let reader = call.profile().await?.ok_or(PageFailure::Login)?;
    let contents = Contents::read(call, principal, reader.balance).await?;
    let Refused { topup, payout, notice } = refused;
    let notice = notice.map(|text| Notice { kind: NoticeKind::Attention, text });
    let frame = call.frame(Some(&reader));
    let frame = Frame { notice: notice.or(frame.notice.clone()), ..frame };
    let settings = &call.use_cases().settings;
    let terms = settings.withdrawals();
    let any = OptionsTable::default();
    let options = if terms.address_policy == AddressPolicy::Strict { &terms.options } else { &any };
    let obstacle = Payout::obstacle(&reader.user, reader.balance, terms.requires_verified_email);
    let holds = contents.holds();
    let tips = contents.tips();
    let (topup, random) = (TopupForm { amount: topup, least: settings.least_topup() }, call.new_key());
    let page = WalletPage {
        frame: &frame,
        balance: reader.balance,
        clearing: contents.clearing,
        holds: &holds,
        debt: contents.debt.as_ref(),
        guest_wallet: contents.guest_wallet,
        entries: &contents.entries,
        topup: settings.takes_topups().then_some(topup),
        topups: &contents.topups,
        payout: obstacle.unwrap_or_else(|| Payout::Form(payout.form(options))),
        withdrawals: &contents.withdrawals,
        tips: &tips,
        keys: Keys::new(&random),
    };
    Ok(PageResponse::html(status, page.render()))
}

/// What the wallet lists.
struct Contents {
    clearing: Clearing,
    debt: Option<Entry>,
    guest_wallet: Option<Money>,
    entries: Rows<Entry>,
    topups: Rows<Topup>,
    withdrawals: Rows<Withdrawal>,
    open_requests: Vec<MusicRequest>,
    given: Vec<Tip>,
    received: Vec<Tip>,
}

impl Contents {
    async fn read(call: &PageCall, principal: &Principal, balance: Balance) -> Result<Self, PageFailure> {
        let use_cases = call.use_cases();
        let (newest, many) = (PageRequest::new(1, NEWEST), PageRequest::new(1, PageRequest::MAX_SIZE));
        let tips = async |direction| use_cases.tips.list(principal, direction, newest).await;
        let (mut open_requests, requests) = (Vec::new(), &use_cases.music_requests);
        for status in [RequestStatus::Pending, RequestStatus::Accepted] {
            let filter = OwnRequestFilter { status: Some(status), dj: None };
            open_requests.extend(requests.made_by(principal, filter, many).await?.rows);
        }
        let withdrawals = match principal.is_guest_account() {
            true => Rows::none(0),
            false => use_cases.withdrawals.list(principal, None, newest).await?.0,
        };
        let debt = match balance.owed > Money::ZERO {
            true => use_cases.wallet.entries(principal, None, many).await?.rows,
            false => Vec::new(),
        };
        Ok(Self {
            clearing: use_cases.wallet.clearing(principal, balance).await?,
            debt: debt.into_iter().find(Entry::increases_debt),
            guest_wallet: call.kept_guest_money().await?,
            entries: use_cases.wallet.entries(principal, None, newest).await?,
            topups: use_cases.topups.list(principal, None, newest).await?,
            withdrawals,
            open_requests,
            given: tips(TipDirection::Given).await?.rows,
            received: tips(TipDirection::Received).await?.rows,
        })
    }

    fn holds(&self) -> Vec<Hold<'_>> {
        let requests = self.open_requests.iter().filter(|request| !request.fee.is_zero()).map(Hold::Request);
        let withdrawals = self.withdrawals.rows.iter();
        let withdrawals = withdrawals.filter(|withdrawal| withdrawal.state.status().holds_amount());
        requests.chain(withdrawals.map(Hold::Withdrawal)).collect()
    }

    fn tips(&self) -> Vec<TipRow<'_>> {
        let row = |direction| move |tip| TipRow { tip, direction };
        let given = self.given.iter().map(row(TipDirection::Given));
        let mut tips: Vec<_> = given.chain(self.received.iter().map(row(TipDirection::Received))).collect();
        tips.sort_by_key(|row| std::cmp::Reverse(row.tip.created_at));
        tips.truncate(usize::try_from(NEWEST).unwrap_or(usize::MAX));
        tips
    }
}

pub(super) async fn statement(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let reader = call.profile().await?.ok_or(PageFailure::Login)?;
    let page = PageRequest::new(call.query.text("page").parse().unwrap_or(1), ENTRIES);
    let entries = call.use_cases().wallet.entries(&principal, None, page).await?;
    let frame = call.frame(Some(&reader));
    let page = StatementPage { frame: &frame, entries: &entries, page };
    Ok(PageResponse::page(page.render()))
}
