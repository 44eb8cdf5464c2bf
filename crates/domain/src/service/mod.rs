//! The use cases: load, decide, apply, with a bounded retry when something moved in between.
//!
//! They know the ports and the rules, and nothing of HTTP, SQL or JSON. Each operation has its own error enum;
//! what any command can meet is an [`Obstacle`].

mod accounts;
mod blocks;
mod desk;
mod expiry;
mod hourly;
mod inbox;
mod journal;
mod operator_topups;
mod operators;
mod passwords;
mod payouts;
mod personal_data;
mod profiles;
mod proofs;
mod requests;
mod sessions;
mod staff;
#[cfg(test)]
mod tests;
mod topup_orders;
mod wallet;
mod withdrawals;

use std::num::NonZeroU32;
use std::sync::Arc;

use time::Duration;

pub use accounts::{
    Accounts, BootstrapError, Bootstrapped, LoginError, RefreshError, RegisterError, Registration, SignedIn,
};
pub use blocks::{BlockError, Blocks};
pub use desk::{Command, Obstacle, ReplayError};
pub use inbox::{
    Contradicted, IncomingMessage, MessageOutcome, ProviderInbox, ResolveMessageError, TellError,
};
pub use operator_topups::{OperatorTopups, ReverseTopupError, SettleSuspenseError, TopupSearch};
pub use operators::{AdjustError, JudgeError, OperatorMove, OperatorMoveError, Operators};
pub use passwords::{ChangePasswordError, PasswordDesk, ResetPasswordError};
pub use payouts::{Payouts, Sent, Told};
pub use personal_data::{EraseError, PersonalData};
pub use profiles::{ChangeProfileError, FindError, Profiles};
pub use proofs::{Address, Proofs, SendCodeError, VerifyError};
pub use requests::{DjAnswer, ListFilter, MoveRequestError, OpenRequestError, Requests};
pub use sessions::{EndSessionError, OwnSessions};
pub use staff::{ChangeStandingError, Staff};
pub use topup_orders::{Opened, Ordered, TakenUp, TopupError, TopupOrders, Worked};
pub use wallet::Wallet;
pub use withdrawals::{CancelWithdrawalError, OpenWithdrawalError, Withdrawals};

use crate::adjustment::AdjustmentTerms;
use crate::ledger::{Fingerprint, KeyScope, Receipt};
use crate::music_request::RequestTerms;
use crate::ports::{Clock, Notifier, Passwords, PayoutProvider, Secrets, Store, TopupProvider};
use crate::topup::OrderTerms;
use crate::withdrawal::{PayoutTerms, WithdrawalTerms};
use desk::Desk;
use expiry::Expiry;
use journal::Journal;

/// The adapters that the use cases run on.
#[derive(Clone)]
pub struct Ports {
    /// Where everything is kept.
    pub store: Arc<dyn Store>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Hashes passwords.
    pub passwords: Arc<dyn Passwords>,
    /// Makes refresh tokens, reset tokens and codes.
    pub secrets: Arc<dyn Secrets>,
    /// Sends messages to people.
    pub notifier: Arc<dyn Notifier>,
    /// Takes the guests' money.
    pub topups: Arc<dyn TopupProvider>,
    /// Sends the guests' and DJs' money out.
    pub payouts: Arc<dyn PayoutProvider>,
}

/// What a deployment decides.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Terms {
    /// About requests.
    pub requests: RequestTerms,
    /// About withdrawals.
    pub withdrawals: WithdrawalTerms,
    /// About adjustments.
    pub adjustments: AdjustmentTerms,
    /// About ordering top-ups at their provider.
    pub topups: OrderTerms,
    /// About giving withdrawals to the payout provider.
    pub payouts: PayoutTerms,
    /// How long the money of a pending top-up may still come, which keeps its owner from being erased.
    pub topups_pending_for: Duration,
    /// How long a refresh token lasts.
    pub refresh_token_for: Duration,
    /// The most codes by phone within a day; `None`: any number.
    pub phone_codes_per_day: Option<NonZeroU32>,
}

