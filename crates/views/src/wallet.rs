//! Views of wallets and their statements for clients.

use cuepoint_domain::entity_ref;
use cuepoint_domain::ledger::{self, Balance};
use cuepoint_domain::money::Currency;
use cuepoint_domain::withdrawal::Clearing;

use crate::view;
use crate::wire::entry_kinds;
use crate::wire::money::Number;
use crate::wire::names;
use crate::wire::time::WireTimestamp;

view! {
    /// The balance of a wallet.
    pub struct WalletView as Wallet of (balance: Balance, clearing: Clearing, currency: &Currency) {
        /// Currency of the wallet.
        #[schema(example = "USD")]
        currency: String = currency.code().to_owned(),
        /// Number of decimals of the currency.
        #[schema(example = 2)]
        scale: u8 = currency.scale(),
        /// Available amount, in major units. It can be spent. The part that is not `clearing` can also be withdrawn.
        #[decimal(example = 40.00)]
        available: Number = Number::money(currency, balance.available),
        /// Amount held for open requests and withdrawals, in major units.
        #[decimal(example = 10.00)]
        held: Number = Number::money(currency, balance.held),
        /// Debt, in major units, from a charge-back or a refund. Credited and released money pays it first. Until
        /// then, withdrawals and music requests with a fee return 409 `wallet_owes`.
        #[decimal(example = 0.00)]
        owed: Number = Number::money(currency, balance.owed),
        /// Part of the available amount that cannot be withdrawn yet, in major units. It comes from recent top-ups or
        /// payments of guests, because a charge-back may follow.
        #[decimal(example = 25.00)]
        clearing: Number = Number::money(currency, clearing.amount),
        /// Time at which the whole available amount can be withdrawn if no more income arrives. Null if nothing is
        /// clearing.
        #[timestamp_or_null(example = "2026-02-03T20:15:00.000000Z")]
        clears_at: Option<WireTimestamp> = clearing.until.map(WireTimestamp),
    }
}

view! {
    /// The object that caused a change.
    pub struct ObjectReferenceView as ObjectReference of (reference: entity_ref::EntityRef) {
        /// Kind of the object.
        #[serde(rename = "type")]
        #[schema(value_type = names::ReferenceType)]
        kind: &'static str = reference.kind_name(),
        /// Id of the object.
        #[id(example = 42)]
        id: i64 = reference.id(),
    }
}

view! {
    /// A change of a wallet. An operation makes at most one entry in a wallet.
    pub struct WalletEntryView as WalletEntry of (entry: &ledger::Entry, currency: &Currency) {
        /// Number of the entry within the wallet: 1, 2, 3 and so on.
        #[id(example = 2)]
        id: i64 = entry.seq,
        /// Kind of the change.
        #[schema(value_type = names::EntryKind)]
        kind: &'static str = entry_kinds::name(entry.kind),
        /// Change of the available balance, in major units. It is negative for a hold. Of an income that first pays a
        /// debt, it is the remainder.
        #[decimal(example = -10.00)]
        amount: Number = Number::money(currency, entry.change.available),
        /// Change of the held amount, in major units. It is positive for a hold, and negative when the amount is
        /// released or paid.
        #[decimal(example = 10.00)]
        held_change: Number = Number::money(currency, entry.change.held),
        /// Available balance after the entry, in major units.
        #[decimal(example = 40.00)]
        available_after: Number = Number::money(currency, entry.after.available),
        /// Held amount after the entry, in major units.
        #[decimal(example = 10.00)]
        held_after: Number = Number::money(currency, entry.after.held),
        /// Debt after the entry, in major units.
        #[decimal(example = 0.00)]
        owed_after: Number = Number::money(currency, entry.after.owed),
        /// The object that caused the entry.
        reference: ObjectReferenceView = ObjectReferenceView::new(entry.reference),
        /// Time of the entry.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        created_at: WireTimestamp = WireTimestamp(entry.at),
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
    fn the_json_of_a_wallet_is_stable() {
        let clearing = Clearing { amount: Money::from_minor(2_500), until: Some(Timestamp::EPOCH) };
        let view = WalletView::new(balance(4_000, 1_000), clearing, &Currency::new("USD", 2).unwrap());
        assert_eq!(
            serde_json::to_string(&view).unwrap(),
            r#"{"currency":"USD","scale":2,"available":40.00,"held":10.00,"owed":0.00,"clearing":25.00,"clears_at":"1970-01-01T00:00:00.000000Z"}"#
        );
    }

    #[test]
    fn the_schema_lists_every_kind_of_entry_reference() {
        use cuepoint_domain::ids::{AdjustmentId, TipId, TopupId, WithdrawalId};
        use utoipa::PartialSchema;

        let references = [
            entity_ref::EntityRef::MusicRequest(RequestId::new(1).unwrap()),
            entity_ref::EntityRef::Withdrawal(WithdrawalId::new(1).unwrap()),
            entity_ref::EntityRef::Topup(TopupId::new(1).unwrap()),
            entity_ref::EntityRef::Tip(TipId::new(1).unwrap()),
            entity_ref::EntityRef::Adjustment(AdjustmentId::new(1).unwrap()),
        ];
        let described = serde_json::to_value(names::ReferenceType::schema()).unwrap();
        assert_eq!(described["enum"], serde_json::json!(references.map(entity_ref::EntityRef::kind_name)));
    }

    #[test]
    fn the_json_of_an_entry_is_stable() {
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
            serde_json::to_string(&WalletEntryView::new(&entry, &Currency::new("USD", 2).unwrap())).unwrap(),
            concat!(
                r#"{"id":2,"kind":"hold","amount":-10.00,"held_change":10.00,"available_after":40.00,"#,
                r#""held_after":10.00,"owed_after":0.00,"reference":{"type":"music_request","id":42},"created_at":"1970-01-01T00:00:00.000000Z"}"#
            )
        );
    }
}
