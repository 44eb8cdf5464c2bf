//! The table of actions: the authorization matrix, with each action also as a type.

use std::collections::BTreeSet;

use Scope::{Everything as All, Nothing as Non, Others as Oth, Own};

use super::{Capacity, Ownership, RequestParty, Rule, Scope};
use crate::user::personal_token::TokenScope;

/// The permission to apply one action.
pub trait Permission: Send + Sync + 'static {
    /// The action.
    const ACTION: Action;
}

/// Declares the actions, each with its name in documents and its scope for guest, member, DJ, operator and auditor. `party`
/// is the party of a request that can apply the action to it, `token` the scope with which a personal access token can.
macro_rules! actions {
    ($(
        $(#[$doc:meta])+
        $name:ident: $words:literal [$guest:ident, $member:ident, $dj:ident, $operator:ident, $auditor:ident]
            $(, party: $party:ident)? $(, token: $token:ident)?;
    )+) => {
        /// The actions, each a row of the matrix, with its [`Rule`].
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Action {
            $($(#[$doc])+ $name,)+
        }

        impl Action {
            /// Every action, in the order of the matrix.
            pub const ALL: [Self; [$(stringify!($name)),+].len()] = [$(Self::$name),+];

            /// The row of this action. Everybody has the permissions of a guest; DJs, operators and auditors also have those
            /// of a member.
            #[must_use]
            pub const fn rule(self) -> Rule {
                match self {
                    $(Self::$name => Rule::new($words, [$guest, $member, $dj, $operator, $auditor])
                        $(.by(RequestParty::$party))?$(.with_token(TokenScope::$token))?,)+
                }
            }
        }

        /// Permissions as types, for the authorization of an entity.
        pub mod permission {
            use super::{Action, Permission};

            $(
                #[doc = concat!("The permission of [`Action::", stringify!($name), "`].")]
                #[derive(Clone, Copy, Debug)]
                pub enum $name {}

                impl Permission for $name {
                    const ACTION: Action = Action::$name;
                }
            )+
        }
    };
}

actions! {
    /// Read a profile, and change its name.
    UseProfile: "read the profile, change the name" [Own, Non, Non, Non, Non];
    /// Change the other fields of a profile, or become a DJ.
    ChangeProfile: "change the other fields of the profile" [Non, Own, Non, Non, Non];
    /// Go online and set prices; own is the principal's own presence.
    TakeRequests: "go online, set prices" [Non, Non, Own, Non, Non];
    /// List and end sessions.
    UseSessions: "list and end sessions" [Own, Non, Non, Non, Non];
    /// Change the password or the e-mail address, verify an address.
    UseCredentials: "password, verification" [Non, Own, Non, Non, Non];
    /// Claim a guest account.
    ClaimAccount: "claim an account" [Own, Non, Non, Non, Non];
    /// List, create and end personal access tokens.
    ManageTokens: "manage personal access tokens" [Non, Own, Non, Non, Non];
    /// Export or erase personal data.
    UsePersonalData: "export and erase personal data" [Own, Non, Non, Non, Non];
    /// Read DJs.
    ReadDjs: "list DJs" [All, Non, Non, Non, Non];
    /// Make a request; own is one that the principal pays.
    OpenRequest: "create a request" [Own, Non, Non, Non, Non];
    /// Read a request; own is one of which the principal is the requester or the DJ.
    ReadRequest: "read a request made or received" [Own, Non, Non, Non, Non];
    /// Cancel a request; own is one that the principal made.
    CancelRequest: "cancel a request" [Own, Non, Non, Non, Non], party: Guest;
    /// Tip a DJ, and list tips; own is one that the principal gives or received.
    TipDj: "tip a DJ, list tips" [Own, Non, Non, Non, Non];
    /// Rate a played request; own is one that the principal made.
    RateRequest: "rate a played request" [Own, Non, Non, Non, Non], party: Guest;
    /// Accept, reject or play a request, or list the incoming ones; own is one addressed to the principal.
    AnswerRequest: "list and answer received requests" [Non, Non, Own, Non, Non], party: Dj;
    /// Read a gig, its queue and its report; own is one of the principal.
    ReadGig: "read gigs" [Non, Non, Own, Non, Non], token: GigsRead;
    /// Open, change and end a gig; own is one of the principal.
    RunGig: "open, change and end gigs" [Non, Non, Own, Non, Non];
    /// Block a guest; own is the principal's list.
    BlockGuest: "block guests" [Non, Non, Own, Non, Non];
    /// Read a wallet and top it up.
    UseWallet: "read a wallet, create top-ups" [Own, Non, Non, Non, Non];
    /// Request, read and cancel a withdrawal.
    UseWithdrawal: "create, read and cancel withdrawals" [Non, Own, Non, Non, Non];
    /// Read events; own are events that involve the principal.
    ReadEvents: "read the events about the caller" [Own, Non, Non, Non, Non], token: EventsRead;
    /// Read all events.
    ReadAllEvents: "read all events" [Non, Non, Non, All, All];
    /// Create, read, change and delete webhook endpoints; own are the principal's, for their own events.
    ManageWebhooks: "manage webhook endpoints for the caller's events" [Non, Own, Non, Non, Non];
    /// Create, read, change and delete the webhook endpoints that receive all events.
    ManageAllWebhooks: "manage webhook endpoints for all events" [Non, Non, Non, All, Non];
    /// Read the withdrawals of any user.
    ReadWithdrawals: "list all withdrawals" [Non, Non, Non, All, All];
    /// Approve or reject a withdrawal, or release its money as failed.
    JudgeWithdrawal: "approve, reject, fail a withdrawal" [Non, Non, Non, Oth, Non];
    /// Record the progress of sending a withdrawal.
    SendWithdrawal: "process, broadcast, complete a withdrawal, mark its result as unknown" [Non, Non, Non, All, Non];
    /// Refund a played request; own is one of which the principal is the requester or the DJ.
    RefundRequest: "refund a played request" [Non, Non, Non, Oth, Non];
    /// Adjust a balance.
    AdjustBalance: "adjust a balance" [Non, Non, Non, Oth, Non];
    /// Search the top-ups of any user, and read money that arrived for erased users.
    ReadTopups: "search top-ups, list money in suspense" [Non, Non, Non, All, All];
    /// Reverse a top-up that was charged back.
    ReverseTopup: "reverse a top-up" [Non, Non, Non, Oth, Non];
    /// Settle money in suspense.
    SettleSuspense: "settle money in suspense" [Non, Non, Non, All, Non];
    /// Read the findings of the ledger audit.
    ReadAudit: "read the ledger audit" [Non, Non, Non, All, All];
    /// Search users.
    ReadPeople: "search users" [Non, Non, Non, All, All];
    /// Suspend and restore users, and change their roles.
    ManagePeople: "suspend, restore, assign a role" [Non, Non, Non, Oth, Non];
    /// Issue a wallet link, with which a guest account moves to another browser.
    IssueWalletLink: "issue a wallet link" [Non, Non, Non, All, Non];
    /// Read the security log.
    ReadSecurityLog: "read the security log" [Non, Non, Non, All, All];
    /// Read the messages of providers that contradict the ledger.
    ReadMessages: "list provider messages" [Non, Non, Non, All, All];
    /// Resolve a message of a provider.
    ResolveMessage: "resolve a provider message" [Non, Non, Non, All, Non];
}

impl Action {
    /// Whether one of these capacities permits the action on entities of this ownership.
    #[must_use]
    pub fn is_permitted(self, mut capacities: impl Iterator<Item = Capacity>, ownership: Ownership) -> bool {
        capacities.any(|capacity| self.rule().scope(capacity).covers(ownership))
    }

    /// Whether a personal access token with these scopes permits the action. Without a scope in its rule, none does.
    #[must_use]
    pub fn is_permitted_by(self, scopes: &BTreeSet<TokenScope>) -> bool {
        self.rule().token_scope.is_some_and(|scope| scopes.contains(&scope))
    }

    /// Whether the action requires an operator or auditor.
    #[must_use]
    pub const fn is_for_staff(self) -> bool {
        self.is_for_members() && matches!(self.scopes_of_members(), (Scope::Nothing, Scope::Nothing))
    }

    /// Whether no guest account may apply the action.
    #[must_use]
    pub const fn is_for_members(self) -> bool {
        matches!(self.rule().scope(Capacity::Guest), Scope::Nothing)
    }

    /// Whether the action requires a DJ.
    pub(super) const fn is_for_djs(self) -> bool {
        self.is_for_members() && matches!(self.scopes_of_members(), (Scope::Nothing, Scope::Own))
    }

    const fn scopes_of_members(self) -> (Scope, Scope) {
        let rule = self.rule();
        (rule.scope(Capacity::Member), rule.scope(Capacity::Dj))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_contains_the_authorization_matrix() {
        let capacities = Capacity::ALL.map(Capacity::name).join(" | ");
        let lines = Action::ALL.iter().map(|action| {
            let rule = action.rule();
            let cells = Capacity::ALL.map(|capacity| rule.scope(capacity).name()).join(" | ");
            format!("| {} | {cells} |\n", rule.name)
        });
        let table = format!("| | {capacities} |\n|---|---|---|---|---|---|\n{}", lines.collect::<String>());
        let document = include_str!("../../../../docs/security.md");
        let printed = document.split("<!-- matrix -->\n").nth(1).unwrap_or_default();
        assert!(printed == table, "between the markers of docs/security.md should stand:\n{table}");
    }
}
