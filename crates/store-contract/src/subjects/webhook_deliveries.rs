//! Deliveries to webhook endpoints whose receivers answer by a script, over servers that stop at any point.

use std::collections::BTreeSet;
use std::future::pending;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use cuepoint_domain::application::{Deliveries, Ports, Terms, UseCases};
use cuepoint_domain::event::{Event, Feed};
use cuepoint_domain::ids::{OperationId, UserId, WebhookEndpointId};
use cuepoint_domain::ledger::adjustment::AdjustmentTerms;
use cuepoint_domain::operation::plans;
use cuepoint_domain::ports::{
    Clock, Deadline, LoginObserver, LongWork, LongWorkRefusal, MockAccessTokens, MockJobQueue, MockNotifier,
    MockPasswords, MockPayoutProvider, MockPrincipalCheck, MockRevocations, MockSecrets, MockTopupProvider,
    OrderAttempt, OrderObserver, SentWebhook, Store, Task, TaskSpawner, Timer, Token, Unavailable,
    UrlProblem, WebhookMessage, WebhookSender,
};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::tip::TipTerms;
use cuepoint_domain::topup::{GuestTopupLimits, OrderTerms, PaymentPages, Topup};
use cuepoint_domain::user::session::ClientInfo;
use cuepoint_domain::user::{Role, UserStatusChange};
use cuepoint_domain::webhook::{
    AttemptError, AttemptOutcome, EndpointChange, EndpointSecrets, EndpointSettings, EndpointState,
    EndpointUrl, NewEndpoint, SealedSecret, UndecryptableSecret, WebhookEndpoint,
};
use cuepoint_domain::withdrawal::{PayoutTerms, WithdrawalTerms};
use fastrand::Rng;
use time::Duration;
use tokio::sync::Notify;

use crate::harness::scenario::{Scenario, TOPUPS_PENDING_FOR, amount, at};
use crate::subjects::webhook_endpoints::{added, author};

promises! { ($) webhook_deliveries as webhook_deliveries_promises {
    every_event_arrives_despite_failing_receivers_and_servers,
}}

const SEED: u64 = 15;
const EVENTS: usize = 150;
const SERVERS: usize = 3;
/// The number of rounds after which the script ends and every call is answered with success.
const SCRIPTED: usize = 400;
/// The number of rounds within which every event must have arrived.
const ROUNDS: usize = 1_000;

/// A clock that the test moves.
#[derive(Default)]
struct MovedClock(AtomicI64);

impl MovedClock {
    fn pass(&self, time: Duration) {
        self.0.fetch_add(time.whole_seconds(), Ordering::Relaxed);
    }
}

impl Clock for MovedClock {
    fn now(&self) -> Timestamp {
        at(self.0.load(Ordering::Relaxed))
    }
}

/// The receivers of all endpoints.
struct Receivers {
    random: Mutex<Rng>,
    clock: Arc<MovedClock>,
    is_scripted: AtomicBool,
    /// The server that makes the call stops in the middle of it.
    stopped: Notify,
    received: Mutex<BTreeSet<(WebhookEndpointId, OperationId)>>,
}

impl Receivers {
    fn receive(&self, endpoint: &WebhookEndpoint, message: &WebhookMessage) {
        let WebhookMessage::Event(event) = message else { panic!("{message:?}") };
        self.received.lock().unwrap().insert((endpoint.id, event.id));
    }

    async fn stop_server(&self) -> AttemptOutcome {
        self.stopped.notify_one();
        pending().await
    }
}

#[async_trait]
impl WebhookSender for Receivers {
    fn accept_url(&self, url: &EndpointUrl) -> Result<EndpointUrl, UrlProblem> {
        Ok(url.clone())
    }

    fn new_secret(&self, _: WebhookEndpointId, _: Timestamp) -> Result<(Token, SealedSecret), Unavailable> {
        Err(Unavailable::new("no secrets"))
    }

    fn current_secret(&self, _: &WebhookEndpoint) -> Result<Token, Unavailable> {
        Err(Unavailable::new("no secrets"))
    }

