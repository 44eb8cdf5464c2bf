//! Erasing a person's data: what the ledger needs stays, and names nobody.

use crate::account::{DjProfile, User, leaves_an_operator};
use crate::ledger::Wallet;
use crate::money::Money;
use crate::text::{Email, Line};
use crate::timestamp::Timestamp;
use crate::topup::Topup;

/// Why a person cannot be erased.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ErasureRefusal {
    /// There is money in their wallet, available, held or owed.
    MoneyLeft,
    /// They are the last active operator.
    LastOperator,
    /// A top-up of theirs is pending, and its money may still come.
    TopupPending,
}

/// The person without anything that tells who they were: their id, what they played and when they registered stay.
/// Among these people is every active operator, if the person is one. `pending` is their newest pending top-up; the money of
/// one that was made after `expected_since` may still come. Older ones fail with the erasure, as [`crate::topup::abandon`] says.
///
/// # Errors
/// [`ErasureRefusal`].
pub fn erase<'a>(
    user: &User,
    wallet: &Wallet,
    people: impl IntoIterator<Item = &'a User>,
    pending: Option<&Topup>,
    expected_since: Timestamp,
    at: Timestamp,
) -> Result<User, ErasureRefusal> {
    let balance = &wallet.balance;
    if [balance.available, balance.held, balance.owed].iter().any(|money| *money != Money::ZERO) {
        return Err(ErasureRefusal::MoneyLeft);
    }
    if pending.is_some_and(|topup| topup.created_at > expected_since) {
        return Err(ErasureRefusal::TopupPending);
    }
    let id = user.id;
    let dj =
        user.dj.as_ref().map(|dj| DjProfile { played: dj.played, rating: dj.rating, ..DjProfile::default() });
    // Neither is an address that somebody could register.
    let email = Email::from_stored(format!("erased-{id}"));
    let name = Line::from_stored("Erased".to_owned());
    let erased = User {
        dj,
        role: user.role,
        suspended_at: user.suspended_at,
        standing_at: Some(at),
        erased_at: Some(at),
        ..User::registered(id, name, email, None, false, user.created_at)
    };
    if leaves_an_operator(user, &erased, people) { Ok(erased) } else { Err(ErasureRefusal::LastOperator) }
}
