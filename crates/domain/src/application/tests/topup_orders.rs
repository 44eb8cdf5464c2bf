//! Opening and ordering top-ups, on doubles of the ports around a book that applies the plans.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use time::Duration;

use super::*;
use crate::application::providers::Claim;
use crate::ledger::Wallet;
use crate::operation::{Book, OperationMetadata, Verdict, apply, plans};
use crate::provider_reference::ProviderReference;
use crate::text::PaymentUrl;
use crate::topup::{OrderReply, Orders, TopupStatus};

/// The state shared by several servers.
#[derive(Default)]
struct Scene {
    book: Mutex<Book>,
    seconds: AtomicI64,
    operations: AtomicU64,
    reports: Arc<super::Orders>,
}

/// A spawner whose tasks never run, as when the server stops or the provider hangs.
struct Held;

impl TaskSpawner for Held {
    fn spawn(&self, task: Task) {
        std::mem::forget(task);
    }
}

/// A timer whose deadlines have all passed.
struct Passed;

#[async_trait]
impl Timer for Passed {
    async fn sleep_until(&self, _: Deadline) {}
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::EPOCH.plus(Duration::seconds(seconds))
}

fn id() -> TopupId {
    TopupId::new(7).unwrap()
}

fn page() -> Option<PaymentUrl> {
    PaymentUrl::new("https://pay.example.com/1").ok()
}

fn orders(attempts: u32, next_at: Option<i64>) -> Option<Orders> {
    Some(Orders { attempts, next_at: next_at.map(at) })
}

impl Scene {
    fn new() -> Arc<Self> {
        let scene = Self::default();
        let (name, email) = (Line::new("Ada").unwrap(), Email::new("ada@example.com").unwrap());
        let person = User::registered(user(1), name, email, None, false, at(0));
        scene.book.lock().unwrap().put(person);
        scene.book.lock().unwrap().wallets.insert(user(1), Wallet::empty(user(1)));
        Arc::new(scene)
    }

    /// The same with a top-up whose server died before ordering it.
    fn opened() -> Arc<Self> {
        let scene = Self::new();
        open(&scene.server(provider(0, taken)));
        scene
    }

    fn stored(&self) -> Topup {
        self.book.lock().unwrap().get(id()).unwrap().clone()
    }

    fn now(&self) -> Timestamp {
        at(self.seconds.load(Ordering::SeqCst))
    }

    fn later(&self, seconds: i64) {
        self.seconds.fetch_add(seconds, Ordering::SeqCst);
    }

    /// Applies the provider's message in between.
    fn settle(&self, confirmed: bool) {
        let plan = plans::settle_topup(self.metadata(), &self.stored(), confirmed);
        apply(&mut self.book.lock().unwrap(), &plan).unwrap();
    }

    fn metadata(&self) -> OperationMetadata {
        OperationMetadata::system(self.operation(), self.now())
    }

    fn operation(&self) -> OperationId {
        OperationId(u128::from(self.operations.fetch_add(1, Ordering::SeqCst)) + 100)
    }

    fn apply(&self, plan: &Plan) -> Result<Applied, ApplyError> {
        match apply(&mut self.book.lock().unwrap(), plan) {
            Ok(Verdict::Fresh(receipt, _)) => Ok(Applied::Fresh(receipt)),
            Ok(Verdict::Replayed(receipt)) => Ok(Applied::Replayed(receipt)),
            Err(rejection) => Err(ApplyError::Rejected(rejection)),
        }
    }

    /// The use cases with this provider; each call is one server.
    fn server(self: &Arc<Self>, provider: MockTopupProvider) -> TopupOrders {
        let mut clock = MockClock::new();
        let scene = self.clone();
        clock.expect_now().returning(move || scene.now());
        let mut ids = MockIds::new();
        ids.expect_next_topup().returning(|| Ok(id()));
        let scene = self.clone();
        ids.expect_operation().returning(move || scene.operation());
        let mut ledger = MockLedger::new();
        let scene = self.clone();
        ledger.expect_apply().returning(move |plan| scene.apply(&plan));
        let mut topups = MockTopups::new();
        let scene = self.clone();
        topups.expect_topup().returning(move |asked| Ok(scene.book.lock().unwrap().get(asked).cloned()));
        let scene = self.clone();
        topups.expect_due_orders().returning(move |now, _| {
            let is_due = |topup: &Topup| topup.orders.unwrap().next_at.is_some_and(|at| at <= now);
            Ok(Some(scene.stored()).filter(is_due).into_iter().collect())
        });
        let env = Doubles {
            clock: Some(clock),
            ids: Some(ids),
            ledger,
            topups,
            topup_provider: provider,
            tasks: Some(Arc::new(Held)),
            timer: Some(Arc::new(Passed)),
            orders: self.reports.clone(),
            ..Doubles::default()
        };
        TopupOrders { env: env.env() }
    }

