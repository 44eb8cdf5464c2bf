//! The principal's own sessions, on doubles of the ports.

use super::*;

fn own_sessions(sessions: MockSessions, noted: Option<(SecurityEventKind, i64)>) -> OwnSessions {
    let mut log = MockSecurityLog::new();
    let times = usize::from(noted.is_some());
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
    let mut jobs = MockJobQueue::new();
    if matches!(noted, Some((SecurityEventKind::SessionsEnded, _))) {
        expect_secured(&mut jobs, user(1), SecurityCause::SessionsEnded, None);
    }
    let env = Doubles { sessions, log, jobs, revocations: refreshed(times), ..Doubles::default() }.env();
    OwnSessions { executor: Executor::new(env.clone()), env }
}

#[test]
fn the_session_of_another_user_is_not_found() {
    let mut sessions = MockSessions::new();
    sessions.expect_end_session().returning(|_, _, _| Ok(false));
    let ended = run(own_sessions(sessions, None).end(&context(1), SessionId::new(9).unwrap()));
    assert!(matches!(ended, Err(Failure::NotFound)), "{ended:?}");
}

#[test]
fn the_end_of_a_session_is_recorded_with_the_session_id() {
    let mut sessions = MockSessions::new();
    let ninth = SessionId::new(9).unwrap();
    sessions
        .expect_end_session()
        .with(eq(user(1)), eq(ninth), eq(now()))
        .once()
        .returning(|_, _, _| Ok(true));
    let sessions = own_sessions(sessions, Some((SecurityEventKind::SessionEnded, 9)));
    run(sessions.end(&context(1), ninth)).unwrap();
}

#[test]
fn logging_out_everywhere_ends_all_sessions() {
    let mut sessions = MockSessions::new();
    sessions.expect_end_sessions().with(eq(user(1)), eq(None), eq(now())).once().returning(|_, _, _| Ok(3));
    let sessions = own_sessions(sessions, Some((SecurityEventKind::SessionsEnded, 1)));
    run(sessions.end_all(&context(1))).unwrap();
}

#[test]
fn the_logout_of_a_browser_ends_its_session_and_is_recorded_as_its_end() {
    let own = context(1).principal.session;
    for was_live in [true, false] {
        let mut sessions = MockSessions::new();
        sessions
            .expect_end_session()
            .with(eq(user(1)), eq(own), eq(now()))
            .once()
            .returning(move |_, _, _| Ok(was_live));
        let noted = was_live.then(|| (SecurityEventKind::SessionEnded, own.get()));
        run(own_sessions(sessions, noted).log_out(&context(1))).unwrap();
    }
}
