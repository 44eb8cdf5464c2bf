//! Export and erasure of personal data, on doubles of the ports.

use futures_util::{StreamExt as _, TryStreamExt as _};

use super::*;
use crate::entity_ref::EntityRef;
use crate::ledger::{ChainHash, Entry, EntryKind};
use crate::privacy::ErasureRefusal;
use crate::privacy::personal_data::{ExportList, ExportRecord};
use crate::text::Password;

const WEEK: Duration = Duration::days(7);

fn personal_data(doubles: Doubles) -> PersonalData {
    let env = doubles.env();
    PersonalData { executor: Executor::new(env.clone()), env }
}

/// A log that expects only this event.
fn noting(kind: SecurityEventKind) -> MockSecurityLog {
    let mut log = MockSecurityLog::new();
    let right = move |event: &SecurityEvent| {
        event.kind == kind && event.user == Some(user(2)) && event.session == Some(principal(2).session)
    };
    log.expect_append().withf(right).once().returning(|_| Ok(()));
    log
}

fn entry(seq: i64) -> Entry {
    Entry {
        wallet: user(2),
        seq,
        operation: OperationId(1),
        kind: EntryKind::Hold,
        reference: EntityRef::MusicRequest(RequestId::new(7).unwrap()),
        change: crate::ledger::Balance::default(),
        after: crate::ledger::Balance::default(),
        at: now(),
        previous: ChainHash::START,
        hash: ChainHash::START,
    }
}

/// A wallet with this number of entries, which gains two more between any two pages.
fn growing(entries: i64) -> MockPersonalRecords {
    let (mut records, mut newest) = (MockPersonalRecords::new(), entries);
    records.expect_records().returning(move |of, list, after, limit| {
        assert_eq!((of, list), (user(2), ExportList::Entries));
        let kept = (1..=newest).rev().map(|seq| ExportRecord::Entry(entry(seq), None));
        newest = newest.saturating_add(2);
        Ok(ExportRecord::next(kept, after, limit))
    });
    records
}

#[test]
fn an_export_contains_each_earlier_entry_once_while_the_list_grows() {
    for entries in [0, 1, 199, 200, 201, 450] {
        let data = personal_data(Doubles { records: growing(entries), ..Doubles::default() });
        let pages: Vec<Vec<ExportRecord>> =
            run(data.list(&principal(2), ExportList::Entries).unwrap().try_collect()).unwrap();
        let numbers: Vec<i64> =
            pages
                .into_iter()
                .flatten()
                .map(|record| {
                    if let ExportRecord::Entry(entry, _) = record { entry.seq } else { panic!("{record:?}") }
                })
                .collect();
        assert_eq!(numbers, (1..=entries).rev().collect::<Vec<_>>());
    }
}

#[test]
fn an_export_ends_with_an_error_when_the_storage_fails() {
    let mut records = MockPersonalRecords::new();
    records.expect_records().returning(|_, _, after, limit| match after {
        None => Ok((1..=i64::from(limit)).rev().map(|seq| ExportRecord::Entry(entry(seq), None)).collect()),
        Some(_) => Err(Unavailable::new("the storage is away")),
    });
    let data = personal_data(Doubles { records, ..Doubles::default() });
    let pages: Vec<_> = run(data.list(&principal(2), ExportList::Entries).unwrap().collect());
    assert!(matches!(&pages[..], [Ok(_), Err(_)]), "{pages:?}");
}

/// A request is shown by the clock, and an operator's event without the operator and their client info.
#[test]
fn exports_hide_operators_and_show_overdue_requests_as_expired() {
    let mut records = MockPersonalRecords::new();
    records.expect_records().returning(|_, list, _, _| {
        Ok(vec![match list {
            ExportList::RequestsMade => ExportRecord::Request(MusicRequest {
                state: RequestState::Pending { answer_by: now() },
                ..request()
            }),
            _ => {
                let event = SecurityEvent::by(
                    &principal(3),
                    SecurityEventKind::OperatorAction,
                    ClientInfo::default(),
                    now(),
                );
                ExportRecord::Event(1, SecurityEvent { user: Some(user(2)), ..event })
            }
        }])
    });
    let data = personal_data(Doubles { records, ..Doubles::default() });
    let shown = |list| -> Vec<Vec<ExportRecord>> {
        run(data.list(&principal(2), list).unwrap().try_collect()).unwrap()
    };
    let made = shown(ExportList::RequestsMade);
    assert!(
        matches!(&made[0][..], [ExportRecord::Request(request)] if request.state.status() == crate::music_request::RequestStatus::Expired),
        "{made:?}"
    );
    let events = shown(ExportList::Events);
    assert!(
        matches!(&events[0][..], [ExportRecord::Event(1, event)] if event.session.is_none() && event.actor.is_none()),
        "{events:?}"
    );
}

