//! Positions of operations: contiguous from 1, and none is missing for long.

use cuepoint_domain::ids::OperationId;
use cuepoint_domain::ledger::{Auditor, Finding, Position};

fn position(number: i64) -> Position {
    Position::new(number).unwrap()
}

/// The finding about an otherwise empty ledger with these positions.
fn finding(positions: &[i64]) -> Option<Finding> {
    let mut auditor = Auditor::new();
    positions.iter().for_each(|number| auditor.position(position(*number)));
    auditor.finish().err()
}

#[test]
fn contiguous_positions_are_consistent() {
    assert_eq!(finding(&[]), None);
    assert_eq!(finding(&[1, 2, 3]), None);
}

#[test]
fn a_gap_or_a_duplicate_is_found() {
    for (positions, expected, found) in
        [(&[2, 3][..], 1, 2), (&[1, 3], 2, 3), (&[1, 2, 2], 3, 2), (&[1, 3, 2], 2, 3)]
    {
        let gap = Finding::Position { expected: position(expected), found: position(found) };
        assert_eq!(finding(positions), Some(gap), "{positions:?}");
    }
}

#[test]
fn an_operation_without_a_position_is_found() {
    let mut auditor = Auditor::new();
    auditor.without_position(OperationId(7));
    let finding = auditor.finish().unwrap_err();
    assert_eq!(finding.to_string(), format!("operation {} has no position", OperationId(7)));
}
