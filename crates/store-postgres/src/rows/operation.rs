//! Operations with their receipts, and the keys that stand for them.
//!
//! A receipt is kept as JSON of the rows that it shows. Receipts outlive the version that wrote them: a field added
//! to a row that they show needs `#[serde(default)]`.

#[cfg(test)]
mod tests;

use std::io::Write;

use bigdecimal::BigDecimal;
use cuepoint_domain::adjustment::{Adjustment, Correction};
use cuepoint_domain::ids::{AdjustmentId, OperationId, UserId};
use cuepoint_domain::ledger::{
    Actor, Balance, Fingerprint, IdempotencyKey, KeyRecord, KeyScope, OperationRecord, Outcome, PostingRules,
    Receipt, StoredReceipt,
};
use cuepoint_domain::money::Currency;
use cuepoint_domain::text::Line;
use diesel::deserialize::{self, FromSql, FromSqlRow};
use diesel::expression::AsExpression;
use diesel::pg::{Pg, PgValue};
use diesel::prelude::*;
use diesel::serialize::{self, IsNull, Output, ToSql};
use diesel::sql_types::Jsonb;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use uuid::Uuid;

use super::{
    Corrupt, MusicRequestRow, ProviderMessageRow, TopupRow, UserRow, WithdrawalRow, column_time, hash, known,
    money, text, timestamp,
};
use crate::schema::{idempotency_keys, operations};

/// An operation.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = operations, check_for_backend(diesel::pg::Pg))]
pub(crate) struct OperationRow {
    pub(crate) id: Uuid,
    pub(crate) kind: String,
    pub(crate) actor_user_id: Option<i64>,
    pub(crate) reason: Option<String>,
    pub(crate) at: OffsetDateTime,
    pub(crate) receipt: ReceiptText,
    pub(crate) posting_rules: Option<i16>,
}

/// A receipt as the text of its JSON: neither written nor read by way of a tree.
#[derive(Clone, PartialEq, Eq, Debug, AsExpression, FromSqlRow)]
#[diesel(sql_type = Jsonb)]
pub(crate) struct ReceiptText(String);

#[cfg(feature = "seed")]
impl ReceiptText {
    /// The JSON itself.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// The version of the binary form of `jsonb`, which is this byte and the text.
const JSONB_VERSION: u8 = 1;

impl ToSql<Jsonb, Pg> for ReceiptText {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        out.write_all(&[JSONB_VERSION])?;
        out.write_all(self.0.as_bytes())?;
        Ok(IsNull::No)
    }
}

impl FromSql<Jsonb, Pg> for ReceiptText {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        match value.as_bytes().split_first() {
            Some((&JSONB_VERSION, text)) => Ok(Self(std::str::from_utf8(text)?.to_owned())),
            _ => Err("the binary form of jsonb is of an unknown version".into()),
        }
    }
}

/// The three balances inside a receipt.
#[derive(Serialize, Deserialize)]
struct BalanceJson {
    #[serde(with = "text::decimal")]
    available: BigDecimal,
    #[serde(with = "text::decimal")]
    held: BigDecimal,
    #[serde(with = "text::decimal")]
    owed: BigDecimal,
}

/// A correction of a balance inside a receipt.
#[derive(Serialize, Deserialize)]
struct AdjustmentJson {
    id: i64,
    user_id: i64,
    #[serde(with = "text::decimal")]
    amount: BigDecimal,
    reason: String,
}

/// A person inside a receipt, with their balance, or after that was redacted.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum ProfileJson {
    Whole { user: Box<UserRow>, balance: BalanceJson },
    Redacted(RedactedJson),
}

/// What is left of a person inside a receipt; [`crate::redaction`] writes it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RedactedJson {
    user: UserIdJson,
}

/// A person's id alone.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct UserIdJson {
    id: i64,
}

/// What an operation came to, as JSON.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OutcomeJson {
    Request(MusicRequestRow),
    Withdrawal { withdrawal: WithdrawalRow, balance: BalanceJson },
    Topup(TopupRow),
    Profile(ProfileJson),
    Adjustment { adjustment: AdjustmentJson, balance: BalanceJson },
    Message(ProviderMessageRow),
}

impl OperationRow {
    pub(crate) fn of(record: &OperationRecord, currency: &Currency) -> Result<Self, Corrupt> {
        Ok(Self {
            id: Uuid::from_u128(record.id.0),
            kind: record.kind.name().to_owned(),
            actor_user_id: match record.actor {
                Actor::User(user) => Some(user.get()),
                Actor::System => None,
            },
            reason: record.reason.as_ref().map(|reason| reason.as_str().to_owned()),
            at: column_time(record.at),
            receipt: ReceiptText(serde_json::to_string(&OutcomeJson::of(&record.receipt.outcome, currency))?),
            posting_rules: Some(record.receipt.rules.number()),
        })
    }

