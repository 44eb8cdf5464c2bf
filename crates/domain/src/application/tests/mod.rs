//! The use cases on test doubles of the ports.

mod abandoned_topups;
mod boards;
mod browser_sessions;
mod commands;
mod email_changes;
mod endpoint_secrets;
mod events;
mod executor;
mod gig_endings;
mod guest_rejections;
mod logins;
mod operators;
mod passwords;
mod payouts;
mod people;
mod personal_data;
mod personal_tokens;
mod provider_inbox;
mod registrations;
mod reports;
mod sessions;
mod simulated_time;
mod single_flight;
mod tips;
mod topup_orders;
mod topup_pages;
mod verifications;
mod wallet_links;
mod webhook_changes;
mod webhooks;
mod withdrawal_previews;

use core::net::IpAddr;
use std::convert::Infallible;
use std::future::pending;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures_util::FutureExt;
use mockall::predicate::eq;
use time::Duration;

use super::commands::*;
use super::queries::*;
use super::security_audit::SecurityAudit;
use super::*;
use crate::authorization::Principal;
use crate::event::Feed;
use crate::ids::{
    AdjustmentId, OperationId, RequestId, SessionId, TipId, TopupId, UserId, WebhookEndpointId, WithdrawalId,
};
use crate::ledger::PostingRules;
use crate::ledger::adjustment::AdjustmentTerms;
use crate::money::{Amount, Money};
use crate::music_request::{MusicRequest, NewRequest, RequestState, RequestTerms};
use crate::operation::{
    Entity, Fingerprint, IdempotencyKey, KeyRecord, KeyScope, Outcome, Plan, Position, Receipt, Rejection,
    StoredReceipt,
};
use crate::ports::*;
use crate::security_log::{SecurityEvent, SecurityEventKind};
use crate::text::{Email, Line, MusicUrl};
use crate::timestamp::Timestamp;
use crate::tip::TipTerms;
use crate::topup::{GuestTopupLimits, OrderTerms, PaymentPages, Topup};
use crate::user::session::ClientInfo;
use crate::user::{ArtistType, DjProfile, Role, User};
use crate::webhook::{EndpointUrl, NewEndpoint, SealedSecret, WebhookEndpoint};
use crate::withdrawal::{PayoutTerms, WithdrawalTerms};

const NOW: i64 = 1_000_000_000;
/// A deadline that no test reaches.
const DEADLINE: Deadline = Deadline(Duration::seconds(4));

/// The doubles of the ports. A double that a test does not set up rejects every call, unless its field names a default.
#[derive(Default)]
struct Doubles {
    ledger: MockLedger,
    requests: MockMusicRequests,
    gigs: MockGigs,
    tips: MockTips,
    withdrawals: MockWithdrawals,
    topups: MockTopups,
    wallets: MockWallets,
    people: MockPeople,
    logins: MockLogins,
    sessions: MockSessions,
    tokens: MockPersonalTokens,
    blocks: MockBlocks,
    records: MockPersonalRecords,
    messages: MockProviderMessages,
    endpoints: MockWebhookEndpoints,
    webhooks: MockWebhookSender,
    operations: MockOperationLog,
    /// [`constant_ids`] if absent.
    ids: Option<MockIds>,
    /// [`stopped_clock`] if absent.
    clock: Option<MockClock>,
    passwords: MockPasswords,
    secrets: MockSecrets,
    revocations: MockRevocations,
    jobs: MockJobQueue,
    notifier: MockNotifier,
    topup_provider: MockTopupProvider,
    payout_provider: MockPayoutProvider,
    log: MockSecurityLog,
    /// [`Unchanged`] if absent.
    principals: Option<Arc<dyn PrincipalCheck>>,
    /// [`NoTime`] if absent.
    timer: Option<Arc<dyn Timer>>,
    /// [`AtOnce`] if absent.
    tasks: Option<Arc<dyn TaskSpawner>>,
    /// [`AtOnce`] if absent.
    long_work: Option<Arc<dyn LongWork>>,
    orders: Arc<Orders>,
    failed_logins: Arc<FailedLogins>,
    terms: Terms,
}

