//! Operators' decisions about an account: suspension and role.

use crate::timestamp::Timestamp;
use crate::user::{Role, User};

/// A change of an account's status or role.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccountStatusChange {
    /// Suspends the account: all its requests are rejected, and a DJ accepts no requests.
    Suspend,
    /// Ends the suspension.
    Restore,
    /// Assigns another role.
    Role(Role),
}

/// Applies the change to the user; the user stays as is if it has no effect.
#[must_use]
pub fn change_account_status(user: &User, change: AccountStatusChange, at: Timestamp) -> User {
    let mut changed = user.clone();
    match change {
        AccountStatusChange::Suspend => {
            changed.suspended_at = Some(user.suspended_at.unwrap_or(at));
            if let Some(dj) = &mut changed.dj {
                dj.online = false;
            }
        }
        AccountStatusChange::Restore => changed.suspended_at = None,
        AccountStatusChange::Role(role) => changed.role = role,
    }
    if changed != *user {
        changed.note_status_change(at);
    }
    changed
}

/// Whether the change ends the user's sessions. A restoration ends those begun during the suspension, which
/// servers of an earlier version allowed.
#[must_use]
pub const fn ends_sessions(user: &User, change: AccountStatusChange) -> bool {
    match change {
        AccountStatusChange::Suspend => true,
        AccountStatusChange::Restore => user.suspended_at.is_some(),
        AccountStatusChange::Role(_) => false,
    }
}

/// Whether the change may leave the deployment without an active operator.
#[must_use]
pub fn may_dismiss(change: AccountStatusChange) -> bool {
    match change {
        AccountStatusChange::Suspend => true,
        AccountStatusChange::Restore => false,
        AccountStatusChange::Role(role) => role != Role::Operator,
    }
}

/// Whether an active operator remains when `after` replaces `before` among these users, who include every
/// active operator. A user who is not an active operator can be changed even if none exists.
pub fn leaves_an_operator<'a>(
    before: &User,
    after: &User,
    people: impl IntoIterator<Item = &'a User>,
) -> bool {
    let dismissed = before.is_active_operator() && !after.is_active_operator();
    !dismissed || people.into_iter().any(|other| other.id != before.id && other.is_active_operator())
}

#[cfg(test)]
mod tests {
    use time::Duration;

    use super::*;
    use crate::ids::UserId;
    use crate::text::{Email, Line};

    fn at(second: i64) -> Timestamp {
        Timestamp::EPOCH.plus(Duration::seconds(second))
    }

    fn dj() -> User {
        let name = Line::new("Ada").unwrap();
        let email = Email::new("ada@example.com").unwrap();
        let mut user = User::registered(UserId::new(1).unwrap(), name, email, None, true, at(0));
        user.dj.as_mut().unwrap().online = true;
        user
    }

    #[test]
    fn a_suspended_dj_stays_offline_after_being_restored() {
        let suspended = change_account_status(&dj(), AccountStatusChange::Suspend, at(5));
        assert_eq!((suspended.suspended_at, suspended.status_changed_at), (Some(at(5)), Some(at(5))));
        assert!(!suspended.dj.as_ref().unwrap().online);
        let restored = change_account_status(&suspended, AccountStatusChange::Restore, at(9));
        assert_eq!((restored.suspended_at, restored.status_changed_at), (None, Some(at(9))));
        assert!(!restored.dj.as_ref().unwrap().online);
    }

    #[test]
    fn a_change_to_the_current_status_leaves_no_trace() {
        let suspended = change_account_status(&dj(), AccountStatusChange::Suspend, at(5));
        assert_eq!(change_account_status(&suspended, AccountStatusChange::Suspend, at(7)), suspended);
        assert_eq!(change_account_status(&dj(), AccountStatusChange::Restore, at(7)), dj());
        assert_eq!(change_account_status(&dj(), AccountStatusChange::Role(Role::Member), at(7)), dj());
    }

    #[test]
    fn suspensions_and_restorations_end_sessions() {
        let suspended = change_account_status(&dj(), AccountStatusChange::Suspend, at(5));
        for (user, change, ends) in [
            (&dj(), AccountStatusChange::Suspend, true),
            (&suspended, AccountStatusChange::Suspend, true),
            (&suspended, AccountStatusChange::Restore, true),
            (&dj(), AccountStatusChange::Restore, false),
            (&dj(), AccountStatusChange::Role(Role::Auditor), false),
        ] {
            assert_eq!(ends_sessions(user, change), ends, "{change:?}");
        }
    }

    #[test]
    fn the_last_active_operator_is_protected() {
        let operator = |id| User {
            id: UserId::new(id).unwrap(),
            ..change_account_status(&dj(), AccountStatusChange::Role(Role::Operator), at(1))
        };
        let suspended = |id| change_account_status(&operator(id), AccountStatusChange::Suspend, at(2));
        let erased = |id| User { erased_at: Some(at(2)), ..operator(id) };
        let leaves = |change, others: &[User]| {
            let after = change_account_status(&operator(1), change, at(3));
            leaves_an_operator(&operator(1), &after, others)
        };
        let dismissals = [AccountStatusChange::Suspend, AccountStatusChange::Role(Role::Auditor)];
        for change in dismissals {
            assert!(may_dismiss(change));
            assert!(leaves(change, &[operator(1), operator(2)]), "{change:?}");
            assert!(!leaves(change, &[operator(1), dj(), suspended(2), erased(3)]), "{change:?}");
        }
        for change in [AccountStatusChange::Restore, AccountStatusChange::Role(Role::Operator)] {
            assert!(!may_dismiss(change) && leaves(change, &[operator(1)]), "{change:?}");
        }
        // A user who is not an active operator can be changed even if no active operator is left.
        let demoted = change_account_status(&suspended(1), AccountStatusChange::Role(Role::Member), at(3));
        assert!(leaves_an_operator(&suspended(1), &demoted, []));
    }

    #[test]
    fn a_role_change_is_dated() {
        let auditor = change_account_status(&dj(), AccountStatusChange::Role(Role::Auditor), at(3));
        assert_eq!((auditor.role, auditor.status_changed_at), (Role::Auditor, Some(at(3))));
    }
}
