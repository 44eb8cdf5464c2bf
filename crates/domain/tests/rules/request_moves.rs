//! The life cycle of `MusicRequestStatus` in the OpenAPI document, row by row: the status and the fee.

use crate::support::{DJ, GUEST, Ledger, amount, at, balance, money, request, terms, user};
use cuepoint_domain::ledger::{Account, PlatformAccount, Transfer, TransferKind};
use cuepoint_domain::money::{BasisPoints, Money};
use cuepoint_domain::music_request::{
    Decision, Move, MoveRefusal, RequestMove, RequestState, RequestStatus, decide,
};
use cuepoint_domain::timestamp::Timestamp;
use time::Duration;

const HOUSE: Account = Account::Platform(PlatformAccount::Commission);

fn now() -> Timestamp {
    at(10_000)
}

fn available(who: i64) -> Account {
    Account::Available(user(who))
}

fn held() -> Account {
    Account::Held(user(GUEST))
}

fn transfer(debit: Account, credit: Account, cents: i128, kind: TransferKind) -> Transfer {
    Transfer { debit, credit, amount: amount(cents), kind }
}

/// The expected result of a move of a request of 10.00 at a commission of 12.5 %.
#[derive(Clone, Copy)]
enum Expected {
    /// Success without a change.
    Same,
    /// Moved, without money.
    Moved,
    /// Moved, with the held fee released.
    Released,
    /// Moved, with the fee captured: 8.75 for the DJ, 1.25 for the platform.
    Captured,
    /// Moved, with both parts returned.
    Refunded,
    Refused(RequestStatus),
}

fn transfers(expected: Expected) -> Vec<Transfer> {
    match expected {
        Expected::Released => vec![transfer(held(), available(GUEST), 1_000, TransferKind::Release)],
        Expected::Captured => vec![
            transfer(held(), available(DJ), 875, TransferKind::Capture),
            transfer(held(), HOUSE, 125, TransferKind::Capture),
        ],
        Expected::Refunded => vec![
            transfer(available(DJ), available(GUEST), 875, TransferKind::Refund),
            transfer(HOUSE, available(GUEST), 125, TransferKind::Refund),
        ],
        Expected::Same | Expected::Moved | Expected::Refused(_) => Vec::new(),
    }
}

/// The state that a move leads to at [`now`].
fn reached(to: Move, expired_at: Timestamp) -> RequestState {
    let (at, commission) = (now(), money(125));
    match to {
        Move::Accept => RequestState::Accepted { at, play_by: at.plus(Duration::minutes(60)) },
        Move::Reject => RequestState::Rejected { at, displaced: false },
        Move::Play => RequestState::Played { at, commission },
        Move::Cancel => RequestState::Cancelled { at },
        Move::Expire => RequestState::Expired { at: expired_at },
        Move::Refund => RequestState::Refunded { at, commission },
    }
}

/// The statuses reachable from this one, for any actor.
fn onward(current: RequestStatus) -> &'static [RequestStatus] {
    use RequestStatus::{Accepted, Cancelled, Expired, Pending, Played, Refunded, Rejected, Unknown};
    match current {
        Pending => &[Accepted, Rejected, Played, Cancelled],
        Accepted => &[Rejected, Played],
        Played => &[Refunded],
        Rejected | Cancelled | Expired | Refunded | Unknown(_) => &[],
    }
}

fn check(stored: RequestState, to: Move, expected: Expected) {
    let before = cuepoint_domain::music_request::MusicRequest { state: stored, ..request(1_000) };
    let decision = decide(&before, to, &terms(1_250), now());
    let wanted = match expected {
        Expected::Same => Ok(Decision::Unchanged),
        Expected::Refused(current) => {
            Err(MoveRefusal::InvalidTransition { current, allowed: onward(current).to_vec() })
        }
        moved => {
            let to = reached(to, stored.expires_at().unwrap_or(now()));
            Ok(Decision::Moved(RequestMove { to, transfers: transfers(moved) }))
        }
    };
    assert_eq!(decision, wanted, "{to:?} of {stored:?}");
}