    /// Whether one attempt was reported since the last call, with an outcome that starts like this.
    fn reported(&self, outcome: &str) -> bool {
        let reports = std::mem::take(&mut *self.reports.0.lock().unwrap());
        matches!(&reports[..], [report] if report.starts_with(outcome))
    }
}

/// A provider that expects this number of calls, always for the same top-up, and gives this answer.
fn provider(times: usize, answer: impl Fn() -> OrderAnswer + Send + Sync + 'static) -> MockTopupProvider {
    let mut provider = intake(Intake::Ordered);
    let reference = ProviderReference::Operation(OperationId(100));
    let same = move |asked: &Topup| asked.id == id() && asked.reference() == reference;
    provider.expect_order().withf(same).times(times).returning(move |_| answer());
    provider
}

fn intake(intake: Intake) -> MockTopupProvider {
    let mut provider = MockTopupProvider::new();
    provider.expect_intake().returning(move || intake);
    provider
}

fn taken() -> OrderAnswer {
    OrderAnswer::Replied(OrderReply::Taken { page: page() })
}

fn refused() -> OrderAnswer {
    OrderAnswer::Replied(OrderReply::Refused)
}

fn lost() -> OrderAnswer {
    OrderAnswer::Unknown(Unavailable::new("the connection broke off"))
}

fn try_open(server: &TopupOrders) -> Result<Done<Topup>, CommandError<OpenTopupRefusal, Infallible>> {
    let amount = Amount::new(Money::from_minor(500)).unwrap();
    run(Executor::new(server.env.clone()).run(&context(1), OpenTopup::default(), input(amount)))
}

/// Opens a top-up at a server that dies before ordering it.
fn open(server: &TopupOrders) -> Topup {
    try_open(server).unwrap().value
}

/// Runs the worker, and returns the number of claimed top-ups.
fn work(server: &TopupOrders) -> usize {
    run(server.run()).unwrap()
}

#[test]
fn topups_are_stored_and_leased_before_the_payment_request() {
    let scene = Scene::new();
    let server = scene.server(provider(1, taken));
    let topup = open(&server);
    assert_eq!(scene.stored(), topup);
    assert_eq!((topup.status, topup.orders), (TopupStatus::Pending, orders(1, Some(30))));
    let (kept, ordered) = run(server.order(topup)).unwrap();
    assert!(matches!(ordered, OrderOutcome::Taken), "{ordered:?}");
    assert_eq!(scene.stored(), kept);
    assert_eq!((kept.payment_url, kept.orders), (page(), orders(1, None)));
}

#[test]
fn no_payment_request_is_sent_for_confirmed_or_announced_topups() {
    for (how, status) in
        [(Intake::Confirmed, TopupStatus::Confirmed), (Intake::Announced, TopupStatus::Pending)]
    {
        let scene = Scene::new();
        let server = scene.server(intake(how));
        let stored = open(&server);
        assert_eq!(scene.stored(), stored);
        assert_eq!((stored.status, stored.orders), (status, orders(0, None)));
        scene.later(1_000_000);
        assert_eq!(work(&server), 0);
        assert_eq!(run(server.reopen(id(), DEADLINE)).unwrap(), Ok(stored));
    }
}

#[test]
fn topups_cannot_be_created_without_a_provider() {
    let scene = Scene::new();
    let refused = try_open(&scene.server(intake(Intake::NotOffered)));
    let not_offered = OpenTopupRefusal::NotOffered;
    assert!(matches!(refused, Err(CommandError::Refused(refusal)) if refusal == not_offered));
    assert_eq!(scene.book.lock().unwrap().all::<Topup>().count(), 0);
}

#[test]
fn a_refusal_by_the_provider_fails_the_topup() {
    let scene = Scene::new();
    let server = scene.server(provider(1, refused));
    let (failed, ordered) = run(server.order(open(&server))).unwrap();
    assert!(matches!(ordered, OrderOutcome::Refused), "{ordered:?}");
    assert_eq!((failed.status, failed.orders), (TopupStatus::Failed, orders(1, None)));
    assert_eq!(scene.stored(), failed);
    scene.later(1_000);
    assert_eq!(work(&server), 0);
}

