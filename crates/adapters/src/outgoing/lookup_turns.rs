//! Turns of users to look up names.
//!
//! Users choose the names, and can run the name servers of these names, so a user can make each of their look-ups
//! last until the time limit. Users with slow look-ups share a part of all turns, and other users do not wait for them.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cuepoint_domain::ids::UserId;
use hashlink::LruCache;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// The maximum number of concurrent look-ups of a user.
const PER_USER: usize = 2;
/// The duration above which a look-up is slow.
const SLOW: Duration = Duration::from_secs(1);
/// How long a user counts as slow after a slow look-up.
const SLOW_FOR: Duration = Duration::from_secs(600);
/// The maximum number of users with a known standing. The others count as new.
const KNOWN: usize = 10_000;

/// What is known of a user's look-ups, the best first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Standing {
    /// The last look-up was fast, and no recent one was slow.
    Fast,
    /// No look-up is known.
    New,
    /// A recent look-up was slow.
    Slow,
}

impl Standing {
    const ALL: [Self; 3] = [Self::Fast, Self::New, Self::Slow];

    /// A user of this standing may begin a look-up while fewer than this number run for all users.
    const fn limit(self) -> usize {
        match self {
            Self::Fast => 32,
            Self::New => 24,
            Self::Slow => 16,
        }
    }
}

/// Gives users turns: at most two at a time for each, and 32 for all.
#[derive(Clone, Default)]
pub(super) struct LookupTurns(Arc<Mutex<State>>);

/// The right to look up a name, until it is dropped.
pub(super) struct LookupTurn {
    turns: LookupTurns,
    user: UserId,
    began: Instant,
}

struct State {
    running: HashMap<UserId, usize>,
    total: usize,
    /// The waiting users, in the order of their turns.
    order: VecDeque<UserId>,
    waiting: HashMap<UserId, VecDeque<oneshot::Sender<()>>>,
    /// When the last slow look-up of a user ended; `None` if none is known.
    known: LruCache<UserId, Option<Instant>>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            running: HashMap::new(),
            total: 0,
            order: VecDeque::new(),
            waiting: HashMap::new(),
            known: LruCache::new(KNOWN),
        }
    }
}

impl LookupTurns {
    /// Waits for a turn of a user.
    pub(super) async fn next(&self, user: UserId) -> LookupTurn {
        let mut waiter = Waiter { turns: self, user, given: self.enqueue(user) };
        // The sender is dropped only with a turn.
        let _ = (&mut waiter.given).await;
        LookupTurn { turns: self.clone(), user, began: Instant::now() }
    }

    fn enqueue(&self, user: UserId) -> oneshot::Receiver<()> {
        let (give, given) = oneshot::channel();
        let mut state = self.state();
        let waiting = state.waiting.entry(user).or_default();
        waiting.push_back(give);
        if waiting.len() == 1 {
            state.order.push_back(user);
        }
        state.give();
        given
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends a turn that took this long; `None` if no look-up began.
    fn end(&self, user: UserId, took: Option<Duration>) {
        let mut state = self.state();
        state.total = state.total.saturating_sub(1);
        if let Some(running) = state.running.get_mut(&user) {
            *running = running.saturating_sub(1);
            if *running == 0 {
                state.running.remove(&user);
            }
        }
        if let Some(took) = took {
            let slow_at = state.known.get(&user).copied().flatten();
            state.known.insert(user, if took > SLOW { Some(Instant::now()) } else { slow_at });
        }
        state.give();
    }
}

impl Drop for LookupTurn {
    fn drop(&mut self) {
        self.turns.end(self.user, Some(self.began.elapsed()));
    }
}

/// A wait that may end before its turn comes.
struct Waiter<'a> {
    turns: &'a LookupTurns,
    user: UserId,
    given: oneshot::Receiver<()>,
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.given.close();
        // A turn that was given meanwhile.
        if self.given.try_recv().is_ok() {
            self.turns.end(self.user, None);
        }
    }
}

impl State {
    /// Gives turns to waiting users while the limits permit.
    fn give(&mut self) {
        for standing in Standing::ALL {
            while self.total < standing.limit()
                && let Some(index) = self.order.iter().position(|user| self.may_begin(*user, standing))
                && let Some(user) = self.order.remove(index)
            {
                self.give_to(user);
            }
        }
    }

    fn may_begin(&self, user: UserId, standing: Standing) -> bool {
        self.standing(user) == standing && self.running.get(&user).is_none_or(|running| *running < PER_USER)
    }

    fn standing(&self, user: UserId) -> Standing {
        match self.known.peek(&user) {
            None => Standing::New,
            Some(Some(slow_at)) if slow_at.elapsed() < SLOW_FOR => Standing::Slow,
            Some(_) => Standing::Fast,
        }
    }