impl Doubles {
    fn env(self) -> Arc<Environment> {
        let ports = Ports {
            clock: Arc::new(self.clock.unwrap_or_else(stopped_clock)),
            timer: self.timer.unwrap_or_else(|| Arc::new(NoTime)),
            passwords: Arc::new(self.passwords),
            secrets: Arc::new(self.secrets),
            access_tokens: Arc::new(access_tokens()),
            principals: self.principals.unwrap_or_else(|| Arc::new(Unchanged)),
            revocations: Arc::new(self.revocations),
            jobs: Arc::new(self.jobs),
            tasks: self.tasks.unwrap_or_else(|| Arc::new(AtOnce)),
            long_work: self.long_work.unwrap_or_else(|| Arc::new(AtOnce)),
            notifier: Arc::new(self.notifier),
            topup_provider: Arc::new(self.topup_provider),
            payout_provider: Arc::new(self.payout_provider),
            webhooks: Arc::new(self.webhooks),
            orders: self.orders,
            failed_logins: self.failed_logins,
            probes: Vec::new(),
        };
        Arc::new(Environment {
            security_audit: SecurityAudit::new(
                Arc::new(self.log),
                ports.clock.clone(),
                ports.failed_logins.clone(),
            ),
            ledger: Arc::new(self.ledger),
            operations: Arc::new(self.operations),
            audit: Arc::new(MockAudit::new()),
            requests: Arc::new(self.requests),
            gigs: Arc::new(self.gigs),
            tips: Arc::new(self.tips),
            withdrawals: Arc::new(self.withdrawals),
            topups: Arc::new(self.topups),
            wallets: Arc::new(self.wallets),
            people: Arc::new(self.people),
            logins: Arc::new(self.logins),
            sessions: Arc::new(self.sessions),
            tokens: Arc::new(self.tokens),
            blocks: Arc::new(self.blocks),
            records: Arc::new(self.records),
            messages: Arc::new(self.messages),
            endpoints: Arc::new(self.endpoints),
            ids: Arc::new(self.ids.unwrap_or_else(constant_ids)),
            ports,
            terms: self.terms,
        })
    }

    fn executor(self) -> Executor {
        Executor::new(self.env())
    }
}

/// A clock that stands at [`now`].
fn stopped_clock() -> MockClock {
    let mut clock = MockClock::new();
    clock.expect_now().return_const(now());
    clock
}

/// The same id of each kind at every call.
fn constant_ids() -> MockIds {
    let mut ids = MockIds::new();
    ids.expect_operation().returning(|| OperationId(42));
    ids.expect_next_withdrawal().returning(|| Ok(WithdrawalId::new(8).unwrap()));
    ids.expect_next_request().returning(|| Ok(RequestId::new(7).unwrap()));
    ids.expect_next_topup().returning(|| Ok(TopupId::new(7).unwrap()));
    ids.expect_next_tip().returning(|| Ok(TipId::new(6).unwrap()));
    ids.expect_next_adjustment().returning(|| Ok(AdjustmentId::new(4).unwrap()));
    ids.expect_next_session().returning(|| Ok(SessionId::new(5).unwrap()));
    ids.expect_next_user().returning(|| Ok(user(4)));
    ids
}

/// Access tokens that name their user.
fn access_tokens() -> MockAccessTokens {
    let mut access_tokens = MockAccessTokens::new();
    access_tokens.expect_issue().returning(|principal| {
        Ok(AccessToken { token: format!("of {}", principal.user), expires_in_seconds: 900 })
    });
    access_tokens
}

/// A check that finds every principal unchanged.
struct Unchanged;

impl PrincipalCheck for Unchanged {
    fn current(&self, principal: Principal) -> Result<Principal, PrincipalRefusal> {
        Ok(principal)
    }
}

/// A timer that never fires.
struct NoTime;

#[async_trait]
impl Timer for NoTime {
    async fn sleep_until(&self, _: Deadline) {
        pending().await
    }
}

/// A spawner that runs tasks to their end immediately.
struct AtOnce;

impl TaskSpawner for AtOnce {
    fn spawn(&self, task: Task) {
        run(task);
    }
}

