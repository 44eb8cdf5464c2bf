//! Operations with their receipts, and their idempotency keys.
//!
//! A receipt is stored as JSON of the rows that it shows. Receipts outlive the version that wrote them: a
//! field added to a row that they show needs `#[serde(default)]`.

#[cfg(test)]
mod tests;

use cuepoint_domain::event::Audience;
use cuepoint_domain::ids::{AdjustmentId, OperationId, UserId};
use cuepoint_domain::ledger::adjustment::{Adjustment, Correction};
use cuepoint_domain::ledger::{Balance, PostingRules};
use cuepoint_domain::money::Currency;
use cuepoint_domain::music_request::{MusicRequest, RequestRating};
use cuepoint_domain::operation::{
    Actor, Entity, Fingerprint, IdempotencyKey, KeyRecord, KeyScope, OperationRecord, Outcome, PlanKind,
    Position, PositionGap, PositionedOperation, Receipt, StoredReceipt,
};
use cuepoint_domain::ports::OperationPage;
use cuepoint_domain::provider_message::ProviderMessage;
use cuepoint_domain::text::Line;
use cuepoint_domain::tip::Tip;
use cuepoint_domain::topup::Topup;
use cuepoint_domain::user::User;
use cuepoint_domain::withdrawal::Withdrawal;
use serde::ser::Error as _;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::entity_rows::Rowed;

use super::{
    Corrupt, StoredGigRecord, StoredMessage, StoredRating, StoredRequest, StoredTip, StoredTopup, StoredUser,
    StoredWithdrawal, Sum, hash, known, money,
};
use crate::schema::{StoredKey, StoredOperation};

/// The bytes of most receipts.
const USUAL_TEXT: usize = 512;

/// The three balances inside a receipt.
#[derive(Serialize, Deserialize)]
struct BalanceJson {
    available: Sum,
    held: Sum,
    owed: Sum,
}

/// A correction of a balance inside a receipt.
#[derive(Serialize, Deserialize)]
struct AdjustmentJson {
    id: i64,
    user_id: i64,
    amount: Sum,
    reason: String,
}

/// A user inside a receipt: with their balance, or redacted.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum ProfileJson {
    Whole { user: Box<StoredUser>, balance: BalanceJson },
    Redacted(RedactedJson),
}

/// A redacted user inside a receipt, as written by the redaction of each store.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RedactedJson {
    user: UserIdJson,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct UserIdJson {
    id: i64,
}

/// The outcome of an operation, as JSON.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OutcomeJson {
    Request(StoredRequest),
    Withdrawal { withdrawal: StoredWithdrawal, balance: BalanceJson },
    Rating(StoredRating),
    Topup(StoredTopup),
    Profile(ProfileJson),
    Adjustment { adjustment: AdjustmentJson, balance: BalanceJson },
    Message(StoredMessage),
    Gig(StoredGigRecord),
    Tip { tip: StoredTip, balance: BalanceJson },
}

impl StoredOperation {
    /// Converts an operation to its row.
    ///
    /// # Errors
    /// [`Corrupt::Receipt`] if the receipt has no JSON form.
    pub fn of(record: &OperationRecord, currency: &Currency) -> Result<Self, Corrupt> {
        let Audience { owner, dj } = Audience::of_record(record);
        Ok(Self {
            id: Uuid::from_u128(record.id.0),
            kind: record.kind.name().to_owned(),
            actor_user_id: match record.actor {
                Actor::User(user) => Some(user.get()),
                Actor::System => None,
            },
            reason: record.reason.as_ref().map(|reason| reason.as_str().to_owned()),
            at: record.at,
            receipt: OutcomeJson::of(&record.receipt.outcome, currency)?.text()?,
            posting_rules: Some(record.receipt.rules.number()),
            position: None,
            owner_id: owner.map(UserId::get),
            dj_id: dj.map(UserId::get),
        })
    }

