//! Users.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use async_trait::async_trait;
use cuepoint_domain::gig::Gig;
use cuepoint_domain::ids::{GigId, UserId};
use cuepoint_domain::ledger::{EntryKind, Wallet};
use cuepoint_domain::operation::StoredReceipt;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{
    DjFilter, Erased, FirstOperator, PasswordHash, People, Profile, Registered, Unavailable, UnusedGuests,
};
use cuepoint_domain::privacy::erase;
use cuepoint_domain::text::Line;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::email_change::restorable_until;
use cuepoint_domain::user::session::{Session, SessionSecret};
use cuepoint_domain::user::{Role, StandingFacts, User};

use crate::lists::{first, length, newest_first, page_of, sorted};
use crate::reads::pending_topups;
use crate::{MemoryStore, State, receipts};

impl State {
    /// Whether this is an existing user who was not erased.
    pub(crate) fn is_somebody(&self, id: UserId) -> bool {
        self.book.get(id).is_some_and(|user| user.is_present())
    }

    /// Adds a user with an empty wallet, and their first session.
    fn register(
        &mut self,
        user: &User,
        password: &PasswordHash,
        session: Option<(&Session, SessionSecret)>,
    ) -> Result<Registered, Unavailable> {
        let Self { book, keys, sessions, .. } = self;
        let email = user.email.folded();
        if keys.restorations(&email, user.created_at).next().is_some() {
            return Ok(Registered::EmailTaken);
        }
        if keys.users.contains_key(&email) {
            let own = session.is_some_and(|(session, secret)| sessions.was_begun(session, secret));
            return Ok(if own { Registered::Done } else { Registered::EmailTaken });
        }
        if book.get(user.id).is_some() {
            return Err(Unavailable::new("the id of a new user is taken"));
        }
        if let Some((session, secret)) = session {
            sessions.begin(session, secret)?;
        }
        keys.users.insert(email, user.id);
        keys.passwords.insert(user.id, password.clone());
        book.wallets.insert(user.id, Wallet::empty(user.id));
        book.put(user.clone());
        Ok(Registered::Done)
    }
}

#[async_trait]
impl People for MemoryStore {
    async fn register<'a>(
        &self,
        user: &User,
        password: &PasswordHash,
        session: Option<(&'a Session, SessionSecret)>,
    ) -> Result<Registered, Unavailable> {
        let state = &mut *self.lock()?;
        state.register(user, password, session)
    }

    async fn has_first_operator(&self) -> Result<bool, Unavailable> {
        Ok(self.lock()?.has_first_operator)
    }

    async fn register_first_operator(
        &self,
        user: &User,
        password: &PasswordHash,
    ) -> Result<FirstOperator, Unavailable> {
        let state = &mut *self.lock()?;
        if state.has_first_operator {
            return Ok(FirstOperator::MadeBefore);
        }
        match state.register(user, password, None)? {
            Registered::Done => {
                state.has_first_operator = true;
                Ok(FirstOperator::Done)
            }
            Registered::EmailTaken | Registered::NotYet => Ok(FirstOperator::EmailTaken),
        }
    }

    async fn record_first_operator(&self, _: Timestamp) -> Result<(), Unavailable> {
        self.lock()?.has_first_operator = true;
        Ok(())
    }

    async fn profile(&self, id: UserId) -> Result<Option<Profile>, Unavailable> {
        let book = &self.lock()?.book;
        let both = book.get(id).zip(book.wallets.get(&id));
        Ok(both.map(|(user, wallet)| Profile { user: user.clone(), balance: wallet.balance }))
    }

    async fn active_operators(&self, after: Option<UserId>, limit: u32) -> Result<Vec<User>, Unavailable> {
        let state = self.lock()?;
        let active = state.book.all::<User>().filter(|user| {
            user.role == Role::Operator
                && user.is_present()
                && user.suspended_at.is_none()
                && Some(user.id) > after
        });
        Ok(first(sorted(active, |user| user.id), limit))
    }

