//! The use cases: load, decide, apply, with a bounded retry when something moved in between.
//!
//! They know the ports and the rules, and nothing of HTTP, SQL or JSON. Each operation has its own error enum;
//! what any command can meet is an [`Obstacle`].

mod accounts;
mod desk;
mod expiry;
mod operators;
mod payouts;
mod profiles;
mod requests;
#[cfg(test)]
mod tests;
mod wallet;
mod withdrawals;

use std::sync::Arc;

use time::Duration;

pub use accounts::{Accounts, LoginError, RefreshError, RegisterError, Registration, SignedIn};
pub use desk::{Command, Obstacle, ReplayError};
pub use operators::{AdjustError, OperatorMove, OperatorMoveError, Operators};
pub use payouts::{Payouts, Sent, TellError, Told};
pub use profiles::{ChangeProfileError, FindError, Profiles};
pub use requests::{AddressedError, DjAnswer, ListFilter, MoveRequestError, OpenRequestError, Requests};
pub use wallet::{TopupError, TopupTold, Wallet};
pub use withdrawals::{CancelWithdrawalError, OpenWithdrawalError, Withdrawals};

use crate::ledger::{Fingerprint, KeyScope, Receipt};
use crate::music_request::RequestTerms;
use crate::ports::{Clock, Passwords, PayoutProvider, Secrets, Store, TopupProvider};
use crate::withdrawal::{PayoutTerms, WithdrawalTerms};
use desk::Desk;
use expiry::Expiry;

/// The adapters that the use cases run on.
#[derive(Clone)]
pub struct Ports {
    /// Where everything is kept.
    pub store: Arc<dyn Store>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Hashes passwords.
    pub passwords: Arc<dyn Passwords>,
    /// Makes refresh tokens.
    pub secrets: Arc<dyn Secrets>,
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
    /// About giving withdrawals to the payout provider.
    pub payouts: PayoutTerms,
    /// How long a refresh token lasts.
    pub refresh_token_for: Duration,
}

/// Every use case.
#[derive(Clone)]
pub struct UseCases {
    /// Registration, login and refresh tokens.
    pub accounts: Accounts,
    /// People and DJs.
    pub profiles: Profiles,
    /// Music requests.
    pub requests: Requests,
    /// Withdrawals.
    pub withdrawals: Withdrawals,
    /// Paying withdrawals out.
    pub payouts: Payouts,
    /// Balances, statements and top-ups.
    pub wallet: Wallet,
    /// What operators do.
    pub operators: Operators,
    desk: Desk,
}

impl UseCases {
    /// The use cases on these adapters, under these terms.
    #[must_use]
    pub fn new(ports: Ports, terms: Terms) -> Self {
        let Ports { store, clock, passwords, secrets, topups, payouts } = ports;
        let desk = Desk { ledger: store.clone(), ids: store.clone(), clock: clock.clone() };
        let expiry = Expiry { desk: desk.clone(), requests: store.clone(), terms: terms.requests.clone() };
        Self {
            accounts: Accounts {
                people: store.clone(),
                sessions: store.clone(),
                ids: store.clone(),
                passwords,
                secrets,
                clock,
                refresh_token_for: terms.refresh_token_for,
            },
            profiles: Profiles { desk: desk.clone(), people: store.clone() },
            operators: Operators {
                desk: desk.clone(),
                withdrawals: store.clone(),
                requests: store.clone(),
                wallets: store.clone(),
                expiry: expiry.clone(),
                terms: terms.requests.clone(),
            },
            requests: Requests {
                desk: desk.clone(),
                requests: store.clone(),
                people: store.clone(),
                expiry: expiry.clone(),
                terms: terms.requests,
            },
            withdrawals: Withdrawals {
                desk: desk.clone(),
                withdrawals: store.clone(),
                expiry,
                terms: terms.withdrawals,
            },
            payouts: Payouts {
                desk: desk.clone(),
                withdrawals: store.clone(),
                provider: payouts,
                terms: terms.payouts,
            },
            wallet: Wallet { desk: desk.clone(), wallets: store.clone(), topups: store, provider: topups },
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