    fn reseal(
        &self,
        _: WebhookEndpointId,
        _: &EndpointSecrets,
        _: Timestamp,
    ) -> Result<Option<EndpointSecrets>, UndecryptableSecret> {
        Ok(None)
    }

    fn check_secret(&self, _: WebhookEndpointId, _: &SealedSecret) -> Result<(), UndecryptableSecret> {
        Ok(())
    }

    async fn send(
        &self,
        endpoint: &WebhookEndpoint,
        message: &WebhookMessage,
        _: Timestamp,
    ) -> Result<SentWebhook, Unavailable> {
        let answered = |status| AttemptOutcome::Answered { status, retry_after: None };
        let number =
            if self.is_scripted.load(Ordering::Relaxed) { self.random.lock().unwrap().u32(..100) } else { 0 };
        let outcome = match number {
            0..50 => {
                self.receive(endpoint, message);
                answered(200)
            }
            50..60 => {
                self.receive(endpoint, message);
                self.clock.pass(Duration::seconds(14));
                answered(200)
            }
            60..70 => answered(500),
            70..72 => answered(410),
            72..80 => {
                self.receive(endpoint, message);
                self.clock.pass(Duration::seconds(15));
                AttemptOutcome::Unanswered(AttemptError::TimedOut)
            }
            80..90 => AttemptOutcome::Unanswered(AttemptError::ConnectionFailed),
            90..95 => self.stop_server().await,
            _ => {
                self.receive(endpoint, message);
                self.stop_server().await
            }
        };
        Ok(SentWebhook { outcome, took: Duration::ZERO, answer: None })
    }
}

struct NoTimer;

#[async_trait]
impl Timer for NoTimer {
    async fn sleep_until(&self, _: Deadline) {
        pending().await
    }
}

struct NoTasks;

impl TaskSpawner for NoTasks {
    fn spawn(&self, _: Task) {}
}

#[async_trait]
impl LongWork for NoTasks {
    async fn in_turn_of(&self, _: UserId, _: Task) -> Result<(), LongWorkRefusal> {
        Err(LongWorkRefusal::Interrupted)
    }
}

struct NoOrders;

impl OrderObserver for NoOrders {
    fn observe(&self, _: &Topup, _: &OrderAttempt) {}
}

struct NoLogins;

impl LoginObserver for NoLogins {
    fn failed(&self, _: &ClientInfo, _: bool) {}
}

/// The deliveries of a server.
fn deliveries(scenario: &Scenario, receivers: &Arc<Receivers>) -> Deliveries {
    let mut jobs = MockJobQueue::new();
    jobs.expect_enqueue().returning(|_| Ok(()));
    let ports = Ports {
        clock: receivers.clock.clone(),
        timer: Arc::new(NoTimer),
        passwords: Arc::new(MockPasswords::new()),
        secrets: Arc::new(MockSecrets::new()),
        access_tokens: Arc::new(MockAccessTokens::new()),
        principals: Arc::new(MockPrincipalCheck::new()),
        revocations: Arc::new(MockRevocations::new()),
        jobs: Arc::new(jobs),
        tasks: Arc::new(NoTasks),
        long_work: Arc::new(NoTasks),
        notifier: Arc::new(MockNotifier::new()),
        topup_provider: Arc::new(MockTopupProvider::new()),
        payout_provider: Arc::new(MockPayoutProvider::new()),
        webhooks: receivers.clone(),
        orders: Arc::new(NoOrders),
        failed_logins: Arc::new(NoLogins),
        probes: Vec::new(),
    };
    let second = Duration::seconds(1);
    let terms = Terms {
        longest_gig: Duration::hours(12),
        requests: scenario.requests.clone(),
        tips: TipTerms::default(),
        withdrawals: WithdrawalTerms::default(),
        adjustments: AdjustmentTerms { max_amount: Some(amount(1)) },
        topups: OrderTerms { max_attempts: 1, retry_after: second, lease: second },
        payouts: PayoutTerms { max_attempts: 1, retry_after: second },
        least_topup: None,
        guest_topups: GuestTopupLimits::default(),
        topups_pending_for: TOPUPS_PENDING_FOR,
        payment_pages: PaymentPages::All,
        events_shown_for: None,
        refresh_token_for: second,
        cookie_for: second,
        phone_codes_per_day: None,
    };
    UseCases::new(Arc::clone(&scenario.store), ports, terms).deliveries
}

