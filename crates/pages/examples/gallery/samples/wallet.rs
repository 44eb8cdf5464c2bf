//! The wallet, its statement, and a withdrawal.

use cuepoint_domain::address::{OptionsTable, PayoutOption};
use cuepoint_domain::entity_ref::EntityRef;
use cuepoint_domain::ids::{GigId, OperationId, RequestId, TipId, TopupId, UserId, WithdrawalId};
use cuepoint_domain::ledger::{Balance, ChainHash, Entry, EntryKind};
use cuepoint_domain::money::{Amount, Money};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::provider_reference::ProviderReference;
use cuepoint_domain::text::Line;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::tip::{Tip, TipDirection};
use cuepoint_domain::topup::{Topup, TopupStatus};
use cuepoint_domain::user::User;
use cuepoint_domain::user::wallet_link::LinkEnd;
use cuepoint_domain::withdrawal::{Clearing, Withdrawal, WithdrawalState};
use cuepoint_pages::forms::{FieldState, KeptWallet, Keys};
use cuepoint_pages::frame::{Frame, Viewer};
use cuepoint_pages::language::Language;
use cuepoint_pages::wallet::{
    ConfirmPayoutPage, Hold, LinkOverPage, OwnSession, Payout, PayoutForm, StatementPage, Subjects, TipRow,
    TopupForm, WalletLinkPage, WalletPage,
};
use time::Duration;

use super::{Sample, guest, hostile, now, people, site};

const KEY: &str = "6rY2mQ0xS1uVb8Zp3kLw9A";
const ADDRESS: &str = "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8";

fn ago(minutes: i64) -> Timestamp {
    now().minus(Duration::minutes(minutes))
}

fn amount(minor: i128) -> Amount {
    Amount::new(Money::from_minor(minor)).expect("an amount")
}

fn line(text: &str) -> Line {
    Line::new(text).expect("a line")
}

fn balance(available: i128, held: i128, owed: i128) -> Balance {
    let money = Money::from_minor;
    Balance { available: money(available), held: money(held), owed: money(owed) }
}

fn entry(seq: i64, kind: EntryKind, reference: EntityRef, change: Balance, after: Balance) -> Entry {
    let hash = ChainHash([0; 32]);
    let (wallet, operation) = (UserId::new(9).expect("an id"), OperationId(1));
    let at = ago(seq.saturating_mul(37));
    Entry { wallet, seq, operation, kind, reference, change, after, at, previous: hash, hash }
}

/// An entry of every kind.
fn entries() -> Rows<Entry> {
    let request = EntityRef::from(RequestId::new(21).expect("an id"));
    let topup = EntityRef::from(TopupId::new(5).expect("an id"));
    let withdrawal = EntityRef::from(WithdrawalId::new(4).expect("an id"));
    let tip = EntityRef::from(TipId::new(2).expect("an id"));
    let after = balance(1_980, 1_250, 0);
    let rows = vec![
        entry(1, EntryKind::Hold, request, balance(-1_250, 1_250, 0), after),
        entry(2, EntryKind::Topup, topup, balance(2_000, 0, 0), balance(3_230, 0, 0)),
        entry(3, EntryKind::Capture, request, balance(0, -1_250, 0), balance(1_230, 0, 0)),
        entry(4, EntryKind::Release, request, balance(1_250, -1_250, 0), balance(1_230, 1_250, 0)),
        entry(5, EntryKind::Tip, tip, balance(-500, 0, 0), balance(1_230, 2_500, 0)),
        entry(6, EntryKind::Earning, request, balance(1_125, 0, 0), balance(1_730, 0, 0)),
        entry(7, EntryKind::Refund, request, balance(1_250, 0, 0), balance(605, 0, 0)),
        entry(8, EntryKind::Reversal, request, balance(-1_125, 0, 0), balance(605, 0, 0)),
        entry(9, EntryKind::Adjustment, withdrawal, balance(100, 0, 0), balance(1_730, 0, 0)),
        entry(10, EntryKind::Chargeback, topup, balance(-400, 0, 1_600), balance(0, 0, 1_600)),
    ];
    Rows { rows, total: 42 }
}

