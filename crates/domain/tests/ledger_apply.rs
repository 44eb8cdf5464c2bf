//! The reference semantics: floors, all or nothing, what leaves no entry, and what the self-check finds.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
#![allow(dead_code, unreachable_pub, missing_docs, reason = "the support is shared by several tests")]

mod support;

use cuepoint_domain::ids::{RequestId, UserId};
use cuepoint_domain::ledger::{
    Balance, Entry, Finding, Outcome, Receipt, Rejection, Row, Summary, Verdict, apply,
};
use cuepoint_domain::money::Money;
use cuepoint_domain::music_request::Move;
use cuepoint_domain::plans;
use support::{DJ, GUEST, Ledger, OPERATOR, at, balance, money, terms, user};

type Tamper = fn(&mut Ledger);
type Command = fn(&mut Ledger) -> Result<Receipt, Rejection>;

/// A guest with 5.00, a DJ who takes 5.01 a song and has nothing.
fn check_floor(name: &str, command: Command, expected: Result<Balance, Rejection>) {
    let mut ledger = Ledger::new(501, 500);
    let before = ledger.clone();
    let answer = command(&mut ledger).map(|_| ledger.balance(GUEST));
    assert_eq!(answer, expected, "{name}");
    if answer.is_err() {
        assert_unchanged(&ledger, &before);
    }
    ledger.audit().unwrap();
}

fn assert_unchanged(after: &Ledger, before: &Ledger) {
    assert_eq!(after.book.wallets, before.book.wallets);
    assert_eq!(after.book.requests, before.book.requests);
    assert_eq!(after.book.users, before.book.users);
    assert_eq!(after.book.topups, before.book.topups);
    assert_eq!(after.book.operations, before.book.operations);
    assert_eq!(after.book.keys, before.book.keys);
    assert_eq!((&after.entries, &after.postings), (&before.entries, &before.postings));
}

#[test]
fn no_side_of_a_wallet_falls_below_zero_or_rises_out_of_range() {
    let broke = Rejection::InsufficientFunds { available: money(500) };
    let table: [(&str, Command, Result<Balance, Rejection>); 8] = [
        ("all of it is withdrawn", |l| l.withdraw(1, GUEST, 500), Ok(balance(0, 500, 0))),
        ("a cent more", |l| l.withdraw(1, GUEST, 501), Err(broke)),
        ("all of it is corrected away", |l| l.adjust(GUEST, -500), Ok(balance(0, 0, 0))),
        ("a cent more is corrected away", |l| l.adjust(GUEST, -501), Err(broke)),
        ("a song for a cent too much", |l| l.open(1, &terms(0)).and_then(|_| l.adjust(DJ, 1)), Err(broke)),
        (
            "up to the largest balance",
            |l| l.adjust(GUEST, Money::MAX_BALANCE.minor() - 500),
            Ok(balance(Money::MAX_BALANCE.minor(), 0, 0)),
        ),
        (
            "a cent above the largest balance",
            |l| l.adjust(GUEST, Money::MAX_BALANCE.minor() - 499),
            Err(Rejection::OutOfRange),
        ),
        ("beyond any number", |l| l.adjust(GUEST, i128::MAX), Err(Rejection::OutOfRange)),
    ];
    for (name, command, expected) in table {
        check_floor(name, command, expected);
    }
}

#[test]
fn what_is_held_can_always_come_back() {
    let most = Money::MAX_BALANCE.minor();
    let mut ledger = Ledger::new(most - 500, most);
    ledger.open(1, &terms(0)).unwrap();
    assert_eq!(ledger.adjust(GUEST, 1), Err(Rejection::OutOfRange), "the held part counts");
    ledger.step(1, Move::Cancel, &terms(0)).unwrap();
    assert_eq!(ledger.balance(GUEST), balance(most, 0, 0));
    ledger.audit().unwrap();
}

/// Funds, then range: whatever leg of a capture or refund fails, none is posted.
#[test]
fn many_legs_are_posted_together_or_not_at_all() {
    let terms = terms(1_000);
    let mut played = Ledger::new(1_000, 5_000);
    played.open(1, &terms).unwrap();
    let mut pending = played.clone();
    played.step(1, Move::Play, &terms).unwrap();
    let full = Money::MAX_BALANCE.minor();

    pending.adjust(DJ, full - 899).unwrap();
    let mut one_leg_fits = played.clone();
    one_leg_fits.adjust(GUEST, full - 4_000 - 900).unwrap();
    let mut no_leg_fits = played.clone();
    no_leg_fits.adjust(GUEST, full - 4_000).unwrap();
    for (mut ledger, to) in [(pending, Move::Play), (one_leg_fits, Move::Refund), (no_leg_fits, Move::Refund)]
    {
        let before = ledger.clone();
        assert_eq!(ledger.step(1, to, &terms), Err(Rejection::OutOfRange));
        assert_unchanged(&ledger, &before);
        ledger.audit().unwrap();
    }
}

