//! The queue of passwords that wait to be hashed.
//!
//! A free place goes to each site in turn, and within a site to each network in turn: the passwords of one network
//! delay the passwords of another by one hash each at most. A site is an IPv6 /48; an IPv4 address is one for itself.
//!
//! Strangers can use half of the waiting places of a network. A stranger is a client that is not known to have an account.
//! The other half is for known browsers, known networks of an account, and sessions.

use std::collections::{HashMap, VecDeque};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cuepoint_domain::network::{ClientNetwork, ClientSite};
use cuepoint_domain::ports::{HashingError, Unavailable};
use hashlink::LinkedHashMap;
use tokio::sync::oneshot;

/// The time limit of waiting for a place.
pub const PATIENCE: Duration = Duration::from_secs(1).saturating_mul(PATIENCE_SECONDS);

/// [`PATIENCE`] in seconds, after which a client that was refused tries again.
pub const PATIENCE_SECONDS: u32 = 3;

/// All networks of an IPv6 site, or one network.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Group {
    Site(ClientSite),
    Network(Option<ClientNetwork>),
}

impl Group {
    fn of(network: Option<ClientNetwork>) -> Self {
        network.and_then(ClientNetwork::site).map_or(Self::Network(network), Self::Site)
    }
}

/// A password that waits.
struct Waiter {
    id: u64,
    place: oneshot::Sender<HashingPlace>,
}

/// The passwords of a group, by network.
#[derive(Default)]
struct Line {
    waiting: usize,
    networks: LinkedHashMap<Option<ClientNetwork>, VecDeque<Waiter>>,
}

struct State {
    /// The number of free places. While one is free, nobody waits.
    free: usize,
    last_id: u64,
    lines: LinkedHashMap<Group, Line>,
    /// The numbers of admitted strangers, by network and by site. A stranger counts while its password waits, and while it
    /// is hashed.
    strangers: HashMap<Group, usize>,
}

impl State {
    fn waiting(&self, network: Option<ClientNetwork>) -> (usize, usize) {
        let Some(line) = self.lines.get(&Group::of(network)) else { return (0, 0) };
        (line.networks.get(&network).map_or(0, VecDeque::len), line.waiting)
    }

    fn add(&mut self, network: Option<ClientNetwork>, place: oneshot::Sender<HashingPlace>) -> u64 {
        self.last_id = self.last_id.wrapping_add(1);
        let id = self.last_id;
        let (group, waiter) = (Group::of(network), Waiter { id, place });
        // No entry is moved by a password that joins it: `entry` would do so.
        let mut line = Line::default();
        let known = self.lines.get_mut(&group);
        let is_new = known.is_none();
        let joined = known.unwrap_or(&mut line);
        joined.waiting = joined.waiting.saturating_add(1);
        match joined.networks.get_mut(&network) {
            Some(waiters) => waiters.push_back(waiter),
            None => drop(joined.networks.insert(network, VecDeque::from([waiter]))),
        }
        if is_new {
            self.lines.insert(group, line);
        }
        id
    }

    /// Takes out the next password, and moves its network and group behind all others.
    fn next(&mut self) -> Option<Waiter> {
        let (group, mut line) = self.lines.pop_front()?;
        let (network, mut waiters) = line.networks.pop_front()?;
        let next = waiters.pop_front();
        line.waiting = line.waiting.saturating_sub(1);
        if !waiters.is_empty() {
            line.networks.insert(network, waiters);
        }
        if !line.networks.is_empty() {
            self.lines.insert(group, line);
        }
        next
    }

    /// Takes out a password that waits no longer.
    fn remove(&mut self, network: Option<ClientNetwork>, id: u64) {
        let group = Group::of(network);
        let Some(line) = self.lines.get_mut(&group) else { return };
        let Some(waiters) = line.networks.get_mut(&network) else { return };
        let before = waiters.len();
        waiters.retain(|waiter| waiter.id != id);
        line.waiting = line.waiting.saturating_sub(before.saturating_sub(waiters.len()));
        if waiters.is_empty() {
            line.networks.remove(&network);
        }
        if line.networks.is_empty() {
            self.lines.remove(&group);
        }
    }
}

/// The places in which passwords are hashed at the same time, and the passwords that wait for one.
pub struct PasswordQueue {
    state: Mutex<State>,
    places: usize,
    /// The maximum number of waiting passwords of a network; `None` means no limit.
    most_waiting: Option<NonZeroU32>,
    patience: Duration,
}

