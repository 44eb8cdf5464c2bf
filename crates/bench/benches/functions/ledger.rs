//! Folding of plans into a book, one after another, as the writer does with a group.

use cuepoint_domain::ids::{OperationId, RequestId, UserId, WithdrawalId};
use cuepoint_domain::ledger::{Balance, Wallet};
use cuepoint_domain::money::{Amount, BasisPoints, Currency, Money};
use cuepoint_domain::music_request::{Move, MusicRequest, RequestTerms};
use cuepoint_domain::operation::{Book, OperationMetadata, Plan, Verdict, apply, plans};
use cuepoint_domain::text::{Email, Line};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::User;
use cuepoint_domain::withdrawal::{NewWithdrawal, WithdrawalAmount, WithdrawalTerms};
use divan::Bencher;

/// Group sizes, in plans.
const GROUPS: [u32; 2] = [1, 64];

/// Withdrawals, each from a different wallet.
#[divan::bench(args = GROUPS)]
fn withdrawals(bencher: Bencher<'_, '_>, plans: u32) {
    fold(bencher, |book| (1..=plans).map(|number| withdrawal(book, number, number)).collect());
}

#[divan::bench(args = GROUPS)]
fn withdrawals_from_one_wallet(bencher: Bencher<'_, '_>, plans: u32) {
    fold(bencher, |book| (1..=plans).map(|number| withdrawal(book, number, 1)).collect());
}

/// Played requests: the guest pays, the DJ earns and the platform keeps its commission.
#[divan::bench(args = GROUPS)]
fn played_requests(bencher: Bencher<'_, '_>, plans: u32) {
    fold(bencher, |book| (1..=plans).map(|number| played(book, number)).collect());
}

fn fold(bencher: Bencher<'_, '_>, prepare: impl Fn(&mut Book) -> Vec<Plan> + Sync) {
    bencher
        .with_inputs(|| {
            let mut book = Book::default();
            let plans = prepare(&mut book);
            (book, plans)
        })
        .bench_refs(|(book, plans)| {
            for plan in plans {
                assert!(matches!(apply(book, plan), Ok(Verdict::Fresh(..))));
            }
        });
}

fn now() -> Timestamp {
    Timestamp::from_unix_micros(1_767_225_600_000_000)
}

fn user(number: u32) -> UserId {
    UserId::new(number.into()).unwrap()
}

fn metadata(number: u32, actor: UserId) -> OperationMetadata {
    OperationMetadata::by(actor, OperationId(number.into()), now())
}

fn fill(book: &mut Book, owner: UserId) {
    let balance = Balance { available: Money::from_minor(1_000_000), ..Balance::default() };
    book.wallets.insert(owner, Wallet { balance, ..Wallet::empty(owner) });
}

fn withdrawal(book: &mut Book, number: u32, owner: u32) -> Plan {
    let owner = user(owner);
    fill(book, owner);
    let amount = Amount::new(Money::from_minor(100)).unwrap();
    let new = NewWithdrawal {
        amount: WithdrawalAmount::new(amount, &Currency::new("USD", 2).unwrap()).unwrap(),
        wallet_address: Line::new("bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq").unwrap(),
        currency: Line::new("BTC").unwrap(),
        network: Line::new("bitcoin").unwrap(),
    };
    let id = WithdrawalId::new(number.into()).unwrap();
    plans::open_withdrawal(metadata(number, owner), id, owner, new, &WithdrawalTerms::default()).unwrap()
}

fn played(book: &mut Book, number: u32) -> Plan {
    let (guest, dj) = (user(number), user(number.saturating_add(1_000)));
    fill(book, guest);
    fill(book, dj);
    let email = Email::new("dj@example.com").unwrap();
    book.put(User::registered(dj, Line::new("DJ").unwrap(), email, None, true, now()));
    let request = MusicRequest {
        id: RequestId::new(number.into()).unwrap(),
        requester: guest,
        dj,
        ..crate::page::request(number)
    };
    book.wallets.get_mut(&guest).unwrap().balance.held = request.fee;
    book.put(request.clone());
    let terms = RequestTerms { commission: BasisPoints::new(1_000).unwrap(), ..RequestTerms::default() };
    plans::move_request(metadata(number, dj), &request, Move::Play, &terms).unwrap()
}