    /// Gives a user one turn, and puts a user who waits for more turns at the end.
    fn give_to(&mut self, user: UserId) {
        let Some(waiting) = self.waiting.get_mut(&user) else { return };
        // Some may no longer wait.
        let given = std::iter::from_fn(|| waiting.pop_front()).any(|waiter| waiter.send(()).is_ok());
        if waiting.is_empty() {
            self.waiting.remove(&user);
        } else {
            self.order.push_back(user);
        }
        if given {
            self.total = self.total.saturating_add(1);
            let running = self.running.entry(user).or_default();
            *running = running.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use tokio::time::advance;

    use super::*;

    const HONEST: UserId = UserId::new(1_000).unwrap();

    fn user(number: i64) -> UserId {
        UserId::new(number).unwrap()
    }

    /// The turns that begin immediately if each user asks for this many.
    fn begin(turns: &LookupTurns, users: std::ops::Range<i64>, each: usize) -> Vec<LookupTurn> {
        let asked = users.flat_map(|number| std::iter::repeat_n(user(number), each));
        asked.filter_map(|user| turns.next(user).now_or_never()).collect()
    }

    /// Looks up a name for a user in this time.
    async fn look_up(turns: &LookupTurns, user: UserId, time: Duration) {
        let turn = turns.next(user).await;
        advance(time).await;
        drop(turn);
    }

    #[tokio::test(start_paused = true)]
    async fn lookups_are_limited_to_two_per_user_and_24_for_all_new_users() {
        let turns = LookupTurns::default();
        assert_eq!(begin(&turns, 1..2, 5).len(), 2);
        let running = begin(&turns, 1..101, 1);
        assert_eq!(running.len(), 24);
        drop(running);
        assert_eq!(turns.state().total, 0);
        assert!(turns.state().running.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn users_with_fast_lookups_share_32_turns_and_users_with_slow_lookups_16() {
        let turns = LookupTurns::default();
        for number in 1..41 {
            look_up(&turns, user(number), Duration::from_millis(20)).await;
        }
        assert_eq!(begin(&turns, 1..41, 1).len(), 32);
        for number in 1..41 {
            look_up(&turns, user(number), Duration::from_secs(5)).await;
            // A fast look-up does not make up for a slow one.
            look_up(&turns, user(number), Duration::from_millis(20)).await;
        }
        assert_eq!(begin(&turns, 1..41, 1).len(), 16);
        advance(SLOW_FOR).await;
        assert_eq!(begin(&turns, 1..41, 1).len(), 32);
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_users_are_served_in_turn() {
        let turns = LookupTurns::default();
        let mut running = begin(&turns, 100..124, 1);
        let asked: Vec<_> = [1, 1, 1, 2, 3].map(|number| (number, turns.next(user(number)))).into();
        let mut waiting: Vec<_> =
            asked.into_iter().map(|(number, next)| (number, Box::pin(next), None)).collect();
        let mut order = Vec::new();
        for _ in 0..5 {
            for (_, next, turn) in waiting.iter_mut().filter(|(_, _, turn)| turn.is_none()) {
                *turn = next.as_mut().now_or_never();
            }
            running.pop();
            for (number, next, turn) in waiting.iter_mut().filter(|(_, _, turn)| turn.is_none()) {
                *turn = next.as_mut().now_or_never();
                order.extend(turn.is_some().then_some(*number));
            }
        }
        assert_eq!(order, [1, 2, 3, 1], "a user has two turns at a time");
        drop(waiting.remove(0));
        assert!(waiting[1].1.as_mut().now_or_never().is_some(), "a turn of the user has ended");
    }

    #[tokio::test(start_paused = true)]
    async fn an_abandoned_wait_passes_its_turn_to_the_next_user() {
        let turns = LookupTurns::default();
        let mut running = begin(&turns, 100..124, 1);
        let mut given_up: Vec<_> = (1..4).map(|number| Box::pin(turns.next(user(number)))).collect();
        assert!(given_up.iter_mut().all(|next| next.as_mut().now_or_never().is_none()));
        let mut honest = Box::pin(turns.next(HONEST));
        assert!(honest.as_mut().now_or_never().is_none());
        given_up.pop();
        running.pop();
        // Given a turn, but dropped before it begins.
        drop(given_up.remove(0));
        assert!(honest.as_mut().now_or_never().is_none());
        drop(given_up);
        assert!(honest.as_mut().now_or_never().is_some());
        drop((running, honest));
        assert_eq!(turns.state().total, 0);
        assert!(turns.state().waiting.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn unanswered_lookups_of_100_users_do_not_delay_another_user() {
        let turns = LookupTurns::default();
        look_up(&turns, HONEST, Duration::from_millis(20)).await;
        for number in 1..101 {
            for _ in 0..2 {
                let turns = turns.clone();
                tokio::spawn(async move {
                    loop {
                        look_up_until(&turns, user(number), Duration::from_secs(5)).await;
                    }
                });
            }
        }
        for _ in 0..70 {
            tokio::time::sleep(Duration::from_millis(700)).await;
            assert!(turns.state().waiting.len() > 60);
            assert!(turns.next(HONEST).now_or_never().is_some());
        }
        // A new user does not wait either, once the others are known to be slow.
        assert!(turns.next(user(2_000)).now_or_never().is_some());
    }

    async fn look_up_until(turns: &LookupTurns, user: UserId, time: Duration) {
        let _turn = turns.next(user).await;
        tokio::time::sleep(time).await;
    }
}
