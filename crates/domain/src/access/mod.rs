//! Who may do what: one matrix, which use cases ask and the documents print.
//!
//! A person wears one hat or several: everybody is a guest in their own affairs, and being a DJ, an operator or an
//! auditor adds what its column in [`Action::rule`] says.

mod matrix;
mod revoked;

pub use matrix::Rule;
pub use revoked::{Epoch, Revoked, Standing, Turned};

use crate::ids::{SessionId, UserId};
use crate::people::Role;

/// A column of the matrix.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Hat {
    /// Everybody.
    Guest,
    /// Who takes requests.
    Dj,
    /// Who runs the service and answers for its money.
    Operator,
    /// Who looks at everything and changes nothing.
    Auditor,
}

impl Hat {
    /// Every column, in the order of the matrix.
    pub const ALL: [Self; 4] = [Self::Guest, Self::Dj, Self::Operator, Self::Auditor];

    /// The name, as documents write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Guest => "guest",
            Self::Dj => "DJ",
            Self::Operator => "operator",
            Self::Auditor => "auditor",
        }
    }
}

/// Whose thing an action is done to. What "own" means is said by the action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Whose {
    /// The caller's own.
    Own,
    /// Somebody else's, or nobody's.
    Others,
}

impl Whose {
    /// Own if the owner is the caller.
    #[must_use]
    pub fn of(owner: UserId, caller: &Caller) -> Self {
        if owner == caller.user { Self::Own } else { Self::Others }
    }
}

/// How far a hat reaches with an action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// Not at all.
    Nothing,
    /// To what is the caller's own.
    Own,
    /// To what is somebody else's: nobody judges their own.
    Others,
    /// To everything.
    Everything,
}

impl Reach {
    /// Whether it reaches there.
    #[must_use]
    pub const fn covers(self, whose: Whose) -> bool {
        match (self, whose) {
            (Self::Everything, _) | (Self::Own, Whose::Own) | (Self::Others, Whose::Others) => true,
            (Self::Nothing, _) | (Self::Own, Whose::Others) | (Self::Others, Whose::Own) => false,
        }
    }

    /// The name, as documents write it.
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

/// What can be done, each the row of one [`Rule`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Action {
    /// Look at a profile, and change it.
    UseProfile,
    /// Be online, and say what a song costs; own is one's own presence.
    TakeRequests,
    /// See and end sessions, change the password, prove an address.
    UseAccount,
    /// Take personal data out, or have it erased.
    UsePersonalData,
    /// Look at DJs.
    ReadDjs,
    /// Make a request; own is one that the caller pays.
    OpenRequest,
    /// Look at a request; own is one that the caller made or is asked.
    ReadRequest,
    /// Take a request back; own is one that the caller made.
    CancelRequest,
    /// Accept, reject or play a request, or list those to be answered; own is one that the caller is asked.
    AnswerRequest,
    /// Take no requests from somebody; own is the caller's list.
    BlockGuest,
    /// Look at a wallet, and pay into it.
    UseWallet,
    /// Ask for money to be paid out, look at that, take it back.
    UseWithdrawal,
    /// Look at anybody's withdrawals.
    ReadWithdrawals,
    /// Approve or reject a withdrawal, or give its money back as failed.
    JudgeWithdrawal,
    /// Say how far the sending of a withdrawal is.
    SendWithdrawal,
    /// Give the fee of a played request back; own is one that the caller made or is asked.
    RefundRequest,
    /// Correct a balance.
    AdjustBalance,
    /// Find anybody's top-ups, and look at money that came for accounts that were erased.
    ReadTopups,
    /// Take the money of a top-up back that was charged back.
    ReverseTopup,
    /// Say that money in suspense was dealt with.
    SettleSuspense,
    /// Look at what the self-check of the ledger found.
    ReadAudit,
    /// Find people.
    ReadPeople,
    /// Suspend people, restore them, give them a role.
    ManagePeople,
    /// Look at the security log.
    ReadSecurityLog,
    /// Look at the messages of providers that contradict the ledger.
    ReadMessages,
    /// Resolve such a message.
    ResolveMessage,
}

/// Who calls: who they proved to be, and in which session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Caller {
    /// Who.
    pub user: UserId,
    /// Their role.
    pub role: Role,
    /// Whether they are a DJ.
    pub is_dj: bool,
    /// Since which login.
    pub session: SessionId,
}

/// The caller may not do this.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Denied;

impl Caller {
    /// The hats that they wear.
    pub fn hats(&self) -> impl Iterator<Item = Hat> {
        let staff = match self.role {
            Role::Member | Role::Unknown(_) => None,
            Role::Operator => Some(Hat::Operator),
            Role::Auditor => Some(Hat::Auditor),
        };
        [Some(Hat::Guest), self.is_dj.then_some(Hat::Dj), staff].into_iter().flatten()
    }

    /// That one of their hats reaches there with this action.
    ///
    /// # Errors
    /// [`Denied`].
    pub fn may(&self, action: Action, whose: Whose) -> Result<(), Denied> {
        let covered = self.hats().any(|hat| action.rule().reach(hat).covers(whose));
        if covered { Ok(()) } else { Err(Denied) }
    }

    /// That there is anything at all which they could do this to; asked before a thing is looked for.
    ///
    /// # Errors
    /// [`Denied`].
    pub fn could(&self, action: Action) -> Result<(), Denied> {
        self.may(action, Whose::Own).or_else(|_| self.may(action, Whose::Others))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(role: Role, is_dj: bool) -> Caller {
        Caller { user: UserId::new(7).unwrap(), role, is_dj, session: SessionId::new(1).unwrap() }
    }

    #[test]
    fn who_has_two_hats_may_what_either_may() {
        let both = caller(Role::Operator, true);
        assert!(both.may(Action::AnswerRequest, Whose::Own).is_ok());
        assert!(both.may(Action::JudgeWithdrawal, Whose::Others).is_ok());
        assert!(both.may(Action::UseWallet, Whose::Own).is_ok());
        assert!(both.may(Action::JudgeWithdrawal, Whose::Own).is_err(), "nobody judges their own");
        assert!(both.may(Action::UseWallet, Whose::Others).is_err(), "another's wallet is nobody's business");
    }

    #[test]
    fn a_role_of_a_newer_version_is_a_members() {
        let unknown = Role::stored("treasurer").unwrap();
        for is_dj in [false, true] {
            let (one, other) = (caller(unknown, is_dj), caller(Role::Member, is_dj));
            assert_eq!(one.hats().collect::<Vec<_>>(), other.hats().collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_auditor_changes_nothing_of_others() {
        let auditor = caller(Role::Auditor, false);
        let reads = [
            Action::ReadDjs,
            Action::ReadWithdrawals,
            Action::ReadTopups,
            Action::ReadAudit,
            Action::ReadPeople,
            Action::ReadSecurityLog,
            Action::ReadMessages,
        ];
        for action in Action::ALL {
            let may = auditor.may(action, Whose::Others).is_ok();
            assert_eq!(may, reads.contains(&action), "{action:?}");
        }
    }
}
