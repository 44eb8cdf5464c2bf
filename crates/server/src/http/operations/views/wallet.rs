//! Views of wallets and their statements for clients.

use cuepoint_domain::entity_ref;
use cuepoint_domain::ledger::{self, Balance};
use cuepoint_domain::money::Currency;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::wire::entry_kinds;
use crate::http::wire::money::Number;
use crate::http::wire::names;
use crate::http::wire::time::WireTimestamp;

/// A balance.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Wallet)]
pub struct WalletView {
    /// The wallet's currency.
    #[schema(example = "USD")]
    currency: String,
    /// Decimals of the currency.
    #[schema(example = 2)]
    scale: u8,
    /// Available amount, in major units.
    #[schema(value_type = f64, format = "decimal", example = 40.00)]
    available: Number,
    /// Amount held for open requests and withdrawals, in major units.
    #[schema(value_type = f64, format = "decimal", example = 10.00)]
    held: Number,
    /// Owed amount, in major units; paid first from later income.
    #[schema(value_type = f64, format = "decimal", example = 0.00)]
    owed: Number,
}

/// A balance in an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct WalletData {
    /// The balance.
    pub wallet: WalletView,
}

/// The object of an entry.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Reference)]
pub struct ReferenceView {
    /// Kind of the object.
    #[serde(rename = "type")]
    #[schema(value_type = names::ReferenceType)]
    kind: &'static str,
    /// Id of the object.
    #[schema(minimum = 1, example = 42)]
    id: i64,
}

/// A wallet entry in an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct EntryData {
    /// The entry.
    pub entry: EntryView,
}

/// A change of a wallet by one operation.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Entry)]
pub struct EntryView {
    /// Number of the entry within the wallet, from 1 without gaps.
    #[schema(minimum = 1, example = 2)]
    id: i64,
    /// Kind of the change.
    #[schema(value_type = names::EntryKind)]
    kind: &'static str,
    /// Change of the available balance, in major units: negative for a hold.
    #[schema(value_type = f64, format = "decimal", example = -10.00)]
    amount: Number,
    /// Change of the held amount, in major units: positive for a hold, negative when it is released or paid.
    #[schema(value_type = f64, format = "decimal", example = 10.00)]
    held_change: Number,
    /// Available balance after the entry, in major units.
    #[schema(value_type = f64, format = "decimal", example = 40.00)]
    available_after: Number,
    /// Held amount after the entry, in major units.
    #[schema(value_type = f64, format = "decimal", example = 10.00)]
    held_after: Number,
    /// Owed amount after the entry, in major units.
    #[schema(value_type = f64, format = "decimal", example = 0.00)]
    owed_after: Number,
    /// Object of the entry.
    reference: ReferenceView,
    /// Time of the entry.
    #[schema(value_type = String, format = DateTime, example = "2026-01-31T20:15:00.000000Z")]
    created_at: WireTimestamp,
}

impl WalletView {
    /// The wallet with this balance.
    #[must_use]
    pub fn new(balance: Balance, currency: &Currency) -> Self {
        Self {
            currency: currency.code().to_owned(),
            scale: currency.scale(),
            available: Number::money(currency, balance.available),
            held: Number::money(currency, balance.held),
            owed: Number::money(currency, balance.owed),
        }
    }
}

impl ReferenceView {
    /// The reference.
    #[must_use]
    pub fn new(reference: entity_ref::EntityRef) -> Self {
        Self { kind: reference.kind_name(), id: reference.id() }
    }
}

impl EntryView {
    /// The entry.
    #[must_use]
    pub fn new(entry: &ledger::Entry, currency: &Currency) -> Self {
        Self {
            id: entry.seq,
            kind: entry_kinds::name(entry.kind),
            amount: Number::money(currency, entry.change.available),
            held_change: Number::money(currency, entry.change.held),
            available_after: Number::money(currency, entry.after.available),
            held_after: Number::money(currency, entry.after.held),
            owed_after: Number::money(currency, entry.after.owed),
            reference: ReferenceView::new(entry.reference),
            created_at: WireTimestamp(entry.at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuepoint_domain::ids::{OperationId, RequestId, UserId};
    use cuepoint_domain::ledger::{ChainHash, EntryKind};
    use cuepoint_domain::money::Money;
    use cuepoint_domain::timestamp::Timestamp;

    fn balance(available: i128, held: i128) -> Balance {
        let (available, held) = (Money::from_minor(available), Money::from_minor(held));
        Balance { available, held, owed: Money::ZERO }
    }

    #[test]
    fn a_wallet_has_exactly_these_keys() {
        let view = WalletView::new(balance(4_000, 1_000), &Currency::new("USD", 2).unwrap());
        assert_eq!(
            serde_json::to_string(&view).unwrap(),
            r#"{"currency":"USD","scale":2,"available":40.00,"held":10.00,"owed":0.00}"#
        );
    }

    #[test]
    fn every_kind_of_reference_is_described() {
        use cuepoint_domain::ids::{AdjustmentId, TopupId, WithdrawalId};
        use utoipa::PartialSchema;

        let references = [
            entity_ref::EntityRef::MusicRequest(RequestId::new(1).unwrap()),
            entity_ref::EntityRef::Withdrawal(WithdrawalId::new(1).unwrap()),
            entity_ref::EntityRef::Topup(TopupId::new(1).unwrap()),
            entity_ref::EntityRef::Adjustment(AdjustmentId::new(1).unwrap()),
        ];
        let described = serde_json::to_value(names::ReferenceType::schema()).unwrap();
        assert_eq!(described["enum"], serde_json::json!(references.map(entity_ref::EntityRef::kind_name)));
    }

    #[test]
    fn an_entry_has_exactly_these_keys() {
        let entry = ledger::Entry {
            wallet: UserId::new(8).unwrap(),
            seq: 2,
            operation: OperationId(1),
            kind: EntryKind::Hold,
            reference: entity_ref::EntityRef::MusicRequest(RequestId::new(42).unwrap()),
            change: balance(-1_000, 1_000),
            after: balance(4_000, 1_000),
            at: Timestamp::EPOCH,
            previous: ChainHash::START,
            hash: ChainHash::START,
        };
        assert_eq!(
            serde_json::to_string(&EntryView::new(&entry, &Currency::new("USD", 2).unwrap())).unwrap(),
            concat!(
                r#"{"id":2,"kind":"hold","amount":-10.00,"held_change":10.00,"available_after":40.00,"#,
                r#""held_after":10.00,"owed_after":0.00,"reference":{"type":"music_request","id":42},"created_at":"1970-01-01T00:00:00.000000Z"}"#
            )
        );
    }
}
