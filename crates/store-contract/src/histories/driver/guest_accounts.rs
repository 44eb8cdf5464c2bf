//! Guest accounts, run on the store and on the model.

use std::collections::BTreeSet;

use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::ledger::{Balance, Entry};
use cuepoint_domain::operation::{Plan, Rejection, plans};
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::ports::{GuestClaim, PasswordHash, Registered, UnusedGuests};
use cuepoint_domain::text::Email;
use cuepoint_domain::topup::{Charge, GuestTopupLimits};
use cuepoint_domain::user::guest_account::{ClaimDetails, Claimed};
use cuepoint_domain::user::session::{ClientInfo, SecretKind, Session, SessionSecret, TokenHash};
use cuepoint_domain::user::{Role, User};
use time::Duration;

use super::{HistoryDriver, equal};
use crate::harness::scenario::amount;
use crate::histories::commands::GUEST_ACCOUNTS;
use crate::subjects::sessions::valid_for;

/// The secret that a session gets first, or with the claim of its account: every other session has a cookie.
fn secret(session: SessionId, is_claimed: bool) -> SessionSecret {
    let mut bytes = [u8::from(is_claimed); 32];
    bytes[..8].copy_from_slice(&session.get().to_be_bytes());
    let has_cookie = session.get() % 2 == 0;
    let kind = if has_cookie { SecretKind::Cookie } else { SecretKind::RefreshToken };
    SessionSecret::new(kind, TokenHash(bytes))
}

impl HistoryDriver<'_> {
    /// The plan of a top-up: one of a guest account stays within the limits.
    pub(super) async fn topup_plan(&self, who: usize, cents: i128, charge: Charge, keyed: bool) -> Plan {
        let (id, metadata) = (self.scenario.ids.next_topup().await.unwrap(), self.metadata(who, keyed));
        let (user, amount) = (self.people[who], amount(cents));
        if self.scenario.principal(user).await.is_guest_account() {
            plans::open_guest_topup(metadata, id, user, amount, charge, self.guest_limits())
        } else {
            plans::open_topup(metadata, id, user, amount, charge)
        }
    }

    fn guest_limits(&self) -> GuestTopupLimits {
        let (in_wallet, per_24h) = self.model.terms.guest_topups;
        GuestTopupLimits { most_in_wallet: in_wallet.map(amount), most_per_24h: per_24h.map(amount) }
    }

    /// Creates a guest account, unless there are many.
    pub(super) async fn create_guest(&mut self) -> Result<(), String> {
        if self.model.guest_accounts.len() >= GUEST_ACCOUNTS {
            return Ok(());
        }
        let (ids, now) = (&self.scenario.ids, self.time());
        let (id, session) = (ids.next_user().await.unwrap(), ids.next_session().await.unwrap());
        let user = User::guest(id, None, now);
        let begun = Session::begin(session, id, ClientInfo::default(), now, valid_for());
        let first = Some((&begun, secret(session, false)));
        let registered = self.scenario.store.register(&user, &PasswordHash::none(), first).await;
        equal("a registration", &registered.unwrap(), &Registered::Done)?;
        self.people.push(id);
        self.sessions.insert(id, session);
        self.model.create_guest();
        equal("a guest account", &self.scenario.user(id).await, &user)
    }

    /// The balance and the entries of a user.
    async fn money(&self, user: UserId) -> (Balance, Vec<Entry>) {
        let entries = self.scenario.store.entries(user, PageRequest::new(1, 100)).await.unwrap();
        (self.scenario.balance(user).await, entries.rows)
    }

    /// Claims a guest account, with a new address or with the address of another user.
    pub(super) async fn claim(&mut self, who: usize, taken: Option<usize>) -> Result<(), String> {
        let user = self.people[who];
        let email = match taken {
            Some(other) => self.scenario.user(self.people[other]).await.email.as_str().to_uppercase(),
            None => format!("claimed{user}@example.com"),
        };
        let (session, at) = (self.sessions[&user], self.time());
        let claim = GuestClaim {
            user,
            session,
            details: ClaimDetails { email: Email::new(&email).unwrap(), name: None, phone: None },
            password: PasswordHash(format!("hash of {user}")),
            secret: secret(session, true),
            expires_at: at.plus(valid_for()),
            at,
        };
        let before = (self.scenario.user(user).await, self.money(user).await);
        let (claimed, expected) = match self.scenario.store.claim(&claim).await.unwrap() {
            Claimed::Done(member) => {
                equal("the role of a claimed account", &member.role, &Role::Member)?;
                equal("the address of a claimed account", &member.email, &claim.details.email)?;
                ("claim: done", *member)
            }
            Claimed::EmailTaken => ("claim: address taken", before.0),
            Claimed::NotAGuest => ("claim: no guest account", before.0),
        };
        self.observed.insert(claimed.to_owned());
        equal("a claim", &claimed, &self.model.claim(who, taken.is_some()))?;
        equal("the account after a claim", &self.scenario.user(user).await, &expected)?;
        equal("the money after a claim", &self.money(user).await, &before.1)
    }

    /// Deletes a user if they are an unused guest account, as the job does.
    pub(super) async fn delete_unused(&mut self, who: usize) -> Result<(), String> {
        let (user, before) = (self.people[who], self.time().minus(Duration::DAY));
        let expected: BTreeSet<UserId> =
            self.model.unused_guests().into_iter().map(|place| self.people[place]).collect();
        equal("the unused guest accounts", &self.unused_guests().await, &expected)?;
        let deleted = self.scenario.store.delete_guest(user, before).await.unwrap();
        equal("a deletion", &deleted, &self.model.delete_guest(who))?;
        self.observed.insert(format!("guest account {}", if deleted { "deleted" } else { "kept" }));
        let profile = self.scenario.store.profile(user).await.unwrap();
        equal("whether the user is there", &profile.is_some(), &!deleted)?;
        if !deleted {
            return Ok(());
        }
        equal(
            "its token",
            &self.scenario.store.owner(secret(self.sessions[&user], false)).await.unwrap(),
            &None,
        )?;
        let (id, metadata) = (self.scenario.ids.next_topup().await.unwrap(), self.metadata(who, false));
        let late = plans::open_guest_topup(
            metadata,
            id,
            user,
            amount(1),
            Charge::Confirmed,
            GuestTopupLimits::default(),
        );
        let answer = self.scenario.apply(late).await;
        let is_refused = matches!(answer, Err(Rejection::Missing(_)));
        equal("whether the top-up of a deleted account is refused", &is_refused, &true)
    }

    /// The unused guest accounts of this history that the job finds. Those of earlier histories can have larger ids, because
    /// each connection has its own block of ids.
    async fn unused_guests(&self) -> BTreeSet<UserId> {
        let (mut found, mut after) = (BTreeSet::new(), Some(self.people[0]));
        loop {
            let before = self.time().minus(Duration::DAY);
            let UnusedGuests { unused, last } =
                self.scenario.store.unused_guests(before, after, 2).await.unwrap();
            found.extend(unused.into_iter().filter(|user| self.people.contains(user)));
            if last.is_none() {
                return found;
            }
            after = last;
        }
    }
}
