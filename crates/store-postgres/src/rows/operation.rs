//! Operations with their receipts, and the keys that stand for them.
//!
//! A receipt is kept as JSON of the rows that it shows. Receipts outlive the version that wrote them: a field added
//! to a row that they show needs `#[serde(default)]`.

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
            kind: record.kind.to_owned(),
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

#[cfg(test)]
mod tests {
    use cuepoint_domain::ids::{RequestId, TopupId, UserId, WithdrawalId};
    use cuepoint_domain::money::{Amount, Money};
    use cuepoint_domain::music_request::{MusicRequest, RequestState};
    use cuepoint_domain::people::{ArtistType, Coordinates, DjProfile, Kilometres, Rating, Role, User};
    use cuepoint_domain::text::{Email, Line, MusicUrl, PaymentUrl};
    use cuepoint_domain::timestamp::Timestamp;
    use cuepoint_domain::topup::{Orders, Suspense, SuspenseSettlement, Topup, TopupStatus};
    use cuepoint_domain::withdrawal::{Approval, Withdrawal, WithdrawalState, WithdrawalStatus};

    use super::*;

    fn at(micros: i64) -> Timestamp {
        Timestamp::from_unix_micros(1_767_225_600_000_001_i64.saturating_add(micros))
    }

    fn user(id: i64) -> UserId {
        UserId::new(id).unwrap()
    }

    fn line(text: &str) -> Line {
        Line::new(text).unwrap()
    }

    fn requests() -> impl Iterator<Item = Outcome> + Clone {
        let commission = Money::from_minor(1);
        [
            RequestState::Pending { answer_by: at(9) },
            RequestState::Accepted { at: at(1), play_by: at(9) },
            RequestState::Rejected { at: at(1) },
            RequestState::Cancelled { at: at(1) },
            RequestState::Expired { at: at(1) },
            RequestState::Played { at: at(1), commission },
            RequestState::Refunded { at: at(1), commission: Money::ZERO },
        ]
        .into_iter()
        .map(|state| {
            Outcome::Request(MusicRequest {
                id: RequestId::new(i64::MAX).unwrap(),
                requester: user(1),
                dj: user(2),
                song_title: line("\"Ünï\u{1F3B5}\\"),
                artist_name: line("a"),
                artist_type: ArtistType::Upcoming,
                music_url: MusicUrl::new("https://example.com/?q=1").unwrap(),
                fee: Money::from_minor(123),
                state,
                created_at: at(0),
            })
        })
    }

    fn approval(by: i64) -> Approval {
        Approval { by: user(by), at: at(by) }
    }

    fn withdrawals() -> impl Iterator<Item = Outcome> + Clone {
        let balance =
            Balance { available: Money::MAX_BALANCE, held: Money::from_minor(1), owed: Money::ZERO };
        WithdrawalStatus::ALL
            .into_iter()
            .flat_map(|status| {
                [
                    (None, 0, None),
                    (Some(line("0xabc")), 0, None),
                    (None, u32::try_from(i32::MAX).unwrap(), Some(at(7))),
                ]
                .map(|(txid, attempts, retry_at)| WithdrawalState::stored(status, txid, attempts, retry_at))
            })
            .flatten()
            .map(move |state| {
                let withdrawal = Withdrawal {
                    id: WithdrawalId::new(1).unwrap(),
                    opening: Some(OperationId(u128::MAX)),
                    user: user(1),
                    amount: Amount::new(Money::from_minor(1)).unwrap(),
                    wallet_address: line("T1"),
                    currency: line("USDT"),
                    network: line("TRC20"),
                    approvals: match state {
                        WithdrawalState::Pending => vec![approval(2)],
                        WithdrawalState::Approved => vec![approval(2), approval(3)],
                        _ => Vec::new(),
                    },
                    state,
                    created_at: at(0),
                    updated_at: at(1),
                };
                Outcome::Withdrawal(withdrawal, balance)
            })
    }

    fn topups() -> impl Iterator<Item = Outcome> + Clone {
        let page = || PaymentUrl::new("https://pay").ok();
        let ordered = |next_at| Some(Orders { attempts: 3, next_at });
        let each = [
            (TopupStatus::Pending, None, None),
            (TopupStatus::Pending, None, Some(Orders::default())),
            (TopupStatus::Pending, None, ordered(Some(at(5)))),
            (TopupStatus::Confirmed, None, ordered(None)),
            (TopupStatus::Failed, page(), ordered(None)),
            (TopupStatus::Reversed, page(), ordered(None)),
        ];
        each.into_iter().flat_map(|(status, payment_url, orders)| {
            let failed = status == TopupStatus::Failed;
            let suspended = suspenses().into_iter().filter(move |suspense| failed || suspense.is_none());
            suspended.map(move |suspense| topup(status, payment_url.clone(), orders, suspense))
        })
    }

