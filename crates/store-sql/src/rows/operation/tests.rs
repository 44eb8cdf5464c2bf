//! Stored receipts, including those of earlier versions.

use cuepoint_domain::gig::DjCode;
use cuepoint_domain::ids::{RequestId, TopupId, UserId, WithdrawalId};
use cuepoint_domain::money::{Amount, Money};
use cuepoint_domain::music_request::{MusicRequest, RequestState};
use cuepoint_domain::operation::PlanKind;
use cuepoint_domain::text::{Email, Line, MusicUrl, PaymentUrl};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::topup::{Orders, Suspense, SuspenseSettlement, Topup, TopupStatus};
use cuepoint_domain::user::{ArtistType, Coordinates, DjProfile, Kilometres, Rating, Role, User};
use cuepoint_domain::withdrawal::{Approval, Withdrawal, WithdrawalState, WithdrawalStatus};

use super::*;

fn at(micros: i64) -> Timestamp {
    Timestamp::from_unix_micros(1_767_225_600_000_001_i64.saturating_add(micros))
}

fn user(id: i64) -> UserId {
    UserId::new(id).unwrap()
}

fn line(text: &str) -> Line {
    Line::new(text).unwrap()
}

fn requests() -> impl Iterator<Item = Outcome> + Clone {
    let commission = Money::from_minor(1);
    [
        RequestState::Pending { answer_by: at(9) },
        RequestState::Accepted { at: at(1), play_by: at(9) },
        RequestState::Rejected { at: at(1), displaced: false },
        RequestState::Cancelled { at: at(1) },
        RequestState::Expired { at: at(1) },
        RequestState::Played { at: at(1), commission },
        RequestState::Refunded { at: at(1), commission: Money::ZERO },
    ]
    .into_iter()
    .map(|state| Outcome {
        entity: Entity::MusicRequest(MusicRequest {
            id: RequestId::new(i64::MAX).unwrap(),
            requester: user(1),
            dj: user(2),
            song_title: line("\"Ünï\u{1F3B5}\\"),
            artist_name: line("a"),
            artist_type: ArtistType::Upcoming,
            music_url: MusicUrl::new("https://example.com/?q=1").unwrap(),
            fee: Money::from_minor(123),
            gig: None,
            counts_as_guest: false,
            state,
            created_at: at(0),
        }),
        balance: None,
    })
}

fn approval(by: i64) -> Approval {
    Approval { by: user(by), at: at(by) }
}

fn withdrawals() -> impl Iterator<Item = Outcome> + Clone {
    let balance = Balance { available: Money::MAX_BALANCE, held: Money::from_minor(1), owed: Money::ZERO };
    WithdrawalStatus::all()
        .flat_map(|status| {
            [
                (None, 0, None),
                (Some(line("0xabc")), 0, None),
                (None, u32::try_from(i32::MAX).unwrap(), Some(at(7))),
            ]
            .map(|(txid, attempts, retry_at)| WithdrawalState::stored(status, txid, attempts, retry_at))
        })
        .flatten()
        .map(move |state| {
            let withdrawal = Withdrawal {
                id: WithdrawalId::new(1).unwrap(),
                opening: Some(OperationId(u128::MAX)),
                user: user(1),
                amount: Amount::new(Money::from_minor(1)).unwrap(),
                wallet_address: line("T1"),
                currency: line("USDT"),
                network: line("TRC20"),
                approvals: match state {
                    WithdrawalState::Pending => vec![approval(2)],
                    WithdrawalState::Approved => vec![approval(2), approval(3)],
                    _ => Vec::new(),
                },
                state,
                created_at: at(0),
                updated_at: at(1),
            };
            Outcome { entity: Entity::Withdrawal(withdrawal), balance: Some(balance) }
        })
}

fn topups() -> impl Iterator<Item = Outcome> + Clone {
    let page = || PaymentUrl::new("https://pay").ok();
    let ordered = |next_at| Some(Orders { attempts: 3, next_at });
    let each = [
        (TopupStatus::Pending, None, None),
        (TopupStatus::Pending, None, Some(Orders::default())),
        (TopupStatus::Pending, None, ordered(Some(at(5)))),
        (TopupStatus::Confirmed, None, ordered(None)),
        (TopupStatus::Failed, page(), ordered(None)),
        (TopupStatus::Reversed, page(), ordered(None)),
    ];
    each.into_iter().flat_map(|(status, payment_url, orders)| {
        let failed = status == TopupStatus::Failed;
        let suspended = suspenses().into_iter().filter(move |suspense| failed || suspense.is_none());
        suspended.map(move |suspense| topup(status, payment_url.clone(), orders, suspense))
    })
}

