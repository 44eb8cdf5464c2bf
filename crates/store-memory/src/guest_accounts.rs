//! Claims of guest accounts, and the deletion of unused ones.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::ports::GuestClaim;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::User;
use cuepoint_domain::user::guest_account::Claimed;

use crate::State;

impl State {
    /// Makes a guest account a member: see [`cuepoint_domain::ports::Logins::claim`].
    pub(crate) fn claim(&mut self, claim: &GuestClaim) -> Claimed {
        let Some(guest) = self.book.get(claim.user).cloned() else { return Claimed::NotAGuest };
        let Some(member) = guest.claimed(&claim.details, claim.at) else { return Claimed::NotAGuest };
        if !self.sessions.is_alive(claim.session, claim.at) {
            return Claimed::NotAGuest;
        }
        if !self.moves(&guest, &member, claim.at) {
            return Claimed::EmailTaken;
        }
        self.keys.passwords.insert(claim.user, claim.password.clone());
        self.sessions.end_all(claim.user, Some(claim.session), claim.at);
        self.sessions.renew(claim);
        Claimed::Done(Box::new(member))
    }

    /// Whether an operation, a block or the security log names this guest account.
    pub(crate) fn is_named(&self, id: UserId) -> bool {
        let is_blocked = self.blocked.keys().any(|(_, guest)| *guest == id);
        is_blocked || self.newest_about.contains_key(&id) || self.events.names(id)
    }

    /// Deletes a guest account: see [`cuepoint_domain::ports::People::delete_guest`].
    pub(crate) fn delete_guest(&mut self, id: UserId, before: Timestamp) -> bool {
        let is_guest = |user: &User| user.is_guest_account() && user.is_present() && user.created_at < before;
        let is_unused = self.book.get(id).is_some_and(is_guest) && !self.sessions.was_used(id, before);
        if !is_unused || self.is_named(id) {
            return false;
        }
        self.book.remove(id);
        self.book.wallets.remove(&id);
        self.keys.forget(id);
        self.sessions.remove_of(id);
        true
    }
}
