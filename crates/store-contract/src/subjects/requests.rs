//! Lists of music requests: order, pages, filters by the clock, and overdue requests.

use std::sync::Arc;

use cuepoint_domain::ids::{RequestId, UserId};
use cuepoint_domain::music_request::{Move, MusicRequest, Overdue, RequestFilter, RequestStatus};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::Store;
use cuepoint_domain::timestamp::Timestamp;
use futures_util::future::join_all;
use time::Duration;

use crate::harness::scenario::{Scenario, at};
use crate::subjects::wallets::PAST_THE_END;

promises! { ($) requests as requests_promises {
    requests_round_trip,
    requests_are_listed_newest_first,
    the_first_request_makes_a_user_a_previous_guest_of_the_dj,
    pages_cover_a_list_without_gaps_or_overlaps,
    requests_are_filtered_by_requester_dj_and_status,
    filters_use_the_status_at_the_current_time,
    requests_listed_as_expired_keep_their_stored_state,
    concurrent_list_reads_each_return_their_own_rows,
    overdue_requests_are_listed_longest_overdue_first,
}}

fn everything(now: Timestamp) -> RequestFilter {
    RequestFilter { requester: None, dj: None, status: None, now }
}

fn of(requester: UserId, now: Timestamp) -> RequestFilter {
    RequestFilter { requester: Some(requester), ..everything(now) }
}

async fn page(scenario: &Scenario, filter: &RequestFilter, number: u64, size: u32) -> Rows<MusicRequest> {
    scenario.store.requests(filter, PageRequest::new(number, size)).await.unwrap()
}

/// The ids that match a filter, on one page.
async fn shown(scenario: &Scenario, filter: &RequestFilter) -> Vec<RequestId> {
    let rows = page(scenario, filter, 1, PageRequest::MAX_SIZE).await;
    assert_eq!(u64::try_from(rows.rows.len()).unwrap(), rows.total);
    rows.rows.iter().map(|request| request.id).collect()
}

/// A request reads back exactly as it was stored; an unknown one is `None`.
pub async fn requests_round_trip(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj) = (scenario.guest(1_000).await, scenario.dj(123).await);
    let request = scenario.request(guest, dj, at(1).plus(Duration::MICROSECOND)).await;
    assert_eq!(scenario.find_request(request.id).await, Some(request.clone()));
    assert_eq!(page(&scenario, &of(guest, at(2)), 1, 15).await.rows, [request]);
    let unknown = scenario.ids.next_request().await.unwrap();
    assert_eq!(scenario.find_request(unknown).await, None);
    assert_eq!(page(&scenario, &of(dj, at(2)), 1, 15).await, Rows::none(0));
}

/// Lists are sorted by creation time, then by id, both descending, regardless of the order of arrival.
pub async fn requests_are_listed_newest_first(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj) = (scenario.guest(1_000).await, scenario.dj(1).await);
    let mut made = Vec::new();
    for seconds in [5, 3, 3, 9, 3, 1, 9, 7] {
        made.push(scenario.request(guest, dj, at(seconds)).await);
    }
    made.sort_by_key(|request| std::cmp::Reverse((request.created_at, request.id)));
    let expected: Vec<RequestId> = made.iter().map(|request| request.id).collect();
    let by_dj = RequestFilter { dj: Some(dj), ..everything(at(10)) };
    let pending = RequestFilter { status: Some(RequestStatus::Pending), ..of(guest, at(10)) };
    let both = RequestFilter { dj: Some(dj), ..of(guest, at(10)) };
    for filter in [everything(at(10)), of(guest, at(10)), by_dj, both, pending] {
        assert_eq!(shown(&scenario, &filter).await, expected, "{filter:?}");
    }
}

/// A guest counts as a requester of a DJ from the first request on, regardless of its outcome, and not of
/// another DJ.
pub async fn the_first_request_makes_a_user_a_previous_guest_of_the_dj(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj, other) = (scenario.guest(1_000).await, scenario.dj(1).await, scenario.dj(1).await);
    let known = async |guest, dj| scenario.store.has_requested(guest, dj).await.unwrap();
    assert!(!known(guest, dj).await);
    let request = scenario.request(guest, dj, at(1)).await;
    scenario.fund(dj, 1).await;
    scenario.request(dj, other, at(1)).await;
    scenario.move_request(request.id, Move::Reject, at(2)).await.unwrap();
    assert!(known(guest, dj).await && known(dj, other).await);
    for (guest, dj) in
        [(guest, other), (dj, guest), (other, dj), (scenario.ids.next_user().await.unwrap(), dj)]
    {
        assert!(!known(guest, dj).await);
    }
}

