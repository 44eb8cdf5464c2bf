//! Top-ups, tampered with.

use cuepoint_domain::audit::Flaw;
use cuepoint_domain::ledger::EntryKind;
use cuepoint_domain::topup::TopupStatus;

use super::Case;
use super::fixture::{extra, in_topup, the_topup, topped_up, wrong};
use crate::support::amount;

pub(crate) const TOPUPS: &[Case] = &[
    (
        "a pending top-up was set to confirmed",
        |ledger| the_topup(ledger, 2).status = TopupStatus::Confirmed,
        |_| in_topup(2, Flaw::Lacks(EntryKind::Topup)),
    ),
    (
        "a confirmed top-up was set to failed",
        |ledger| the_topup(ledger, 4).status = TopupStatus::Failed,
        |ledger| in_topup(4, extra(ledger, topped_up(4), 0)),
    ),
    (
        "a top-up was enlarged",
        |ledger| the_topup(ledger, 1).amount = amount(7_000),
        |ledger| in_topup(1, wrong(ledger, topped_up(1), 0)),
    ),
];
