//! The promises of the executor, with a command that records its steps.

use std::cell::Cell;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::simulated_time::{Simulated, SpawnedTasks};
use super::*;
use crate::authorization::{Revocation, permission};
use crate::entity_ref::EntityRef;
use crate::operation::Entity;
use crate::ports::{MockPrincipalCheck, PrincipalRefusal};

/// The number of calls of each step of a command.
#[derive(Default)]
struct Steps {
    loaded: AtomicUsize,
    authorized: AtomicUsize,
    decided: AtomicUsize,
}

impl Steps {
    fn counts(&self) -> (usize, usize, usize) {
        let count = |step: &AtomicUsize| step.load(Ordering::SeqCst);
        (count(&self.loaded), count(&self.authorized), count(&self.decided))
    }
}

/// Cancels the request of guest 1, unless it is missing, another guest's to them, or refused.
struct Probe<'a> {
    steps: &'a Steps,
    found: bool,
    own: bool,
    refused: bool,
}

impl<'a> Probe<'a> {
    fn new(steps: &'a Steps) -> Self {
        Self { steps, found: true, own: true, refused: false }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("refused")]
struct Refused;

impl Command for Probe<'_> {
    type Permission = permission::CancelRequest;
    type Entity = MusicRequest;
    type Input = ();
    type Output = MusicRequest;
    type Refusal = Refused;

    fn id(&self) -> RequestId {
        request().id
    }

    async fn load(&self, _: &Environment) -> Result<MusicRequest, Failure> {
        self.steps.loaded.fetch_add(1, Ordering::SeqCst);
        let to_principal = MusicRequest { requester: user(4), dj: user(1), ..request() };
        let found = if self.own { request() } else { to_principal };
        self.found.then_some(found).ok_or(Failure::NotFound)
    }

