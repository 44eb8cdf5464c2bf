//! Users with money, and plans for them.

use std::future::Future;
use std::time::Duration;

use cuepoint_domain::audit::{Auditor, Finding, Summary};
use cuepoint_domain::gig::{AssignedCode, DjCode, Gig, GuestLimit, NewGig, QueueOrder};
use cuepoint_domain::ids::UserId;
use cuepoint_domain::money::{Amount, BasisPoints, Currency, Money};
use cuepoint_domain::music_request::{Addressee, NewRequest, RequestTerms};
use cuepoint_domain::operation::{OperationMetadata, Plan, plans};
use cuepoint_domain::ports::{Erased, PasswordHash, Registered, Store, Unavailable};
use cuepoint_domain::text::{Email, GigTitle, Line, MusicUrl};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::tip::{TipTerms, TippedDj};
use cuepoint_domain::topup::Charge;
use cuepoint_domain::user::{ArtistType, DjChange, DjProfile, Locate, User};
use cuepoint_domain::withdrawal::{NewWithdrawal, WithdrawalAmount, WithdrawalTerms};

/// The currency of the stores.
#[must_use]
pub fn usd() -> Currency {
    Currency::new("USD", 2).unwrap()
}

/// Waits until a condition holds, and fails when that takes longer than any machine needs.
pub async fn until<Fut: Future<Output = bool>>(what: &str, is_so: impl Fn() -> Fut) {
    let waiting = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(30), waiting).await;
    assert!(waited.is_ok(), "timed out waiting until {what}");
}

/// The time of every operation.
#[must_use]
pub fn now() -> Timestamp {
    Timestamp::from_unix_micros(1_767_225_600_000_000)
}

/// A positive amount in cents.
#[must_use]
pub fn amount(cents: i128) -> Amount {
    Amount::new(Money::from_minor(cents)).unwrap()
}

/// An amount of a withdrawal in a currency without decimals, whose minimum is 1.
#[must_use]
pub fn withdrawal_amount(cents: i128) -> WithdrawalAmount {
    WithdrawalAmount::new(amount(cents), &Currency::new("JPY", 0).unwrap()).unwrap()
}

/// The metadata of a user's new operation without a key.
pub fn metadata(store: &dyn Store, user: UserId) -> OperationMetadata {
    OperationMetadata::by(user, store.operation(), now())
}

/// Erases a user as if they had just confirmed it; pending top-ups since this time prevent it.
///
/// # Errors
/// Those of the store.
pub async fn erase(
    store: &dyn Store,
    user: UserId,
    expected_since: Timestamp,
    at: Timestamp,
) -> Result<Erased, Unavailable> {
    let credentials = store.credentials_of(user).await?;
    let confirmed = credentials.map_or_else(PasswordHash::none, |credentials| credentials.password);
    store.erase(user, &confirmed, expected_since, at).await
}

/// A registered guest with this many cents.
pub async fn guest(store: &dyn Store, cents: i128) -> UserId {
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

/// A confirmed top-up of this many cents.
pub async fn topup(store: &dyn Store, user: UserId, cents: i128) -> Plan {
    let id = store.next_topup().await.unwrap();
    plans::open_topup(metadata(store, user), id, user, amount(cents), Charge::Confirmed)
}

/// A withdrawal to an address, which the database refuses if it is empty.
pub async fn withdrawal(store: &dyn Store, user: UserId, cents: i128, address: &str) -> Plan {
    withdrawal_on(store, user, cents, address, &WithdrawalTerms::default()).await
}

/// A withdrawal on these terms.
pub async fn withdrawal_on(
    store: &dyn Store,
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

/// A gig to open.
#[must_use]
pub fn new_gig() -> NewGig {
    NewGig {
        title: GigTitle::new("Friday").unwrap(),
        venue: None,
        city: None,
        place: Locate::default(),
        message: None,
        queue_order: QueueOrder::Rounds,
        max_open_per_guest: GuestLimit::default(),
        members_only: false,
        asks_kind: false,
        prices: DjChange::default(),
        new_code: false,
    }
}

/// An open gig of a DJ under a code of their own.
pub async fn gig(store: &dyn Store, dj: UserId) -> Gig {
    let code = DjCode::of_number(u64::try_from(dj.get()).unwrap());
    let code = AssignedCode { code, dj, at: now() };
    let id = store.next_gig().await.unwrap();
    store.apply(plans::open_gig(metadata(store, dj), id, code, true, new_gig()).unwrap()).await.unwrap();
    store.open_gig(dj).await.unwrap().unwrap()
}

/// A registered DJ without prices.
pub async fn dj(store: &dyn Store) -> UserId {
    let id = store.next_user().await.unwrap();
    let email = Email::new(&format!("dj{id}@example.com")).unwrap();
    let user = User::registered(id, Line::new("DJ").unwrap(), email, None, true, now());
    let registered = store.register(&user, &PasswordHash("hash".into()), None).await.unwrap();
    assert_eq!(registered, Registered::Done);
    id
}

/// A tip of this many cents to the DJ of a gig, less a commission.
pub async fn tip(store: &dyn Store, guest: UserId, gig: &Gig, cents: i128, commission: BasisPoints) -> Plan {
    let (id, to) = (store.next_tip().await.unwrap(), TippedDj { gig, blocks_guest: false });
    let terms = TipTerms { commission, ..TipTerms::default() };
    plans::tip(metadata(store, guest), id, guest, to, amount(cents), &terms).unwrap()
}

/// The available cents of a user.
pub async fn available(store: &dyn Store, user: UserId) -> i128 {
    store.balance(user).await.unwrap().unwrap().available.minor()
}

/// Audits the whole ledger.
///
/// # Errors
/// What the audit finds.
pub async fn audit(store: &dyn Store) -> Result<Summary, Finding> {
    let mut auditor = Auditor::new();
    store.show(&mut auditor).await.unwrap();
    auditor.finish()
}

/// A request for 5.00, if one may be open.
pub async fn request(store: &dyn Store, guest: UserId, dj: UserId) -> Plan {
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
        music_url: Some(MusicUrl::new("https://example.com/blue-monday").unwrap()),
        fee: None,
        message: None,
    };
    let terms = RequestTerms { most_open_per_dj: Some(1), ..RequestTerms::default() };
    let id = store.next_request().await.unwrap();
    let to = Addressee::of(Some(&asked));
    plans::open_request(metadata(store, guest), id, guest, to, new, &terms).unwrap()
}
