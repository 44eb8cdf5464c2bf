//! Positions of operations: contiguous from 1 but for stored gaps, and none is missing for long.

use cuepoint_domain::audit::{Auditor, Finding};
use cuepoint_domain::ids::OperationId;
use cuepoint_domain::operation::{Position, PositionGap};

fn position(number: i64) -> Position {
    Position::new(number).unwrap()
}

/// The finding about an otherwise empty ledger with these positions.
fn finding(positions: &[i64]) -> Option<Finding> {
    finding_with(&[], positions)
}

/// The finding about an otherwise empty ledger with these gaps and positions.
fn finding_with(gaps: &[(i64, i64)], positions: &[i64]) -> Option<Finding> {
    let mut auditor = Auditor::new();
    for (last, next) in gaps {
        auditor.position_gap(PositionGap::new(position(*last), position(*next)).unwrap());
    }
    positions.iter().for_each(|number| auditor.position(position(*number)));
    auditor.finish().err()
}

#[test]
fn contiguous_positions_are_consistent() {
    assert_eq!(finding(&[]), None);
    assert_eq!(finding(&[1, 2, 3]), None);
}

#[test]
fn a_missing_duplicate_or_misplaced_position_is_found() {
    for (positions, expected, found) in
        [(&[2, 3][..], 1, 2), (&[1, 3], 2, 3), (&[1, 2, 2], 3, 2), (&[1, 3, 2], 2, 3)]
    {
        let gap = Finding::Position { expected: position(expected), found: position(found) };
        assert_eq!(finding(positions), Some(gap), "{positions:?}");
    }
}

#[test]
fn positions_that_match_the_stored_gaps_are_consistent() {
    for (gaps, positions) in [
        (&[(0, 100)][..], &[][..]),
        (&[(0, 100)], &[100, 101]),
        (&[(2, 100)], &[1, 2]),
        (&[(2, 100)], &[1, 2, 100, 101]),
        (&[(2, 100), (100, 200)], &[1, 2, 100, 200]),
        (&[(2, 100), (101, 200)], &[1, 2, 100, 101]),
    ] {
        assert_eq!(finding_with(gaps, positions), None, "{gaps:?} {positions:?}");
    }
}

#[test]
fn positions_that_do_not_match_a_stored_gap_are_found() {
    for (gaps, positions, expected, found) in [
        (&[(2, 100)][..], &[1, 2, 3][..], 100, 3),
        (&[(2, 100)], &[1, 2, 101], 100, 101),
        (&[(2, 100)], &[1, 2, 99], 100, 99),
        (&[(2, 100)], &[1, 100], 2, 100),
        (&[(2, 100)], &[1, 2, 100, 200], 101, 200),
    ] {
        let wrong = Finding::Position { expected: position(expected), found: position(found) };
        assert_eq!(finding_with(gaps, positions), Some(wrong), "{gaps:?} {positions:?}");
    }
}

#[test]
fn a_stored_gap_that_does_not_follow_a_position_is_found() {
    for (gap, positions) in [((3, 100), &[1, 2][..]), ((50, 60), &[]), ((1, 2), &[])] {
        let stray = Finding::PositionGap { last: position(gap.0), next: position(gap.1) };
        assert_eq!(finding_with(&[gap], positions), Some(stray), "{gap:?} {positions:?}");
    }
}

#[test]
fn an_operation_without_a_position_is_found() {
    let mut auditor = Auditor::new();
    auditor.without_position(OperationId(7));
    let finding = auditor.finish().unwrap_err();
    assert_eq!(finding.to_string(), format!("operation {} has no position", OperationId(7)));
}
