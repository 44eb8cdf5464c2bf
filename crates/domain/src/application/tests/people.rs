//! Staff's changes of users, and the blocks of DJs, on doubles of the ports.

use futures_util::FutureExt as _;

use super::*;
use crate::entity_ref::EntityKind;
use crate::music_request::OpenRefusal;
use crate::operation::{Actor, Entity, Step, UserChange};
use crate::page::{PageRequest, Rows};
use crate::security_log::SecurityEventFilter;
use crate::user::{Block, UserStatusChange};

const CHANGE: ChangeUserStatus = ChangeUserStatus { id: UserId::new(2).unwrap() };

type ChangeError = CommandError<ChangeUserStatusRefusal, Infallible>;

fn first_page() -> PageRequest {
    PageRequest::new(1, 15)
}

fn queries(people: MockPeople) -> PeopleQueries {
    PeopleQueries { env: Doubles { people, ..Doubles::default() }.env() }
}

/// Changes the DJ as an operator, with this number of expected refreshes of the revocation list.
fn change(
    ledger: MockLedger,
    refreshes: usize,
    (change, reason): (UserStatusChange, &str),
) -> Result<Done<User>, ChangeError> {
    let doubles =
        Doubles { ledger, people: with_dj(false), revocations: refreshed(refreshes), ..Doubles::default() };
    run(doubles.executor().run(&context(3), CHANGE, input((change, Line::new(reason).unwrap()))))
}

/// The receipt of a change of the DJ.
fn of_dj() -> Receipt {
    let Profile { user, balance } = dj(true);
    Receipt { outcome: Outcome { entity: Entity::User(user), balance: Some(balance) }, ..receipt() }
}

/// A user store that contains the DJ, erased or not.
fn with_dj(erased: bool) -> MockPeople {
    let mut people = MockPeople::new();
    people.expect_profile().returning(move |id| {
        let mut profile = dj(true);
        profile.user.erased_at = erased.then(now);
        Ok((id == user(2)).then_some(profile))
    });
    people.expect_standing().returning(|_| Ok(None));
    people
}

#[test]
fn the_reason_for_a_suspension_by_an_operator_is_recorded() {
    let mut ledger = MockLedger::new();
    let theirs = |plan: &Plan| {
        let metadata = plan.metadata();
        metadata.actor == Actor::User(user(3))
            && metadata.reason == Some(Line::new("fraud").unwrap())
            && matches!(plan.step(), Step::ChangeUser { user, change: UserChange::Status(UserStatusChange::Suspend) } if user.get() == 2)
    };
    ledger.expect_apply().withf(theirs).once().returning(|_| Ok(Applied::Fresh(of_dj())));
    let changed = change(ledger, 1, (UserStatusChange::Suspend, "fraud"));
    assert_eq!(changed.unwrap(), done(dj(true).user, false));
}

#[test]
fn a_status_change_conflicts_with_a_concurrent_erasure() {
    let mut ledger = MockLedger::new();
    ledger.expect_apply().once().returning(|_| rejected(Rejection::Missing(EntityKind::User)));
    let changed = change(ledger, 0, (UserStatusChange::Suspend, "fraud"));
    assert!(matches!(changed, Err(ChangeError::Failed(Failure::Conflict))), "{changed:?}");
}

#[test]
fn the_last_operator_cannot_be_demoted() {
    let mut ledger = MockLedger::new();
    ledger.expect_apply().once().returning(|_| rejected(Rejection::LastOperator));
    let changed = change(ledger, 0, (UserStatusChange::Role(Role::Member), "a coup"));
    let last = ChangeUserStatusRefusal::LastOperator;
    assert!(matches!(changed, Err(ChangeError::Refused(refusal)) if refusal == last));
}

#[test]
fn only_operators_change_the_status_of_others() {
    let change = |principal, id| {
        let mut people = MockPeople::new();
        people.expect_profile().returning(move |_| {
            let Profile { user, balance } = dj(true);
            Ok(Some(Profile { user: User { id, ..user }, balance }))
        });
        let context = Context { principal, ..context(3) };
        let input = input((UserStatusChange::Restore, Line::new("why not").unwrap()));
        let executor = Doubles { people, ..Doubles::default() }.executor();
        run(executor.run(&context, ChangeUserStatus { id }, input))
    };
    let own = change(principal(3), user(3));
    assert!(matches!(own, Err(ChangeError::Failed(Failure::Denied(_)))), "{own:?}");
    let auditor = Principal { role: Role::Auditor, ..principal(4) };
    for other in [principal(1), principal(2), auditor] {
        let changed = change(other, user(2));
        assert!(matches!(changed, Err(ChangeError::Failed(Failure::WrongRole))), "{changed:?}");
    }
    assert!(run(queries(with_dj(false)).user(&auditor, user(2))).is_ok());
}

#[test]
fn staff_cannot_find_erased_users() {
    let found = run(queries(with_dj(true)).user(&principal(3), user(2)));
    assert!(matches!(found, Err(Failure::NotFound)), "{found:?}");
    let executor = Doubles { people: with_dj(true), ..Doubles::default() }.executor();
    let input = input((UserStatusChange::Suspend, Line::new("fraud").unwrap()));
    let changed = run(executor.run(&context(3), CHANGE, input));
    assert!(matches!(changed, Err(ChangeError::Failed(Failure::NotFound))), "{changed:?}");
}