    async fn check(
        &self,
        _: &Environment,
        _: &Principal,
        _: &Authorized<MusicRequest, permission::CancelRequest>,
    ) -> Result<(), Failure> {
        self.steps.authorized.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    async fn decide(&self, Decide { metadata, principal, .. }: Decide<'_, Self>) -> Decided<Self> {
        self.steps.decided.fetch_add(1, Ordering::SeqCst);
        if self.refused {
            return Err(CommandError::Refused(Refused));
        }
        let change = crate::user::UserStatusChange::Suspend;
        Ok(crate::operation::plans::change_user_status(metadata, principal.user, change))
    }
}

type ProbeError<I = Infallible> = CommandError<Refused, I>;

fn keyed() -> Context {
    Context { key: Some(key(b"{}")), ..context(1) }
}

fn known() -> KeyRecord {
    KeyRecord { key: key(b"{}"), receipt: StoredReceipt::Whole(receipt()), at: now() }
}

/// An executor on this ledger, which expects this number of refreshes of the revocation list.
fn executor(ledger: MockLedger, refreshes: usize) -> Executor {
    Doubles { ledger, revocations: refreshed(refreshes), ..Doubles::default() }.executor()
}

fn applying(answer: fn() -> Result<Applied, ApplyError>) -> MockLedger {
    let mut ledger = MockLedger::new();
    ledger.expect_apply().once().returning(move |_| answer());
    ledger
}

#[test]
fn a_replay_neither_loads_state_nor_reads_input() {
    let mut ledger = MockLedger::new();
    ledger.expect_find_key().once().returning(|_| Ok(Some(known())));
    let (steps, read) = (Steps::default(), Cell::new(0));
    let count = || -> Result<(), Infallible> {
        read.set(read.get() + 1);
        Ok(())
    };
    let done = run(executor(ledger, 0).run(&keyed(), Probe { found: false, ..Probe::new(&steps) }, count));
    assert_eq!(done.unwrap(), Done { value: request(), replayed: true });
    assert_eq!((steps.counts(), read.get()), ((0, 0, 0), 0));
}

#[test]
fn a_reused_idempotency_key_is_refused_before_state_is_loaded() {
    let mut ledger = MockLedger::new();
    ledger.expect_find_key().once().returning(|_| Ok(Some(KeyRecord { key: key(b"other"), ..known() })));
    let steps = Steps::default();
    let refused = run(executor(ledger, 0).run(&keyed(), Probe::new(&steps), input(())));
    assert!(matches!(refused, Err(ProbeError::Failed(Failure::KeyReused))), "{refused:?}");
    assert_eq!(steps.counts(), (0, 0, 0));
}

#[test]
fn a_concurrent_success_with_the_idempotency_key_overrides_a_refusal() {
    for (later, replayed) in [(None, false), (Some(known()), true)] {
        let steps = Steps::default();
        let probe = Probe { refused: true, ..Probe::new(&steps) };
        match run(executor(known_later(later), 0).run(&keyed(), probe, input(()))) {
            Ok(done) => assert!(done.replayed && replayed),
            Err(ProbeError::Refused(Refused)) => assert!(!replayed),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_input_is_read_once_after_loading_and_authorization() {
    for (found, own, expected) in [(false, true, "not found"), (true, false, "denied"), (true, true, "input")]
    {
        let steps = Steps::default();
        let probe = Probe { found, own, ..Probe::new(&steps) };
        let failed = run(executor(MockLedger::new(), 0).run(&context(1), probe, || Err("invalid")));
        let stage = match failed {
            Err(ProbeError::Failed(Failure::NotFound)) => "not found",
            Err(ProbeError::Failed(Failure::Denied(_))) => "denied",
            Err(ProbeError::Input("invalid")) => "input",
            other => panic!("{other:?}"),
        };
        assert_eq!((stage, steps.counts().2), (expected, 0));
    }
    let mut ledger = MockLedger::new();
    ledger.expect_apply().times(3).returning(|_| rejected(Rejection::Stale));
    let (steps, read) = (Steps::default(), Cell::new(0));
    let count = || -> Result<(), Infallible> {
        read.set(read.get() + 1);
        Ok(())
    };
    let conflict = run(executor(ledger, 0).run(&context(1), Probe::new(&steps), count));
    assert!(matches!(conflict, Err(ProbeError::Failed(Failure::Conflict))), "{conflict:?}");
    assert_eq!((read.get(), steps.counts().2), (1, 3));
}

#[test]
fn state_is_authorized_after_each_load() {
    let steps = Steps::default();
    let fresh = applying(|| Ok(Applied::Fresh(receipt())));
    run(executor(fresh, 1).run(&context(1), Probe::new(&steps), input(()))).unwrap();
    assert_eq!(steps.counts(), (1, 1, 1));

    // The state changed once: it is loaded and authorized again, by the same loader.
    let mut ledger = MockLedger::new();
    let mut turn = mockall::Sequence::new();
    ledger.expect_apply().once().in_sequence(&mut turn).returning(|_| rejected(Rejection::Stale));
    ledger.expect_apply().once().in_sequence(&mut turn).returning(|_| Ok(Applied::Fresh(receipt())));
    let steps = Steps::default();
    run(executor(ledger, 1).run(&context(1), Probe::new(&steps), input(()))).unwrap();
    assert_eq!(steps.counts(), (2, 2, 2));
}

#[test]
fn effects_follow_only_applied_plans() {
    type Answer = fn() -> Result<Applied, ApplyError>;
    let answers: [(Answer, bool); 2] =
        [(|| Ok(Applied::Fresh(receipt())), false), (|| Ok(Applied::Replayed(receipt())), true)];
    for (answer, replayed) in answers {
        let steps = Steps::default();
        let done = run(executor(applying(answer), 1).run(&context(1), Probe::new(&steps), input(())));
        assert_eq!(done.unwrap().replayed, replayed);
    }
    let steps = Steps::default();
    let refused = Probe { refused: true, ..Probe::new(&steps) };
    assert!(run(executor(MockLedger::new(), 0).run(&context(1), refused, input(()))).is_err());
    let rejecting = applying(|| rejected(Rejection::OutOfRange));
    let out = run(executor(rejecting, 0).run(&context(1), Probe::new(&steps), input(())));
    assert!(matches!(out, Err(ProbeError::Failed(Failure::OutOfRange))), "{out:?}");
}

#[test]
fn principals_are_rechecked_before_a_replay() {
    for revocation in [Revocation::SessionEnded, Revocation::Suspended] {
        let mut principals = MockPrincipalCheck::new();
        principals.expect_current().once().returning(move |_| Err(PrincipalRefusal::Revoked(revocation)));
        let steps = Steps::default();
        let executor = Doubles { principals: Some(Arc::new(principals)), ..Doubles::default() }.executor();
        let refused = run(executor.run(&keyed(), Probe::new(&steps), input(())));
        assert!(
            matches!(refused, Err(ProbeError::Failed(Failure::Revoked(found))) if found == revocation),
            "the key is not looked up"
        );
        assert_eq!(steps.counts(), (0, 0, 0));
    }
}

#[test]
fn principals_are_rechecked_before_changes_of_their_data() {
    let mut principals = MockPrincipalCheck::new();
    principals
        .expect_current()
        .once()
        .returning(|_| Err(PrincipalRefusal::Revoked(Revocation::SessionEnded)));
    let executor = Doubles { principals: Some(Arc::new(principals)), ..Doubles::default() }.executor();
    let refused = run(executor
        .perform::<permission::UseCredentials, (), Failure>(&context(1), async |_, _, _| {
            panic!("the change is made")
        }));
    assert!(matches!(refused, Err(Failure::Revoked(Revocation::SessionEnded))), "{refused:?}");
}

#[test]
fn a_role_revoked_since_authentication_is_not_used() {
    let mut principals = MockPrincipalCheck::new();
    let member = |principal| Ok(Principal { role: Role::Member, ..principal });
    principals.expect_current().once().returning(member);
    let executor = Doubles { principals: Some(Arc::new(principals)), ..Doubles::default() }.executor();
    let command = RefundRequest { id: RequestId::new(7).unwrap() };
    let refused = run(executor.run(&context(3), command, input(Line::new("why").unwrap())));
    assert!(matches!(refused, Err(CommandError::Failed(Failure::WrongRole))), "{refused:?}");
}

#[test]
fn commands_with_the_same_idempotency_key_run_in_sequence() {
    let mut ledger = MockLedger::new();
    let mut turn = mockall::Sequence::new();
    ledger.expect_find_key().once().in_sequence(&mut turn).returning(|_| Ok(None));
    ledger.expect_apply().once().in_sequence(&mut turn).returning(|_| Ok(Applied::Fresh(receipt())));
    ledger.expect_find_key().once().in_sequence(&mut turn).returning(|_| Ok(Some(known())));
    let (first, second) = (Steps::default(), Steps::default());
    let executor = executor(ledger, 1);
    let context = keyed();
    let both = futures_util::future::join(
        executor.run(&context, Probe::new(&first), input(())),
        executor.run(&context, Probe::new(&second), input(())),
    );
    let (one, other) = run(both);
    assert_eq!((one.unwrap().replayed, other.unwrap().replayed), (false, true));
    assert_eq!((first.counts(), second.counts()), ((1, 1, 1), (0, 0, 0)));
}

#[test]
fn the_payment_request_of_a_new_topup_is_sent_before_the_answer() {
    let topup = |page: Option<&str>| Topup {
        id: TopupId::new(7).unwrap(),
        opening: None,
        user: user(1),
        amount: Amount::new(Money::from_minor(500)).unwrap(),
        status: crate::topup::TopupStatus::Pending,
        payment_url: page.map(|page| crate::text::PaymentUrl::new(page).unwrap()),
        page_code: None,
        orders: Some(crate::topup::Orders { attempts: 1, next_at: None }),
        suspense: None,
        created_at: now(),
        updated_at: now(),
    };
    let of =
        |topup| Receipt { outcome: Outcome { entity: Entity::Topup(topup), balance: None }, ..receipt() };
    let page = Some("https://pay.example.com/1");
    let mut topup_provider = MockTopupProvider::new();
    topup_provider.expect_intake().return_const(Intake::Ordered);
    let reply = || crate::topup::OrderReply::Taken {
        page: crate::text::PaymentUrl::new("https://pay.example.com/1").ok(),
    };
    topup_provider.expect_order().once().returning(move |_| OrderAnswer::Replied(reply()));
    let mut ledger = MockLedger::new();
    let mut turn = mockall::Sequence::new();
    ledger.expect_find_key().once().in_sequence(&mut turn).returning(|_| Ok(None));
    for kept in [topup(None), topup(page)] {
        let applied = of(kept);
        ledger
            .expect_apply()
            .once()
            .in_sequence(&mut turn)
            .returning(move |_| Ok(Applied::Fresh(applied.clone())));
    }
    let first = KeyRecord { receipt: StoredReceipt::Whole(of(topup(None))), ..known() };
    ledger.expect_find_key().once().in_sequence(&mut turn).returning(move |_| Ok(Some(first.clone())));
    let mut topups = MockTopups::new();
    topups.expect_topup().returning(move |_| Ok(Some(topup(page))));
    let doubles = Doubles { ledger, topups, topup_provider, ..Doubles::default() };
    let (reports, executor) = (doubles.orders.clone(), doubles.executor());
    let amount = Amount::new(Money::from_minor(500)).unwrap();
    for replayed in [false, true] {
        let opened = run(executor.run(&keyed(), OpenTopup::default(), input(amount))).unwrap();
        assert_eq!(opened, Done { value: topup(page), replayed });
    }
    assert_eq!(*reports.0.lock().unwrap(), ["Ordered(Taken)"]);
}

/// A ledger that commits at once and answers one second later; it knows no key.
struct SlowLedger {
    time: Simulated,
    commits: Arc<AtomicUsize>,
}

#[async_trait]
impl Ledger for SlowLedger {
    async fn apply(&self, _: Plan) -> Result<Applied, ApplyError> {
        self.commits.fetch_add(1, Ordering::SeqCst);
        self.time.sleep(Duration::seconds(1)).await;
        Ok(Applied::Fresh(receipt()))
    }

    async fn find_key(&self, _: &KeyScope) -> Result<Option<KeyRecord>, Unavailable> {
        Ok(None)
    }

    async fn entity(&self, _: EntityRef) -> Result<Option<Entity>, Unavailable> {
        Ok(None)
    }
}

/// A revocation list whose refresh takes this time.
struct SlowRevocations {
    time: Simulated,
    takes: Duration,
    refreshed: Arc<AtomicUsize>,
}

#[async_trait]
impl Revocations for SlowRevocations {
    async fn refresh(&self) {
        self.time.sleep(self.takes).await;
        self.refreshed.fetch_add(1, Ordering::SeqCst);
    }
}

/// An executor in simulated time, with the numbers of its commits and of its refreshes.
struct InTime {
    time: Simulated,
    tasks: SpawnedTasks,
    executor: Executor,
    commits: Arc<AtomicUsize>,
    refreshed: Arc<AtomicUsize>,
}

impl InTime {
    fn new(refresh_takes: Duration) -> Self {
        let (time, tasks) = (Simulated::default(), SpawnedTasks::default());
        let (commits, refreshed) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let ledger = Arc::new(SlowLedger { time: time.clone(), commits: commits.clone() });
        let revocations =
            SlowRevocations { time: time.clone(), takes: refresh_takes, refreshed: refreshed.clone() };
        let doubles = Doubles {
            timer: Some(Arc::new(time.clone())),
            tasks: Some(Arc::new(tasks.clone())),
            ..Doubles::default()
        };
        let mut env = Arc::into_inner(doubles.env()).unwrap();
        env.ledger = ledger;
        env.ports.revocations = Arc::new(revocations);
        Self { time, tasks, executor: Executor::new(Arc::new(env)), commits, refreshed }
    }

    fn counts(&self) -> (usize, usize) {
        (self.commits.load(Ordering::SeqCst), self.refreshed.load(Ordering::SeqCst))
    }
}

#[test]
fn effects_follow_a_commit_that_outlasts_the_deadline() {
    let scene = InTime::new(Duration::ZERO);
    let (first, second) = (Steps::default(), Steps::default());
    let [early, late] = [3_000, 1_500]
        .map(|wait| Context { deadline: scene.time.after(Duration::milliseconds(wait)), ..keyed() });
    let both = futures_util::future::join(
        scene.executor.run(&early, Probe::new(&first), input(())),
        // It waits for one second for its key, and for half a second for the ledger.
        scene.executor.run(&late, Probe::new(&second), input(())),
    );
    let (one, other) = scene.time.run(scene.tasks.run(both));
    assert!(!one.unwrap().replayed);
    assert!(matches!(other, Err(ProbeError::Failed(Failure::InFlight))), "{other:?}");
    assert_eq!(scene.counts(), (2, 2));
}

#[test]
fn effects_follow_even_if_the_caller_is_gone() {
    let scene = InTime::new(Duration::ZERO);
    let steps = Steps::default();
    let context = context(1);
    let gone = async {
        let command = scene.executor.run(&context, Probe::new(&steps), input(()));
        let client = pin!(scene.time.sleep(Duration::milliseconds(500)));
        drop(futures_util::future::select(pin!(command), client).await);
        assert_eq!(scene.counts(), (1, 0));
    };
    scene.time.run(scene.tasks.run(gone));
    assert_eq!(scene.counts(), (1, 1));
}

#[test]
fn a_slow_effect_delays_the_answer_at_most_until_the_deadline() {
    for (takes, answered) in [(2, 3), (10, 4)] {
        let scene = InTime::new(Duration::seconds(takes));
        let steps = Steps::default();
        let context = context(1);
        let answer = async {
            scene.executor.run(&context, Probe::new(&steps), input(())).await.unwrap();
            scene.time.now()
        };
        assert_eq!(scene.time.run(scene.tasks.run(answer)), Duration::seconds(answered));
        assert_eq!(scene.counts(), (1, 1));
    }
}

/// Web workers and background tasks may run use cases on any thread.
#[test]
fn use_cases_can_run_on_any_thread() {
    fn is_send(_: impl Send) {}
    let executor = executor(MockLedger::new(), 0);
    let (context, id) = (context(1), RequestId::new(7).unwrap());
    is_send(executor.run(&context, CancelRequest { id }, input(())));
    is_send(executor.run(&context, OpenTopup::default(), || Err::<Amount, &str>("invalid")));
}