#[test]
fn every_transition_from_every_state_has_the_expected_outcome() {
    use Expected::{Captured, Moved, Refunded, Refused, Released, Same};
    use RequestStatus::{Accepted, Cancelled, Expired, Pending, Played, Rejected};
    let tick = Duration::MICROSECOND;
    let pending = |answer_by| RequestState::Pending { answer_by };
    let accepted = |play_by| RequestState::Accepted { at: at(5), play_by };
    let commission = money(125);
    let over =
        [Refused(Expired), Refused(Expired), Refused(Expired), Refused(Expired), Released, Refused(Expired)];
    let open = [Moved, Released, Captured, Released, Same, Refused(Pending)];
    let agreed = [Same, Released, Captured, Refused(Accepted), Same, Refused(Accepted)];
    let ended = |current| [Refused(current); 6];
    let except = |current, place: usize, expected| {
        let mut row = ended(current);
        row[4] = Same;
        row[place] = expected;
        row
    };
    // One row per state; its columns are the moves accept, reject, play, cancel, expire, refund.
    let table = [
        (pending(now().plus(tick)), open),
        (pending(now()), over),
        (pending(now().minus(tick)), over),
        (accepted(now().plus(tick)), agreed),
        (accepted(now()), over),
        (accepted(now().minus(tick)), over),
        (RequestState::Rejected { at: at(6), displaced: false }, except(Rejected, 1, Same)),
        (RequestState::Cancelled { at: at(6) }, except(Cancelled, 3, Same)),
        (RequestState::Expired { at: at(6) }, except(Expired, 4, Same)),
        (RequestState::Played { at: at(6), commission }, {
            let mut row = except(Played, 2, Same);
            row[5] = Refunded;
            row
        }),
        (RequestState::Refunded { at: at(6), commission }, except(RequestStatus::Refunded, 5, Same)),
    ];
    for (stored, row) in table {
        for (to, expected) in Move::ALL.iter().copied().zip(row) {
            check(stored, to, expected);
        }
    }
}

/// A request with a status of a newer version cannot be moved, whatever the time.
#[test]
fn an_unknown_status_allows_no_transition() {
    let Some(RequestStatus::Unknown(status)) = RequestStatus::stored("queued") else { panic!() };
    let stored = RequestState::Unknown { status, at: at(6) };
    for &to in Move::ALL {
        let expected = match to {
            Move::Expire => Expected::Same,
            _ => Expected::Refused(RequestStatus::Unknown(status)),
        };
        check(stored, to, expected);
    }
    assert_eq!(stored.status().name(), "queued");
}

/// A refund returns the commission of the capture, not that of the current terms.
#[test]
fn a_refund_returns_the_original_commission() {
    let state = RequestState::Played { at: at(6), commission: money(300) };
    let before = cuepoint_domain::music_request::MusicRequest { state, ..request(1_000) };
    let Ok(Decision::Moved(next)) = decide(&before, Move::Refund, &terms(10_000), now()) else { panic!() };
    assert_eq!(
        next.transfers,
        [
            transfer(available(DJ), available(GUEST), 700, TransferKind::Refund),
            transfer(HOUSE, available(GUEST), 300, TransferKind::Refund),
        ]
    );
}

/// Zero amounts make no transfer: without a price, without a commission, with nothing but commission.
#[test]
fn transfers_of_a_zero_amount_are_omitted() {
    for (fee, bps, to_dj, to_house) in
        [(0, 1_250, None, None), (1_000, 0, Some(1_000), None), (1_000, 10_000, None, Some(1_000))]
    {
        let Ok(Decision::Moved(next)) = decide(&request(fee), Move::Play, &terms(bps), at(1)) else {
            panic!()
        };
        let leg = |account, cents: Option<i128>| {
            cents.map(|cents| transfer(held(), account, cents, TransferKind::Capture))
        };
        let legs: Vec<Transfer> = leg(available(DJ), to_dj).into_iter().chain(leg(HOUSE, to_house)).collect();
        assert_eq!(next.transfers, legs, "{fee} at {bps}");
    }
}

