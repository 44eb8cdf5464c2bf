//! Withdrawals, tampered with.

use cuepoint_domain::audit::Flaw;
use cuepoint_domain::ledger::EntryKind;
use cuepoint_domain::withdrawal::WithdrawalState;

use super::Case;
use super::fixture::{edit_withdrawal, extra, in_withdrawal, operation, withdrawn, wrong};
use crate::support::{amount, line};

pub(crate) const WITHDRAWALS: &[Case] = &[
    (
        "an amount to be paid out was changed",
        |ledger| edit_withdrawal(ledger, 4, |one| one.amount = amount(101)),
        |ledger| in_withdrawal(4, wrong(ledger, withdrawn(4), 0)),
    ),
    (
        "an address was changed before it was paid",
        |ledger| edit_withdrawal(ledger, 4, |one| one.wallet_address = line("mine")),
        |ledger| in_withdrawal(4, Flaw::Record(operation(ledger, withdrawn(4), 0))),
    ),
    (
        "a withdrawal was set to completed",
        |ledger| edit_withdrawal(ledger, 3, |one| one.state = WithdrawalState::Completed { txid: line("x") }),
        |_| in_withdrawal(3, Flaw::Lacks(EntryKind::Capture)),
    ),
    (
        "a completed withdrawal was set back, to be paid again",
        |ledger| edit_withdrawal(ledger, 7, |one| one.state = WithdrawalState::Approved),
        |ledger| in_withdrawal(7, extra(ledger, withdrawn(7), 1)),
    ),
    (
        "a completed withdrawal was set to failed",
        |ledger| edit_withdrawal(ledger, 7, |one| one.state = WithdrawalState::Failed { txid: None }),
        |ledger| in_withdrawal(7, wrong(ledger, withdrawn(7), 1)),
    ),
    (
        "the transaction of a completed withdrawal was changed",
        |ledger| edit_withdrawal(ledger, 7, |one| one.state = WithdrawalState::Completed { txid: line("x") }),
        |ledger| in_withdrawal(7, Flaw::Record(operation(ledger, withdrawn(7), 1))),
    ),
];
