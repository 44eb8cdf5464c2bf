//! Feature levels: the values that the servers of a deployment may write.
//!
//! During the rollout of a new version, servers of the previous version work on the same data and cannot read
//! some values of the new one. Such values are written only after an operator has finalized the upgrade, when
//! no older server is running.
//!
//! Some new values are written at [`FeatureLevel::Level0`] already, because servers without feature levels
//! can handle them:
//!
//! - New columns and tables, which they do not name: the number of orders of a top-up, the one approval of a
//!   withdrawal, the rules of a posting, an unfinished erasure, money in suspense, provider messages,
//!   networks of logins, counts of codes, the first operator, webhook endpoints with the sessions and keys of their
//!   creations, the time of the last change of a login, the pages on which payments began, whether a request counts as a guest's, and personal access tokens,
//!   which they list as sessions, end with a changed password, and do not accept.
//! - The same fields in receipts, where they skip unknown fields.
//! - Receipts of provider messages, which they never read: not by operation or key, because none of their
//!   routes resolves messages, nor in their ledger audit, because these receipts moved no money.
//! - Redacted receipts of erased users. No token remains to repeat the users' own requests; an operator who
//!   repeats a request about them with its key gets an error.
//! - New kinds in the security log, such as `webhook_endpoint_changed` and `email_changed`: they show unknown kinds by
//!   their name.
//! - Members who became DJs. Their issued tokens have the new capacity on servers of this version alone, until they
//!   refresh them.
//! - Pending top-ups without a page, which they may write as well.
//! - Events of operators with session, address and user agent, in columns that they have. They show these to
//!   the affected user in an export; omitting the fields would hide abuse of an operator's login.

use crate::ledger::{Account, OutsideAccount, PostingRules, Transfer, TransferKind};
#[cfg(doc)]
use crate::operation::Receipt;
use crate::user::challenge::Purpose;

/// The level of the values that may be written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum FeatureLevel {
    /// The values that servers without feature levels can read.
    Level0,
    /// Additionally charge-backs, money in suspense, withdrawals with two approvals, receipts without their
    /// profile, and income that first repays debt.
    Level1,
    /// Additionally, since version 0.2.0:
    ///
    /// - endpoints that were disabled for the user's security or for a lost secret, gaps between positions, which the
    ///   ledger audit of earlier versions reports, released money that first repays debt, and changes of e-mail
    ///   addresses, whose codes and tokens earlier versions cannot export;
    /// - ratings of requests;
    /// - gigs with their requests and displacements, tips, and guest accounts with their wallet links. Servers of earlier
    ///   versions would drop the gig from receipts, cannot read tips and links, and refuse the tokens of guest accounts.
    #[default]
    Level2,
}

impl FeatureLevel {
    /// The newest level that this version knows; all its values may be written at that level.
    pub const NEWEST: Self = Self::Level2;

    /// The level from which a withdrawal can wait for the approval of a second operator. Servers of earlier versions
    /// approve it after the first one.
    pub const SECOND_APPROVALS: Self = Self::Level1;

    /// The level from which guest accounts are created.
    pub const GUEST_ACCOUNTS: Self = Self::Level2;

    /// The number under which stores keep it.
    #[must_use]
    pub const fn number(self) -> i16 {
        match self {
            Self::Level0 => 0,
            Self::Level1 => 1,
            Self::Level2 => 2,
        }
    }

    /// The level stored under this number; the newest that this version knows, for the level of a newer
    /// version.
    #[must_use]
    pub const fn numbered(number: i16) -> Self {
        match number {
            ..=0 => Self::Level0,
            1 => Self::Level1,
            2.. => Self::NEWEST,
        }
    }

    /// The newest posting rules allowed.
    #[must_use]
    pub const fn posting_rules(self) -> PostingRules {
        match self {
            Self::Level0 => PostingRules::EarningsPayOwed,
            Self::Level1 => PostingRules::IncomePaysOwed,
            Self::Level2 => PostingRules::ReleasesPayOwed,
        }
    }

    /// Whether receipts of users who were not erased lose their profile after [`Receipt::RETENTION`].
    #[must_use]
    pub const fn redacts_receipts(self) -> bool {
        match self {
            Self::Level0 => false,
            Self::Level1 | Self::Level2 => true,
        }
    }

    /// Whether positions may continue after a gap.
    #[must_use]
    pub const fn leaves_position_gaps(self) -> bool {
        match self {
            Self::Level0 | Self::Level1 => false,
            Self::Level2 => true,
        }
    }
}

impl Purpose {
    /// The level from which it may be written. Servers of an earlier version cannot read the two purposes that move an
    /// address, and would give a restorable address away.
    #[must_use]
    pub const fn feature_level(self) -> FeatureLevel {
        match self {
            Self::Email | Self::Phone | Self::Password => FeatureLevel::Level0,
            Self::EmailChange | Self::EmailRestore | Self::EmailRestoreRepeat => FeatureLevel::Level2,
            Self::WalletLink => FeatureLevel::GUEST_ACCOUNTS,
        }
    }
}

/// The level required by a transfer and its accounts.
pub(super) fn of_transfer(transfer: &Transfer) -> FeatureLevel {
    let of_kind = match transfer.kind {
        TransferKind::Tip => FeatureLevel::Level2,
        TransferKind::Chargeback => FeatureLevel::Level1,
        TransferKind::Topup
        | TransferKind::Hold
        | TransferKind::Release
        | TransferKind::Capture
        | TransferKind::Refund
        | TransferKind::Adjustment => FeatureLevel::Level0,
    };
    of_kind.max(of_account(transfer.debit)).max(of_account(transfer.credit))
}

const fn of_account(account: Account) -> FeatureLevel {
    match account {
        Account::Outside(OutsideAccount::Suspense) => FeatureLevel::Level1,
        Account::Outside(OutsideAccount::Topups | OutsideAccount::Payouts | OutsideAccount::Adjustments)
        | Account::Available(_)
        | Account::Held(_)
        | Account::Platform(_) => FeatureLevel::Level0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::UserId;
    use crate::money::{Amount, Money};

    #[test]
    fn unknown_feature_levels_count_as_the_newest() {
        for level in [FeatureLevel::Level0, FeatureLevel::Level1, FeatureLevel::Level2] {
            assert_eq!(FeatureLevel::numbered(level.number()), level);
        }
        assert_eq!(FeatureLevel::numbered(i16::MAX), FeatureLevel::NEWEST);
        assert_eq!(FeatureLevel::default(), FeatureLevel::NEWEST);
    }

    #[test]
    fn transfers_of_chargebacks_and_suspense_require_feature_level_1() {
        let wallet = Account::Available(UserId::new(1).unwrap());
        let [topups, suspense] = [OutsideAccount::Topups, OutsideAccount::Suspense].map(Account::Outside);
        let amount = Amount::new(Money::from_minor(1)).unwrap();
        for (debit, credit, kind, level) in [
            (topups, wallet, TransferKind::Topup, FeatureLevel::Level0),
            (wallet, topups, TransferKind::Chargeback, FeatureLevel::Level1),
            (topups, suspense, TransferKind::Topup, FeatureLevel::Level1),
            (suspense, topups, TransferKind::Topup, FeatureLevel::Level1),
        ] {
            let transfer = Transfer { debit, credit, amount, kind };
            assert_eq!(of_transfer(&transfer), level, "{transfer:?}");
        }
    }
}