#[async_trait]
impl LongWork for AtOnce {
    async fn in_turn_of(&self, _: UserId, work: Task) -> Result<(), LongWorkRefusal> {
        work.await;
        Ok(())
    }
}

/// The reported orders.
#[derive(Default)]
struct Orders(Mutex<Vec<String>>);

impl OrderObserver for Orders {
    fn observe(&self, _: &Topup, attempt: &OrderAttempt) {
        self.0.lock().unwrap().push(format!("{attempt:?}"));
    }
}

/// For each reported failed login, whether the account is of staff.
#[derive(Default)]
struct FailedLogins(Mutex<Vec<bool>>);

impl LoginObserver for FailedLogins {
    fn failed(&self, _: &ClientInfo, is_staff: bool) {
        self.0.lock().unwrap().push(is_staff);
    }
}

/// The output of a use case on doubles, which never wait.
fn run<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("doubles answer at once")
}

/// A reader of valid input.
fn input<T>(input: T) -> impl FnOnce() -> Result<T, Infallible> {
    || Ok(input)
}

fn user(number: i64) -> UserId {
    UserId::new(number).unwrap()
}

/// A principal: 1 is a guest, 2 a DJ, 3 an operator.
const fn principal(number: i64) -> Principal {
    Principal {
        user: UserId::new(number).unwrap(),
        role: if number == 3 { Role::Operator } else { Role::Member },
        is_dj: number == 2,
        session: SessionId::new(1).unwrap(),
    }
}

/// The context of a request by this principal, without an idempotency key.
const fn context(number: i64) -> Context {
    Context {
        principal: principal(number),
        client: ClientInfo { address: None, agent: None },
        key: None,
        deadline: DEADLINE,
    }
}

/// The context of a request without a principal.
fn client() -> ClientContext {
    ClientContext { client: ClientInfo::default(), deadline: DEADLINE }
}

fn now() -> Timestamp {
    Timestamp::from_unix_micros(NOW)
}

/// The terms of the doubles.
impl Default for Terms {
    fn default() -> Self {
        Self {
            requests: RequestTerms::default(),
            longest_gig: Duration::hours(12),
            tips: TipTerms::default(),
            withdrawals: WithdrawalTerms::default(),
            adjustments: AdjustmentTerms { max_amount: Amount::new(Money::from_minor(1_000)) },
            topups: OrderTerms {
                max_attempts: 2,
                retry_after: Duration::seconds(5),
                lease: Duration::seconds(30),
            },
            payment_pages: PaymentPages::Encrypted,
            payouts: PayoutTerms { max_attempts: 3, retry_after: Duration::seconds(60) },
            least_topup: None,
            guest_topups: GuestTopupLimits::default(),
            topups_pending_for: Duration::days(7),
            events_shown_for: None,
            refresh_token_for: Duration::days(30),
            cookie_for: Duration::days(90),
            phone_codes_per_day: NonZeroU32::new(7),
        }
    }
}

/// A request of guest 1 to DJ 2, made at `now`.
fn request() -> MusicRequest {
    MusicRequest {
        id: RequestId::new(7).unwrap(),
        requester: user(1),
        dj: user(2),
        song_title: Line::new("Blue Monday").unwrap(),
        artist_name: Line::new("New Order").unwrap(),
        artist_type: ArtistType::Popular,
        music_url: MusicUrl::new("https://example.com/blue-monday").unwrap(),
        fee: Money::from_minor(500),
        gig: None,
        counts_as_guest: false,
        state: RequestState::Pending { answer_by: now().plus(Duration::minutes(15)) },
        created_at: now(),
    }
}

/// An endpoint of guest 1 that has received nothing.
fn webhook_endpoint(number: i64, secret: &str) -> WebhookEndpoint {
    let new = NewEndpoint {
        owner: user(1),
        session: None,
        key: None,
        feed: Feed::Own,
        url: EndpointUrl::new("https://example.com/").unwrap(),
        types: None,
        description: None,
        secret: SealedSecret(secret.to_owned()),
        at: now(),
    };
    WebhookEndpoint::new(WebhookEndpointId::new(number).unwrap(), Position::START, new)
}

