//! The authorization matrix: a line for each action, a column for each capacity.

use Scope::{Everything as All, Nothing as Non, Others as Oth, Own};

use super::{Action, Capacity, Ownership, Scope};

/// A line of the matrix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rule {
    /// The name of the action in documents.
    pub name: &'static str,
    scopes: [Scope; 4],
}

impl Rule {
    /// The scope of this capacity.
    #[must_use]
    pub const fn scope(&self, capacity: Capacity) -> Scope {
        let [guest, dj, operator, auditor] = self.scopes;
        match capacity {
            Capacity::Guest => guest,
            Capacity::Dj => dj,
            Capacity::Operator => operator,
            Capacity::Auditor => auditor,
        }
    }
}

const fn line(name: &'static str, scopes: [Scope; 4]) -> Rule {
    Rule { name, scopes }
}

impl Action {
    /// The matrix's line of this action. DJs, operators and auditors are also guests.
    #[must_use]
    #[rustfmt::skip]
    pub const fn rule(self) -> Rule {
        match self {
            //                                                                           guest DJ operator auditor
            Self::UseProfile      => line("read and update the profile",                  [Own, Non, Non, Non]),
            Self::TakeRequests    => line("go online, set prices",                        [Non, Own, Non, Non]),
            Self::UseCredentials  => line("sessions, password, verification",             [Own, Non, Non, Non]),
            Self::UsePersonalData => line("export and erase personal data",               [Own, Non, Non, Non]),
            Self::ReadDjs         => line("list DJs",                                     [All, Non, Non, Non]),
            Self::OpenRequest     => line("create a request",                             [Own, Non, Non, Non]),
            Self::ReadRequest     => line("read a request made or received",              [Own, Non, Non, Non]),
            Self::CancelRequest   => line("cancel a request",                             [Own, Non, Non, Non]),
            Self::RateRequest     => line("rate a played request",                        [Own, Non, Non, Non]),
            Self::AnswerRequest   => line("list and answer received requests",            [Non, Own, Non, Non]),
            Self::BlockGuest      => line("block guests",                                 [Non, Own, Non, Non]),
            Self::UseWallet       => line("read a wallet, create top-ups",                [Own, Non, Non, Non]),
            Self::UseWithdrawal   => line("create, read and cancel withdrawals",          [Own, Non, Non, Non]),
            Self::ReadEvents      => line("read the events about the caller",             [Own, Non, Non, Non]),
            Self::ReadAllEvents   => line("read all events",                              [Non, Non, All, All]),
            Self::ManageWebhooks  => line("manage webhook endpoints for the caller's events", [Own, Non, Non, Non]),
            Self::ManageAllWebhooks => line("manage webhook endpoints for all events",    [Non, Non, All, Non]),
            Self::ReadWithdrawals => line("list all withdrawals",                         [Non, Non, All, All]),
            Self::JudgeWithdrawal => line("approve, reject, fail a withdrawal",           [Non, Non, Oth, Non]),
            Self::SendWithdrawal  => line("process, broadcast, complete, review",         [Non, Non, All, Non]),
            Self::RefundRequest   => line("refund a played request",                      [Non, Non, Oth, Non]),
            Self::AdjustBalance   => line("adjust a balance",                             [Non, Non, Oth, Non]),
            Self::ReadTopups      => line("search top-ups, list money in suspense",       [Non, Non, All, All]),
            Self::ReverseTopup    => line("reverse a top-up",                             [Non, Non, Oth, Non]),
            Self::SettleSuspense  => line("settle money in suspense",                     [Non, Non, All, Non]),
            Self::ReadAudit       => line("read the ledger audit",                        [Non, Non, All, All]),
            Self::ReadPeople      => line("search users",                                 [Non, Non, All, All]),
            Self::ManagePeople    => line("suspend, restore, assign a role",              [Non, Non, Oth, Non]),
            Self::ReadSecurityLog => line("read the security log",                        [Non, Non, All, All]),
            Self::ReadMessages    => line("list provider messages",                       [Non, Non, All, All]),
            Self::ResolveMessage  => line("resolve a provider message",                   [Non, Non, All, Non]),
        }
    }

    /// Whether one of these capacities permits the action on entities of this ownership.
    #[must_use]
    pub fn is_permitted(self, mut capacities: impl Iterator<Item = Capacity>, ownership: Ownership) -> bool {
        capacities.any(|capacity| self.rule().scope(capacity).covers(ownership))
    }

    /// Whether the action requires an operator or auditor.
    #[must_use]
    pub const fn is_for_staff(self) -> bool {
        let rule = self.rule();
        matches!((rule.scope(Capacity::Guest), rule.scope(Capacity::Dj)), (Scope::Nothing, Scope::Nothing))
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
        let table = format!("| | {capacities} |\n|---|---|---|---|---|\n{}", lines.collect::<String>());
        let document = include_str!("../../../../docs/security.md");
        let printed = document.split("<!-- matrix -->\n").nth(1).unwrap_or_default();
        assert!(printed == table, "between the markers of docs/security.md should stand:\n{table}");
    }
}
