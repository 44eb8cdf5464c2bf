//! Authorization: one matrix of actions and capacities, which use cases query and the documents print.
//!
//! A principal acts in one or more capacities: every user is a guest in their own affairs, every user but a guest
//! account is a member, and a DJ, an operator or an auditor also has the permissions of their column in
//! [`Action::rule`].

mod action;
mod found_credential;
mod revocation;
mod rule;

pub use action::{Action, Permission, permission};
pub use found_credential::{Credential, CredentialEnd, FoundCookie, FoundCredential, FoundToken};
pub use revocation::{Epoch, Revocation, RevocationList, UserStatus};
pub use rule::{RequestParty, Rule};

use crate::ids::{SessionId, UserId};
use crate::user::Role;

/// A column of the matrix.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Capacity {
    /// Every user.
    Guest,
    /// Every user but guest accounts.
    Member,
    /// Takes requests.
    Dj,
    /// Runs the service and is responsible for its money.
    Operator,
    /// Reads everything and changes nothing.
    Auditor,
}

impl Capacity {
    /// Every column, in the order of the matrix.
    pub const ALL: [Self; 5] = [Self::Guest, Self::Member, Self::Dj, Self::Operator, Self::Auditor];

    /// The capacities of a user with this role.
    pub fn of(role: Role, is_dj: bool) -> impl Iterator<Item = Self> {
        let (member, staff) = match role {
            Role::Guest => (None, None),
            Role::Member | Role::Unknown(_) => (Some(Self::Member), None),
            Role::Operator => (Some(Self::Member), Some(Self::Operator)),
            Role::Auditor => (Some(Self::Member), Some(Self::Auditor)),
        };
        let dj = member.and(is_dj.then_some(Self::Dj));
        [Some(Self::Guest), member, dj, staff].into_iter().flatten()
    }

    /// The name in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Guest => "guest",
            Self::Member => "member",
            Self::Dj => "DJ",
            Self::Operator => "operator",
            Self::Auditor => "auditor",
        }
    }
}

/// The relation of a principal to an entity. Each action defines what "own" means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ownership {
    /// The principal's own.
    Own,
    /// Another user's, or without an owner.
    Others,
}

impl Ownership {
    /// Own if the owner is the principal.
    #[must_use]
    pub fn of(owner: UserId, principal: &Principal) -> Self {
        if owner == principal.user { Self::Own } else { Self::Others }
    }
}

/// The entities to which a capacity may apply an action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// None.
    Nothing,
    /// The principal's own.
    Own,
    /// The entities of other users: no principal reviews their own.
    Others,
    Everything,
}

impl Scope {
    /// Whether it includes entities of this ownership.
    #[must_use]
    pub const fn covers(self, ownership: Ownership) -> bool {
        match (self, ownership) {
            (Self::Everything, _) | (Self::Own, Ownership::Own) | (Self::Others, Ownership::Others) => true,
            (Self::Nothing, _) | (Self::Own, Ownership::Others) | (Self::Others, Ownership::Own) => false,
        }
    }

    /// The name in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "–",
            Self::Own => "own",
            Self::Others => "others'",
            Self::Everything => "all",
        }
    }
}

/// The authenticated user of a request, and their session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Principal {
    pub user: UserId,
    pub role: Role,
    /// Whether they are a DJ.
    pub is_dj: bool,
    /// The session of their access token.
    pub session: SessionId,
}

/// The principal lacks the permission.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("permission denied")]
pub struct Denied {
    pub action: Action,
    /// The relation of the principal to the entity.
    pub ownership: Ownership,
    /// Whether the principal is a guest account, which becomes a member when it is claimed.
    pub is_guest_account: bool,
}

/// Who else could apply an action that is denied to a principal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DenialReason {
    DjsOnly,
    /// Members: the principal is a guest account.
    MembersOnly,
    /// The guest who made the request.
    GuestOfRequestOnly,
    /// The DJ to whom the request is addressed.
    DjOfRequestOnly,
    /// A member of staff who does not own the entity: the principal does.
    OwnEntity,
    /// Staff with a role that the principal lacks.
    RoleMissing,
    /// The owner of the entity; its existence is a secret from the principal.
    Concealed,
}

impl Denied {
    /// Who could apply the action instead.
    #[must_use]
    pub const fn reason(self) -> DenialReason {
        let is_for_staff = self.action.is_for_staff();
        match (self.ownership, self.action.rule().party) {
            (Ownership::Own, _) if is_for_staff => DenialReason::OwnEntity,
            (Ownership::Others, _) if is_for_staff => DenialReason::RoleMissing,
            _ if self.is_guest_account && self.action.is_for_members() => DenialReason::MembersOnly,
            (Ownership::Others, Some(RequestParty::Guest)) => DenialReason::GuestOfRequestOnly,
            (Ownership::Others, Some(RequestParty::Dj)) => DenialReason::DjOfRequestOnly,
            _ if self.action.is_for_djs() => DenialReason::DjsOnly,
            _ => DenialReason::Concealed,
        }
    }
}

impl Principal {
    /// Whether the principal is a guest account.
    #[must_use]
    pub fn is_guest_account(&self) -> bool {
        self.role == Role::Guest
    }