    /// The receipt, whole or redacted.
    pub(crate) fn stored(&self, currency: &Currency) -> Result<StoredReceipt, Corrupt> {
        let outcome: OutcomeJson = serde_json::from_str(&self.receipt.0)?;
        let operation = OperationId(self.id.as_u128());
        if let OutcomeJson::Profile(ProfileJson::Redacted(RedactedJson { user })) = outcome {
            let user = known("receipt", UserId::new(user.id))?;
            return Ok(StoredReceipt::Redacted { operation, user });
        }
        let outcome = outcome.outcome(currency)?;
        let rules = known("operations.posting_rules", PostingRules::numbered(self.posting_rules))?;
        Ok(StoredReceipt::Whole(Receipt { operation, at: timestamp(self.at), rules, outcome }))
    }

    /// The receipt of an operation that moved money, which is never redacted.
    pub(crate) fn receipt(&self, currency: &Currency) -> Result<Receipt, Corrupt> {
        match self.stored(currency)? {
            StoredReceipt::Whole(receipt) => Ok(receipt),
            StoredReceipt::Redacted { .. } => Err(Corrupt::Redacted),
        }
    }
}

impl BalanceJson {
    fn of(balance: &Balance, currency: &Currency) -> Self {
        Self {
            available: currency.to_decimal(balance.available),
            held: currency.to_decimal(balance.held),
            owed: currency.to_decimal(balance.owed),
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
            amount: currency.to_decimal(adjustment.correction.sum()),
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
    fn of(outcome: &Outcome, currency: &Currency) -> Self {
        match outcome {
            Outcome::Request(request) => Self::Request(MusicRequestRow::of(request, currency)),
            Outcome::Withdrawal(withdrawal, balance) => Self::Withdrawal {
                withdrawal: WithdrawalRow::of(withdrawal, currency),
                balance: BalanceJson::of(balance, currency),
            },
            Outcome::Topup(topup) => Self::Topup(TopupRow::of(topup, currency)),
            Outcome::Profile(user, balance) => Self::Profile(ProfileJson::Whole {
                user: Box::new(UserRow::of(user, currency)),
                balance: BalanceJson::of(balance, currency),
            }),
            Outcome::Adjustment(adjustment, balance) => Self::Adjustment {
                adjustment: AdjustmentJson::of(adjustment, currency),
                balance: BalanceJson::of(balance, currency),
            },
            Outcome::Message(message) => Self::Message(ProviderMessageRow::of(message)),
        }
    }

    fn outcome(self, currency: &Currency) -> Result<Outcome, Corrupt> {
        Ok(match self {
            Self::Request(request) => Outcome::Request(request.request(currency)?),
            Self::Withdrawal { withdrawal, balance } => {
                Outcome::Withdrawal(withdrawal.withdrawal(currency)?, balance.balance(currency)?)
            }
            Self::Topup(topup) => Outcome::Topup(topup.topup(currency)?),
            Self::Profile(ProfileJson::Whole { user, balance }) => {
                Outcome::Profile(user.user(currency)?, balance.balance(currency)?)
            }
            Self::Profile(ProfileJson::Redacted(_)) => return Err(Corrupt::Redacted),
            Self::Adjustment { adjustment, balance } => {
                Outcome::Adjustment(adjustment.adjustment(currency)?, balance.balance(currency)?)
            }
            Self::Message(message) => Outcome::Message(message.message()?),
        })
    }
}

/// A client's key.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = idempotency_keys, check_for_backend(diesel::pg::Pg))]
pub(crate) struct KeyRow {
    pub(crate) scope: Vec<u8>,
    pub(crate) fingerprint: Vec<u8>,
    pub(crate) operation_id: Uuid,
    pub(crate) at: OffsetDateTime,
}

impl KeyRow {
    pub(crate) fn of(record: &KeyRecord) -> Self {
        Self {
            scope: record.key.scope.0.to_vec(),
            fingerprint: record.key.fingerprint.0.to_vec(),
            operation_id: Uuid::from_u128(record.receipt.operation().0),
            at: column_time(record.at),
        }
    }

    pub(crate) fn record(&self, operation: &OperationRow, currency: &Currency) -> Result<KeyRecord, Corrupt> {
        Ok(KeyRecord {
            key: IdempotencyKey {
                scope: KeyScope(hash("scope", &self.scope)?),
                fingerprint: Fingerprint(hash("fingerprint", &self.fingerprint)?),
            },
            receipt: operation.stored(currency)?,
            at: timestamp(self.at),
        })
    }
}
