//! The matrix: a line for each action, a column for each hat.

use Reach::{Everything as All, Nothing as Non, Others as Oth, Own};

use super::{Action, Hat, Reach};

/// A line of the matrix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rule {
    /// How documents call the action.
    pub name: &'static str,
    reaches: [Reach; 4],
}

impl Rule {
    /// How far this hat reaches.
    #[must_use]
    pub const fn reach(&self, hat: Hat) -> Reach {
        let [guest, dj, operator, auditor] = self.reaches;
        match hat {
            Hat::Guest => guest,
            Hat::Dj => dj,
            Hat::Operator => operator,
            Hat::Auditor => auditor,
        }
    }
}

const fn line(name: &'static str, reaches: [Reach; 4]) -> Rule {
    Rule { name, reaches }
}

impl Action {
    /// Every action, in the order of the matrix.
    pub const ALL: [Self; 26] = [
        Self::UseProfile,
        Self::TakeRequests,
        Self::UseAccount,
        Self::UsePersonalData,
        Self::ReadDjs,
        Self::OpenRequest,
        Self::ReadRequest,
        Self::CancelRequest,
        Self::AnswerRequest,
        Self::BlockGuest,
        Self::UseWallet,
        Self::UseWithdrawal,
        Self::ReadWithdrawals,
        Self::JudgeWithdrawal,
        Self::SendWithdrawal,
        Self::RefundRequest,
        Self::AdjustBalance,
        Self::ReadTopups,
        Self::ReverseTopup,
        Self::SettleSuspense,
        Self::ReadAudit,
        Self::ReadPeople,
        Self::ManagePeople,
        Self::ReadSecurityLog,
        Self::ReadMessages,
        Self::ResolveMessage,
    ];

    /// The matrix's line of this action. DJs, operators and auditors are guests besides.
    #[must_use]
    #[rustfmt::skip]
    pub const fn rule(self) -> Rule {
        match self {
            //                                                                           guest DJ operator auditor
            Self::UseProfile      => line("see and change a profile",                     [Own, Non, Non, Non]),
            Self::TakeRequests    => line("be online, set prices",                        [Non, Own, Non, Non]),
            Self::UseAccount      => line("sessions, password, proof of an address",      [Own, Non, Non, Non]),
            Self::UsePersonalData => line("export and erase personal data",               [Own, Non, Non, Non]),
            Self::ReadDjs         => line("see DJs",                                      [All, Non, Non, Non]),
            Self::OpenRequest     => line("make a request",                               [Own, Non, Non, Non]),
            Self::ReadRequest     => line("see a request made or addressed",              [Own, Non, Non, Non]),
            Self::CancelRequest   => line("cancel a request made",                        [Own, Non, Non, Non]),
            Self::AnswerRequest   => line("list and answer the requests addressed",       [Non, Own, Non, Non]),
            Self::BlockGuest      => line("block guests",                                 [Non, Own, Non, Non]),
            Self::UseWallet       => line("see a wallet and its statement, pay in",       [Own, Non, Non, Non]),
            Self::UseWithdrawal   => line("withdraw, see and cancel withdrawals",         [Own, Non, Non, Non]),
            Self::ReadWithdrawals => line("list everybody's withdrawals",                 [Non, Non, All, All]),
            Self::JudgeWithdrawal => line("approve, reject, fail a withdrawal",           [Non, Non, Oth, Non]),
            Self::SendWithdrawal  => line("process, broadcast, complete, review one",     [Non, Non, All, Non]),
            Self::RefundRequest   => line("refund a played request",                      [Non, Non, Oth, Non]),
            Self::AdjustBalance   => line("adjust a balance",                             [Non, Non, Oth, Non]),
            Self::ReadTopups      => line("find top-ups, see money in suspense",          [Non, Non, All, All]),
            Self::ReverseTopup    => line("reverse a top-up",                             [Non, Non, Oth, Non]),
            Self::SettleSuspense  => line("settle money in suspense",                     [Non, Non, All, Non]),
            Self::ReadAudit       => line("see the self-check of the ledger",             [Non, Non, All, All]),
            Self::ReadPeople      => line("find people",                                  [Non, Non, All, All]),
            Self::ManagePeople    => line("suspend, restore, give a role",                [Non, Non, Oth, Non]),
            Self::ReadSecurityLog => line("see the security log",                         [Non, Non, All, All]),
            Self::ReadMessages    => line("see kept messages of providers",               [Non, Non, All, All]),
            Self::ResolveMessage  => line("resolve a kept message",                       [Non, Non, All, Non]),
        }
    }

    /// Whether it takes an operator or auditor.
    #[must_use]
    pub const fn is_for_staff(self) -> bool {
        let rule = self.rule();
        matches!((rule.reach(Hat::Guest), rule.reach(Hat::Dj)), (Reach::Nothing, Reach::Nothing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_prints_the_matrix() {
        let hats = Hat::ALL.map(Hat::name).join(" | ");
        let lines = Action::ALL.iter().map(|action| {
            let rule = action.rule();
            let cells = Hat::ALL.map(|hat| rule.reach(hat).name()).join(" | ");
            format!("| {} | {cells} |\n", rule.name)
        });
        let table = format!("| | {hats} |\n|---|---|---|---|---|\n{}", lines.collect::<String>());
        let document = include_str!("../../../../docs/security.md");
        let printed = document.split("<!-- matrix -->\n").nth(1).unwrap_or_default();
        assert!(printed == table, "between the markers of docs/security.md should stand:\n{table}");
    }
}