fn topups() -> Rows<Topup> {
    let topup = |id: i64, status| Topup {
        id: TopupId::new(id).expect("an id"),
        opening: None,
        user: UserId::new(9).expect("an id"),
        amount: amount(2_000),
        status,
        payment_url: None,
        page_code: None,
        orders: None,
        suspense: None,
        created_at: ago(90),
        updated_at: ago(80),
    };
    let statuses = [TopupStatus::Pending, TopupStatus::Confirmed, TopupStatus::Failed, TopupStatus::Reversed];
    Rows { rows: (1..).zip(statuses).map(|(id, status)| topup(id, status)).collect(), total: 4 }
}

/// A withdrawal in every state.
fn withdrawals() -> Rows<Withdrawal> {
    let txid = || line("5f2a9b0c7d1e4f3a8b6c5d4e3f2a1b0c9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f4a");
    let states = [
        WithdrawalState::Pending,
        WithdrawalState::Approved,
        WithdrawalState::Processing { attempts: 1, retry_at: None },
        WithdrawalState::Broadcast { txid: txid() },
        WithdrawalState::Completed { txid: txid() },
        WithdrawalState::Cancelled,
        WithdrawalState::Rejected,
        WithdrawalState::Failed { txid: None },
        WithdrawalState::NeedsReview { txid: None },
    ];
    let withdrawal = |(id, state): (i64, WithdrawalState)| Withdrawal {
        id: WithdrawalId::new(id).expect("an id"),
        opening: None,
        user: UserId::new(9).expect("an id"),
        amount: amount(5_000),
        wallet_address: line(ADDRESS),
        currency: line("USDT"),
        network: line("tron"),
        state,
        approvals: Vec::new(),
        created_at: ago(300),
        updated_at: ago(200),
    };
    Rows { rows: (1..).zip(states).map(withdrawal).collect(), total: 9 }
}

fn tips() -> Vec<(Tip, TipDirection)> {
    let tip = |id: i64, commission: i128| Tip {
        id: TipId::new(id).expect("an id"),
        guest: UserId::new(9).expect("an id"),
        dj: UserId::new(7).expect("an id"),
        gig: GigId::new(3).expect("an id"),
        amount: amount(500),
        commission: Money::from_minor(commission),
        created_at: ago(185),
    };
    vec![(tip(2, 50), TipDirection::Received), (tip(1, 0), TipDirection::Given)]
}

/// The pages of wallet links.
fn links(language: Language) -> Vec<Sample> {
    let site = site();
    let frame = Frame::new(&site, language, now());
    let name = Line::new(hostile::MARKUP).expect("a line");
    let open = |own, held| {
        WalletLinkPage {
            frame: &frame,
            link: "bntE_GS4RCx0KV37F1UrUO",
            key: KEY,
            name: &name,
            balance: balance(4_000, held, 0),
            own,
        }
        .render()
    };
    let over = |end| LinkOverPage { frame: &frame, end }.render();
    [
        ("wallet-link", open(OwnSession::Nothing, 0)),
        ("wallet-link-guest", open(OwnSession::Wallet, 500)),
        ("wallet-link-member", open(OwnSession::Login, 0)),
        ("wallet-link-unknown", over(LinkEnd::Unknown)),
        ("wallet-link-claimed", over(LinkEnd::Claimed)),
        ("wallet-link-used", over(LinkEnd::Used)),
        ("wallet-link-expired", over(LinkEnd::Expired)),
        ("wallet-link-suspended", over(LinkEnd::Suspended)),
    ]
    .map(|(name, html)| Sample::new(name, html))
    .into()
}

