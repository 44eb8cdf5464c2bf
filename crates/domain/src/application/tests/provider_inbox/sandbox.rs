//! Payments of the sandbox, which a tester ends.

use super::*;
use crate::provider_reference::ProviderReference;

fn sandbox(scene: &Arc<Scene>) -> SandboxPayments {
    SandboxPayments { inbox: scene.inbox(scene.keeps()) }
}

fn reference(text: &str) -> ProviderReference {
    text.parse().unwrap()
}

fn end(scene: &Arc<Scene>, outcome: SandboxOutcome) -> MessageOutcome {
    let (_, outcome) = run(sandbox(scene).end(reference(REFERENCE), outcome)).unwrap();
    outcome
}

#[test]
fn a_payment_of_the_sandbox_is_found_by_its_reference_and_not_by_a_number_that_could_be_guessed() {
    let scene = Scene::pending();
    let payment = |text| run(sandbox(&scene).payment(reference(text)));
    assert_eq!(payment(REFERENCE).unwrap(), topup(TopupStatus::Pending, Some(OPENING)));
    for unknown in [UNKNOWN, "5"] {
        assert!(matches!(payment(unknown), Err(Failure::NotFound)), "{unknown}");
        let ended = run(sandbox(&scene).end(reference(unknown), SandboxOutcome::Paid));
        assert!(matches!(ended, Err(CommandError::Failed(Failure::NotFound))), "{unknown}: {ended:?}");
    }
    assert_eq!(scene.topup.lock().unwrap().status, TopupStatus::Pending);
}

#[test]
fn the_first_button_of_the_sandbox_decides_and_the_other_one_is_a_contradiction() {
    use SandboxOutcome::{Paid, Refused};
    for (first, second, status) in [(Paid, Refused, "confirmed"), (Refused, Paid, "failed")] {
        let scene = Scene::pending();
        assert_eq!(end(&scene, first), MessageOutcome::Moved { row: 5, status });
        assert_eq!(end(&scene, first), MessageOutcome::Known, "pressed twice");
        let MessageOutcome::Contradiction(contradicted) = end(&scene, second) else { panic!("{second:?}") };
        assert_eq!(contradicted.status, Some(status));
        assert_eq!(scene.topup.lock().unwrap().status.name(), status);
    }
}

#[test]
fn repeated_contradictions_of_the_sandbox_have_one_id_for_each_button_and_payment() {
    let scene = Scene::new(TopupStatus::Failed, WithdrawalState::Approved, Some(OPENING));
    for _ in 0..2 {
        assert!(matches!(end(&scene, SandboxOutcome::Paid), MessageOutcome::Contradiction(_)));
    }
    let id = WebhookId::new(&format!("sandbox-topup.confirmed-{REFERENCE}")).unwrap();
    let ids: Vec<WebhookId> = scene.kept().into_iter().map(|record| record.webhook_id).collect();
    assert_eq!(ids, [id.clone(), id]);
}