    fn suspenses() -> [Option<Suspense>; 3] {
        let suspense = Suspense { operation: OperationId(8), arrived_at: at(5), settlement: None };
        let (by, reason) = (user(2), line("sent \"back\""));
        let settlement = SuspenseSettlement { operation: OperationId(9), at: at(6), by, reason };
        let settled = Suspense { settlement: Some(settlement), ..suspense.clone() };
        [None, Some(suspense), Some(settled)]
    }

    fn topup(
        status: TopupStatus,
        payment_url: Option<PaymentUrl>,
        orders: Option<Orders>,
        suspense: Option<Suspense>,
    ) -> Outcome {
        Outcome::Topup(Topup {
            id: TopupId::new(1).unwrap(),
            opening: payment_url.is_some().then_some(OperationId(7)),
            user: user(1),
            amount: Amount::new(Money::from_minor(1_000)).unwrap(),
            status,
            payment_url,
            orders,
            suspense,
            created_at: at(0),
            updated_at: at(1),
        })
    }

    fn profiles() -> impl Iterator<Item = Outcome> + Clone {
        let email = Email::new("Ada@example.com").unwrap();
        let plain = User::registered(user(1), line("Ada"), email, None, false, at(0));
        let full = User {
            email_verified: true,
            phone: Some(line("+1")),
            phone_verified: true,
            role: Role::Operator,
            dj: Some(DjProfile {
                online: true,
                fee_upcoming_artist: Money::from_minor(5),
                fee_popular_song: Money::from_minor(7),
                played: 3,
                rating: Rating { stars: 9, count: 2 },
            }),
            city: Some(line("Ålesund")),
            state: Some(line("s")),
            country: Some(line("c")),
            coordinates: Coordinates::new(-0.1 - 0.2, f64::from_bits(0x4049_0fdb_1234_5677)),
            radius: Kilometres::new(f64::MIN_POSITIVE),
            ..plain.clone()
        };
        [plain, full].into_iter().map(|user| Outcome::Profile(user, Balance::default()))
    }

    fn row(outcome: Outcome, currency: &Currency) -> (Receipt, OperationRow) {
        let (operation, rules) = (OperationId(u128::MAX - 1), PostingRules::IncomePaysOwed);
        let receipt = Receipt { operation, at: at(2), rules, outcome };
        let record = OperationRecord {
            id: receipt.operation,
            kind: "profile",
            actor: Actor::System,
            at: receipt.at,
            reason: None,
            receipt: receipt.clone(),
        };
        let row = OperationRow::of(&record, currency).unwrap();
        (receipt, row)
    }

    #[test]
    fn a_receipt_without_the_newest_fields_is_of_an_earlier_version() {
        let usd = Currency::new("USD", 2).unwrap();
        for outcome in withdrawals().chain(topups()) {
            let (mut receipt, mut row) = row(outcome, &usd);
            let (path, newest): (_, &[&str]) = match &mut receipt.outcome {
                Outcome::Withdrawal(withdrawal, _) => {
                    withdrawal.opening = None;
                    ("/withdrawal/withdrawal", &["reference"])
                }
                Outcome::Topup(topup) => {
                    (topup.opening, topup.orders) = (None, None);
                    ("/topup", &["reference", "attempts", "order_at"])
                }
                other => panic!("{other:?}"),
            };
            let mut written: serde_json::Value = serde_json::from_str(&row.receipt.0).unwrap();
            let fields = written.pointer_mut(path).and_then(serde_json::Value::as_object_mut).unwrap();
            for name in newest {
                assert!(fields.remove(*name).is_some(), "{name}");
            }
            row.receipt = ReceiptText(written.to_string());
            assert_eq!(row.receipt(&usd).unwrap(), receipt);
        }
    }

    #[test]
    fn a_receipt_reads_back_as_it_was_written() {
        let adjusted = [250, -250].map(|minor| {
            let correction = Correction::signed(Money::from_minor(minor)).unwrap();
            let (id, reason) = (AdjustmentId::new(1).unwrap(), line("\"Ünï\\"));
            let adjustment = Adjustment { id, user: user(1), correction, reason };
            Outcome::Adjustment(adjustment, Balance::default())
        });
        let outcomes = requests().chain(withdrawals()).chain(topups()).chain(profiles()).chain(adjusted);
        for scale in [0, 2, 8] {
            let currency = Currency::new("USD", scale).unwrap();
            for outcome in outcomes.clone() {
                let (receipt, row) = row(outcome, &currency);
                assert_eq!(row.receipt(&currency).unwrap(), receipt);
            }
        }
    }
}
