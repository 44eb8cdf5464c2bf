//! Pages of feeds.

use futures_util::FutureExt;

use super::{Doubles, principal, user};
use crate::application::queries::{EventPage, EventPageRequest, EventQueries};
use crate::ids::OperationId;
use crate::ledger::{PlanKind, Position, PositionedOperation, StoredReceipt};
use crate::ports::OperationPage;

fn position(number: i64) -> Position {
    Position::new(number).unwrap()
}

/// The page of a feed whose store finds operations at these positions, none of which is an event.
fn page(found: &'static [i64], newest: i64, after: i64, limit: u32) -> EventPage {
    let mut doubles = Doubles::default();
    doubles.operations.expect_operations().returning(move |concerning, _, _| {
        assert_eq!(concerning, Some(user(4)));
        let operations = found.iter().map(|number| PositionedOperation {
            position: position(*number),
            kind: Some(PlanKind::Profile),
            receipt: StoredReceipt::Redacted { operation: OperationId(1), user: user(4) },
        });
        Ok(OperationPage { operations: operations.collect(), newest: position(newest) })
    });
    let queries = EventQueries { env: doubles.env() };
    let asked = EventPageRequest { after: position(after), limit, types: None };
    queries.own(&principal(4), &asked).now_or_never().unwrap().unwrap()
}

#[test]
fn the_next_page_begins_after_the_last_operation_or_at_the_head() {
    let full = page(&[3, 5], 9, 0, 2);
    assert_eq!((full.events.len(), full.next.get(), full.head.get()), (0, 5, 9));
    let last = page(&[7], 9, 5, 2);
    assert_eq!((last.next.get(), last.head.get()), (9, 9), "what concerns others is skipped");
    let empty = page(&[], 0, 0, 2);
    assert_eq!((empty.next.get(), empty.head.get()), (0, 0));
    let ahead = page(&[], 9, 12, 2);
    assert_eq!((ahead.next.get(), ahead.head.get()), (9, 9), "after a restore from a backup");
}
