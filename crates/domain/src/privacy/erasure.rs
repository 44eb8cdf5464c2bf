//! Erasure of personal data: the ledger keeps what it needs, without identifying anyone.

use thiserror::Error;

use crate::ledger::Wallet;
use crate::money::Money;
use crate::text::{Email, Line};
use crate::timestamp::Timestamp;
use crate::topup::Topup;
use crate::user::{DjProfile, PasswordHash, User, leaves_an_operator};

/// Why a user cannot be erased.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum ErasureRefusal {
    /// The account was claimed, or its password changed, after the user had confirmed the erasure.
    #[error("the account changed after the confirmation")]
    ConfirmationOutdated,
    /// The wallet has money available, held or owed.
    #[error("there is money in the wallet")]
    MoneyLeft,
    /// The user is the last active operator.
    #[error("no active operator would remain")]
    LastOperator,
    /// The user has a pending top-up that may still be paid.
    #[error("a top-up is pending")]
    TopupPending,
    /// The previous e-mail address can be restored until this time. An erasure by a thief of the login
    /// would prevent that.
    #[error("the previous e-mail address can be restored until {0:?}")]
    EmailRestorable(Timestamp),
}

/// Returns the user without identifying data: the id, the number of songs played and the registration time
/// remain. If the user is an operator, `people` must include every active operator. `pending` is the newest
/// pending top-up; one opened after `expected_since` may still be paid. Older ones fail after the erasure.
/// `restorable_until` is the time until which the user can restore their previous e-mail address. `confirmed` is the
/// password hash that the account had when the erasure was confirmed, `stored` the one that it has now; a guest account
/// has [`PasswordHash::none`] until it is claimed.
///
/// # Errors
/// [`ErasureRefusal`].
pub fn erase<'a>(
    user: &User,
    (confirmed, stored): (&PasswordHash, &PasswordHash),
    wallet: &Wallet,
    people: impl IntoIterator<Item = &'a User>,
    (pending, expected_since): (Option<&Topup>, Timestamp),
    restorable_until: Option<Timestamp>,
    at: Timestamp,
) -> Result<User, ErasureRefusal> {
    if confirmed != stored {
        return Err(ErasureRefusal::ConfirmationOutdated);
    }
    let balance = &wallet.balance;
    if [balance.available, balance.held, balance.owed].iter().any(|money| *money != Money::ZERO) {
        return Err(ErasureRefusal::MoneyLeft);
    }
    if pending.is_some_and(|topup| topup.created_at > expected_since) {
        return Err(ErasureRefusal::TopupPending);
    }
    if let Some(until) = restorable_until {
        return Err(ErasureRefusal::EmailRestorable(until));
    }
    let id = user.id;
    let dj =
        user.dj.as_ref().map(|dj| DjProfile { played: dj.played, rating: dj.rating, ..DjProfile::default() });
    // Neither is an address that can be registered.
    let email = Email::from_stored(format!("erased-{id}"));
    let name = Line::from_stored("Erased".to_owned());
    let erased = User {
        dj,
        role: user.role,
        suspended_at: user.suspended_at,
        status_changed_at: Some(at),
        erased_at: Some(at),
        ..User::registered(id, name, email, None, false, user.created_at)
    };
    if leaves_an_operator(user, &erased, people) { Ok(erased) } else { Err(ErasureRefusal::LastOperator) }
}
