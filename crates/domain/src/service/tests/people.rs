//! What staff does about people, and whom DJs block, on doubles of the ports.

use super::*;
use crate::ledger::{Actor, EntityKind, Step};
use crate::page::{PageRequest, Rows};
use crate::people::StandingChange;
use crate::ports::Block;
use crate::security_log::EventFilter;
use crate::session::Visitor;

const BY_OPERATOR: Command = command(3);

fn first_page() -> PageRequest {
    PageRequest::new(1, 15)
}

fn staff(ledger: MockLedger, people: MockPeople, log: MockSecurityLog) -> Staff {
    Staff { desk: desk(ledger), people: Arc::new(people), journal: journal(log) }
}

/// People of whom the DJ is one, erased or not.
fn with_dj(erased: bool) -> MockPeople {
    let mut people = MockPeople::new();
    people.expect_profile().returning(move |id| {
        let mut profile = dj(true);
        profile.user.erased_at = erased.then(now);
        Ok((id == user(2)).then_some(profile))
    });
    people
}

#[test]
fn a_standing_is_changed_by_an_operator_for_a_reason() {
    let mut ledger = MockLedger::new();
    let theirs = |plan: &Plan| {
        let origin = plan.origin();
        origin.actor == Actor::User(user(3))
            && origin.reason == Some(Line::new("fraud").unwrap())
            && matches!(plan.step(), Step::Standing { user, change: StandingChange::Suspend } if user.get() == 2)
    };
    ledger.expect_apply().withf(theirs).once().returning(|_| Ok(Applied::Fresh(receipt())));
    let staff = staff(ledger, with_dj(false), MockSecurityLog::new());
    let found = run(staff.managed(&caller(3), user(2))).unwrap();
    let reason = Line::new("fraud").unwrap();
    let changed = run(staff.change_standing(&BY_OPERATOR, reason, &found, StandingChange::Suspend));
    assert_eq!(changed.unwrap(), Applied::Fresh(receipt()));
}

#[test]
fn who_was_erased_meanwhile_is_a_conflict() {
    let mut ledger = MockLedger::new();
    ledger.expect_apply().once().returning(|_| rejected(Rejection::Missing(EntityKind::User)));
    let staff = staff(ledger, with_dj(false), MockSecurityLog::new());
    let found = run(staff.managed(&caller(3), user(2))).unwrap();
    let reason = Line::new("fraud").unwrap();
    let changed = run(staff.change_standing(&BY_OPERATOR, reason, &found, StandingChange::Suspend));
    assert!(matches!(changed, Err(ChangeStandingError::Obstacle(Obstacle::Conflict))), "{changed:?}");
}

#[test]
fn the_last_operator_is_not_dismissed() {
    let mut ledger = MockLedger::new();
    ledger.expect_apply().once().returning(|_| rejected(Rejection::LastOperator));
    let staff = staff(ledger, with_dj(false), MockSecurityLog::new());
    let found = run(staff.managed(&caller(3), user(2))).unwrap();
    let (reason, change) = (Line::new("a coup").unwrap(), StandingChange::Role(Role::Member));
    let changed = run(staff.change_standing(&BY_OPERATOR, reason, &found, change));
    assert!(matches!(changed, Err(ChangeStandingError::LastOperator)), "{changed:?}");
}

#[test]
fn nobody_changes_their_own_standing_and_nobody_else_changes_any() {
    let staff = staff(MockLedger::new(), with_dj(false), MockSecurityLog::new());
    let own = run(staff.managed(&caller(3), user(3)));
    assert!(matches!(own, Err(FindError::Denied)), "{own:?}");
    let mut operator = dj(true).user;
    operator.id = user(3);
    let reason = Line::new("why not").unwrap();
    let changed = run(staff.change_standing(&BY_OPERATOR, reason, &operator, StandingChange::Restore));
    assert!(matches!(changed, Err(ChangeStandingError::Obstacle(Obstacle::Denied))), "{changed:?}");
    let auditor = Caller { role: Role::Auditor, ..caller(4) };
    for other in [caller(1), caller(2), auditor] {
        assert!(matches!(run(staff.managed(&other, user(2))), Err(FindError::Denied)));
    }
    assert!(run(staff.person(&auditor, user(2))).is_ok());
}

