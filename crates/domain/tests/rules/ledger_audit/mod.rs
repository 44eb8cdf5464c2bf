//! The findings of the ledger audit for rows tampered with behind the ledger's back.

mod fixture;
mod operations;
mod positions;
mod requests;
mod topups;
mod wallets;
mod withdrawals;

use cuepoint_domain::audit::{Auditor, Finding, Progress};
use cuepoint_domain::ledger::Wallet;

use self::fixture::everything;
use crate::support::{GUEST, Ledger, user};

/// A change of the rows behind the ledger's back.
type Tamper = fn(&mut Ledger);

/// A case: its name, the change, and the audit's finding.
type Case = (&'static str, Tamper, fn(&Ledger) -> Finding);

#[test]
fn a_ledger_with_every_kind_of_entity_is_consistent() {
    let ledger = everything();
    let summary = ledger.audit().unwrap();
    assert_eq!(summary.entities, 11 + 11 + 4 + 3);
    assert_eq!(summary.entries, u64::try_from(ledger.entries.len()).unwrap());
    let (mut told, mut auditor) = (Vec::new(), Auditor::new());
    let (sender, receiver) = std::sync::mpsc::channel();
    auditor = auditor.reporting(move |progress| sender.send(progress).unwrap());
    auditor.expect(2);
    auditor.wallet(Wallet::empty(user(GUEST)));
    drop(auditor.finish());
    told.extend(receiver);
    assert_eq!(told, [Progress { done: 0, expected: 4 }]);
}

/// Each kind of row tampered with, and the audit's finding.
#[test]
fn the_audit_names_the_tampered_entity() {
    for (name, tamper, expected) in
        [requests::REQUESTS, withdrawals::WITHDRAWALS, topups::TOPUPS, operations::OPERATIONS].concat()
    {
        let mut ledger = everything();
        tamper(&mut ledger);
        let finding = ledger.audit().expect_err(name);
        assert_eq!(finding, expected(&ledger), "{name}: {finding}");
        assert!(!finding.to_string().is_empty());
    }
}