fn dj(online: bool) -> Profile {
    let (name, email) = (Line::new("Dee").unwrap(), Email::new("dee@example.com").unwrap());
    let mut dj = User::registered(user(2), name, email, None, true, now());
    dj.dj = Some(DjProfile { online, fee_popular_song: Money::from_minor(500), ..DjProfile::default() });
    Profile { user: dj, balance: crate::ledger::Balance::default() }
}

fn wish() -> NewRequest {
    let MusicRequest { dj, song_title, artist_name, artist_type, music_url, .. } = request();
    let music_url = Some(music_url);
    NewRequest { dj, song_title, artist_name, artist_type, music_url, fee: None, message: None }
}

fn receipt() -> Receipt {
    let (operation, rules) = (OperationId(9), PostingRules::IncomePaysOwed);
    Receipt {
        operation,
        at: now(),
        rules,
        outcome: Outcome { entity: Entity::MusicRequest(request()), balance: None },
    }
}

fn key(body: &[u8]) -> IdempotencyKey {
    IdempotencyKey { scope: KeyScope::of(user(1), "POST", "/x", "k"), fingerprint: Fingerprint::of(body) }
}

/// A log that cannot be written to, and still expects an event of this kind.
fn log_away(kind: SecurityEventKind) -> MockSecurityLog {
    let mut log = MockSecurityLog::new();
    let right = move |event: &SecurityEvent| event.kind == kind;
    log.expect_append().withf(right).once().returning(|_| Err(Unavailable::new("the log is away")));
    log
}

/// A log that expects events of these kinds, each once.
fn log_of(kinds: Vec<SecurityEventKind>) -> MockSecurityLog {
    let mut log = MockSecurityLog::new();
    for kind in kinds {
        log.expect_append().withf(move |event| event.kind == kind).once().returning(|_| Ok(()));
    }
    log
}

/// Expects one notice to this user about a security change by this client.
fn expect_secured(jobs: &mut MockJobQueue, user: UserId, cause: SecurityCause, client: Option<IpAddr>) {
    let news = SecurityNews { cause, client, at: now() };
    jobs.expect_enqueue().with(eq(Job::NotifySecured { user, news })).once().returning(|_| Ok(()));
}

/// A revocation list that expects this number of refreshes.
fn refreshed(times: usize) -> MockRevocations {
    let mut revocations = MockRevocations::new();
    revocations.expect_refresh().times(times).return_const(());
    revocations
}

/// An executor on these requests, where every DJ blocks guest 4.
fn requests(ledger: MockLedger, requests: MockMusicRequests, people: MockPeople) -> Executor {
    let mut blocks = MockBlocks::new();
    blocks.expect_is_blocked().returning(|_, guest| Ok(guest == user(4)));
    let mut gigs = MockGigs::new();
    gigs.expect_open_gig().returning(|_| Ok(None));
    Doubles { ledger, requests, gigs, people, blocks, ..Doubles::default() }.executor()
}

fn rejected<T>(rejection: Rejection) -> Result<T, ApplyError> {
    Err(ApplyError::Rejected(rejection))
}

fn broke<T>() -> Result<T, ApplyError> {
    rejected(Rejection::InsufficientFunds { available: Money::ZERO })
}

fn people_with(online: bool) -> MockPeople {
    let mut people = MockPeople::new();
    people.expect_profile().with(eq(user(2))).returning(move |_| Ok(Some(dj(online))));
    people.expect_standing().returning(|_| Ok(None));
    people
}

fn done<T>(value: T, replayed: bool) -> Done<T> {
    Done { value, replayed }
}

type OpenError = CommandError<OpenRequestRefusal, Infallible>;

/// A ledger that has no record of a key at first, and this one once the command is refused.
fn known_later(known: Option<KeyRecord>) -> MockLedger {
    let mut ledger = MockLedger::new();
    let mut turn = mockall::Sequence::new();
    ledger.expect_find_key().once().in_sequence(&mut turn).returning(|_| Ok(None));
    ledger.expect_find_key().once().in_sequence(&mut turn).returning(move |_| Ok(known.clone()));
    ledger
}