#[test]
fn users_are_found_by_email_in_any_letter_case() {
    let mut people = MockPeople::new();
    people
        .expect_people()
        .withf(|email, _| *email == Some("dee@example.com"))
        .once()
        .returning(|_, _| Ok(Rows { rows: vec![dj(true).user], total: 1 }));
    let people = queries(people);
    let found = run(people.list(&principal(3), Some("Dee@Example.com"), first_page())).unwrap();
    assert_eq!(found.total, 1);
    let nobody = run(people.list(&principal(3), Some("no address"), first_page())).unwrap();
    assert_eq!(nobody, Rows::none(0));
}

#[test]
fn guests_cannot_read_the_security_log_and_denied_access_is_recorded() {
    let mut log = MockSecurityLog::new();
    log.expect_append()
        .withf(|event| {
            event.kind == SecurityEventKind::AccessDenied
                && (event.user, event.actor) == (Some(user(1)), Some(user(1)))
                && event.session == Some(principal(1).session)
                && event.detail == Some(Line::new("GET /x").unwrap())
        })
        .once()
        .returning(|_| Ok(()));
    let log = SecurityLogQueries { env: Doubles { log, ..Doubles::default() }.env() };
    let read = run(log.events(&principal(1), SecurityEventFilter::default(), first_page()));
    assert!(matches!(read, Err(Failure::Denied(_))), "{read:?}");
    run(log.record_denied(&principal(1), Line::new("GET /x").unwrap(), ClientInfo::default()));
}

#[test]
fn denied_access_is_recorded_even_if_the_client_disconnects() {
    let mut log = MockSecurityLog::new();
    log.expect_append().once().returning(|_| Ok(()));
    let tasks = simulated_time::SpawnedTasks::default();
    let doubles = Doubles { log, tasks: Some(Arc::new(tasks.clone())), ..Doubles::default() };
    let log = SecurityLogQueries { env: doubles.env() };
    let (principal, operation) = (principal(1), Line::new("GET /x").unwrap());
    let recorded = log.record_denied(&principal, operation, ClientInfo::default());
    assert_eq!(recorded.now_or_never(), None, "the client waited");
    run(tasks.run(async {}));
}

/// Blocks of DJs who had a request of guest 1 and a tip of guest 3, and who block guest 4; guest 5 was erased.
fn blocks() -> GuestBlocks {
    let mut kept = MockBlocks::new();
    kept.expect_is_blocked().returning(|_, guest| Ok(guest == user(4)));
    kept.expect_block().returning(|_, guest, at| {
        let block = Block { guest, name: Line::new("Dee").unwrap(), at };
        Ok(Some(block).filter(|_| guest != user(5)))
    });
    let mut requests = MockMusicRequests::new();
    requests
        .expect_has_requested()
        .returning(|guest, dj| Ok(![3, 4, 9].map(user).contains(&guest) && dj == user(2)));
    let mut tips = MockTips::new();
    tips.expect_has_tipped().returning(|guest, dj| Ok(guest == user(3) && dj == user(2)));
    kept.expect_unblock().returning(|_, _| Ok(false));
    let env = Doubles { requests, tips, blocks: kept, ..Doubles::default() }.env();
    GuestBlocks { executor: Executor::new(env.clone()), env }
}

#[test]
fn djs_can_block_only_their_guests() {
    // An existing block stays, even if it was made without a request.
    for guest in [1, 3, 4] {
        let blocked = run(blocks().block(&context(2), user(guest))).unwrap();
        assert_eq!((blocked.guest, blocked.at), (user(guest), now()));
    }
    let oneself = run(blocks().block(&context(2), user(2)));
    assert!(matches!(oneself, Err(CommandError::Refused(BlockRefusal::Oneself))), "{oneself:?}");
    let other = Context { principal: Principal { user: user(6), ..principal(2) }, ..context(2) };
    for (dj, guest) in
        [(context(2), user(9)), (context(2), user(5)), (other.clone(), user(1)), (other, user(3))]
    {
        let nobody = run(blocks().block(&dj, guest));
        assert!(matches!(nobody, Err(CommandError::Failed(Failure::NotFound))), "{nobody:?}");
    }
    run(blocks().unblock(&context(2), user(9))).unwrap();
}

#[test]
fn a_guest_cannot_block_users() {
    let blocks = blocks();
    let blocked = run(blocks.block(&context(1), user(2)));
    assert!(matches!(blocked, Err(CommandError::Failed(Failure::Denied(_)))), "{blocked:?}");
    assert!(matches!(run(blocks.unblock(&context(1), user(2))), Err(Failure::Denied(_))));
    assert!(matches!(run(blocks.list(&principal(1), first_page())), Err(Failure::Denied(_))));
}

#[test]
fn an_erased_dj_receives_no_requests() {
    let opened = run(requests(MockLedger::new(), MockMusicRequests::new(), with_dj(true)).run(
        &context(1),
        OpenRequest,
        input(wish()),
    ));
    assert!(
        matches!(opened, Err(OpenError::Refused(OpenRequestRefusal::Rule(OpenRefusal::NoSuchDj)))),
        "{opened:?}"
    );
}
