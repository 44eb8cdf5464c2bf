//! Fixtures: stores, users with money, and plans for them.

use std::future::Future;
use std::path::Path;
use std::time::Duration;

use cuepoint_domain::audit::Auditor;
use cuepoint_domain::ids::{OperationId, UserId, WithdrawalId};
use cuepoint_domain::money::{Amount, BasisPoints, Currency, Money};
use cuepoint_domain::music_request::{NewRequest, RequestTerms};
use cuepoint_domain::operation::{Fingerprint, IdempotencyKey, KeyScope, OperationMetadata, Plan, plans};
use cuepoint_domain::ports::{Audit, Ids, Ledger, PasswordHash, People, Registered, Wallets};
use cuepoint_domain::text::{Email, Line, MusicUrl};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::topup::Charge;
use cuepoint_domain::user::{ArtistType, DjProfile, User};
use cuepoint_domain::withdrawal::{NewWithdrawal, WithdrawalAmount, WithdrawalTerms};
use cuepoint_store_sqlite::SqliteStore;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use time::Duration as Span;

/// The withdrawals of a process that is killed: those made one after the other, and all, the rest of them at once.
pub(crate) const BEFORE: i64 = 5;
pub(crate) const ALL: i64 = 21;
/// The withdrawal with a key, at which that process dies.
pub(crate) const FATAL: i64 = 13;

pub(crate) fn usd() -> Currency {
    Currency::new("USD", 2).unwrap()
}

pub(crate) fn open(directory: &Path) -> anyhow::Result<SqliteStore> {
    SqliteStore::open(directory, usd())
}

/// The message of a refused start, as an operator sees it.
pub(crate) fn refusal(directory: &Path) -> String {
    format!("{:#}", open(directory).expect_err("a refusal"))
}

/// Waits until a condition holds, and fails when that takes longer than any machine needs.
pub(crate) async fn until<Fut: Future<Output = bool>>(what: &str, is_so: impl Fn() -> Fut) {
    let waiting = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(30), waiting).await;
    assert!(waited.is_ok(), "timed out waiting until {what}");
}

pub(crate) fn now() -> Timestamp {
    Timestamp::from_unix_micros(1_767_225_600_000_000)
}

pub(crate) fn amount(cents: i128) -> Amount {
    Amount::new(Money::from_minor(cents)).unwrap()
}

/// An amount of a withdrawal in a currency without decimals, whose minimum is 1.
fn withdrawal_amount(cents: i128) -> WithdrawalAmount {
    WithdrawalAmount::new(amount(cents), &Currency::new("JPY", 0).unwrap()).unwrap()
}

pub(crate) fn metadata(store: &SqliteStore, user: UserId) -> OperationMetadata {
    OperationMetadata::by(user, store.operation(), now())
}

/// A registered guest with this many cents.
pub(crate) async fn guest(store: &SqliteStore, cents: i128) -> UserId {
    let id = store.next_user().await.unwrap();
    let email = Email::new(&format!("person{id}@example.com")).unwrap();
    let user = User::registered(id, Line::new("Guest").unwrap(), email, None, false, now());
    let registered = store.register(&user, &PasswordHash("hash".into()), None).await.unwrap();
    assert_eq!(registered, Registered::Done);
    if cents > 0 {
        store.apply(topup(store, id, cents).await).await.unwrap();
    }
    id
}

pub(crate) async fn topup(store: &SqliteStore, user: UserId, cents: i128) -> Plan {
    let id = store.next_topup().await.unwrap();
    plans::open_topup(metadata(store, user), id, user, amount(cents), Charge::Confirmed)
}

/// A withdrawal of 1.00 with a given id, and with a key if asked for.
pub(crate) fn numbered_withdrawal(number: i64, user: UserId, has_key: bool) -> Plan {
    let line = |text| Line::new(text).unwrap();
    let amount = withdrawal_amount(1_00);
    let new =
        NewWithdrawal { amount, wallet_address: line("T1"), currency: line("USDT"), network: line("TRC20") };
    let operation = OperationId(u128::try_from(number).unwrap() + (2 << 64));
    let byte = u8::try_from(number % 256).unwrap();
    let key = IdempotencyKey { scope: KeyScope([byte; 32]), fingerprint: Fingerprint([byte; 32]) };
    let metadata =
        OperationMetadata { key: has_key.then_some(key), ..OperationMetadata::by(user, operation, now()) };
    let (id, terms) = (WithdrawalId::new(number).unwrap(), WithdrawalTerms::default());
    plans::open_withdrawal(metadata, id, user, new, &terms).unwrap()
}

/// A withdrawal to an address, which the database refuses if it is empty.
pub(crate) async fn withdrawal(store: &SqliteStore, user: UserId, cents: i128, address: &str) -> Plan {
    withdrawal_on(store, user, cents, address, &WithdrawalTerms::default()).await
}

/// A withdrawal on these terms.
pub(crate) async fn withdrawal_on(
    store: &SqliteStore,
    user: UserId,
    cents: i128,
    address: &str,
    terms: &WithdrawalTerms,
) -> Plan {
    let new = NewWithdrawal {
        amount: withdrawal_amount(cents),
        wallet_address: Line::from_stored(address.to_owned()),
        currency: Line::new("USDT").unwrap(),
        network: Line::new("TRC20").unwrap(),
    };
    let id = store.next_withdrawal().await.unwrap();
    plans::open_withdrawal(metadata(store, user), id, user, new, terms).unwrap()
}

pub(crate) async fn available(store: &SqliteStore, user: UserId) -> i128 {
    store.balance(user).await.unwrap().unwrap().available.minor()
}

/// A request for 5.00, if one may be open.
pub(crate) async fn request(store: &SqliteStore, guest: UserId, dj: UserId) -> Plan {
    let line = |text| Line::new(text).unwrap();
    let email = Email::new("dj@example.com").unwrap();
    let mut asked = User::registered(dj, line("DJ"), email, None, true, now());
    let price = Money::from_minor(5_00);
    asked.dj = Some(DjProfile {
        online: true,
        fee_upcoming_artist: price,
        fee_popular_song: price,
        ..DjProfile::default()
    });
    let new = NewRequest {
        dj,
        song_title: line("Blue Monday"),
        artist_name: line("New Order"),
        artist_type: ArtistType::Popular,
        music_url: MusicUrl::new("https://example.com/blue-monday").unwrap(),
        fee: None,
    };
    let terms = RequestTerms {
        pending_for: Span::minutes(15),
        accepted_for: Span::hours(1),
        commission: BasisPoints::new(0).unwrap(),
        most_open_per_dj: Some(1),
    };
    let id = store.next_request().await.unwrap();
    plans::open_request(metadata(store, guest), id, guest, Some(&asked), false, new, &terms).unwrap()
}

/// The only value that a statement returns.
pub(crate) fn number(connection: &mut SqliteConnection, statement: &str) -> i64 {
    diesel::dsl::sql::<BigInt>(statement).get_result(connection).unwrap()
}

/// Audits the whole ledger.
pub(crate) async fn audit(store: &SqliteStore) {
    let mut auditor = Auditor::new();
    store.show(&mut auditor).await.unwrap();
    auditor.finish().unwrap();
}