/// Pages of any size cover the list without gap or overlap; a page past the end has the total, but no rows.
pub async fn pages_cover_a_list_without_gaps_or_overlaps(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj) = (scenario.guest(1_000).await, scenario.dj(1).await);
    for seconds in 0..31 {
        scenario.request(guest, dj, at(seconds)).await;
    }
    let pending = RequestFilter { status: Some(RequestStatus::Pending), ..of(guest, at(60)) };
    for filter in [of(guest, at(60)), pending, everything(at(60))] {
        let whole = shown(&scenario, &filter).await;
        assert_eq!(whole.len(), 31);
        for size in [1, 2, 15, 30, 31, 100] {
            let mut seen = Vec::new();
            for number in 1..=31_u64.div_ceil(u64::from(size)) {
                let rows = page(&scenario, &filter, number, size).await;
                assert_eq!(rows.total, 31);
                seen.extend(rows.rows.iter().map(|request| request.id));
            }
            assert_eq!(seen, whole, "pages of {size}");
        }
        for number in PAST_THE_END {
            assert_eq!(page(&scenario, &filter, number, 16).await, Rows::none(31), "page {number}");
        }
    }
}

/// Lists are filtered by requester, by DJ, by both, and by status.
pub async fn requests_are_filtered_by_requester_dj_and_status(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (ada, bob) = (scenario.guest(1_000).await, scenario.guest(1_000).await);
    let (one, two) = (scenario.dj(1).await, scenario.dj(1).await);
    let mut made = Vec::new();
    for (place, (guest, dj)) in [(ada, one), (ada, two), (bob, one), (bob, two)].into_iter().enumerate() {
        made.push(scenario.request(guest, dj, at(i64::try_from(place).unwrap())).await.id);
    }
    scenario.move_request(made[1], Move::Accept, at(10)).await.unwrap();
    scenario.move_request(made[3], Move::Accept, at(10)).await.unwrap();
    let to = |dj| RequestFilter { dj: Some(dj), ..everything(at(20)) };
    let both = RequestFilter { dj: Some(two), ..of(bob, at(20)) };
    let with = |status, filter| RequestFilter { status: Some(status), ..filter };
    let accepted = RequestStatus::Accepted;
    for (filter, expected) in [
        (of(ada, at(20)), vec![made[1], made[0]]),
        (to(one), vec![made[2], made[0]]),
        (both, vec![made[3]]),
        (with(accepted, everything(at(20))), vec![made[3], made[1]]),
        (with(accepted, of(ada, at(20))), vec![made[1]]),
        (with(accepted, to(two)), vec![made[3], made[1]]),
        (with(RequestStatus::Pending, both), vec![]),
    ] {
        assert_eq!(shown(&scenario, &filter).await, expected, "{filter:?}");
    }
}

/// One request in each stored status, pending and accepted also past their time: 900 and 3600 seconds.
async fn one_of_each(scenario: &Scenario, guest: UserId, dj: UserId) -> Vec<(RequestId, RequestStatus)> {
    let lives: [(&[Move], RequestStatus); 7] = [
        (&[], RequestStatus::Pending),
        (&[Move::Accept], RequestStatus::Accepted),
        (&[Move::Accept, Move::Reject], RequestStatus::Rejected),
        (&[Move::Cancel], RequestStatus::Cancelled),
        (&[], RequestStatus::Expired),
        (&[Move::Play], RequestStatus::Played),
        (&[Move::Play, Move::Refund], RequestStatus::Refunded),
    ];
    let mut made = Vec::new();
    for (moves, status) in lives {
        let early = status == RequestStatus::Expired;
        let request = scenario.request(guest, dj, at(if early { -900 } else { 0 })).await;
        for to in moves {
            scenario.move_request(request.id, *to, at(0)).await.unwrap();
        }
        if early {
            scenario.move_request(request.id, Move::Expire, at(0)).await.unwrap();
        }
        assert_eq!(scenario.stored_request(request.id).await.state.status(), status);
        made.push((request.id, status));
    }
    made
}

/// A filter uses the status at the current time: due requests are expired, to the microsecond.
pub async fn filters_use_the_status_at_the_current_time(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj) = (scenario.guest(1_000).await, scenario.dj(1).await);
    let made = one_of_each(&scenario, guest, dj).await;
    let (pending_ends, accepted_ends) = (at(900), at(3_600));
    let before = |moment: Timestamp| moment.minus(Duration::MICROSECOND);
    for now in [at(1), before(pending_ends), pending_ends, before(accepted_ends), accepted_ends, at(9_999)] {
        let seen = |stored| match stored {
            RequestStatus::Pending if now >= pending_ends => RequestStatus::Expired,
            RequestStatus::Accepted if now >= accepted_ends => RequestStatus::Expired,
            stored => stored,
        };
        for status in RequestStatus::all() {
            let mut expected: Vec<RequestId> =
                made.iter().filter(|(_, stored)| seen(*stored) == status).map(|(id, _)| *id).collect();
            expected.sort_unstable();
            for filter in [of(guest, now), RequestFilter { dj: Some(dj), ..everything(now) }, everything(now)]
            {
                let filter = RequestFilter { status: Some(status), ..filter };
                let mut found = shown(&scenario, &filter).await;
                found.sort_unstable();
                assert_eq!(found, expected, "{status:?} at {now:?}");
            }
        }
    }
}