    /// Returns the receipt, whole or redacted.
    ///
    /// # Errors
    /// [`Corrupt`] if it cannot be read.
    pub fn stored(&self, currency: &Currency) -> Result<StoredReceipt, Corrupt> {
        let outcome: OutcomeJson = serde_json::from_str(&self.receipt)?;
        let operation = OperationId(self.id.as_u128());
        if let OutcomeJson::Profile(ProfileJson::Redacted(RedactedJson { user })) = outcome {
            let user = known("receipt", UserId::new(user.id))?;
            return Ok(StoredReceipt::Redacted { operation, user });
        }
        let outcome = outcome.outcome(currency)?;
        let rules = known("operations.posting_rules", PostingRules::numbered(self.posting_rules))?;
        Ok(StoredReceipt::Whole(Receipt { operation, at: self.at, rules, outcome }))
    }

    /// Returns the involved users of the operation, derived from its receipt.
    ///
    /// # Errors
    /// [`Corrupt`] if the receipt cannot be read.
    pub fn audience(&self, currency: &Currency) -> Result<Audience, Corrupt> {
        Ok(Audience::of(PlanKind::named(&self.kind), &self.stored(currency)?))
    }

    /// Returns the operation with its position.
    ///
    /// # Errors
    /// [`Corrupt`] if it has no position or cannot be read.
    pub fn positioned(&self, currency: &Currency) -> Result<PositionedOperation, Corrupt> {
        let position = self.position.filter(|position| *position > 0).and_then(Position::new);
        Ok(PositionedOperation {
            position: known("operations.position", position)?,
            kind: PlanKind::named(&self.kind),
            at: self.at,
            receipt: self.stored(currency)?,
        })
    }

    /// Returns the receipt of an operation that moved money, which is never redacted.
    ///
    /// # Errors
    /// [`Corrupt`] if it cannot be read or is redacted.
    pub fn receipt(&self, currency: &Currency) -> Result<Receipt, Corrupt> {
        match self.stored(currency)? {
            StoredReceipt::Whole(receipt) => Ok(receipt),
            StoredReceipt::Redacted { .. } => Err(Corrupt::Redacted),
        }
    }
}

impl BalanceJson {
    fn of(balance: &Balance, currency: &Currency) -> Self {
        Self {
            available: Sum::of(currency, balance.available),
            held: Sum::of(currency, balance.held),
            owed: Sum::of(currency, balance.owed),
        }
    }

    fn balance(&self, currency: &Currency) -> Result<Balance, Corrupt> {
        Ok(Balance {
            available: money(currency, "receipt", &self.available)?,
            held: money(currency, "receipt", &self.held)?,
            owed: money(currency, "receipt", &self.owed)?,
        })
    }
}

impl AdjustmentJson {
    fn of(adjustment: &Adjustment, currency: &Currency) -> Self {
        Self {
            id: adjustment.id.get(),
            user_id: adjustment.user.get(),
            amount: Sum::of(currency, adjustment.correction.sum()),
            reason: adjustment.reason.as_str().to_owned(),
        }
    }

    fn adjustment(self, currency: &Currency) -> Result<Adjustment, Corrupt> {
        let sum = money(currency, "receipt", &self.amount)?;
        Ok(Adjustment {
            id: known("receipt", AdjustmentId::new(self.id))?,
            user: known("receipt", UserId::new(self.user_id))?,
            correction: known("receipt", Correction::signed(sum))?,
            reason: Line::from_stored(self.reason),
        })
    }
}

impl OutcomeJson {
    fn text(&self) -> Result<String, Corrupt> {
        let mut text = Vec::with_capacity(USUAL_TEXT);
        serde_json::to_writer(&mut text, self)?;
        String::from_utf8(text).map_err(|error| Corrupt::Receipt(serde_json::Error::custom(error)))
    }

