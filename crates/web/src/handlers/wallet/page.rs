//! `GET /wallet` and `GET /wallet/statement`.

use std::collections::BTreeSet;

use actix_web::http::StatusCode;
use cuepoint_domain::application::Failure;
use cuepoint_domain::application::queries::OwnRequestFilter;
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::entity_ref::EntityKind;
use cuepoint_domain::ids::{RequestId, TipId, TopupId};
use cuepoint_domain::ledger::{Balance, Entry};
use cuepoint_domain::money::Money;
use cuepoint_domain::music_request::{MusicRequest, RequestStatus};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::tip::{Tip, TipDirection};
use cuepoint_domain::topup::Topup;
use cuepoint_domain::withdrawal::{Clearing, Withdrawal, WithdrawalStatus};
use cuepoint_pages::forms::{FieldState, KeptWallet, Keys};
use cuepoint_pages::frame::{NoticeKind, PageNotice};
use cuepoint_pages::texts::Text;
use cuepoint_pages::wallet::{Hold, Payout, StatementPage, Subjects, TipRow, TopupForm, WalletPage};
use futures_util::future::{try_join, try_join_all, try_join3, try_join5};

use super::payout_fields::PayoutFields;
use crate::call::PageCall;
use crate::failure::PageFailure;
use crate::guest_cookie;
use crate::response::PageResponse;

/// The entries on a page of the statement.
const ENTRIES: u32 = 50;
/// The newest rows of each list in the wallet.
const NEWEST: u32 = 10;
/// The rows of a list that should be complete.
const MANY: u32 = PageRequest::MAX_SIZE;

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
    let notice = notice.map(|text| PageNotice { kind: NoticeKind::Attention, text });
    let frame = call.frame(Some(&reader)).saying(notice);
    let settings = &call.use_cases().settings;
    let terms = settings.withdrawals();
    let obstacle = Payout::obstacle(&reader.user, reader.balance, terms.requires_verified_email);
    let holds = contents.holds();
    let tips = contents.tips();
    let (topup, random) = (TopupForm { amount: topup, least: settings.least_topup() }, call.new_key());
    let page = WalletPage {
        frame: &frame,
        balance: reader.balance,
        clearing: contents.clearing,
        holds: &holds,
        held_otherwise: contents.held_otherwise(reader.balance),
        debt: contents.debt.as_ref(),
        guest_wallets: &contents.guest_wallets,
        guest_wallets_are_full: contents.guest_wallets_are_full,
        entries: &contents.entries,
        subjects: &contents.subjects,
        topup: settings.takes_topups().then_some(topup),
        topups: &contents.topups,
        payout: obstacle.unwrap_or_else(|| Payout::Form(payout.form(&terms.options))),
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
    guest_wallets: Vec<KeptWallet>,
    /// Whether no other wallet fits into the guest cookie.
    guest_wallets_are_full: bool,
    entries: Rows<Entry>,
    /// The names of the subjects of the entries.
    subjects: Subjects,
    topups: Rows<Topup>,
    withdrawals: Rows<Withdrawal>,
    /// The withdrawals that hold their amount.
    held_withdrawals: Vec<Withdrawal>,
    /// The open requests that hold a fee.
    open_requests: Vec<MusicRequest>,
    given: Vec<Tip>,
    received: Vec<Tip>,
}

impl Contents {
    /// The reads run concurrently: a store can answer several in one round trip.
    async fn read(call: &PageCall, principal: &Principal, balance: Balance) -> Result<Self, PageFailure> {
        let use_cases = call.use_cases();
        let (newest, many) = (PageRequest::new(1, NEWEST), PageRequest::new(1, MANY));
        let tips = |direction| use_cases.tips.list(principal, direction, newest);
        let open = |status| {
            let filter = OwnRequestFilter { status: Some(status), dj: None };
            use_cases.music_requests.made_by(principal, filter, many)
        };
        let lists = async {
            Ok::<_, PageFailure>(
                try_join5(
                    use_cases.wallet.entries(principal, None, newest),
                    use_cases.topups.list(principal, None, newest),
                    withdrawals(call, principal, None, newest),
                    tips(TipDirection::Given),
                    tips(TipDirection::Received),
                )
                .await?,
            )
        };
        let rest = try_join5(
            async { Ok(open(RequestStatus::Pending).await?.rows) },
            async { Ok(open(RequestStatus::Accepted).await?.rows) },
            async { Ok(use_cases.wallet.clearing(principal, balance).await?) },
            newest_debt(call, principal, balance),
            async { Ok((call.kept_wallets().await?, guest_cookie::is_full(call).await?)) },
        );
        let ((entries, topups, withdrawals, given, received), rest) = try_join(lists, rest).await?;
        let subjects = subjects_of(call, principal, &entries).await?;
        let (mut open_requests, accepted, clearing, debt, (guest_wallets, guest_wallets_are_full)) = rest;
        open_requests.extend(accepted);
        open_requests.retain(|request| !request.fee.is_zero());
        let mut contents = Self {
            clearing,
            debt,
            guest_wallets,
            guest_wallets_are_full,
            entries,
            subjects,
            topups,
            held_withdrawals: held(&withdrawals.rows),
            withdrawals,
            open_requests,
            given: given.rows,
            received: received.rows,
        };
        if contents.held_otherwise(balance).is_some() {
            contents.held_withdrawals = all_held(call, principal).await?;
        }
        Ok(contents)
    }