    async fn people<'a>(&self, email: Option<&'a str>, page: PageRequest) -> Result<Rows<User>, Unavailable> {
        let state = self.lock()?;
        let owner = email.map(|email| state.keys.owner(email));
        let shown = state
            .book
            .all::<User>()
            .filter(|user| user.is_present() && owner.is_none_or(|owner| owner == Some(user.id)));
        Ok(page_of(newest_first(shown, |user| (user.created_at, user.id)), page))
    }

    async fn erase(
        &self,
        id: UserId,
        confirmed: &PasswordHash,
        expected_since: Timestamp,
        now: Timestamp,
    ) -> Result<Erased, Unavailable> {
        let State { book, keys, sessions, blocked, webhooks, erasing, gigs, .. } = &mut *self.lock()?;
        let both = book.get(id).zip(book.wallets.get(&id));
        let Some((user, wallet)) = both.filter(|(user, _)| user.is_present()) else {
            return Ok(Erased::Nobody);
        };
        let none = PasswordHash::none();
        let passwords = (confirmed, keys.passwords.get(&id).unwrap_or(&none));
        let pending = pending_topups(book).filter(|topup| topup.user == id);
        let newest = pending.max_by_key(|topup| (topup.created_at, topup.id));
        let restorable = restorable_until(keys.challenges_of(id), now);
        let pending = (newest, expected_since);
        let erased = match erase(user, passwords, wallet, book.all::<User>(), pending, restorable, now) {
            Ok(erased) => erased,
            Err(refusal) => return Ok(Erased::Refused(refusal)),
        };
        if newest.is_some() {
            erasing.insert(id);
        }
        book.put(erased);
        receipts(book).filter(|receipt| receipt.profile_of() == Some(id)).for_each(StoredReceipt::redact);
        keys.forget(id);
        sessions.end_all(id, None, now);
        sessions.forget_clients(id);
        sessions.forget_tokens(id);
        blocked.retain(|(dj, guest), _| *dj != id && *guest != id);
        webhooks.forget(id);
        gigs.keep_dedications(|request| book.get(request).is_some_and(|request| request.requester != id));
        let theirs: Vec<GigId> = book.all::<Gig>().filter(|gig| gig.dj == id).map(|gig| gig.id).collect();
        for gig in theirs {
            book.get_mut(gig).into_iter().for_each(Gig::forget_texts);
        }
        Ok(Erased::Done)
    }

    async fn unused_guests(
        &self,
        before: Timestamp,
        after: Option<UserId>,
        limit: u32,
    ) -> Result<UnusedGuests, Unavailable> {
        let state = self.lock()?;
        let guests = state
            .book
            .all::<User>()
            .filter(|user| user.is_guest_account() && user.is_present() && Some(user.id) > after);
        let next = first(sorted(guests, |user| user.id), limit);
        let recent = state.sessions.users_since(before);
        let is_unused =
            |user: &&User| user.created_at < before && !recent.contains(&user.id) && !state.is_named(user.id);
        let unused = next.iter().filter(is_unused).map(|user| user.id).collect();
        Ok(UnusedGuests { unused, last: next.last().map(|user| user.id) })
    }

    async fn delete_guest(&self, id: UserId, before: Timestamp) -> Result<bool, Unavailable> {
        Ok(self.lock()?.delete_guest(id, before))
    }

    async fn pending_erasures(&self, after: Option<UserId>, limit: u32) -> Result<Vec<UserId>, Unavailable> {
        let state = self.lock()?;
        let behind = state.erasing.iter().copied().filter(|user| Some(*user) > after);
        Ok(behind.take(length(limit)).collect())
    }

    async fn finish_erasures(&self) -> Result<(), Unavailable> {
        let State { book, erasing, .. } = &mut *self.lock()?;
        let pending: HashSet<UserId> = pending_topups(book).map(|topup| topup.user).collect();
        erasing.retain(|user| pending.contains(user));
        Ok(())
    }

    async fn names(&self, users: &BTreeSet<UserId>) -> Result<BTreeMap<UserId, Line>, Unavailable> {
        let state = self.lock()?;
        let found = users.iter().filter_map(|id| state.book.get(*id));
        let present = found.filter(|user| user.is_present());
        Ok(present.map(|user| (user.id, user.name.clone())).collect())
    }

    async fn standing(&self, user: UserId) -> Result<Option<StandingFacts>, Unavailable> {
        let state = self.lock()?;
        let entries = state.entries.get(&user);
        let has_paid = entries.into_iter().flatten().any(|entry| EntryKind::PAYMENTS.contains(&entry.kind));
        Ok(state.book.get(user).map(|user| StandingFacts::of(user, has_paid)))
    }

    async fn djs(&self, filter: DjFilter, page: PageRequest) -> Result<Rows<User>, Unavailable> {
        let state = self.lock()?;
        let djs = state.book.all::<User>().filter(|user| {
            let online = user.dj.as_ref().map(|dj| dj.online);
            user.is_present() && online.is_some() && filter.online.is_none_or(|wanted| online == Some(wanted))
        });
        Ok(page_of(newest_first(djs, |user| (user.created_at, user.id)), page))
    }
}