    fn of(outcome: &Outcome, currency: &Currency) -> Result<Self, Corrupt> {
        let balance = || known("receipt", outcome.balance).map(|balance| BalanceJson::of(&balance, currency));
        Ok(match &outcome.entity {
            Entity::MusicRequest(request) => Self::Request(request.row(currency)),
            Entity::Withdrawal(withdrawal) => {
                Self::Withdrawal { withdrawal: withdrawal.row(currency), balance: balance()? }
            }
            Entity::Rating(rating) => Self::Rating(rating.row(currency)),
            Entity::Topup(topup) => Self::Topup(topup.row(currency)),
            Entity::User(user) => {
                let user = Box::new(user.row(currency));
                Self::Profile(ProfileJson::Whole { user, balance: balance()? })
            }
            Entity::Adjustment(adjustment) => {
                let adjustment = AdjustmentJson::of(adjustment, currency);
                Self::Adjustment { adjustment, balance: balance()? }
            }
            Entity::ProviderMessage(message) => Self::Message(message.row(currency)),
            Entity::GigRecord(record) => Self::Gig(StoredGigRecord::of(record)),
            Entity::Tip(tip) => Self::Tip { tip: tip.row(currency), balance: balance()? },
            // No receipt has a gig with its texts.
            Entity::Gig(_) => return Err(Corrupt::Column("receipt")),
        })
    }

    fn outcome(self, currency: &Currency) -> Result<Outcome, Corrupt> {
        let (entity, balance): (Entity, _) = match self {
            Self::Request(row) => (MusicRequest::of_row(row, currency)?.into(), None),
            Self::Withdrawal { withdrawal, balance } => {
                (Withdrawal::of_row(withdrawal, currency)?.into(), Some(balance))
            }
            Self::Rating(row) => (RequestRating::of_row(row, currency)?.into(), None),
            Self::Topup(row) => (Topup::of_row(row, currency)?.into(), None),
            Self::Profile(ProfileJson::Whole { user, balance }) => {
                (User::of_row(*user, currency)?.into(), Some(balance))
            }
            Self::Profile(ProfileJson::Redacted(_)) => return Err(Corrupt::Redacted),
            Self::Adjustment { adjustment, balance } => {
                (adjustment.adjustment(currency)?.into(), Some(balance))
            }
            Self::Message(row) => (ProviderMessage::of_row(row, currency)?.into(), None),
            Self::Gig(record) => (record.record()?.into(), None),
            Self::Tip { tip, balance } => (Tip::of_row(tip, currency)?.into(), Some(balance)),
        };
        let balance = balance.map(|balance| balance.balance(currency)).transpose()?;
        Ok(Outcome { entity, balance })
    }
}

/// Returns the page of those operations that have the lowest positions, and at most this many.
///
/// # Errors
/// [`Corrupt`] if one cannot be read.
pub fn operation_page(
    operations: impl Iterator<Item = Result<PositionedOperation, Corrupt>>,
    newest: i64,
    gap: Option<StoredPositionGap>,
    limit: u32,
) -> Result<OperationPage, Corrupt> {
    let mut operations = operations.collect::<Result<Vec<_>, _>>()?;
    operations.sort_unstable_by_key(|operation| operation.position);
    operations.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let gap = gap.map(position_gap).transpose()?;
    Ok(OperationPage { operations, newest: known("operations.position", Position::new(newest))?, gap })
}

/// A gap between positions, as its columns `last` and `next`.
pub type StoredPositionGap = (i64, i64);

/// Converts a gap between positions.
///
/// # Errors
/// [`Corrupt`] if it is none.
pub fn position_gap((last, next): StoredPositionGap) -> Result<PositionGap, Corrupt> {
    let bounds = Position::new(last).zip(Position::new(next));
    known("position_gaps", bounds.and_then(|(last, next)| PositionGap::new(last, next)))
}

impl StoredKey {
    /// Converts a key to its row.
    #[must_use]
    pub fn of(record: &KeyRecord) -> Self {
        Self {
            scope: record.key.scope.0.to_vec(),
            fingerprint: record.key.fingerprint.0.to_vec(),
            operation_id: Uuid::from_u128(record.receipt.operation().0),
            at: record.at,
        }
    }

    /// Returns the key with the receipt of its operation.
    ///
    /// # Errors
    /// [`Corrupt`] if a column or the receipt cannot be read.
    pub fn record(&self, operation: &StoredOperation, currency: &Currency) -> Result<KeyRecord, Corrupt> {
        Ok(KeyRecord {
            key: IdempotencyKey {
                scope: KeyScope(hash("scope", &self.scope)?),
                fingerprint: Fingerprint(hash("fingerprint", &self.fingerprint)?),
            },
            receipt: operation.stored(currency)?,
            at: self.at,
        })
    }
}
