//! Tables of the times at which a top-up is ordered, and of the effect of each answer.

use super::*;
use crate::ids::{OperationId, TopupId, UserId};
use crate::money::{Amount, Money};
use crate::topup::{Charge, open};

const TERMS: OrderTerms =
    OrderTerms { max_attempts: 3, retry_after: Duration::seconds(5), lease: Duration::seconds(30) };

fn at(seconds: i64) -> Timestamp {
    Timestamp::EPOCH.plus(Duration::seconds(seconds))
}

fn page() -> Option<PaymentUrl> {
    PaymentUrl::new("https://pay.example.com/1").ok()
}

fn orders(attempts: u32, next_at: Option<i64>) -> Orders {
    Orders { attempts, next_at: next_at.map(at) }
}

fn topup(status: TopupStatus, orders: Option<Orders>, payment_url: Option<PaymentUrl>) -> Topup {
    let amount = Amount::new(Money::from_minor(500)).unwrap();
    let (id, user) = (TopupId::new(1).unwrap(), UserId::new(2).unwrap());
    let (opened, _) = open(OperationId(9), id, user, amount, Charge::Pending, at(0));
    Topup { status, orders, payment_url, ..opened }
}

#[test]
fn a_new_topup_starts_with_one_attempt_and_a_lease_of_30_seconds() {
    assert_eq!(TERMS.first(at(7)), orders(1, Some(37)));
}

#[test]
fn payment_requests_are_due_until_the_last_attempt() {
    use TopupStatus::{Confirmed, Failed, Pending};
    let due = Some(orders(1, Some(10)));
    for (status, kept, page, now, expected) in [
        (Pending, due, None, 9, None),
        (Pending, due, None, 10, Some(NextOrder::Take(orders(2, Some(40))))),
        (Pending, Some(orders(2, Some(10))), None, 99, Some(NextOrder::Take(orders(3, Some(129))))),
        (Pending, Some(orders(3, Some(10))), None, 10, Some(NextOrder::GiveUp(orders(3, None)))),
        // More attempts than are now allowed.
        (Pending, Some(orders(9, Some(10))), None, 10, Some(NextOrder::GiveUp(orders(9, None)))),
        (Pending, Some(orders(1, None)), None, 10, None),
        (Pending, None, None, 10, None),
        (Pending, due, page(), 10, None),
        (Confirmed, due, None, 10, None),
        (Failed, due, None, 10, None),
    ] {
        let topup = topup(status, kept, page);
        assert_eq!(next_order(&topup, &TERMS, at(now)), expected, "{topup:?} at {now}");
    }
}

#[test]
fn each_answer_to_a_payment_request_has_the_expected_outcome() {
    use TopupStatus::{Confirmed, Failed, Pending};
    let taken = |page| OrderReply::Taken { page };
    let kept = |page| Answered::Kept { orders: orders(1, None), page };
    let (ordered, given_up) = (Some(orders(1, Some(30))), Some(orders(1, None)));
    let other = || PaymentUrl::new("https://pay.example.com/2").ok();
    for (status, orders, stored, reply, expected) in [
        (Pending, ordered, None, taken(page()), kept(page())),
        (Pending, ordered, None, taken(None), kept(None)),
        (Pending, ordered, None, OrderReply::Refused, Answered::Failed),
        // A late answer, after giving up.
        (Pending, given_up, None, taken(page()), kept(page())),
        (Pending, given_up, None, taken(None), Answered::Known),
        (Pending, given_up, None, OrderReply::Refused, Answered::Failed),
        // The first page stays, and a top-up with a page was not refused.
        (Pending, given_up, page(), taken(other()), Answered::Known),
        (Pending, given_up, page(), taken(None), Answered::Known),
        (Pending, given_up, page(), OrderReply::Refused, Answered::Contradiction),
        // A message overtook the answer.
        (Confirmed, given_up, None, taken(page()), Answered::Known),
        (Confirmed, given_up, None, taken(None), Answered::Known),
        (Confirmed, given_up, None, OrderReply::Refused, Answered::Contradiction),
        (Failed, given_up, None, taken(page()), Answered::Known),
        (Failed, given_up, None, taken(None), Answered::Known),
        (Failed, given_up, None, OrderReply::Refused, Answered::Known),
    ] {
        let topup = topup(status, orders, stored);
        assert_eq!(answered(&topup, &reply), expected, "{topup:?} and {reply:?}");
    }
}

#[test]
fn the_delay_doubles_after_each_unanswered_attempt() {
    use TopupStatus::{Confirmed, Pending};
    let under_way = |attempts| Some(orders(attempts, Some(200)));
    for (status, kept, page, attempt, expected) in [
        (Pending, under_way(1), None, 1, Some(orders(1, Some(105)))),
        (Pending, under_way(2), None, 2, Some(orders(2, Some(110)))),
        (Pending, under_way(3), None, 3, Some(orders(3, None))),
        // A second report of the same order at the same time.
        (Pending, Some(orders(1, Some(105))), None, 1, None),
        // Another server claimed it after the lease ended.
        (Pending, under_way(2), None, 1, None),
        (Pending, Some(orders(1, None)), None, 1, None),
        (Pending, under_way(1), page(), 1, None),
        (Confirmed, under_way(1), None, 1, None),
        (Pending, None, None, 0, None),
    ] {
        let topup = topup(status, kept, page);
        assert_eq!(unanswered(&topup, attempt, &TERMS, at(100)), expected, "{topup:?}");
    }
}

#[test]
fn the_retry_delay_of_payment_requests_is_capped_at_an_hour() {
    for (seconds, attempts, expected) in [
        (5, 1, 5),
        (5, 10, 2_560),
        (5, 11, 3_600),
        (5, 31, 3_600),
        (5, 1_000, 3_600),
        (5, u32::MAX, 3_600),
        (3_600, 1, 3_600),
        (i64::MAX, 2, 3_600),
    ] {
        let terms = OrderTerms { retry_after: Duration::seconds(seconds), ..TERMS };
        assert_eq!(terms.wait_after(attempts), Duration::seconds(expected), "{seconds} after {attempts}");
    }
}

#[test]
fn a_confirmed_or_failed_topup_has_no_next_payment_request() {
    for (status, expected) in
        [(TopupStatus::Pending, Some(at(9))), (TopupStatus::Confirmed, None), (TopupStatus::Failed, None)]
    {
        assert_eq!(Orders::stored(status, 2, Some(at(9))), Orders { attempts: 2, next_at: expected });
    }
}
