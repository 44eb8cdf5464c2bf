//! Music requests, tampered with.

use cuepoint_domain::audit::{Finding, Flaw};
use cuepoint_domain::ids::RequestId;
use cuepoint_domain::ledger::EntryKind;
use cuepoint_domain::money::Money;
use cuepoint_domain::music_request::RequestState;

use super::Case;
use super::fixture::{extra, in_request, open, operation, request, the_request, wrong};
use crate::support::{OPERATOR, at, line, money, user};

pub(crate) const REQUESTS: &[Case] = &[
    (
        "a pending request was set to played",
        |ledger| the_request(ledger, 1).state = RequestState::Played { at: at(2), commission: money(100) },
        |_| in_request(1, Flaw::Lacks(EntryKind::Capture)),
    ),
    (
        "a played request was set back",
        |ledger| the_request(ledger, 6).state = RequestState::Accepted { at: at(2), play_by: at(9) },
        |ledger| in_request(6, extra(ledger, request(6), 1)),
    ),
    (
        "a refunded request was set back to played",
        |ledger| the_request(ledger, 7).state = RequestState::Played { at: at(2), commission: money(100) },
        |ledger| in_request(7, extra(ledger, request(7), 3)),
    ),
    (
        "a rejected request was set to cancelled",
        |ledger| the_request(ledger, 3).state = RequestState::Cancelled { at: at(2) },
        |ledger| in_request(3, Flaw::Record(operation(ledger, request(3), 1))),
    ),
    (
        "a rejected request was set to played",
        |ledger| the_request(ledger, 3).state = RequestState::Played { at: at(2), commission: money(100) },
        |_| in_request(3, Flaw::Lacks(EntryKind::Earning)),
    ),
    (
        "a fee was multiplied by ten",
        |ledger| the_request(ledger, 2).fee = money(10_000),
        |ledger| in_request(2, wrong(ledger, request(2), 0)),
    ),
    (
        "a fee was set to zero",
        |ledger| the_request(ledger, 2).fee = Money::ZERO,
        |ledger| in_request(2, extra(ledger, request(2), 0)),
    ),
    (
        "a commission was changed",
        |ledger| the_request(ledger, 6).state = RequestState::Played { at: at(2), commission: money(99) },
        |ledger| in_request(6, wrong(ledger, request(6), 2)),
    ),
    (
        "a request was assigned to another user",
        |ledger| the_request(ledger, 6).dj = user(OPERATOR),
        |_| in_request(6, Flaw::Lacks(EntryKind::Earning)),
    ),
    (
        "a song was renamed",
        |ledger| the_request(ledger, 2).song_title = line("Red Tuesday"),
        |ledger| in_request(2, Flaw::Record(operation(ledger, request(2), 0))),
    ),
    (
        "an open request was deleted",
        |ledger| drop(ledger.book.remove(RequestId::new(1).unwrap())),
        |ledger| Finding::Held {
            wallets: open(ledger),
            open: open(ledger).checked_sub(money(1_000)).unwrap(),
        },
    ),
    (
        "a played request was deleted",
        |ledger| drop(ledger.book.remove(RequestId::new(6).unwrap())),
        |_| Finding::Strays { entries: 3, postings: 1 },
    ),
];
