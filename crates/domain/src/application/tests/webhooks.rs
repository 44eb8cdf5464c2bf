//! Turns for webhook endpoints, on doubles of the ports.

use std::sync::atomic::{AtomicI64, Ordering};

use super::*;
use crate::event::EventType;
use crate::ids::WebhookEndpointId;
use crate::operation::{PlanKind, Position, PositionedOperation};
use crate::webhook::{
    AttemptError, AttemptOutcome, DisabledReason, EndpointState, FailedDelivery, Lease, Replay, Turn,
    WebhookEndpoint,
};

const DELIVERED: AttemptOutcome = AttemptOutcome::Answered { status: 200, retry_after: None };
const FAILED: AttemptOutcome = AttemptOutcome::Unanswered(AttemptError::TimedOut);
const GONE: AttemptOutcome = AttemptOutcome::Answered { status: 410, retry_after: None };

/// The state around a turn.
struct Scene {
    /// The number of requests that were opened, each at its position.
    operations: i64,
    /// The position whose personal data are past their retention.
    redacted: Option<i64>,
    /// Whether the secrets can be decrypted.
    can_sign: bool,
    /// The position whose operation concerns another user.
    foreign: Option<i64>,
    seconds: AtomicI64,
    /// The duration of a read of operations.
    read_seconds: i64,
    leased: Mutex<Option<(WebhookEndpoint, User)>>,
    due: Vec<FailedDelivery>,
    /// The positions of the calls.
    called: Mutex<Vec<i64>>,
    /// The recorded turn, and the time at which its lease ends.
    ended: Mutex<Option<(Timestamp, Turn)>>,
}

fn id() -> WebhookEndpointId {
    WebhookEndpointId::new(1).unwrap()
}

fn position(number: i64) -> Position {
    Position::new(number).unwrap()
}

fn failed(number: i64, attempts: u32) -> FailedDelivery {
    FailedDelivery { position: position(number), attempts, next_at: Some(now()), failed_at: now() }
}

impl Scene {
    /// An endpoint of guest 1 that has received none of this number of events.
    fn new(operations: i64) -> Self {
        let (name, email) = (Line::new("Ada").unwrap(), Email::new("ada@example.com").unwrap());
        let owner = User::registered(user(1), name, email, None, false, now());
        Self {
            operations,
            redacted: None,
            can_sign: true,
            foreign: None,
            seconds: AtomicI64::new(0),
            read_seconds: 0,
            leased: Mutex::new(Some((webhook_endpoint(1, "sealed"), owner))),
            due: Vec::new(),
            called: Mutex::default(),
            ended: Mutex::default(),
        }
    }

    fn change(self, change: impl FnOnce(&mut WebhookEndpoint, &mut User)) -> Self {
        if let Some((endpoint, owner)) = self.leased.lock().unwrap().as_mut() {
            change(endpoint, owner);
        }
        self
    }

    fn operation(&self, number: i64) -> PositionedOperation {
        let receipt = if self.redacted == Some(number) {
            StoredReceipt::Redacted { operation: OperationId(9), user: user(1) }
        } else {
            StoredReceipt::Whole(receipt())
        };
        let kind = Some(PlanKind::OpenRequest);
        PositionedOperation { position: position(number), kind, at: now(), receipt }
    }

    fn page(&self, concerning: Option<UserId>, after: Position, limit: u32) -> OperationPage {
        self.seconds.fetch_add(self.read_seconds, Ordering::Relaxed);
        let foreign = self.foreign.filter(|_| concerning == Some(user(1)));
        let numbers = after.get().saturating_add(1)..=self.operations;
        let numbers = numbers.filter(|number| Some(*number) != foreign);
        let operations = numbers.take(limit.try_into().unwrap()).map(|number| self.operation(number));
        OperationPage { operations: operations.collect(), newest: position(self.operations), gap: None }
    }
}