    fn holds(&self) -> Vec<Hold<'_>> {
        let requests = self.open_requests.iter().map(Hold::Request);
        requests.chain(self.held_withdrawals.iter().map(Hold::Withdrawal)).collect()
    }

    /// The part of the held balance that no listed request or withdrawal holds.
    fn held_otherwise(&self, balance: Balance) -> Option<Money> {
        let rest = self.holds().iter().try_fold(balance.held, |rest, hold| rest.checked_sub(hold.amount()));
        rest.filter(|rest| *rest > Money::ZERO)
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

/// A page of the principal's withdrawals. A guest account has none.
async fn withdrawals(
    call: &PageCall,
    principal: &Principal,
    status: Option<WithdrawalStatus>,
    page: PageRequest,
) -> Result<Rows<Withdrawal>, Failure> {
    if principal.is_guest_account() {
        return Ok(Rows::none(0));
    }
    Ok(call.use_cases().withdrawals.list(principal, status, page).await?.0)
}

fn held(withdrawals: &[Withdrawal]) -> Vec<Withdrawal> {
    let holds = |withdrawal: &&Withdrawal| withdrawal.state.status().holds_amount();
    withdrawals.iter().filter(holds).cloned().collect()
}

/// The withdrawals that hold their amount, newest first. An old one can wait behind many newer ones.
async fn all_held(call: &PageCall, principal: &Principal) -> Result<Vec<Withdrawal>, PageFailure> {
    let many = PageRequest::new(1, MANY);
    let holding = WithdrawalStatus::all().filter(|status| status.holds_amount());
    let lists = holding.map(|status| withdrawals(call, principal, Some(status), many));
    let lists = try_join_all(lists).await?;
    let mut all: Vec<Withdrawal> = lists.into_iter().flat_map(|list| list.rows).collect();
    all.sort_by_key(|withdrawal| std::cmp::Reverse(withdrawal.id));
    Ok(all)
}

/// The newest entry that increased the debt, if the wallet owes.
async fn newest_debt(
    call: &PageCall,
    principal: &Principal,
    balance: Balance,
) -> Result<Option<Entry>, PageFailure> {
    if balance.owed.is_zero() {
        return Ok(None);
    }
    let entries = call.use_cases().wallet.entries(principal, None, PageRequest::new(1, MANY)).await?;
    Ok(entries.rows.into_iter().find(Entry::increases_debt))
}

/// The names of the subjects of these entries of the principal's wallet.
async fn subjects_of(
    call: &PageCall,
    principal: &Principal,
    entries: &Rows<Entry>,
) -> Result<Subjects, PageFailure> {
    let use_cases = call.use_cases();
    let references: BTreeSet<_> = entries.rows.iter().map(|entry| entry.reference).collect();
    let ids = |kind| {
        let of_kind = references.iter().filter(move |found| found.kind().is_ok_and(|found| found == kind));
        of_kind.map(|found| found.id())
    };
    let songs = ids(EntityKind::MusicRequest).filter_map(RequestId::new).map(async |id| {
        let request = use_cases.music_requests.visible(principal, id).await;
        named(id, request.map(|request| request.song_title))
    });
    let djs = ids(EntityKind::Tip)
        .filter_map(TipId::new)
        .map(async |id| named(id, use_cases.tips.dj_of(principal, id).await));
    let payments = ids(EntityKind::Topup).filter_map(TopupId::new).map(async |id| {
        let topup = use_cases.topups.own(principal, id).await;
        named(id, topup.map(|topup| topup.reference()))
    });
    // The reads run concurrently: a store can answer several in one round trip.
    let (songs, djs, payments) =
        try_join3(try_join_all(songs), try_join_all(djs), try_join_all(payments)).await?;
    Ok(Subjects {
        songs: songs.into_iter().flatten().collect(),
        djs: djs.into_iter().flatten().collect(),
        payments: payments.into_iter().flatten().collect(),
    })
}

/// An id with the name of its object; `None` if the principal may not see the object.
fn named<I, N>(id: I, name: Result<N, Failure>) -> Result<Option<(I, N)>, Failure> {
    match name {
        Ok(name) => Ok(Some((id, name))),
        Err(Failure::NotFound | Failure::Denied(_)) => Ok(None),
        Err(failure) => Err(failure),
    }
}

pub(super) async fn statement(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let reader = call.profile().await?.ok_or(PageFailure::Login)?;
    let page = call.list_page(ENTRIES);
    let entries = call.use_cases().wallet.entries(&principal, None, page).await?;
    let subjects = subjects_of(&call, &principal, &entries).await?;
    let frame = call.frame(Some(&reader));
    let page = StatementPage { frame: &frame, entries: &entries, subjects: &subjects, page };
    Ok(PageResponse::page(page.render()))
}
