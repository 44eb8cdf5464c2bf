//! Wallets, operations with their keys, entries, postings and security events.

use crate::sql_types::{BigInt, Binary, Json, MoneySum, Nullable, OperationUuid, SmallInt, Text, UtcTime};
use crate::table::{nobody, own, own_and, table};

/// The condition of rows about actions of others.
const BY_OTHERS: &str = "actor_id <> user_id";

table! {
    /// A wallet with the end of its chain.
    wallets(user_id): StoredWallet {
        user_id [Key]: BigInt,
        available [Moves]: MoneySum,
        held [Moves]: MoneySum,
        owed [Moves]: MoneySum,
        seq [Moves]: BigInt,
        last_at [Moves]: UtcTime,
        head [Moves]: Binary omitted "a check sum of the newest entry",
    }
    mentions own("user_id = {id}");
}

table! {
    /// An operation.
    operations(id): StoredOperation {
        id: OperationUuid,
        kind: Text,
        actor_user_id: Nullable<BigInt> omitted "which operator it was" where "actor_user_id <> {id}",
        reason: Nullable<Text>,
        at: UtcTime,
        /// The receipt as JSON text.
        receipt: Json omitted "shown as the profile and the reference",
        posting_rules: Nullable<SmallInt> omitted "by which rules the service booked it",
        /// Its position: null from before the introduction of positions, 0 while it waits for one.
        position [Computed]: Nullable<BigInt> omitted "its number in the order of all operations",
        /// The owner of the entity, if the operation has an event.
        owner_id: Nullable<BigInt> omitted "the account of what it made, which is shown",
        /// The DJ of a request.
        dj_id: Nullable<BigInt> omitted "the DJ of the request, which is shown",
    }
    mentions own_and(
        "([profile] IS NOT NULL OR reason IS NOT NULL) AND '{id}' IN ([profile.user.id], \
            [withdrawal.withdrawal.user_id], [request.requester_id], [topup.user_id], \
            [adjustment.adjustment.user_id])",
        &[
            (
                "reason IS NULL AND [profile] IS NULL",
                "shown as what it made: a request, a rating, a withdrawal, a top-up, an entry",
            ),
            ("[request] IS NOT NULL", "it is about the guest; a DJ's entry shows the reason"),
            (
                "'{id}' IN (CAST(actor_user_id AS text), [withdrawal.withdrawal.approved_by], \
                    [withdrawal.withdrawal.second_approved_by])",
                "what an operator did is about somebody else, in whose export it is",
            ),
        ],
    );
}

table! {
    /// A gap between positions.
    position_gaps(last) {
        last [apart]: BigInt,
        next [apart]: BigInt,
    }
    mentions nobody("positions without an operation");
}

table! {
    /// An idempotency key.
    idempotency_keys(scope): StoredKey {
        scope: Binary omitted "a check sum",
        fingerprint: Binary omitted "a check sum",
        operation_id: OperationUuid omitted "an internal id of the operation",
        at: UtcTime omitted "the exported object has its own time",
    }
    mentions own("operation_id IN (SELECT id FROM operations WHERE actor_user_id = {id})");
}

table! {
    /// An entry.
    ledger_entries(wallet_id, seq): StoredEntry {
        wallet_id: BigInt,
        seq: BigInt,
        operation_id: OperationUuid omitted "a number of the service for what moved the money",
        kind: Text omitted "a kind may have another name outside: refund_taken",
        reference_kind: Text,
        reference_id: BigInt,
        available_change: MoneySum,
        held_change: MoneySum omitted "the difference of what was held",
        owed_change: MoneySum omitted "the difference of what was owed",
        available_after: MoneySum,
        held_after: MoneySum,
        owed_after: MoneySum,
        at: UtcTime,
        previous: Binary omitted "a check sum",
        hash: Binary omitted "a check sum",
    }
    mentions own("wallet_id = {id}");
}

table! {
    /// A posting, without its id.
    postings(id): StoredPosting {
        id [id]: BigInt omitted "a number of the service's own side of a change",
        operation_id: OperationUuid omitted "a number of the service's own side of a change",
        account: Text omitted "an account of the service",
        amount: MoneySum omitted "what the service's own account has of it",
        at: UtcTime omitted "when the wallet changed, too",
    }
    counter Permanent postings_id_seq;
    mentions own("operation_id IN (SELECT operation_id FROM ledger_entries WHERE wallet_id = {id})");
}

table! {
    /// A security event, without its id.
    security_events(id): StoredSecurityEvent {
        id [id]: BigInt,
        kind: Text,
        user_id: Nullable<BigInt>,
        actor_id: Nullable<BigInt> omitted "which operator it was" where BY_OTHERS,
        session_id: Nullable<BigInt> omitted "where the operator was logged in" where BY_OTHERS,
        address: Nullable<Text> omitted "from where the operator called" where BY_OTHERS,
        agent: Nullable<Text> omitted "with what the operator called" where BY_OTHERS,
        detail: Nullable<Text>,
        at: UtcTime,
    }
    counter Generated security_events_id_seq;
    mentions own_and(
        "user_id = {id}",
        &[("actor_id = {id}", "what an operator did is about somebody else, in whose export it is")],
    );
}
