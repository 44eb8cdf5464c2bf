//! Plans that wait for their transaction, and which of them may share the next one.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuepoint_domain::ids::{OperationId, RequestId, TopupId, UserId, WithdrawalId};
use cuepoint_domain::ledger::{KeyScope, Plan, Rejection};
use cuepoint_domain::ports::{Applied, ApplyError, Unavailable};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::{Instant, timeout_at};

use super::{Answer, WAIT, later};
use crate::telemetry;

/// Plans that one transaction takes at most.
const GROUP: usize = 64;
/// Plans that wait at most; whoever comes then waits outside.
const QUEUE: usize = 1_024;
/// Fewer plans than this do not start beside a group that is still under way: a transaction has its price, and its end
/// is near.
const BESIDE: usize = 16;

/// What two groups under way at once may not both touch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Claim {
    Request(RequestId),
    User(UserId),
    Wallet(UserId),
    Withdrawal(WithdrawalId),
    Topup(TopupId),
    Operation(OperationId),
    Key(KeyScope),
}

impl Claim {
    /// Everything that a plan locks or adds by an identity that another plan may name too.
    fn of(plan: &Plan) -> Vec<Self> {
        let (names, origin) = (plan.names(), plan.origin());
        let mut claims = vec![Self::Operation(origin.operation)];
        claims.extend(names.requests.into_iter().map(Self::Request));
        claims.extend(names.users.into_iter().map(Self::User));
        claims.extend(names.wallets.into_iter().map(Self::Wallet));
        claims.extend(names.withdrawals.into_iter().map(Self::Withdrawal));
        claims.extend(names.topups.into_iter().map(Self::Topup));
        claims.extend(origin.key.map(|key| Self::Key(key.scope)));
        claims
    }
}

/// A plan on its way, with the caller who waits.
pub(super) struct Job {
    pub(super) plan: Plan,
    pub(super) submitted: Instant,
    claims: Vec<Claim>,
    caller: oneshot::Sender<Answer>,
    /// Its place in the queue, given up when it is answered or taken.
    place: Option<OwnedSemaphorePermit>,
}

impl Job {
    pub(super) fn answer(self, answer: Answer) {
        // A caller who went away misses the answer, and nothing else.
        let _ = self.caller.send(answer);
    }

    pub(super) fn applied(self, answer: Result<Applied, Rejection>) {
        self.answer(answer.map_err(ApplyError::Rejected));
    }
}

/// Plans that share a transaction; what they touch stays theirs until this is dropped.
pub(super) struct Group {
    pub(super) jobs: Vec<Job>,
    pub(super) hold: Hold,
}

/// What a group touches: no other group of this server does until this is dropped.
pub(super) struct Hold {
    queue: Arc<Queue>,
    claims: Vec<Claim>,
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.queue.release(&self.claims);
    }
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Job>,
    /// What the groups under way touch.
    held: HashSet<Claim>,
    under_way: usize,
    /// How many must wait for the writer to be woken.
    wake_at: usize,
    closed: bool,
}

/// The plans that wait, in the order in which they came.
pub(super) struct Queue {
    state: Mutex<State>,
    places: Arc<Semaphore>,
    changed: Notify,
}

