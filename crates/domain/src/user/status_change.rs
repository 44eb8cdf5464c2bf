//! Operators' decisions about a user: suspension and role.

use crate::timestamp::Timestamp;
use crate::user::{Role, User};

/// A change of a user's status or role.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UserStatusChange {
    /// Suspends the user: all their requests are rejected, and a DJ accepts no requests.
    Suspend,
    /// Ends the suspension.
    Restore,
    /// Assigns another role.
    Role(Role),
}

/// Applies the change to the user; the user stays as is if it has no effect.
#[must_use]
pub fn change_user_status(user: &User, change: UserStatusChange, at: Timestamp) -> User {
    let mut changed = user.clone();
    match change {
        UserStatusChange::Suspend => {
            changed.suspended_at = Some(user.suspended_at.unwrap_or(at));
            if let Some(dj) = &mut changed.dj {
                dj.online = false;
            }
        }
        UserStatusChange::Restore => changed.suspended_at = None,
        UserStatusChange::Role(role) => changed.role = role,
    }
    if changed != *user {
        changed.note_status_change(at);
    }
    changed
}

/// Whether the change ends the user's sessions. A restoration ends those begun during the suspension, which
/// servers of an earlier version allowed. Sessions of a guest account stay, because no login begins another one. The
/// status refuses each of their requests.
#[must_use]
pub fn ends_sessions(user: &User, change: UserStatusChange) -> bool {
    if user.is_guest_account() {
        return false;
    }
    match change {
        UserStatusChange::Suspend => true,
        UserStatusChange::Restore => user.suspended_at.is_some(),
        UserStatusChange::Role(_) => false,
    }
}

/// Whether the change leaves a guest account with another role: only its guest can make it a member, by claiming it.
#[must_use]
pub fn assigns_role_to_guest_account(user: &User, change: UserStatusChange) -> bool {
    user.is_guest_account() && matches!(change, UserStatusChange::Role(_))
}

/// Whether the change may leave the deployment without an active operator.
#[must_use]
pub fn may_dismiss(change: UserStatusChange) -> bool {
    match change {
        UserStatusChange::Suspend => true,
        UserStatusChange::Restore => false,
        UserStatusChange::Role(role) => role != Role::Operator,
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
        let suspended = change_user_status(&dj(), UserStatusChange::Suspend, at(5));
        assert_eq!((suspended.suspended_at, suspended.status_changed_at), (Some(at(5)), Some(at(5))));
        assert!(!suspended.dj.as_ref().unwrap().online);
        let restored = change_user_status(&suspended, UserStatusChange::Restore, at(9));
        assert_eq!((restored.suspended_at, restored.status_changed_at), (None, Some(at(9))));
        assert!(!restored.dj.as_ref().unwrap().online);
    }

    #[test]
    fn a_change_to_the_current_status_changes_nothing() {
        let suspended = change_user_status(&dj(), UserStatusChange::Suspend, at(5));
        assert_eq!(change_user_status(&suspended, UserStatusChange::Suspend, at(7)), suspended);
        assert_eq!(change_user_status(&dj(), UserStatusChange::Restore, at(7)), dj());
        assert_eq!(change_user_status(&dj(), UserStatusChange::Role(Role::Member), at(7)), dj());
    }

    #[test]
    fn suspending_or_restoring_a_user_ends_their_sessions_unless_they_have_a_guest_account() {
        let suspended = change_user_status(&dj(), UserStatusChange::Suspend, at(5));
        let guest = User { role: Role::Guest, ..dj() };
        let suspended_guest = change_user_status(&guest, UserStatusChange::Suspend, at(5));
        for (user, change, ends) in [
            (&dj(), UserStatusChange::Suspend, true),
            (&suspended, UserStatusChange::Suspend, true),
            (&suspended, UserStatusChange::Restore, true),
            (&dj(), UserStatusChange::Restore, false),
            (&dj(), UserStatusChange::Role(Role::Auditor), false),
            (&guest, UserStatusChange::Suspend, false),
            (&suspended_guest, UserStatusChange::Restore, false),
        ] {
            assert_eq!(ends_sessions(user, change), ends, "{change:?}");
        }
    }

    #[test]
    fn the_last_active_operator_cannot_be_suspended_or_demoted() {
        let operator = |id| User {
            id: UserId::new(id).unwrap(),
            ..change_user_status(&dj(), UserStatusChange::Role(Role::Operator), at(1))
        };
        let suspended = |id| change_user_status(&operator(id), UserStatusChange::Suspend, at(2));
        let erased = |id| User { erased_at: Some(at(2)), ..operator(id) };
        let leaves = |change, others: &[User]| {
            let after = change_user_status(&operator(1), change, at(3));
            leaves_an_operator(&operator(1), &after, others)
        };
        let dismissals = [UserStatusChange::Suspend, UserStatusChange::Role(Role::Auditor)];
        for change in dismissals {
            assert!(may_dismiss(change));
            assert!(leaves(change, &[operator(1), operator(2)]), "{change:?}");
            assert!(!leaves(change, &[operator(1), dj(), suspended(2), erased(3)]), "{change:?}");
        }
        for change in [UserStatusChange::Restore, UserStatusChange::Role(Role::Operator)] {
            assert!(!may_dismiss(change) && leaves(change, &[operator(1)]), "{change:?}");
        }
        // A user who is not an active operator can be changed even if no active operator is left.
        let demoted = change_user_status(&suspended(1), UserStatusChange::Role(Role::Member), at(3));
        assert!(leaves_an_operator(&suspended(1), &demoted, []));
    }

    #[test]
    fn guest_accounts_can_be_suspended_but_get_no_role() {
        let guest = User { role: Role::Guest, ..dj() };
        assert!(assigns_role_to_guest_account(&guest, UserStatusChange::Role(Role::Member)));
        assert!(!assigns_role_to_guest_account(&dj(), UserStatusChange::Role(Role::Member)));
        for change in [UserStatusChange::Suspend, UserStatusChange::Restore] {
            assert!(!assigns_role_to_guest_account(&guest, change), "{change:?}");
        }
    }

    #[test]
    fn a_role_change_records_its_time() {
        let auditor = change_user_status(&dj(), UserStatusChange::Role(Role::Auditor), at(3));
        assert_eq!((auditor.role, auditor.status_changed_at), (Role::Auditor, Some(at(3))));
    }
}