#[test]
fn what_is_missing_is_an_error() {
    let terms = terms(1_000);
    let mut ledger = Ledger::new(1_000, 5_000);
    ledger.open(1, &terms).unwrap();
    let id = RequestId::new(1).unwrap();
    let stored = ledger.book.requests[&id].clone();
    let plan = plans::move_request(ledger.origin(at(2)), &stored, Move::Play, &terms).unwrap();
    let remove: [(Row, Tamper); 4] = [
        (Row::Wallet, |ledger| {
            ledger.book.wallets.remove(&user(GUEST));
        }),
        (Row::Wallet, |ledger| {
            ledger.book.wallets.remove(&user(DJ));
        }),
        (Row::User, |ledger| {
            ledger.book.users.remove(&user(DJ));
        }),
        (Row::Request, |ledger| ledger.book.requests.clear()),
    ];
    for (row, remove) in remove {
        let mut without = ledger.clone();
        remove(&mut without);
        let before = without.clone();
        assert_eq!(without.apply(&plan), Err(Rejection::Missing(row)));
        assert_unchanged(&without, &before);
    }
    assert!(ledger.apply(&plan).is_ok());
}

/// A price of nothing: the whole life without an entry, and still a song played.
#[test]
fn a_price_of_nothing_leaves_no_entry() {
    let terms = terms(1_000);
    let mut ledger = Ledger::new(0, 0);
    ledger.open(1, &terms).unwrap();
    for to in [Move::Accept, Move::Play, Move::Refund] {
        ledger.step(1, to, &terms).unwrap();
    }
    assert_eq!((ledger.entries.len(), ledger.postings.len()), (0, 0));
    assert_eq!(ledger.book.users[&user(DJ)].dj.as_ref().unwrap().played, 1);
    assert_eq!(ledger.audit(), Ok(Summary { wallets: 3, entries: 0, postings: 0 }));
}

#[test]
fn corrections_go_up_and_down_but_never_by_nothing() {
    let mut ledger = Ledger::new(0, 0);
    for (cents, available) in [(300, 300), (-100, 200), (-200, 0), (1, 1)] {
        let receipt = ledger.adjust(GUEST, cents).unwrap();
        let Outcome::Adjustment(_, after) = receipt.outcome else { panic!("{receipt:?}") };
        assert_eq!(after, balance(available, 0, 0));
    }
    let changes: Vec<i128> = ledger.entries.iter().map(|entry| entry.change.available.minor()).collect();
    assert_eq!(changes, [300, -100, -200, 1]);
    let id = cuepoint_domain::ids::AdjustmentId::new(9).unwrap();
    assert!(plans::adjust(ledger.origin(at(1)), id, user(GUEST), Money::ZERO).is_none());
    ledger.audit().unwrap();
}

/// The counter counts songs played: not those accepted, rejected or answered twice, and refunds take nothing away.
#[test]
fn the_counter_counts_songs_played() {
    let terms = terms(0);
    let mut ledger = Ledger::new(100, 1_000);
    for (number, moves, played) in [
        (1, vec![Move::Accept, Move::Play, Move::Play], 1),
        (2, vec![Move::Reject], 1),
        (3, vec![Move::Play, Move::Refund, Move::Refund], 2),
        (4, vec![Move::Accept, Move::Reject], 2),
    ] {
        ledger.open(number, &terms).unwrap();
        for to in moves {
            ledger.step(number, to, &terms).unwrap();
        }
        assert_eq!(ledger.book.users[&user(DJ)].dj.as_ref().unwrap().played, played, "request {number}");
    }
}

/// The same plan a second time is answered as the first time, and the book is as it was.
#[test]
fn a_replay_changes_nothing() {
    let mut ledger = Ledger::new(0, 500);
    let id = cuepoint_domain::ids::AdjustmentId::new(9).unwrap();
    let plan = plans::adjust(ledger.origin(at(1)), id, user(GUEST), money(-500)).unwrap();
    let receipt = ledger.apply(&plan).unwrap();
    let before = ledger.clone();
    assert_eq!(apply(&mut ledger.book, &plan), Ok(Verdict::Replayed(receipt)));
    assert_unchanged(&ledger, &before);
}

/// What somebody did to the rows behind the ledger's back, and what the self-check says.
fn check_finding(name: &str, tamper: Tamper, expected: Finding) {
    let terms = terms(1_000);
    let mut ledger = Ledger::new(1_000, 5_000);
    for number in [1, 2] {
        ledger.open(number, &terms).unwrap();
        ledger.step(number, Move::Play, &terms).unwrap();
    }
    assert_eq!(ledger.audit(), Ok(Summary { wallets: 3, entries: 7, postings: 3 }));
    tamper(&mut ledger);
    assert_eq!(ledger.audit(), Err(expected), "{name}");
}