#[test]
fn unanswered_payment_requests_are_retried_up_to_a_limit() {
    let scene = Scene::new();
    let server = scene.server(provider(2, lost));
    let (unanswered, ordered) = run(server.order(open(&server))).unwrap();
    assert!(matches!(ordered, OrderOutcome::Unanswered(_)), "{ordered:?}");
    assert_eq!(unanswered.orders, orders(1, Some(5)));
    assert_eq!(work(&server), 0, "it is not due yet");
    assert_eq!(run(server.reopen(id(), DEADLINE)).unwrap(), Ok(unanswered));
    scene.later(5);
    assert_eq!(work(&server), 1);
    assert!(scene.reported("Ordered(LastUnanswered("));
    let stored = scene.stored();
    assert_eq!((stored.status, stored.orders), (TopupStatus::Pending, orders(2, None)));
    scene.later(1_000_000);
    assert_eq!(work(&server), 0);
}

#[test]
fn payment_requests_are_repeated_after_the_lease_expires() {
    let scene = Scene::opened();
    let other = scene.server(provider(1, taken));
    scene.later(29);
    assert_eq!(work(&other), 0);
    scene.later(1);
    assert_eq!(work(&other), 1);
    assert!(scene.reported("Ordered(Taken)"));
    assert_eq!((scene.stored().payment_url, scene.stored().orders), (page(), orders(2, None)));
}

#[test]
fn topups_are_given_up_after_an_unfinished_last_attempt() {
    let scene = Scene::opened();
    scene.later(30);
    let dying = scene.server(provider(0, taken));
    assert!(matches!(run(dying.claim(scene.stored())).unwrap(), Claim::Order(_)));
    scene.later(30);
    assert_eq!(work(&dying), 1);
    assert!(scene.reported("GivenUp"));
    assert_eq!(scene.stored().orders, orders(2, None));
}

#[test]
fn only_one_of_two_servers_leases_a_topup() {
    let scene = Scene::opened();
    scene.later(30);
    let (one, other) = (scene.server(provider(0, taken)), scene.server(provider(0, taken)));
    let due = scene.stored();
    let Claim::Order(taken) = run(one.claim(due.clone())).unwrap() else { panic!("not taken up") };
    assert_eq!(taken.orders, orders(2, Some(60)));
    assert_eq!(run(other.claim(due)).unwrap(), Claim::None(taken));
}

#[test]
fn a_late_answer_is_stored_and_a_second_one_changes_nothing() {
    let scene = Scene::new();
    let late = scene.server(provider(1, taken));
    let first = open(&late);
    scene.later(30);
    let other = scene.server(provider(1, || OrderAnswer::Replied(OrderReply::Taken { page: None })));
    let Claim::Order(second) = run(other.claim(scene.stored())).unwrap() else { panic!("not taken up") };
    let (kept, ordered) = run(late.order(first)).unwrap();
    assert!(matches!(ordered, OrderOutcome::Taken), "{ordered:?}");
    assert_eq!((&kept.payment_url, kept.orders), (&page(), orders(2, None)));
    let (current, ordered) = run(other.order(second)).unwrap();
    assert!(matches!(ordered, OrderOutcome::Known), "{ordered:?}");
    assert_eq!(current, kept);
}

#[test]
fn answers_to_payment_requests_do_not_overwrite_earlier_messages() {
    for confirmed in [true, false] {
        let answers: [(fn() -> OrderAnswer, bool); 3] = [(taken, false), (refused, confirmed), (lost, false)];
        for (answer, contradicts) in answers {
            let scene = Scene::new();
            let meanwhile = scene.clone();
            let server = scene.server(provider(1, move || {
                meanwhile.settle(confirmed);
                answer()
            }));
            let (current, ordered) = run(server.order(open(&server))).unwrap();
            assert_eq!(matches!(ordered, OrderOutcome::Contradiction(_)), contradicts, "{ordered:?}");
            let status = if confirmed { TopupStatus::Confirmed } else { TopupStatus::Failed };
            assert_eq!((current.status, &current.payment_url), (status, &None));
            assert_eq!(current, scene.stored());
            assert_eq!(current.orders, orders(1, None));
        }
    }
}
