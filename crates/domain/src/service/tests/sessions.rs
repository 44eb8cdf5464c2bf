//! One's own sessions, on doubles of the ports.

use super::*;
use crate::ports::MockSessions;
use crate::session::Visitor;

fn desk_of(sessions: MockSessions, noted: Option<(EventKind, i64)>) -> OwnSessions {
    let mut clock = MockClock::new();
    clock.expect_now().return_const(now());
    let mut log = MockSecurityLog::new();
    if let Some((kind, session)) = noted {
        log.expect_append()
            .withf(move |event| {
                event.kind == kind
                    && event.user == Some(user(1))
                    && event.actor == Some(user(1))
                    && event.session == SessionId::new(session)
            })
            .once()
            .returning(|_| Ok(()));
    }
    OwnSessions { sessions: Arc::new(sessions), journal: journal(log), clock: Arc::new(clock) }
}

#[test]
fn a_session_that_is_not_one_s_own_is_not_found() {
    let mut sessions = MockSessions::new();
    sessions.expect_end_session().returning(|_, _, _| Ok(false));
    let ended = run(desk_of(sessions, None).end(&caller(1), SessionId::new(9).unwrap(), Visitor::default()));
    assert!(matches!(ended, Err(EndSessionError::NotFound)), "{ended:?}");
}

#[test]
fn an_end_is_noted_with_the_session_that_ended() {
    let mut sessions = MockSessions::new();
    let ninth = SessionId::new(9).unwrap();
    sessions
        .expect_end_session()
        .with(eq(user(1)), eq(ninth), eq(now()))
        .once()
        .returning(|_, _, _| Ok(true));
    let desk = desk_of(sessions, Some((EventKind::SessionEnded, 9)));
    run(desk.end(&caller(1), ninth, Visitor::default())).unwrap();
}

#[test]
fn logging_out_everywhere_keeps_no_session() {
    let mut sessions = MockSessions::new();
    sessions.expect_end_sessions().with(eq(user(1)), eq(None), eq(now())).once().returning(|_, _, _| Ok(3));
    let desk = desk_of(sessions, Some((EventKind::SessionsEnded, 1)));
    run(desk.end_all(&caller(1), Visitor::default())).unwrap();
}
