//! Status updates about a top-up that race other changes, reverse it, or arrive after its owner was erased.

use super::*;

fn reversed(minor: i128) -> TopupUpdate {
    TopupUpdate::Reversed { amount: PaidAmount::Sum(Money::from_minor(minor)), currency: None }
}

fn with_topup(status: TopupStatus) -> Arc<Scene> {
    Scene::new(status, WithdrawalState::Approved, Some(OPENING))
}

fn receive(scene: &Arc<Scene>, update: TopupUpdate) -> MessageOutcome {
    run(scene.inbox(scene.keeps()).topup(&message(by(REFERENCE, None)), update)).unwrap()
}

fn contradiction(outcome: MessageOutcome) -> (&'static str, Option<&'static str>) {
    let MessageOutcome::Contradiction(contradicted) = outcome else { panic!("{outcome:?}") };
    (contradicted.contradiction.name(), contradicted.status)
}

#[test]
fn concurrent_opposite_updates_are_a_contradiction() {
    for (update, other) in [(paid(500), TopupStatus::Failed), (TopupUpdate::Failed, TopupStatus::Confirmed)] {
        let scene = Scene::pending();
        *scene.race.lock().unwrap() = Some(other);
        let outcome = run(scene.inbox(scene.keeps()).topup(&message(by(REFERENCE, None)), update)).unwrap();
        let MessageOutcome::Contradiction(contradicted) = outcome else { panic!("{outcome:?}") };
        assert_eq!(contradicted.contradiction, Contradiction::StatusContradiction);
        assert_eq!((contradicted.status, scene.kept().len()), (Some(other.name()), 1));
    }
}

#[test]
fn full_reversals_are_applied_once_and_partial_ones_stored_as_contradictions() {
    let scene = with_topup(TopupStatus::Confirmed);
    assert_eq!(contradiction(receive(&scene, reversed(499))), ("partial_reversal", Some("confirmed")));
    assert_eq!(contradiction(receive(&scene, reversed(501))), ("amount_mismatch", Some("confirmed")));
    assert_eq!(scene.topup.lock().unwrap().status, TopupStatus::Confirmed);
    assert_eq!(receive(&scene, reversed(500)), MessageOutcome::Moved { row: 5, status: "reversed" });
    assert_eq!(receive(&scene, reversed(500)), MessageOutcome::Known);
    assert_eq!(receive(&scene, paid(500)), MessageOutcome::Known);
    assert_eq!(
        contradiction(receive(&scene, TopupUpdate::Failed)),
        ("status_contradiction", Some("reversed"))
    );
    assert_eq!(scene.kept().len(), 3);
    for status in [TopupStatus::Pending, TopupStatus::Failed] {
        let told = contradiction(receive(&with_topup(status), reversed(500)));
        assert_eq!(told, ("status_contradiction", Some(status.name())));
    }
}

#[test]
fn a_reversal_after_an_operators_reversal_changes_nothing() {
    let scene = with_topup(TopupStatus::Confirmed);
    *scene.race.lock().unwrap() = Some(TopupStatus::Reversed);
    assert_eq!(receive(&scene, reversed(500)), MessageOutcome::Known);
    assert_eq!(scene.kept(), []);
}

#[test]
fn money_arriving_after_an_erasure_goes_into_suspense_once() {
    for status in [TopupStatus::Pending, TopupStatus::Failed] {
        let scene = with_topup(status);
        *scene.erased.lock().unwrap() = true;
        assert_eq!(contradiction(receive(&scene, paid(499))), ("amount_mismatch", Some(status.name())));
        assert_eq!(receive(&scene, paid(500)), MessageOutcome::Suspended { row: 5 });
        assert_eq!(receive(&scene, paid(500)), MessageOutcome::Known);
        for update in [TopupUpdate::Failed, reversed(500)] {
            assert_eq!(contradiction(receive(&scene, update)), ("status_contradiction", Some("failed")));
        }
        assert_eq!(scene.kept().len(), 3);
    }
}

#[test]
fn money_arriving_during_an_erasure_goes_into_suspense() {
    let scene = with_topup(TopupStatus::Pending);
    *scene.leaving.lock().unwrap() = true;
    assert_eq!(receive(&scene, paid(500)), MessageOutcome::Suspended { row: 5 });
    assert!(scene.topup.lock().unwrap().suspense.is_some());
}