#[test]
fn an_export_is_recorded_in_the_security_log() {
    let (people, log) = (people_with(true), noting(SecurityEventKind::DataExported));
    let data = personal_data(Doubles { people, log, ..Doubles::default() });
    let profile = run(data.export(&context(2))).unwrap();
    assert_eq!(profile.user.id, user(2));
}

/// The outcome of erasing the DJ, given this verification of their password and this outcome of the store.
fn erase(
    verified: PasswordCheck,
    erased: Option<Erased>,
    log: MockSecurityLog,
) -> Result<(), CommandError<EraseRefusal>> {
    let times = usize::from(erased == Some(Erased::Done));
    let mut doubles = Doubles { log, revocations: refreshed(times), ..Doubles::default() };
    doubles.logins.expect_credentials_of().with(eq(user(2))).returning(|user| {
        Ok(Some(Credentials { user, role: Role::Member, password: PasswordHash("hash".to_owned()) }))
    });
    doubles.passwords.expect_verify().once().returning(move |_, _, _| Ok(verified));
    doubles.people.expect_profile().returning(|_| Ok(Some(dj(true))));
    // The erasure is done even if the pending top-ups fail later.
    let unavailable = |_, _| Err(Unavailable::new("the storage is away"));
    doubles.topups.expect_pending_topups().times(times).returning(unavailable);
    if let Some(erased) = erased {
        doubles
            .requests
            .expect_overdue()
            .withf(|which| which.requester == Some(user(2)))
            .once()
            .returning(|_| Ok(Vec::new()));
        let asked = doubles
            .people
            .expect_erase()
            .with(eq(user(2)), eq(PasswordHash("hash".to_owned())), eq(now().minus(WEEK)), eq(now()))
            .once();
        asked.returning(move |_, _, _, _| Ok(erased));
    }
    let password = Password::presented("secret-secret");
    run(personal_data(doubles).erase(&context(2), Some(&password)))
}

#[test]
fn an_erasure_requires_the_password_an_empty_wallet_and_no_pending_topup() {
    assert!(erase(PasswordCheck::Right, Some(Erased::Done), noting(SecurityEventKind::DataErased)).is_ok());
    let wrong = erase(PasswordCheck::Wrong, None, noting(SecurityEventKind::LoginFailed));
    assert!(matches!(wrong, Err(CommandError::Refused(EraseRefusal::WrongPassword))), "{wrong:?}");
    let refused = Some(Erased::Refused(ErasureRefusal::MoneyLeft));
    let rich = erase(PasswordCheck::Right, refused, MockSecurityLog::new());
    assert!(
        matches!(rich, Err(CommandError::Refused(EraseRefusal::Rule(ErasureRefusal::MoneyLeft)))),
        "{rich:?}"
    );
    let refused = Some(Erased::Refused(ErasureRefusal::TopupPending));
    let waiting = erase(PasswordCheck::Right, refused, MockSecurityLog::new());
    assert!(
        matches!(waiting, Err(CommandError::Refused(EraseRefusal::Rule(ErasureRefusal::TopupPending)))),
        "{waiting:?}"
    );
    let refused = Some(Erased::Refused(ErasureRefusal::ConfirmationOutdated));
    let changed = erase(PasswordCheck::Right, refused, MockSecurityLog::new());
    assert!(
        matches!(
            changed,
            Err(CommandError::Refused(EraseRefusal::Rule(ErasureRefusal::ConfirmationOutdated)))
        ),
        "{changed:?}"
    );
    let again = erase(PasswordCheck::Right, Some(Erased::Nobody), MockSecurityLog::new());
    assert!(matches!(again, Err(CommandError::Failed(Failure::UnknownPrincipal))), "{again:?}");
}
