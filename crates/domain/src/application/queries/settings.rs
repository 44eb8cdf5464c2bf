//! What clients have to know about a deployment.

use std::sync::Arc;

use crate::application::environment::Environment;
use crate::money::Amount;
use crate::music_request::RequestTerms;
use crate::ports::{Intake, Recipient};
use crate::text::{Email, Line};
use crate::tip::TipTerms;
use crate::withdrawal::WithdrawalTerms;

/// Shows the settings of a deployment.
#[derive(Clone)]
pub struct SettingsQueries {
    pub(in crate::application) env: Arc<Environment>,
}

impl SettingsQueries {
    /// The terms of requests.
    #[must_use]
    pub fn requests(&self) -> &RequestTerms {
        &self.env.terms.requests
    }

    /// The terms of withdrawals, of which only some are for clients.
    #[must_use]
    pub fn withdrawals(&self) -> &WithdrawalTerms {
        &self.env.terms.withdrawals
    }

    /// The smallest top-up, if there is one.
    #[must_use]
    pub fn least_topup(&self) -> Option<Amount> {
        self.env.terms.least_topup
    }

    /// The terms of tips.
    #[must_use]
    pub fn tips(&self) -> &TipTerms {
        &self.env.terms.tips
    }

    /// Whether the deployment takes top-ups.
    #[must_use]
    pub fn takes_topups(&self) -> bool {
        self.env.ports.topup_provider.intake() != Intake::NotOffered
    }

    /// Whether the deployment sends e-mail; only the kind of the address matters.
    #[must_use]
    pub fn sends_email(&self) -> bool {
        self.env.ports.notifier.can_reach(&Recipient::Email(Email::from_stored(String::new())))
    }

    /// Whether the deployment sends messages to phones; only the kind of the address matters.
    #[must_use]
    pub fn sends_to_phones(&self) -> bool {
        self.env.ports.notifier.can_reach(&Recipient::Phone(Line::from_stored(String::new())))
    }
}