/// A list shows requests as they are stored; the reader derives expiry from the clock.
pub async fn requests_listed_as_expired_keep_their_stored_state(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj) = (scenario.guest(1_000).await, scenario.dj(1).await);
    let request = scenario.request(guest, dj, at(0)).await;
    let filter = RequestFilter { status: Some(RequestStatus::Expired), ..of(guest, at(900)) };
    assert_eq!(page(&scenario, &filter, 1, 15).await.rows, [request]);
}

/// Concurrent lists each return their own rows, page and total.
pub async fn concurrent_list_reads_each_return_their_own_rows(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (ada, bob) = (scenario.guest(1_000).await, scenario.guest(1_000).await);
    let (one, two) = (scenario.dj(1).await, scenario.dj(1).await);
    one_of_each(&scenario, ada, one).await;
    scenario.request(ada, two, at(1)).await;
    scenario.request(bob, one, at(2)).await;
    let all = page(&scenario, &everything(at(0)), 1, PageRequest::MAX_SIZE).await.rows;
    let statuses = RequestStatus::all().map(Some).chain([None]);
    let asked = statuses.enumerate().flat_map(|(place, status)| {
        let now = at([1, 900, 9_999][place % 3]);
        let by_dj = RequestFilter { dj: Some(one), ..everything(now) };
        let both = RequestFilter { dj: Some(one), ..of(ada, now) };
        [of(ada, now), of(bob, now), by_dj, both, everything(now)]
            .into_iter()
            .flat_map(|filter| [(1, 15), (2, 2), (9, 2)].map(|(number, size)| (filter, number, size)))
            .map(move |(filter, number, size)| (RequestFilter { status, ..filter }, number, size))
    });
    let asked: Vec<(RequestFilter, u64, u32)> = asked.collect();
    let scenario = &scenario;
    let lists = asked.iter().map(async |(filter, number, size)| page(scenario, filter, *number, *size).await);
    for ((filter, number, size), list) in asked.iter().zip(join_all(lists).await) {
        let shown: Vec<MusicRequest> = all.iter().filter(|request| filter.shows(request)).cloned().collect();
        let (before, size) = ((*number - 1) * u64::from(*size), usize::try_from(*size).unwrap());
        let total = u64::try_from(shown.len()).unwrap();
        let rows = shown.into_iter().skip(usize::try_from(before).unwrap()).take(size).collect();
        assert_eq!(list, Rows { rows, total }, "{filter:?}, page {number} of {size}");
    }
}

/// Overdue requests are those stored as holding a fee past their time, the longest overdue first, up to a
/// limit.
pub async fn overdue_requests_are_listed_longest_overdue_first(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (ada, bob, dj) = (scenario.guest(1_000).await, scenario.guest(1_000).await, scenario.dj(1).await);
    let free = scenario.dj(0).await;
    one_of_each(&scenario, ada, dj).await;
    let mut expected = Vec::new();
    for (guest, dj, seconds) in [(bob, dj, 30), (ada, dj, 10), (bob, free, 20)] {
        expected.push(scenario.request(guest, dj, at(seconds)).await);
    }
    expected.sort_by_key(|request| request.created_at);
    let overdue = async |requester, now, limit| {
        let which = Overdue { requester, now, after: None, limit };
        let found = scenario.store.overdue(&which).await.unwrap();
        found.iter().map(|request| request.id).collect::<Vec<_>>()
    };
    let ids: Vec<RequestId> = expected.iter().map(|request| request.id).collect();
    assert_eq!(overdue(None, at(900).minus(Duration::MICROSECOND), 100).await, []);
    assert_eq!(overdue(None, at(900), 100).await.len(), 1);
    assert_eq!(overdue(None, at(930), 100).await[1..], ids);
    assert_eq!(overdue(None, at(930), 2).await[1..], ids[..1]);
    assert_eq!(overdue(None, at(930), 0).await, []);
    assert_eq!(overdue(Some(bob), at(930), 100).await, ids[1..]);
    assert_eq!(overdue(Some(bob), at(930), 1).await, ids[1..2]);
    assert_eq!(overdue(Some(dj), at(930), 100).await, []);
    assert_eq!(overdue(None, at(3_600), 100).await.len(), 5);
    let after = expected[0].state.expires_at().map(|at| (at, ids[0]));
    let later = Overdue { requester: None, now: at(930), after, limit: 100 };
    assert_eq!(scenario.store.overdue(&later).await.unwrap(), expected[1..]);

    scenario.move_request(ids[1], Move::Expire, at(950)).await.unwrap();
    assert_eq!(overdue(Some(bob), at(930), 100).await, ids[2..]);
    assert_eq!(
        scenario.store.overdue(&Overdue { requester: Some(bob), ..later }).await.unwrap(),
        [expected[2].clone()]
    );
}