/// Takes a turn in which `send` decides about each call by its position; returns the scene afterwards, and the
/// jobs that were enqueued.
fn turn(
    scene: Scene,
    send: impl Fn(&Scene, i64) -> AttemptOutcome + Send + Sync + 'static,
) -> (Arc<Scene>, TurnSummary, Vec<Job>) {
    let (scene, jobs) = (Arc::new(scene), Arc::<Mutex<Vec<Job>>>::default());
    let (mut endpoints, mut clock) = (MockWebhookEndpoints::new(), MockClock::new());
    let lease = Lease { endpoint: id(), number: 4 };
    endpoints.expect_lease_endpoint().once().returning(move |_, _, _| Ok(Some(lease)));
    let shared = scene.clone();
    endpoints.expect_leased_endpoint().returning(move |_| Ok(shared.leased.lock().unwrap().clone()));
    let shared = scene.clone();
    endpoints.expect_due_deliveries().returning(move |_, _, _| Ok(shared.due.clone()));
    let shared = scene.clone();
    endpoints.expect_end_turn().returning(move |ended, until, turn| {
        assert_eq!(ended, lease);
        *shared.ended.lock().unwrap() = Some((until, turn.clone()));
        Ok(true)
    });
    let shared = scene.clone();
    clock
        .expect_now()
        .returning(move || now().plus(Duration::seconds(shared.seconds.load(Ordering::Relaxed))));
    let mut operations = MockOperationLog::new();
    let shared = scene.clone();
    operations
        .expect_operations()
        .returning(move |concerning, after, limit| Ok(shared.page(concerning, after, limit)));
    let mut webhooks = MockWebhookSender::new();
    let shared = scene.clone();
    webhooks.expect_send().returning(move |_, message, _| {
        if !shared.can_sign {
            return Err(Unavailable::new("no key"));
        }
        let WebhookMessage::Event(event) = message else { panic!("{message:?}") };
        let number = event.position.get();
        shared.called.lock().unwrap().push(number);
        Ok(SentWebhook { outcome: send(&shared, number), took: Duration::ZERO, answer: None })
    });
    let (mut queue, queued) = (MockJobQueue::new(), jobs.clone());
    queue.expect_enqueue().returning(move |job| {
        queued.lock().unwrap().push(job);
        Ok(())
    });
    let doubles =
        Doubles { endpoints, clock: Some(clock), operations, webhooks, jobs: queue, ..Doubles::default() };
    let can_sign = scene.can_sign;
    let taken = run(Deliveries::new(doubles.env()).take_turn(id(), || false));
    assert_eq!(taken.is_ok(), can_sign);
    let summary = taken.unwrap_or_default();
    let jobs = jobs.lock().unwrap().clone();
    (scene, summary, jobs)
}

fn called(scene: &Scene) -> Vec<i64> {
    scene.called.lock().unwrap().clone()
}

fn ended(scene: &Scene) -> Turn {
    scene.ended.lock().unwrap().clone().expect("the turn is recorded").1
}

/// Asserts that nothing was sent, and that nobody looks at the endpoint again for this time.
fn is_left_alone(scene: &Scene, seconds: i64) {
    assert!(called(scene).is_empty());
    let later = now().plus(Duration::seconds(seconds));
    assert_eq!(*scene.ended.lock().unwrap(), Some((later, Turn::default())));
}

#[test]
fn every_event_is_attempted_once_in_order_despite_failures() {
    let (scene, summary, _) =
        turn(Scene::new(250), |_, number| if number % 100 == 0 { FAILED } else { DELIVERED });
    assert_eq!(called(&scene), (1..=250).collect::<Vec<_>>());
    let turn = ended(&scene);
    assert_eq!(turn.cursor, Some(position(250)));
    assert_eq!(turn.failed.iter().map(|failed| failed.position.get()).collect::<Vec<_>>(), [100, 200]);
    assert_eq!((summary.delivered, summary.failed, summary.given_up), (248, 2, 0));
}

#[test]
fn no_call_of_a_batch_starts_after_ten_seconds() {
    let (scene, ..) = turn(Scene::new(9), |scene, _| {
        scene.seconds.fetch_add(4, Ordering::Relaxed);
        FAILED
    });
    assert_eq!((called(&scene), ended(&scene).cursor), (vec![1, 2, 3], Some(position(3))));
}

#[test]
fn nothing_is_sent_after_the_owner_of_an_endpoint_is_suspended() {
    let suspend = |scene: &Scene| {
        let mut leased = scene.leased.lock().unwrap();
        leased.as_mut().unwrap().1.suspended_at = Some(now());
    };
    let (scene, ..) = turn(Scene::new(9), move |scene, number| {
        if number == 2 {
            suspend(scene);
        }
        DELIVERED
    });
    assert_eq!((called(&scene), ended(&scene).cursor), (vec![1, 2], Some(position(2))));
    let (scene, ..) =
        turn(Scene::new(9).change(|_, owner| owner.suspended_at = Some(now())), |_, _| DELIVERED);
    // A restored owner does not wait long.
    is_left_alone(&scene, 1);
}

#[test]
fn a_server_stops_calling_an_endpoint_after_losing_its_lease() {
    let (scene, ..) = turn(Scene::new(9), |scene, _| {
        scene.leased.lock().unwrap().take();
        DELIVERED
    });
    assert_eq!(called(&scene), [1]);
}