pub fn pages(language: Language) -> Vec<Sample> {
    let site = site();
    let t = language.texts();
    let option = |currency, networks: &[&str]| {
        PayoutOption::new(currency, networks.iter().copied()).expect("an option")
    };
    let options = vec![option("USDT", &["tron", "ethereum"]), option("BTC", &["bitcoin"])];
    let options = OptionsTable::new(options).expect("options");
    let form = || PayoutForm {
        amount: FieldState::default(),
        payout: FieldState::default(),
        wallet_address: FieldState::default(),
        options: &options,
    };
    let refused = PayoutForm {
        amount: FieldState::refused("500", t.at_most("120.00")),
        payout: FieldState::with("USDT/ethereum"),
        wallet_address: FieldState::refused("TJRabPrwbZy45", t.address_malformed()),
        ..form()
    };
    let (entries, topups, withdrawals, tips) = (entries(), topups(), withdrawals(), tips());
    let subjects = Subjects {
        songs: [(RequestId::new(21).expect("an id"), line("Good Times"))].into(),
        djs: [(TipId::new(2).expect("an id"), line("DJ Kranich"))].into(),
        payments: [(TopupId::new(5).expect("an id"), ProviderReference::Operation(OperationId(1 << 124)))]
            .into(),
    };
    let kept = |user| KeptWallet { user, available: Money::from_minor(500) };
    let guest_wallets: Vec<KeptWallet> = (9..=12).filter_map(UserId::new).map(kept).collect();
    let (no_entries, no_topups, no_withdrawals) = (Rows::none(0), Rows::none(0), Rows::none(0));
    let requests = guest::all_states();
    let held = requests.iter().take(2).map(|own| Hold::Request(&own.request));
    let paid_out = withdrawals.rows.iter().take(1).map(Hold::Withdrawal);
    let holds: Vec<Hold<'_>> = held.chain(paid_out).collect();
    let tips: Vec<TipRow<'_>> =
        tips.iter().map(|(tip, direction)| TipRow { tip, direction: *direction }).collect();
    let clearing =
        Clearing { amount: Money::from_minor(1_125), until: Some(now().plus(Duration::hours(70))) };
    let topup = || TopupForm { amount: FieldState::default(), least: Amount::new(Money::from_minor(500)) };
    let page = |name: &str, user: &User, balance: Balance, payout, is_new: bool| {
        let frame = Frame { viewer: Some(Viewer::of(user)), ..Frame::new(&site, language, now()) };
        let page = WalletPage {
            frame: &frame,
            balance,
            clearing: if is_new { Clearing::default() } else { clearing },
            holds: if is_new { &[] } else { &holds },
            held_otherwise: (!is_new).then(|| Money::from_minor(1_250)),
            debt: entries.rows.last().filter(|_| balance.owed > Money::ZERO),
            guest_wallets: if name.is_empty() { &guest_wallets } else { &[] },
            guest_wallets_are_full: name.is_empty(),
            entries: if is_new { &no_entries } else { &entries },
            subjects: &subjects,
            topup: Some(topup()),
            topups: if is_new { &no_topups } else { &topups },
            payout,
            withdrawals: if is_new { &no_withdrawals } else { &withdrawals },
            tips: if is_new { &[] } else { &tips },
            keys: Keys::new(KEY),
        };
        Sample::new(format!("wallet{name}"), page.render())
    };
    let (dj, account) = (people::dj(), people::guest_account());
    let rich = balance(1_980, 8_150, 0);
    let empty = balance(0, 0, 0);
    let frame = Frame { viewer: Some(Viewer::of(&dj)), ..Frame::new(&site, language, now()) };
    let statement = |number| {
        let page = PageRequest::new(number, 15);
        StatementPage { frame: &frame, entries: &entries, subjects: &subjects, page }.render()
    };
    let (currency, network, address) = (line("USDT"), line("tron"), line(ADDRESS));
    let confirm = ConfirmPayoutPage {
        frame: &frame,
        key: KEY,
        amount: amount(12_000),
        currency: &currency,
        network: &network,
        wallet_address: &address,
    };
    vec![
        page("", &dj, rich, Payout::Form(form()), false),
        page("-refused", &dj, rich, Payout::Form(refused), false),
        page("-owes", &dj, balance(0, 8_150, 1_600), Payout::Owes, false),
        page("-unverified", &dj, rich, Payout::NeedsVerifiedEmail, false),
        page("-new", &dj, empty, Payout::NothingAvailable, true),
        page("-guest", &account, balance(750, 0, 0), Payout::NeedsAccount, true),
        Sample::new("wallet-statement", statement(1)),
        Sample::new("wallet-statement-last", statement(3)),
        Sample::new("wallet-confirm-payout", confirm.render()),
    ]
    .into_iter()
    .chain(links(language))
    .collect()
}