#[test]
fn who_was_erased_is_nobody_to_staff() {
    let staff = staff(MockLedger::new(), with_dj(true), MockSecurityLog::new());
    assert!(matches!(run(staff.person(&caller(3), user(2))), Err(FindError::NotFound)));
    assert!(matches!(run(staff.managed(&caller(3), user(2))), Err(FindError::NotFound)));
}

#[test]
fn people_are_found_by_address_in_any_letter_case() {
    let mut people = MockPeople::new();
    people
        .expect_people()
        .withf(|email, _| *email == Some("dee@example.com"))
        .once()
        .returning(|_, _| Ok(Rows { rows: vec![dj(true).user], total: 1 }));
    let staff = staff(MockLedger::new(), people, MockSecurityLog::new());
    let found = run(staff.people(&caller(3), Some("Dee@Example.com"), first_page())).unwrap();
    assert_eq!(found.total, 1);
    let nobody = run(staff.people(&caller(3), Some("no address"), first_page())).unwrap();
    assert_eq!(nobody, Rows::none(0));
}

#[test]
fn the_log_is_for_staff_and_hears_of_those_who_are_refused() {
    let mut log = MockSecurityLog::new();
    log.expect_append()
        .withf(|event| {
            event.kind == EventKind::AccessDenied
                && (event.user, event.actor) == (Some(user(1)), Some(user(1)))
                && event.session == Some(caller(1).session)
                && event.detail == Some(Line::new("GET /x").unwrap())
        })
        .once()
        .returning(|_| Ok(()));
    let staff = staff(MockLedger::new(), MockPeople::new(), log);
    let read = run(staff.events(&caller(1), EventFilter::default(), first_page()));
    assert!(matches!(read, Err(FindError::Denied)), "{read:?}");
    run(staff.denied(&caller(1), Line::new("GET /x").unwrap(), Visitor::default()));
}

/// Blocks of DJs who had a request of guest 1, and who block guest 4; guest 5 was erased.
fn blocks() -> Blocks {
    let mut kept = MockBlocks::new();
    kept.expect_is_blocked().returning(|_, guest| Ok(guest == user(4)));
    kept.expect_block().returning(|_, guest, at| {
        let block = Block { guest, name: Line::new("Dee").unwrap(), at };
        Ok(Some(block).filter(|_| guest != user(5)))
    });
    let mut requests = MockMusicRequests::new();
    requests
        .expect_has_requested()
        .returning(|guest, dj| Ok(guest != user(9) && guest != user(4) && dj == user(2)));
    kept.expect_unblock().returning(|_, _| Ok(false));
    let mut clock = MockClock::new();
    clock.expect_now().return_const(now());
    Blocks { requests: Arc::new(requests), blocks: Arc::new(kept), clock: Arc::new(clock) }
}

#[test]
fn a_dj_blocks_who_made_a_request_to_them_and_not_themselves() {
    // Who is blocked already stays so, also where that was done before it took a request.
    for guest in [1, 4] {
        let blocked = run(blocks().block(&caller(2), user(guest))).unwrap();
        assert_eq!((blocked.guest, blocked.at), (user(guest), now()));
    }
    let oneself = run(blocks().block(&caller(2), user(2)));
    assert!(matches!(oneself, Err(BlockError::Oneself)), "{oneself:?}");
    let other = Caller { user: user(6), ..caller(2) };
    for (dj, guest) in [(caller(2), user(9)), (caller(2), user(5)), (other, user(1))] {
        let nobody = run(blocks().block(&dj, guest));
        assert!(matches!(nobody, Err(BlockError::Find(FindError::NotFound))), "{nobody:?}");
    }
    run(blocks().unblock(&caller(2), user(9))).unwrap();
}

#[test]
fn a_guest_blocks_nobody() {
    let blocks = blocks();
    let blocked = run(blocks.block(&caller(1), user(2)));
    assert!(matches!(blocked, Err(BlockError::Find(FindError::Denied))), "{blocked:?}");
    assert!(matches!(run(blocks.unblock(&caller(1), user(2))), Err(FindError::Denied)));
    assert!(matches!(run(blocks.list(&caller(1), first_page())), Err(FindError::Denied)));
}

#[test]
fn who_was_erased_takes_no_requests() {
    let opened =
        run(requests(MockLedger::new(), MockMusicRequests::new(), with_dj(true)).open(&command(1), wish()));
    assert!(matches!(opened, Err(OpenRequestError::NoSuchDj)), "{opened:?}");
}