#[test]
fn a_410_answer_disables_the_endpoint_and_notifies_its_owner() {
    let (scene, summary, jobs) = turn(Scene::new(9), |_, number| if number == 3 { GONE } else { DELIVERED });
    assert_eq!(called(&scene), [1, 2, 3]);
    let disabled = EndpointState::Disabled { at: now(), reason: DisabledReason::Gone };
    assert_eq!((ended(&scene).disabled, summary.disabled), (Some(disabled), Some(DisabledReason::Gone)));
    assert_eq!(jobs, [Job::NotifyWebhookDisabled(id())]);
}

#[test]
fn failed_deliveries_are_retried_before_new_events() {
    let due = vec![failed(2, 1), failed(3, 9), failed(4, 1)];
    let scene = Scene { due, redacted: Some(4), ..Scene::new(6) };
    let scene = scene.change(|endpoint, _| endpoint.cursor = position(5));
    let (scene, summary, _) = turn(scene, |_, number| if number == 3 { FAILED } else { DELIVERED });
    assert_eq!(called(&scene), [2, 3, 6], "what is past its retention cannot be sent");
    let turn = ended(&scene);
    assert_eq!(turn.settled, [position(2), position(4)]);
    assert_eq!(turn.failed, [FailedDelivery { attempts: 10, next_at: None, ..failed(3, 9) }]);
    assert_eq!((summary.delivered, summary.failed, summary.given_up), (2, 0, 1));
    assert_eq!(turn.attempts.iter().map(|attempt| attempt.number).collect::<Vec<_>>(), [2, 10, 1]);
}

#[test]
fn retries_skip_events_of_other_users() {
    let scene = Scene { due: vec![failed(2, 1), failed(3, 1)], foreign: Some(2), ..Scene::new(4) };
    let (scene, ..) = turn(scene.change(|endpoint, _| endpoint.cursor = position(4)), |_, _| DELIVERED);
    assert_eq!(called(&scene), [3]);
    assert_eq!(ended(&scene).settled, [position(2), position(3)]);
}

#[test]
fn a_webhook_replay_sends_only_the_events_in_its_range() {
    let range = Replay { after: position(1), until: position(3) };
    let (scene, ..) = turn(
        Scene::new(9).change(|endpoint, _| (endpoint.replay, endpoint.cursor) = (Some(range), position(8))),
        |_, _| DELIVERED,
    );
    assert_eq!(called(&scene), [2, 3, 9]);
    let turn = ended(&scene);
    assert_eq!((turn.replayed_to, turn.cursor), (Some(position(3)), Some(position(9))));
}

#[test]
fn events_of_unselected_types_are_skipped() {
    let types = Some([EventType::TopupConfirmed].into_iter().collect());
    let (scene, ..) = turn(Scene::new(250).change(|endpoint, _| endpoint.types = types), |_, _| DELIVERED);
    assert!(called(&scene).is_empty());
    assert_eq!(ended(&scene).cursor, Some(position(250)));
}

#[test]
fn an_endpoint_whose_secrets_cannot_be_decrypted_is_tried_again_later() {
    let (scene, ..) = turn(Scene { can_sign: false, ..Scene::new(9) }, |_, _| DELIVERED);
    is_left_alone(&scene, 30);
}

#[test]
fn slow_retries_and_replays_do_not_starve_new_events() {
    let slow = |scene: &Scene, _| {
        scene.seconds.fetch_add(15, Ordering::Relaxed);
        FAILED
    };
    let range = Replay { after: position(3), until: position(5) };
    let scene = Scene { due: vec![failed(1, 1), failed(2, 1)], ..Scene::new(9) };
    let scene = scene.change(|endpoint, _| (endpoint.cursor, endpoint.replay) = (position(7), Some(range)));
    let (scene, ..) = turn(scene, slow);
    assert_eq!(called(&scene), [1, 8]);
}

#[test]
fn a_change_of_types_during_a_batch_applies_to_later_events() {
    let types = Some([EventType::TopupConfirmed].into_iter().collect());
    let range = Replay { after: position(0), until: position(1) };
    let scene = Scene::new(9).change(|endpoint, _| {
        (endpoint.types, endpoint.cursor, endpoint.replay) = (None, position(8), Some(range));
    });
    let narrow = move |scene: &Scene, _| {
        scene.leased.lock().unwrap().as_mut().unwrap().0.types.clone_from(&types);
        DELIVERED
    };
    let (scene, ..) = turn(scene, narrow);
    assert_eq!(called(&scene), [1], "the new event has another type");
}

#[test]
fn a_batch_ends_in_time_even_if_it_skips_a_long_backlog() {
    let types = Some([EventType::TopupConfirmed].into_iter().collect());
    let scene = Scene { read_seconds: 4, ..Scene::new(1_000) };
    let (scene, ..) = turn(scene.change(|endpoint, _| endpoint.types = types), |_, _| DELIVERED);
    assert_eq!(ended(&scene).cursor, Some(position(300)));
}