fn suspenses() -> [Option<Suspense>; 3] {
    let suspense = Suspense { operation: OperationId(8), arrived_at: at(5), settlement: None };
    let (by, reason) = (user(2), line("sent \"back\""));
    let settlement = SuspenseSettlement { operation: OperationId(9), at: at(6), by, reason };
    let settled = Suspense { settlement: Some(settlement), ..suspense.clone() };
    [None, Some(suspense), Some(settled)]
}

fn topup(
    status: TopupStatus,
    payment_url: Option<PaymentUrl>,
    orders: Option<Orders>,
    suspense: Option<Suspense>,
) -> Outcome {
    Outcome {
        entity: Entity::Topup(Topup {
            id: TopupId::new(1).unwrap(),
            opening: payment_url.is_some().then_some(OperationId(7)),
            user: user(1),
            amount: Amount::new(Money::from_minor(1_000)).unwrap(),
            status,
            page_code: payment_url.as_ref().and_then(|_| DjCode::new("K7TW3M")),
            payment_url,
            orders,
            suspense,
            created_at: at(0),
            updated_at: at(1),
        }),
        balance: None,
    }
}

fn profiles() -> impl Iterator<Item = Outcome> + Clone {
    let email = Email::new("Ada@example.com").unwrap();
    let plain = User::registered(user(1), line("Ada"), email, None, false, at(0));
    let full = User {
        email_verified: true,
        phone: Some(line("+1")),
        phone_verified: true,
        role: Role::Operator,
        dj: Some(DjProfile {
            online: true,
            fee_upcoming_artist: Money::from_minor(5),
            fee_popular_song: Money::from_minor(7),
            played: 3,
            rating: Rating { stars: 9, count: 2 },
        }),
        city: Some(line("Ålesund")),
        state: Some(line("s")),
        country: Some(line("c")),
        coordinates: Coordinates::new(-0.1 - 0.2, f64::from_bits(0x4049_0fdb_1234_5677)),
        radius: Kilometres::new(f64::MIN_POSITIVE),
        ..plain.clone()
    };
    [plain, full]
        .into_iter()
        .map(|user| Outcome { entity: Entity::User(user), balance: Some(Balance::default()) })
}

fn row(outcome: Outcome, currency: &Currency) -> (Receipt, StoredOperation) {
    let (operation, rules) = (OperationId(u128::MAX - 1), PostingRules::IncomePaysOwed);
    let receipt = Receipt { operation, at: at(2), rules, outcome };
    let record = OperationRecord {
        id: receipt.operation,
        kind: PlanKind::Profile,
        actor: Actor::System,
        at: receipt.at,
        reason: None,
        receipt: receipt.clone(),
    };
    let row = StoredOperation::of(&record, currency).unwrap();
    (receipt, row)
}

#[test]
fn receipts_without_the_newest_fields_can_be_read() {
    let usd = Currency::new("USD", 2).unwrap();
    for outcome in withdrawals().chain(topups()) {
        let (mut receipt, mut row) = row(outcome, &usd);
        let (path, newest): (_, &[&str]) = match &mut receipt.outcome.entity {
            Entity::Withdrawal(withdrawal) => {
                withdrawal.opening = None;
                ("/withdrawal/withdrawal", &["reference"])
            }
            Entity::Topup(topup) => {
                (topup.opening, topup.orders) = (None, None);
                ("/topup", &["reference", "attempts", "order_at"])
            }
            other => panic!("{other:?}"),
        };
        let mut written: serde_json::Value = serde_json::from_str(&row.receipt).unwrap();
        let fields = written.pointer_mut(path).and_then(serde_json::Value::as_object_mut).unwrap();
        for name in newest {
            assert!(fields.remove(*name).is_some(), "{name}");
        }
        row.receipt = written.to_string();
        assert_eq!(row.receipt(&usd).unwrap(), receipt);
    }
}

#[test]
fn receipts_round_trip() {
    let adjusted = [250, -250].map(|minor| {
        let correction = Correction::signed(Money::from_minor(minor)).unwrap();
        let (id, reason) = (AdjustmentId::new(1).unwrap(), line("\"Ünï\\"));
        let adjustment = Adjustment { id, user: user(1), correction, reason };
        Outcome { entity: Entity::Adjustment(adjustment), balance: Some(Balance::default()) }
    });
    let outcomes = requests().chain(withdrawals()).chain(topups()).chain(profiles()).chain(adjusted);
    for scale in [0, 2, 8] {
        let currency = Currency::new("USD", scale).unwrap();
        for outcome in outcomes.clone() {
            let (receipt, row) = row(outcome, &currency);
            assert_eq!(row.receipt(&currency).unwrap(), receipt);
        }
    }
}