async fn endpoint(scenario: &Scenario, owner: UserId, feed: Feed) -> WebhookEndpoint {
    let new = NewEndpoint {
        owner,
        session: None,
        key: None,
        feed,
        url: EndpointUrl::new("https://example.com/").unwrap(),
        types: None,
        description: None,
        secret: SealedSecret("sealed".to_owned()),
        at: at(0),
    };
    added(scenario, &new).await.unwrap()
}

/// The events that an endpoint has to receive.
async fn events(
    scenario: &Scenario,
    endpoint: &WebhookEndpoint,
) -> BTreeSet<(WebhookEndpointId, OperationId)> {
    let concerning = endpoint.feed.concerning(endpoint.owner);
    let page = scenario.store.operations(concerning, endpoint.cursor, 1_000).await.unwrap();
    page.operations.into_iter().filter_map(Event::of).map(|event| (endpoint.id, event.id)).collect()
}

/// Receivers that fail, hang, are gone, and answer twice, over servers that stop in the middle of calls, end up
/// with the set of all events.
pub async fn every_event_arrives_despite_failing_receivers_and_servers(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, other) = (scenario.guest(100).await, scenario.guest(100).await);
    let operator = scenario.stranger(false, at(0)).await;
    scenario.register(&operator).await;
    let promotion = UserStatusChange::Role(Role::Operator);
    scenario.fresh(plans::change_user_status(scenario.by(guest, at(0)), operator.id, promotion)).await;
    let own = endpoint(&scenario, guest, Feed::Own).await;
    let all = endpoint(&scenario, operator.id, Feed::All).await;
    let receivers = Arc::new(Receivers {
        random: Mutex::new(Rng::with_seed(SEED)),
        clock: Arc::default(),
        is_scripted: AtomicBool::new(true),
        stopped: Notify::new(),
        received: Mutex::default(),
    });
    let servers: Vec<Deliveries> = (0..SERVERS).map(|_| deliveries(&scenario, &receivers)).collect();
    let mut random = Rng::with_seed(SEED + 1);
    for round in 0..ROUNDS {
        if round < EVENTS {
            scenario.fund(*random.choice([&guest, &other]).unwrap(), 1).await;
        }
        if round == SCRIPTED {
            receivers.is_scripted.store(false, Ordering::Relaxed);
        }
        receivers.clock.pass(Duration::seconds(random.i64(0..1_200)));
        work(&servers[random.usize(..SERVERS)], &receivers).await;
        let expected: BTreeSet<_> =
            events(&scenario, &own).await.into_iter().chain(events(&scenario, &all).await).collect();
        if round > SCRIPTED && *receivers.received.lock().unwrap() == expected {
            assert_eq!(expected.iter().filter(|(endpoint, _)| *endpoint == all.id).count(), EVENTS);
            return;
        }
        revive(&scenario, [own.id, all.id], &receivers).await;
    }
    panic!("some events did not arrive");
}

/// Has a server work for every endpoint that it finds, until it stops.
async fn work(server: &Deliveries, receivers: &Receivers) {
    for endpoint in server.endpoints_with_work(10).await.unwrap() {
        tokio::select! {
            biased;
            () = receivers.stopped.notified() => return,
            turn = server.take_turn(endpoint, || false) => drop(turn.unwrap()),
        }
    }
}

/// Enables disabled endpoints, and repeats deliveries that were given up.
async fn revive(scenario: &Scenario, endpoints: [WebhookEndpointId; 2], receivers: &Receivers) {
    for id in endpoints {
        let endpoint = scenario.store.endpoint(id).await.unwrap().unwrap();
        if let EndpointState::Disabled { .. } = endpoint.state {
            let settings = EndpointSettings { is_paused: Some(false), ..EndpointSettings::default() };
            let change = EndpointChange::Settings { settings, by: author(endpoint.owner) };
            scenario.store.change_endpoint(id, &change).await.unwrap();
        }
        scenario.store.repeat_given_up(id, receivers.clock.now()).await.unwrap();
    }
}