/// Every use case.
#[derive(Clone)]
pub struct UseCases {
    /// Registration, login and refresh tokens.
    pub accounts: Accounts,
    /// One's own sessions.
    pub sessions: OwnSessions,
    /// Another password.
    pub passwords: PasswordDesk,
    /// Proof of an address.
    pub proofs: Proofs,
    /// People and DJs.
    pub profiles: Profiles,
    /// Music requests.
    pub requests: Requests,
    /// Withdrawals.
    pub withdrawals: Withdrawals,
    /// Paying withdrawals out.
    pub payouts: Payouts,
    /// Messages of providers.
    pub inbox: ProviderInbox,
    /// Balances, statements, and top-ups as they stand.
    pub wallet: Wallet,
    /// Paying in.
    pub topup_orders: TopupOrders,
    /// What operators do with money.
    pub operators: Operators,
    /// What staff does about top-ups, and about money that came too late.
    pub operator_topups: OperatorTopups,
    /// What staff does about people.
    pub staff: Staff,
    /// Whom DJs take no requests from.
    pub blocks: Blocks,
    /// Personal data out, and erased.
    pub personal_data: PersonalData,
    desk: Desk,
}

impl UseCases {
    /// The use cases on these adapters, under these terms.
    #[must_use]
    pub fn new(ports: Ports, terms: Terms) -> Self {
        let Ports { store, clock, passwords, secrets, notifier, topups, payouts } = ports;
        let desk = Desk { ledger: store.clone(), ids: store.clone(), clock: clock.clone() };
        let journal = Journal::new(store.clone(), clock.clone());
        let payouts = Payouts {
            desk: desk.clone(),
            withdrawals: store.clone(),
            provider: payouts,
            terms: terms.payouts,
        };
        let expiry = Expiry { desk: desk.clone(), requests: store.clone(), terms: terms.requests.clone() };
        Self {
            accounts: Accounts {
                people: store.clone(),
                logins: store.clone(),
                sessions: store.clone(),
                journal: journal.clone(),
                ids: store.clone(),
                passwords: passwords.clone(),
                secrets: secrets.clone(),
                clock: clock.clone(),
                refresh_token_for: terms.refresh_token_for,
            },
            sessions: OwnSessions { sessions: store.clone(), journal: journal.clone(), clock: clock.clone() },
            passwords: PasswordDesk {
                people: store.clone(),
                logins: store.clone(),
                journal: journal.clone(),
                passwords: passwords.clone(),
                secrets: secrets.clone(),
                notifier: notifier.clone(),
                clock: clock.clone(),
            },
            proofs: Proofs {
                people: store.clone(),
                logins: store.clone(),
                journal: journal.clone(),
                secrets,
                notifier,
                clock: clock.clone(),
                phone_codes_per_day: terms.phone_codes_per_day,
            },
            profiles: Profiles { desk: desk.clone(), people: store.clone() },
            staff: Staff { desk: desk.clone(), people: store.clone(), journal: journal.clone() },
            blocks: Blocks { requests: store.clone(), blocks: store.clone(), clock },
            personal_data: PersonalData {
                people: store.clone(),
                records: store.clone(),
                journal: journal.clone(),
                logins: store.clone(),
                passwords,
                expiry: expiry.clone(),
                topups_pending_for: terms.topups_pending_for,
            },
            operator_topups: OperatorTopups { desk: desk.clone(), topups: store.clone() },
            operators: Operators {
                desk: desk.clone(),
                withdrawals: store.clone(),
                requests: store.clone(),
                wallets: store.clone(),
                expiry: expiry.clone(),
                terms: terms.requests.clone(),
                adjustments: terms.adjustments,
                second_approval_above: terms.withdrawals.second_approval_above,
            },
            requests: Requests {
                desk: desk.clone(),
                requests: store.clone(),
                people: store.clone(),
                blocks: store.clone(),
                expiry: expiry.clone(),
                terms: terms.requests,
            },
            withdrawals: Withdrawals {
                desk: desk.clone(),
                withdrawals: store.clone(),
                expiry,
                terms: terms.withdrawals,
            },
            inbox: ProviderInbox {
                desk: desk.clone(),
                topups: store.clone(),
                people: store.clone(),
                payouts: payouts.clone(),
                messages: store.clone(),
            },
            payouts,
            wallet: Wallet { wallets: store.clone(), topups: store.clone() },
            topup_orders: TopupOrders {
                desk: desk.clone(),
                topups: store,
                provider: topups,
                terms: terms.topups,
            },
            desk,
        }
    }

    /// The first answer of a command that was sent before with this key and this body, if there is one.
    ///
    /// A keyed command asks this before it looks at anything else: a retry finds its answer even when the state
    /// would refuse it by now.
    ///
    /// # Errors
    /// [`ReplayError`].
    pub async fn replay(
        &self,
        scope: KeyScope,
        fingerprint: Fingerprint,
    ) -> Result<Option<Receipt>, ReplayError> {
        self.desk.replay(crate::ledger::IdempotencyKey { scope, fingerprint }).await
    }
}
