//! Wallets and their entries, tampered with.

use cuepoint_domain::audit::{Auditor, Finding, Flaw, Summary};
use cuepoint_domain::ids::{OperationId, UserId};
use cuepoint_domain::ledger::{Entry, EntryKind, Wallet};
use cuepoint_domain::music_request::Move;

use super::Tamper;
use super::fixture::{in_adjustment, in_request};
use crate::support::{GUEST, Ledger, OPERATOR, at, balance, money, terms, user};

/// Tampers with the rows behind the ledger's back and checks the audit's finding.
fn check_finding(name: &str, tamper: Tamper, expected: Finding) {
    let terms = terms(1_000);
    let mut ledger = Ledger::new(1_000, 5_000);
    for number in [1, 2] {
        ledger.open(number, &terms).unwrap();
        ledger.step(number, Move::Play, &terms).unwrap();
    }
    assert_eq!(ledger.audit(), Ok(Summary { wallets: 3, entries: 7, postings: 3, entities: 3 }));
    tamper(&mut ledger);
    assert_eq!(ledger.audit(), Err(expected), "{name}");
}

/// The index of an entry of the guest's wallet, which has five.
fn place(ledger: &Ledger, seq: i64) -> usize {
    ledger.entries.iter().position(|entry| (entry.wallet, entry.seq) == (user(GUEST), seq)).unwrap()
}

fn entry(ledger: &mut Ledger, seq: i64) -> &mut Entry {
    let place = place(ledger, seq);
    &mut ledger.entries[place]
}

fn hand(ledger: &mut Ledger, change: fn(&mut Wallet)) {
    change(ledger.book.wallets.get_mut(&user(GUEST)).unwrap());
}

#[test]
fn the_audit_reports_each_tampered_row() {
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
            "the same, with its hash recomputed, in the middle",
            |ledger| {
                let entry = entry(ledger, 3);
                entry.kind = EntryKind::Release;
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
            "one was duplicated",
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
            in_request(2, Flaw::Postings(OperationId(5))),
        ),
        (
            "a posting was changed",
            |ledger| ledger.postings[0].amount = money(-4_999),
            in_adjustment(1, Flaw::Postings(OperationId(1))),
        ),
    ];
    for (name, tamper, expected) in table {
        check_finding(name, tamper, expected);
    }
}

/// An entry of a wallet that is not visited is reported as such.
#[test]
fn an_entry_without_a_wallet_is_reported() {
    let mut ledger = Ledger::new(1_000, 5_000);
    let stray = Entry { wallet: user(99), ..ledger.entries[0].clone() };
    let mut auditor = Auditor::new();
    auditor.wallet(ledger.book.wallets.remove(&user(GUEST)).unwrap());
    auditor.entry(&ledger.entries[0]);
    auditor.entry(&stray);
    auditor.posting(&ledger.postings[0]);
    assert_eq!(auditor.finish(), Err(Finding::OrphanEntry { wallet: user(99), seq: 1 }));
}