impl Queue {
    pub(super) fn new() -> Self {
        let places = Arc::new(Semaphore::new(QUEUE));
        Self { state: Mutex::default(), places, changed: Notify::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a plan at the end; where the queue is full, once there is a place.
    pub(super) async fn put(
        &self,
        plan: Plan,
        submitted: Instant,
    ) -> Result<oneshot::Receiver<Answer>, Unavailable> {
        let place = match Arc::clone(&self.places).try_acquire_owned() {
            Ok(place) => place,
            Err(_) => timeout_at(later(submitted, WAIT), Arc::clone(&self.places).acquire_owned())
                .await
                .map_err(|_| Unavailable::new("the queue of plans is full"))?
                .map_err(|_| Unavailable::new("the store is closed"))?,
        };
        let (caller, answer) = oneshot::channel();
        let job = Job { claims: Claim::of(&plan), plan, submitted, caller, place: Some(place) };
        let mut state = self.lock();
        if state.closed {
            return Err(Unavailable::new("the store is closed"));
        }
        state.waiting.push_back(job);
        let wake = state.waiting.len() >= state.wake_at;
        drop(state);
        if wake {
            self.changed.notify_one();
        }
        Ok(answer)
    }

    /// Takes no more plans.
    pub(super) fn close(&self) {
        self.places.close();
        self.lock().closed = true;
        self.changed.notify_one();
    }

    /// The next group, as soon as there is one; `None` once the queue is closed and nobody waits in it.
    pub(super) async fn next(self: &Arc<Self>) -> Option<Group> {
        loop {
            {
                let mut state = self.lock();
                if let Some(jobs) = state.take() {
                    telemetry::gauge(telemetry::QUEUE_DEPTH, state.waiting.len());
                    let claims = jobs.iter().flat_map(|job| &job.claims).copied().collect();
                    return Some(Group { jobs, hold: Hold { queue: Arc::clone(self), claims } });
                }
                if state.closed && state.waiting.is_empty() {
                    return None;
                }
            }
            self.changed.notified().await;
        }
    }

    fn release(&self, claims: &[Claim]) {
        let mut state = self.lock();
        for claim in claims {
            state.held.remove(claim);
        }
        state.under_way = state.under_way.saturating_sub(1);
        drop(state);
        self.changed.notify_one();
    }
}

impl State {
    /// Takes the plans that may go now, the first ones first.
    fn take(&mut self) -> Option<Vec<Job>> {
        let free = self.free();
        let least = if self.under_way == 0 { 1 } else { BESIDE };
        if free.len() < least {
            self.wake_at = self.waiting.len().saturating_add(least).saturating_sub(free.len());
            return None;
        }
        // Nobody has to be told of more plans until these are under way.
        self.wake_at = usize::MAX;
        self.under_way = self.under_way.saturating_add(1);
        let mut free = free.into_iter().peekable();
        let mut jobs = Vec::new();
        let mut left = VecDeque::with_capacity(self.waiting.len());
        for (place, mut job) in std::mem::take(&mut self.waiting).into_iter().enumerate() {
            if free.next_if_eq(&place).is_some() {
                self.held.extend(job.claims.iter().copied());
                job.place = None;
                jobs.push(job);
            } else {
                left.push_back(job);
            }
        }
        self.waiting = left;
        Some(jobs)
    }

    /// The places of those who touch nothing that a group under way does, nor what somebody before them waits for.
    fn free(&self) -> Vec<usize> {
        if self.held.is_empty() {
            return (0..self.waiting.len().min(GROUP)).collect();
        }
        let mut passed: HashSet<Claim> = HashSet::new();
        let mut free = Vec::new();
        for (place, job) in self.waiting.iter().enumerate() {
            if job.claims.iter().any(|claim| self.held.contains(claim) || passed.contains(claim)) {
                passed.extend(job.claims.iter().copied());
            } else {
                free.push(place);
                if free.len() == GROUP {
                    break;
                }
            }
        }
        free
    }
}

#[cfg(test)]
mod tests {
    use cuepoint_domain::ledger::{Actor, Origin};
    use cuepoint_domain::money::{Amount, Money};
    use cuepoint_domain::plans;
    use cuepoint_domain::timestamp::Timestamp;
    use cuepoint_domain::topup::Charge;
    use futures_util::future::poll_immediate;

    use super::*;

    /// A plan of the operation with this number, for this person's wallet.
    fn plan(number: u128, user: i64) -> Plan {
        let (operation, actor) = (OperationId(number), Actor::System);
        let origin = Origin { operation, actor, at: Timestamp::EPOCH, reason: None, key: None };
        let id = TopupId::new(i64::try_from(number).unwrap()).unwrap();
        let amount = Amount::new(Money::from_minor(1)).unwrap();
        plans::open_topup(origin, id, UserId::new(user).unwrap(), amount, Charge::Confirmed)
    }

    async fn put(queue: &Queue, number: u128, user: i64) {
        queue.put(plan(number, user), Instant::now()).await.unwrap();
    }

    /// The operations of the next group, which is there already.
    async fn next(queue: &Arc<Queue>) -> (Vec<u128>, Hold) {
        let group = poll_immediate(queue.next()).await.unwrap().unwrap();
        (group.jobs.iter().map(|job| job.plan.origin().operation.0).collect(), group.hold)
    }

    async fn nobody_may_go(queue: &Arc<Queue>) -> bool {
        poll_immediate(queue.next()).await.is_none()
    }

    #[tokio::test]
    async fn beside_a_group_go_only_those_who_touch_nothing_of_it_and_overtake_nobody() {
        let queue = Arc::new(Queue::new());
        put(&queue, 1, 1).await;
        let (first, hold) = next(&queue).await;
        assert_eq!(first, [1]);

        // The wallet of 1; its twin, which waits behind it; an operation that is under way for another wallet.
        put(&queue, 2, 1).await;
        put(&queue, 2, 2).await;
        put(&queue, 1, 3).await;
        let others = 10..10 + u128::try_from(BESIDE).unwrap();
        for number in others.clone() {
            assert!(nobody_may_go(&queue).await, "a few plans do not start beside a group");
            put(&queue, number, 4).await;
        }
        let (beside, beside_hold) = next(&queue).await;
        assert_eq!(beside, others.collect::<Vec<_>>());
        assert!(nobody_may_go(&queue).await);

        drop(beside_hold);
        assert!(nobody_may_go(&queue).await);
        drop(hold);
        assert_eq!(next(&queue).await.0, [2, 2, 1], "in the order in which they came");
    }

    #[tokio::test]
    async fn whoever_waits_is_woken_when_there_are_enough_and_when_a_group_ends() {
        let queue = Arc::new(Queue::new());
        put(&queue, 1, 1).await;
        let (_, hold) = next(&queue).await;
        let mut waiting = Box::pin(queue.next());
        for number in 2..2 + u128::try_from(BESIDE).unwrap() {
            assert!(poll_immediate(&mut waiting).await.is_none());
            put(&queue, number, 2).await;
        }
        assert_eq!(waiting.await.unwrap().jobs.len(), BESIDE);

        put(&queue, 100, 1).await;
        let (again, ends) = tokio::join!(queue.next(), async { drop(hold) });
        assert_eq!((again.unwrap().jobs.len(), ends), (1, ()));
    }

    #[tokio::test]
    async fn a_closed_queue_gives_out_what_is_left_and_then_ends() {
        let queue = Arc::new(Queue::new());
        put(&queue, 1, 1).await;
        queue.close();
        assert!(queue.put(plan(2, 2), Instant::now()).await.is_err());
        assert_eq!(next(&queue).await.0, [1]);
        assert!(queue.next().await.is_none());
    }
}
