//! Pages of feeds.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use futures_util::FutureExt;
use time::Duration;

use super::{Doubles, now, principal, user};
use crate::application::CommandError;
use crate::application::queries::{EventPage, EventPageRequest, EventQueries, FeedRefusal};
use crate::event::Feed;
use crate::ids::{OperationId, UserId};
use crate::operation::{PlanKind, Position, PositionGap, PositionedOperation, StoredReceipt};
use crate::ports::OperationPage;
use crate::timestamp::Timestamp;

fn position(number: i64) -> Position {
    Position::new(number).unwrap()
}

/// An operation that is no event.
fn operation(number: i64, at: Timestamp) -> PositionedOperation {
    PositionedOperation {
        position: position(number),
        kind: Some(PlanKind::Profile),
        at,
        receipt: StoredReceipt::Redacted { operation: OperationId(1), user: user(4) },
    }
}

/// The page of a feed whose store finds operations at these positions, none of which is an event.
fn page(found: &'static [i64], newest: i64, after: i64, limit: u32) -> EventPage {
    asked(found, newest, None, Some(after), limit).unwrap()
}

/// The answer for a page of a feed whose store finds operations at these positions and a gap.
fn asked(
    found: &'static [i64],
    newest: i64,
    gap: Option<PositionGap>,
    after: Option<i64>,
    limit: u32,
) -> Result<EventPage, CommandError<FeedRefusal>> {
    let mut doubles = Doubles::default();
    doubles.operations.expect_operations().returning(move |concerning, _, _| {
        assert_eq!(concerning, Some(user(4)));
        let operations = found.iter().map(|number| operation(*number, now())).collect();
        Ok(OperationPage { operations, newest: position(newest), gap })
    });
    let queries = EventQueries::new(doubles.env());
    let asked = EventPageRequest { after: after.map(position), limit, types: None };
    queries.page(&principal(4), Feed::Own, &asked).now_or_never().unwrap()
}

#[test]
fn the_next_page_starts_after_the_last_event_or_at_the_newest_position() {
    let full = page(&[3, 5], 9, 0, 2);
    assert_eq!((full.events.len(), full.next.get(), full.head.get()), (0, 5, 9));
    let last = page(&[7], 9, 5, 2);
    assert_eq!((last.next.get(), last.head.get()), (9, 9), "what concerns others is skipped");
    let empty = page(&[], 0, 0, 2);
    assert_eq!((empty.next.get(), empty.head.get()), (0, 0));
}

#[test]
fn a_lost_position_is_refused_with_the_last_valid_position() {
    let gap = PositionGap::new(position(9), position(100));
    for (newest, gap, after, expected) in
        [(9, None, 10, 9), (9, gap, 10, 9), (9, gap, 100, 9), (101, gap, 10, 9), (101, gap, 102, 101)]
    {
        let refused = asked(&[], newest, gap, Some(after), 2).unwrap_err();
        let lost = FeedRefusal::Lost { continue_after: position(expected) };
        assert!(matches!(refused, CommandError::Refused(why) if why == lost), "{after}: {refused:?}");
    }
    let page = asked(&[100], 100, gap, Some(9), 2).unwrap();
    assert_eq!((page.next.get(), page.head.get()), (100, 100), "nothing after the gap is missed");
    asked(&[], 0, gap, None, 2).unwrap();
}

/// A store with this many operations, the newest now and each an hour older than the next, and the number of
/// its reads.
fn hourly(operations: i64) -> (Doubles, Arc<AtomicU32>) {
    let (mut doubles, reads) = (Doubles::default(), Arc::<AtomicU32>::default());
    let counted = Arc::clone(&reads);
    let found = move |_: Option<UserId>, after: Position, limit: u32| {
        counted.fetch_add(1, Ordering::Relaxed);
        let shown = (after.next().get()..=operations).take(usize::try_from(limit).unwrap());
        let shown = shown
            .map(|number| operation(number, now().minus(Duration::hours(operations.saturating_sub(number)))));
        Ok(OperationPage { operations: shown.collect(), newest: position(operations), gap: None })
    };
    doubles.operations.expect_operations().returning(found);
    (doubles, reads)
}

#[test]
fn an_expired_position_is_refused_with_the_oldest_position() {
    // The operations of the last day, this hour included, and those of any other number of hours.
    for (operations, hours, oldest) in [
        (100, 24, 76_i64),
        (100, 99, 1),
        (100, 1_000, 1),
        (100, 0, 100),
        (0, 24, 1),
        (1_000_000, 24, 999_976),
    ] {
        let (mut doubles, reads) = hourly(operations);
        doubles.terms.events_shown_for = Some(Duration::hours(hours));
        let queries = EventQueries::new(doubles.env());
        let page = |after: Option<i64>| {
            let asked = EventPageRequest { after: after.map(position), limit: 10, types: None };
            queries.page(&principal(4), Feed::Own, &asked).now_or_never().unwrap()
        };
        if oldest > 1 {
            let refused = page(Some(oldest.saturating_sub(2))).unwrap_err();
            let expired = FeedRefusal::Expired { oldest: position(oldest) };
            assert!(matches!(refused, CommandError::Refused(why) if why == expired), "{refused:?}");
        }
        page(Some(oldest.saturating_sub(1))).unwrap();
        let determined = reads.load(Ordering::Relaxed);
        assert!(determined < 25, "{determined} reads");
        page(None).unwrap();
        assert_eq!(reads.load(Ordering::Relaxed), determined + 1, "the oldest position is known for a while");
    }
}