    /// The capacities of the principal.
    pub fn capacities(&self) -> impl Iterator<Item = Capacity> {
        Capacity::of(self.role, self.is_dj)
    }

    /// Succeeds if one of the principal's capacities permits this action.
    ///
    /// # Errors
    /// [`Denied`].
    pub fn may(&self, action: Action, ownership: Ownership) -> Result<(), Denied> {
        if action.is_permitted(self.capacities(), ownership) {
            Ok(())
        } else {
            Err(Denied { action, ownership, is_guest_account: self.is_guest_account() })
        }
    }

    /// Succeeds if the principal may apply this action to any entity at all.
    ///
    /// # Errors
    /// [`Denied`].
    pub fn could(&self, action: Action) -> Result<(), Denied> {
        self.may(action, Ownership::Own).or_else(|_| self.may(action, Ownership::Others))
    }

    /// Succeeds if the principal has a role for this action. It is checked before an entity is loaded, and
    /// refuses only actions of staff, and those of members to guest accounts: the other actions depend on the entity.
    ///
    /// # Errors
    /// [`Denied`].
    pub fn has_role_for(&self, action: Action) -> Result<(), Denied> {
        let depends_on_role = action.is_for_staff() || self.is_guest_account() && action.is_for_members();
        if depends_on_role { self.could(action) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(role: Role, is_dj: bool) -> Principal {
        Principal { user: UserId::new(7).unwrap(), role, is_dj, session: SessionId::new(1).unwrap() }
    }

    #[test]
    fn permissions_of_several_roles_add_up() {
        let both = caller(Role::Operator, true);
        assert!(both.may(Action::AnswerRequest, Ownership::Own).is_ok());
        assert!(both.may(Action::JudgeWithdrawal, Ownership::Others).is_ok());
        assert!(both.may(Action::UseWallet, Ownership::Own).is_ok());
        assert!(
            both.may(Action::JudgeWithdrawal, Ownership::Own).is_err(),
            "no principal judges their own withdrawal"
        );
        assert!(
            both.may(Action::UseWallet, Ownership::Others).is_err(),
            "no principal uses another's wallet"
        );
    }

    #[test]
    fn an_unknown_role_has_the_permissions_of_a_member() {
        let unknown = Role::stored("treasurer").unwrap();
        for is_dj in [false, true] {
            let (one, other) = (caller(unknown, is_dj), caller(Role::Member, is_dj));
            assert_eq!(one.capacities().collect::<Vec<_>>(), other.capacities().collect::<Vec<_>>());
        }
    }

    #[test]
    fn each_denial_has_the_expected_reason() {
        use DenialReason::{Concealed, DjOfRequestOnly, DjsOnly, GuestOfRequestOnly, OwnEntity, RoleMissing};
        for (action, ownership, reason) in [
            (Action::TakeRequests, Ownership::Own, DjsOnly),
            (Action::BlockGuest, Ownership::Own, DjsOnly),
            (Action::AnswerRequest, Ownership::Own, DjsOnly),
            (Action::AnswerRequest, Ownership::Others, DjOfRequestOnly),
            (Action::CancelRequest, Ownership::Others, GuestOfRequestOnly),
            (Action::RateRequest, Ownership::Others, GuestOfRequestOnly),
            (Action::JudgeWithdrawal, Ownership::Own, OwnEntity),
            (Action::AdjustBalance, Ownership::Own, OwnEntity),
            (Action::ManagePeople, Ownership::Others, RoleMissing),
            (Action::UseWallet, Ownership::Others, Concealed),
        ] {
            let denied = Denied { action, ownership, is_guest_account: false };
            assert_eq!(denied.reason(), reason, "{action:?} {ownership:?}");
        }
    }

    #[test]
    fn a_guest_account_has_the_column_guest_alone_and_is_told_to_claim() {
        let guest = caller(Role::Guest, true);
        assert_eq!(guest.capacities().collect::<Vec<_>>(), [Capacity::Guest]);
        for action in Action::ALL {
            let denied = guest.has_role_for(action).map_err(Denied::reason);
            let expected = match action.rule().scope(Capacity::Guest) {
                Scope::Nothing if action.is_for_staff() => Err(DenialReason::RoleMissing),
                Scope::Nothing => Err(DenialReason::MembersOnly),
                Scope::Own | Scope::Others | Scope::Everything => Ok(()),
            };
            assert_eq!(denied, expected, "{action:?}");
            assert!(!action.is_for_staff() || guest.could(action).is_err(), "{action:?}");
        }
        assert_eq!(
            guest.may(Action::UseWithdrawal, Ownership::Own).map_err(Denied::reason),
            Err(DenialReason::MembersOnly)
        );
    }

    #[test]
    fn auditors_can_read_but_not_change_data_of_others() {
        let auditor = caller(Role::Auditor, false);
        let reads = [
            Action::ReadDjs,
            Action::ReadAllEvents,
            Action::ReadWithdrawals,
            Action::ReadTopups,
            Action::ReadAudit,
            Action::ReadPeople,
            Action::ReadSecurityLog,
            Action::ReadMessages,
        ];
        for action in Action::ALL {
            let may = auditor.may(action, Ownership::Others).is_ok();
            assert_eq!(may, reads.contains(&action), "{action:?}");
        }
    }
}