/// The nearest cent, half to even, by comparing doubled values instead of remainders.
fn half_even(fee: i64, bps: i64) -> i64 {
    let (twice, whole) = (2 * fee * bps, 20_000);
    let down = twice / whole;
    match twice - down * whole {
        rest if rest < 10_000 => down,
        rest if rest > 10_000 => down + 1,
        _ => down + down % 2,
    }
}

/// Every commission of every fee from 0.01 to 20.00 is the nearest cent, rounded half to even.
#[test]
fn commissions_round_half_to_even() {
    for bps in 0..=10_000_u16 {
        let share = BasisPoints::new(bps).unwrap();
        for fee in 1..=2_000_i64 {
            let commission = Money::from_minor(i128::from(fee)).share(share).unwrap();
            assert_eq!(commission.minor(), i128::from(half_even(fee, i64::from(bps))), "{fee} at {bps}");
        }
    }
}

/// A capture pays out exactly the fee: its legs add up to the hold, to the cent.
#[test]
fn captures_neither_gain_nor_lose_a_cent() {
    for bps in (0..=10_000).step_by(271) {
        let terms = terms(bps);
        for fee in 1..=2_000 {
            let Ok(Decision::Moved(next)) = decide(&request(fee), Move::Play, &terms, at(1)) else {
                panic!()
            };
            let paid: i128 = next.transfers.iter().map(|leg| leg.amount.money().minor()).sum();
            assert_eq!(paid, fee, "{fee} at {bps}");
            assert!(next.transfers.iter().all(|leg| leg.debit == held()));
        }
    }
}

/// The life cycle of a debt: the advance of a refund, and its repayment from later income.
#[test]
fn later_income_pays_the_debt_of_a_refund() {
    // The amount that the DJ spent of the 9.00 earned before the refund; then the DJ's balance after the
    // refund, after a correction of +0.50, and after each of two more songs at 10.00 less 10 %.
    for (spent, refunded, corrected, first, second) in [
        (0, (0, 0), (50, 0), (950, 0), (1_850, 0)),
        (1, (0, 1), (49, 0), (949, 0), (1_849, 0)),
        (899, (0, 899), (0, 849), (51, 0), (951, 0)),
        (900, (0, 900), (0, 850), (50, 0), (950, 0)),
    ] {
        let terms = terms(1_000);
        let mut ledger = Ledger::new(1_000, 5_000);
        ledger.open(1, &terms).unwrap();
        ledger.step(1, Move::Play, &terms).unwrap();
        if spent > 0 {
            ledger.adjust(DJ, -spent).unwrap();
        }
        let mut seen = Vec::new();
        ledger.step(1, Move::Refund, &terms).unwrap();
        seen.push(ledger.balance(DJ));
        assert_eq!(ledger.balance(GUEST), balance(5_000, 0, 0), "the guest has the whole fee at once");
        ledger.adjust(DJ, 50).unwrap();
        seen.push(ledger.balance(DJ));
        for number in [2, 3] {
            ledger.open(number, &terms).unwrap();
            ledger.step(number, Move::Play, &terms).unwrap();
            seen.push(ledger.balance(DJ));
        }
        let expected = [refunded, corrected, first, second].map(|(has, owes)| balance(has, 0, owes));
        assert_eq!(seen, expected, "after {spent} spent");
        let dj = ledger.book.get(user(DJ)).unwrap().dj.clone().unwrap();
        assert_eq!(dj.played, 3, "a refunded song stays played");
        ledger.audit().unwrap();
    }
}