impl std::fmt::Debug for PasswordQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PasswordQueue").finish_non_exhaustive()
    }
}

/// A place, which is passed on when it is dropped.
pub struct HashingPlace(Arc<PasswordQueue>);

impl Drop for HashingPlace {
    fn drop(&mut self) {
        let next = {
            let mut state = self.0.lock();
            let next = state.next();
            if next.is_none() {
                state.free = state.free.saturating_add(1);
            }
            next
        };
        if let Some(waiter) = next {
            // A place that nobody takes any more is dropped here, and so passed on again.
            drop(waiter.place.send(Self(Arc::clone(&self.0))));
        }
    }
}

/// The admission of a stranger's password, which ends when it is dropped.
pub struct StrangerAdmission {
    queue: Arc<PasswordQueue>,
    network: Option<ClientNetwork>,
}

impl std::fmt::Debug for StrangerAdmission {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StrangerAdmission").finish_non_exhaustive()
    }
}

impl Drop for StrangerAdmission {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        for group in groups(self.network) {
            let Some(admitted) = state.strangers.get_mut(&group) else { continue };
            *admitted = admitted.saturating_sub(1);
            if *admitted == 0 {
                state.strangers.remove(&group);
            }
        }
    }
}

/// The network of a client and its site, if it has one.
fn groups(network: Option<ClientNetwork>) -> impl Iterator<Item = Group> {
    let site = network.and_then(ClientNetwork::site).map(Group::Site);
    std::iter::once(Group::Network(network)).chain(site)
}

/// A password in the queue, which it leaves when it is dropped.
struct Waiting<'q> {
    queue: &'q PasswordQueue,
    network: Option<ClientNetwork>,
    id: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.queue.lock().remove(self.network, self.id);
    }
}