/// The place of an entry of the guest's wallet, which has five.
fn place(ledger: &Ledger, seq: i64) -> usize {
    ledger.entries.iter().position(|entry| (entry.wallet, entry.seq) == (user(GUEST), seq)).unwrap()
}

fn entry(ledger: &mut Ledger, seq: i64) -> &mut Entry {
    let place = place(ledger, seq);
    &mut ledger.entries[place]
}

fn hand(ledger: &mut Ledger, change: fn(&mut cuepoint_domain::ledger::Wallet)) {
    change(ledger.book.wallets.get_mut(&user(GUEST)).unwrap());
}

#[test]
fn the_self_check_names_what_is_wrong() {
    let wallet: UserId = user(GUEST);
    let gap = |expected, found| Finding::Gap { wallet, expected, found };
    let table: [(&str, Tamper, Finding); 16] = [
        (
            "an amount was changed",
            |ledger| entry(ledger, 2).change.available = money(-1),
            Finding::Sum { wallet, seq: 2 },
        ),
        (
            "an amount was changed with the balance after it",
            |ledger| {
                entry(ledger, 5).change.available = money(1);
                entry(ledger, 5).after.available = money(3_001);
            },
            Finding::Chain { wallet, seq: 5 },
        ),
        (
            "the same, with its hash made anew, in the middle",
            |ledger| {
                let entry = entry(ledger, 3);
                entry.kind = cuepoint_domain::ledger::EntryKind::Release;
                entry.hash = entry.link();
            },
            Finding::Chain { wallet, seq: 4 },
        ),
        (
            "the same, at the end",
            |ledger| {
                let entry = entry(ledger, 5);
                entry.at = at(99);
                entry.hash = entry.link();
            },
            Finding::Balance { wallet },
        ),
        (
            "an entry was deleted",
            |ledger| {
                let place = place(ledger, 3);
                ledger.entries.remove(place);
            },
            gap(3, Some(4)),
        ),
        (
            "the newest was deleted",
            |ledger| {
                let place = place(ledger, 5);
                ledger.entries.remove(place);
            },
            gap(5, None),
        ),
        (
            "all were deleted",
            |ledger| ledger.entries.retain(|entry| entry.wallet != user(GUEST)),
            gap(1, None),
        ),
        (
            "two were swapped",
            |ledger| {
                let (one, two) = (place(ledger, 3), place(ledger, 4));
                ledger.entries.swap(one, two);
            },
            gap(3, Some(4)),
        ),
        (
            "two were swapped with their numbers",
            |ledger| {
                let (one, two) = (place(ledger, 2), place(ledger, 4));
                ledger.entries.swap(one, two);
                (ledger.entries[one].seq, ledger.entries[two].seq) = (2, 4);
            },
            Finding::Sum { wallet, seq: 2 },
        ),
        (
            "one is there twice",
            |ledger| {
                let copy = entry(ledger, 2).clone();
                let place = place(ledger, 2);
                ledger.entries.insert(place, copy);
            },
            gap(3, Some(2)),
        ),
        (
            "an entry was moved to another wallet",
            |ledger| entry(ledger, 5).wallet = user(OPERATOR),
            gap(5, None),
        ),
        (
            "a balance was edited by hand",
            |ledger| hand(ledger, |wallet| wallet.balance.available = money(9_999)),
            Finding::Balance { wallet },
        ),
        (
            "money was moved within a wallet by hand",
            |ledger| {
                hand(ledger, |wallet| {
                    wallet.balance = balance(2_000, 1_000, 0);
                });
            },
            Finding::Balance { wallet },
        ),
        (
            "the number of entries was edited by hand",
            |ledger| hand(ledger, |wallet| wallet.seq = 4),
            Finding::Balance { wallet },
        ),
        (
            "a posting is missing",
            |ledger| {
                ledger.postings.pop();
            },
            Finding::Total { sum: money(-100) },
        ),
        (
            "a posting was changed",
            |ledger| ledger.postings[0].amount = money(-4_999),
            Finding::Total { sum: money(1) },
        ),
    ];
    for (name, tamper, expected) in table {
        check_finding(name, tamper, expected);
    }
}

/// An entry of a wallet that is not shown is named as such.
#[test]
fn an_entry_without_a_wallet_is_named() {
    let mut ledger = Ledger::new(1_000, 5_000);
    let stray = Entry { wallet: user(99), ..ledger.entries[0].clone() };
    let mut auditor = cuepoint_domain::ledger::Auditor::new();
    auditor.wallet(ledger.book.wallets.remove(&user(GUEST)).unwrap());
    auditor.entry(&ledger.entries[0]);
    auditor.entry(&stray);
    auditor.posting(&ledger.postings[0]);
    assert_eq!(auditor.finish(), Err(Finding::OrphanEntry { wallet: user(99), seq: 1 }));
}
