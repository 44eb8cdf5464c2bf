//! The payment that an operator compares with the statement of its payer before a wallet link is issued.

use thiserror::Error;

use crate::topup::{Topup, TopupStatus};
use crate::user::User;

/// Why no link is issued.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum LinkIssueRefusal {
    /// The user is no guest account, and logs in.
    #[error("the user is no guest account")]
    NotAGuest,
    /// There is no confirmed top-up of this account with the reference.
    #[error("the account has no confirmed top-up with this reference")]
    NotItsPayment,
}

/// Decides whether a guest account gets a link because of the top-up that the operator compared with the statement of its
/// payer.
///
/// # Errors
/// [`LinkIssueRefusal`].
pub fn may_get_link(user: &User, compared: Option<&Topup>) -> Result<(), LinkIssueRefusal> {
    if !user.is_guest_account() {
        return Err(LinkIssueRefusal::NotAGuest);
    }
    let is_proof = |topup: &Topup| topup.user == user.id && topup.status == TopupStatus::Confirmed;
    if compared.is_some_and(is_proof) { Ok(()) } else { Err(LinkIssueRefusal::NotItsPayment) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{OperationId, TopupId, UserId};
    use crate::money::{Amount, Money};
    use crate::text::{Email, Line};
    use crate::timestamp::Timestamp;
    use crate::topup::{self, Charge};
    use crate::user::guest_account::ClaimDetails;

    const NOW: Timestamp = Timestamp::EPOCH;

    fn guest() -> User {
        User::guest(UserId::new(7).unwrap(), None, NOW)
    }

    fn claimed() -> User {
        let email = Email::new("ada@example.com").unwrap();
        guest().claimed(&ClaimDetails { email, name: None, phone: None }, NOW).unwrap()
    }

    fn paid_by(user: i64, status: TopupStatus) -> Topup {
        let (id, user) = (TopupId::new(3).unwrap(), UserId::new(user).unwrap());
        let amount = Amount::new(Money::from_minor(4_000)).unwrap();
        let (topup, _) = topup::open(OperationId(5), id, user, amount, Charge::Confirmed, NOW);
        Topup { status, ..topup }
    }

    #[test]
    fn only_a_guest_account_with_this_confirmed_topup_gets_a_link() {
        let (wrong, right) = (Err(LinkIssueRefusal::NotItsPayment), paid_by(7, TopupStatus::Confirmed));
        let member = User::registered(
            UserId::new(7).unwrap(),
            Line::new("Ada").unwrap(),
            Email::new("ada@example.com").unwrap(),
            None,
            false,
            NOW,
        );
        for (user, compared, expected) in [
            (guest(), Some(right.clone()), Ok(())),
            (guest(), None, wrong),
            (guest(), Some(paid_by(8, TopupStatus::Confirmed)), wrong),
            (guest(), Some(paid_by(7, TopupStatus::Pending)), wrong),
            (guest(), Some(paid_by(7, TopupStatus::Failed)), wrong),
            (guest(), Some(paid_by(7, TopupStatus::Reversed)), wrong),
            (member, Some(right.clone()), Err(LinkIssueRefusal::NotAGuest)),
            (claimed(), Some(right), Err(LinkIssueRefusal::NotAGuest)),
        ] {
            assert_eq!(may_get_link(&user, compared.as_ref()), expected, "{user:?} {compared:?}");
        }
    }
}