impl PasswordQueue {
    /// A queue with this many places, in which at most this many passwords of a network wait, and
    /// [`ClientSite::QUOTA`] times as many of an IPv6 site.
    #[must_use]
    pub fn new(places: usize, most_waiting: Option<NonZeroU32>, patience: Duration) -> Arc<Self> {
        let state =
            State { free: places, last_id: 0, lines: LinkedHashMap::new(), strangers: HashMap::new() };
        Arc::new(Self { state: Mutex::new(state), places, most_waiting, patience })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A poisoned lock is safe to use: no change of the state can panic halfway.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails if a password from this network could neither be hashed nor wait now.
    ///
    /// # Errors
    /// [`HashingError::TooManyWaiting`].
    pub fn ensure_room(&self, network: Option<ClientNetwork>) -> Result<(), HashingError> {
        self.ensure_room_in(&self.lock(), network)
    }

    fn ensure_room_in(&self, state: &State, network: Option<ClientNetwork>) -> Result<(), HashingError> {
        let Some(most) = self.most_waiting.filter(|_| state.free == 0) else { return Ok(()) };
        let reaches =
            |waiting: usize, most: NonZeroU32| waiting >= usize::try_from(most.get()).unwrap_or(usize::MAX);
        let (of_network, of_group) = state.waiting(network);
        let of_site = most.saturating_mul(ClientSite::QUOTA);
        if reaches(of_network, most) || reaches(of_group, of_site) {
            return Err(HashingError::TooManyWaiting(most.get()));
        }
        Ok(())
    }

    /// Admits the password of a stranger from this network. At the same time, half of the maximum of waiting passwords are
    /// admitted, and one more for each place. The other half stays free for known clients.
    ///
    /// # Errors
    /// [`HashingError::TooManyWaiting`].
    pub fn admit_stranger(
        self: &Arc<Self>,
        network: Option<ClientNetwork>,
    ) -> Result<StrangerAdmission, HashingError> {
        let mut state = self.lock();
        self.ensure_room_in(&state, network)?;
        if let Some(most) = self.most_waiting {
            let half = usize::try_from(most.get().div_ceil(2)).unwrap_or(usize::MAX);
            let of_network = half.saturating_add(self.places);
            let times = usize::try_from(ClientSite::QUOTA.get()).unwrap_or(usize::MAX);
            let of_site = half.saturating_mul(times).saturating_add(self.places);
            let is_full = groups(network).any(|group| {
                let most = if matches!(group, Group::Site(_)) { of_site } else { of_network };
                state.strangers.get(&group).is_some_and(|admitted| *admitted >= most)
            });
            if is_full {
                return Err(HashingError::TooManyWaiting(most.get()));
            }
        }
        for group in groups(network) {
            let admitted = state.strangers.entry(group).or_default();
            *admitted = admitted.saturating_add(1);
        }
        Ok(StrangerAdmission { queue: Arc::clone(self), network })
    }

    /// Waits for a place.
    ///
    /// # Errors
    /// [`HashingError::TooManyWaiting`] at once, and [`HashingError::Unavailable`] after too long a wait.
    pub async fn place(
        self: &Arc<Self>,
        network: Option<ClientNetwork>,
    ) -> Result<HashingPlace, HashingError> {
        let (receiver, _waiting) = {
            let mut state = self.lock();
            self.ensure_room_in(&state, network)?;
            if let Some(free) = state.free.checked_sub(1) {
                state.free = free;
                return Ok(HashingPlace(Arc::clone(self)));
            }
            let (place, receiver) = oneshot::channel();
            let id = state.add(network, place);
            (receiver, Waiting { queue: self, network, id })
        };
        match tokio::time::timeout(self.patience, receiver).await {
            Ok(Ok(place)) => Ok(place),
            Ok(Err(gone)) => Err(Unavailable::new(gone).into()),
            Err(_) => Err(Unavailable::new("too many passwords are waiting to be hashed").into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::{FutureExt as _, LocalBoxFuture, join_all};

    use super::*;

    fn at(address: &str) -> Option<ClientNetwork> {
        Some(ClientNetwork::of(address.parse().unwrap()))
    }

    /// A queue with one place, which is taken, and three waiting passwords of a network at most.
    fn busy() -> (Arc<PasswordQueue>, HashingPlace) {
        let queue = PasswordQueue::new(1, NonZeroU32::new(3), Duration::from_secs(3_600));
        let place = queue.place(None).now_or_never().unwrap().unwrap();
        (queue, place)
    }

    /// Whether the place is free and nobody waits.
    fn is_idle(queue: &PasswordQueue) -> bool {
        let state = queue.lock();
        state.free == 1 && state.lines.is_empty() && state.strangers.is_empty()
    }

    /// Passwords that wait, in this order.
    struct Scene<'q> {
        queue: &'q Arc<PasswordQueue>,
        waiting: Vec<(String, LocalBoxFuture<'q, Result<HashingPlace, HashingError>>)>,
    }

    impl<'q> Scene<'q> {
        fn of(queue: &'q Arc<PasswordQueue>, addresses: &str) -> Self {
            let mut scene = Self { queue, waiting: Vec::new() };
            addresses.split_whitespace().for_each(|address| assert!(scene.join(address), "{address} waits"));
            scene
        }

        /// Whether a password from this address may wait.
        fn join(&mut self, address: &str) -> bool {
            let mut waits = self.queue.place(at(address)).boxed_local();
            match waits.as_mut().now_or_never() {
                None => self.waiting.push((address.to_owned(), waits)),
                Some(Err(HashingError::TooManyWaiting(3))) => return false,
                Some(other) => panic!("{address} got {:?}", other.map(drop)),
            }
            true
        }

        /// The addresses in the order in which they get the place.
        fn served(mut self, place: HashingPlace) -> String {
            drop(place);
            let mut served = Vec::new();
            while !self.waiting.is_empty() {
                let mut polled = self.waiting.iter_mut().map(|(_, waits)| waits.as_mut().now_or_never());
                let next = polled.position(|place| place.map(Result::unwrap).is_some());
                served.push(self.waiting.remove(next.expect("one gets the place")).0);
            }
            served.join(" ")
        }
    }

    #[tokio::test]
    async fn networks_are_served_in_turn() {
        for (waiting, served) in [
            ("10.0.0.1 10.0.0.1 10.0.0.1 10.0.0.2", "10.0.0.1 10.0.0.2 10.0.0.1 10.0.0.1"),
            ("10.0.0.1 10.0.0.1 10.0.0.2 10.0.0.2 10.0.0.3", "10.0.0.1 10.0.0.2 10.0.0.3 10.0.0.1 10.0.0.2"),
            // Many networks of one IPv6 site wait in one line.
            ("1:1:1:1::1 1:1:1:2::1 1:1:1:3::1 10.0.0.1", "1:1:1:1::1 10.0.0.1 1:1:1:2::1 1:1:1:3::1"),
            // Within the line, too, the networks take turns.
            ("1:1:1:1::1 1:1:1:1::2 1:1:1:2::1 1:1:2:1::1", "1:1:1:1::1 1:1:2:1::1 1:1:1:2::1 1:1:1:1::2"),
        ] {
            let (queue, place) = busy();
            assert_eq!(Scene::of(&queue, waiting).served(place), served, "{waiting}");
            assert!(is_idle(&queue), "{waiting}");
        }
    }

    #[tokio::test]
    async fn waiting_passwords_are_limited_per_network_and_per_site() {
        let (queue, place) = busy();
        let mut scene = Scene::of(&queue, "10.0.0.1 10.0.0.1 10.0.0.1 10.0.0.2");
        assert!(!scene.join("10.0.0.1") && scene.join("10.0.0.2"));
        assert!(queue.ensure_room(at("10.0.0.1")).is_err() && queue.ensure_room(at("10.0.0.2")).is_ok());
        // A password that waits no longer makes room.
        drop(scene.waiting.remove(1));
        assert!(scene.join("10.0.0.1") && !scene.join("10.0.0.1"));
        // A site has eight times as many.
        for network in 0..8 {
            (0..3).for_each(|_| assert!(scene.join(&format!("1:1:1:{network}::1")), "{network}"));
        }
        assert!(!scene.join("1:1:1:8::1") && scene.join("1:1:2:8::1"));
        let served = scene.served(place);
        assert!(served.starts_with("10.0.0.1 10.0.0.2 1:1:1:0::1 1:1:2:8::1 10.0.0.1"), "{served}");
    }

    /// Attack API4: filling the queue of an address, so that its members cannot log in.
    #[tokio::test]
    async fn strangers_leave_half_of_the_waiting_places_to_known_clients() {
        let queue = PasswordQueue::new(1, NonZeroU32::new(4), Duration::from_secs(3_600));
        let admit = |address: &str| queue.admit_stranger(at(address));
        let strangers: Vec<_> = (0..3).map(|_| admit("10.0.0.1").unwrap()).collect();
        assert!(admit("10.0.0.1").is_err(), "one in the place, two that wait");
        assert!(admit("10.0.0.2").is_ok());
        let place = queue.place(at("10.0.0.1")).now_or_never().unwrap().unwrap();
        let mut scene = Scene::of(&queue, "10.0.0.1 10.0.0.1");
        queue.ensure_room(at("10.0.0.1")).unwrap();
        // Known clients get the other half.
        let waiting = (0..2).map(|_| queue.place(at("10.0.0.1")).boxed_local());
        scene.waiting.extend(waiting.map(|mut waits| {
            assert!(waits.as_mut().now_or_never().is_none());
            ("10.0.0.1".to_owned(), waits)
        }));
        assert!(queue.ensure_room(at("10.0.0.1")).is_err());
        drop(scene.served(place));
        drop(strangers);
        assert!(is_idle(&queue) && admit("10.0.0.1").is_ok());
        // A site has eight times as many.
        let networks: Vec<_> = (0..16).map(|network| format!("1:1:1:{network:x}::1")).collect();
        let of_site: Vec<_> = networks.iter().map(|network| admit(network).unwrap()).collect();
        let last = admit("1:1:1:ff::1").unwrap();
        assert!(admit("1:1:1:fe::1").is_err() && admit("1:1:2:1::1").is_ok());
        drop((of_site, last));
        assert!(is_idle(&queue));
    }

    #[tokio::test]
    async fn abandoned_waits_are_skipped() {
        let (queue, place) = busy();
        let mut scene = Scene::of(&queue, "10.0.0.1 10.0.0.2 10.0.0.3");
        drop(place);
        // The first one has the place now, and goes without looking at it.
        drop(scene.waiting.remove(0));
        let (_, second) = &mut scene.waiting[0];
        let place = second.as_mut().now_or_never().unwrap().unwrap();
        drop(scene.waiting);
        drop(place);
        assert!(is_idle(&queue));
    }

    #[tokio::test]
    async fn a_wait_for_a_hashing_place_times_out() {
        let queue = PasswordQueue::new(0, None, Duration::ZERO);
        let waits = join_all((0..20).map(|_| queue.place(None))).await;
        let is_late = |error: &Result<HashingPlace, _>| matches!(error, Err(HashingError::Unavailable(_)));
        assert!(waits.iter().all(is_late));
        assert!(queue.lock().lines.is_empty());
    }
}
