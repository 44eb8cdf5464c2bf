//! The rejection of requests that count as guests', and the report of failures.

use super::gig_endings::gig;
use super::*;
use crate::application::FailedRejections;
use crate::user::guest_account::RecentMinutes;

/// The failed rejections that are reported when the ledger answers each of these requests like this.
fn reported(answers: Vec<Result<Applied, ApplyError>>) -> Option<FailedRejections> {
    let made =
        |number| MusicRequest { id: RequestId::new(number).unwrap(), counts_as_guest: true, ..request() };
    let open: Vec<MusicRequest> = (1..).map(made).take(answers.len()).collect();
    let matching = open.len();
    let mut answers = answers.into_iter();
    let mut ledger = MockLedger::new();
    ledger.expect_entity().returning(|_| Ok(Some(gig(None).into())));
    ledger.expect_apply().times(matching).returning(move |_| answers.next().unwrap());
    let mut gigs = MockGigs::new();
    gigs.expect_gig_requests().returning(move |_, _, _| Ok(open.clone()));
    let env = Doubles { ledger, gigs, ..Doubles::default() }.env();
    let rejections = GuestRejections { executor: Executor::new(env.clone()), env };
    let reported = Arc::new(Mutex::new(None));
    let report = {
        let reported = reported.clone();
        move |failed| *reported.lock().unwrap() = Some(failed)
    };
    let within = RecentMinutes::new(1).unwrap();
    let rejected = run(rejections.reject(&context(2), gig(None).id, within, report));
    assert_eq!(rejected.unwrap(), matching);
    reported.lock().unwrap().take()
}

#[test]
fn failed_rejections_are_reported_with_their_number_and_a_changed_request_is_no_failure() {
    let lost = || Err(ApplyError::Unavailable(Unavailable::new("lost")));
    let changed = || rejected(Rejection::Stale);
    let failed = reported(vec![changed(), lost(), changed(), lost()]).unwrap();
    assert_eq!((failed.gig, failed.requests), (gig(None).id, 2));
    assert!(matches!(failed.first, Failure::Unavailable(_)), "{failed:?}");
    assert!(reported(vec![changed()]).is_none());
    assert!(reported(vec![]).is_none());
}
