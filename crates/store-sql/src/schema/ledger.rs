//! Wallets, operations with their keys, entries, postings and security events.

use cuepoint_domain::ledger::{EntryKind, PostingAccount};

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
        head [Moves]: Binary omitted "a checksum of the newest entry",
    }
    mentions own("user_id = {id}");
}

table! {
    /// An operation.
    operations(id): StoredOperation {
        id: OperationUuid,
        kind: Text,
        actor_user_id: Nullable<BigInt> omitted "the id of the operator" where "actor_user_id <> {id}",
        reason: Nullable<Text>,
        at: UtcTime,
        /// The receipt as JSON text.
        receipt: Json omitted "exported as the profile and the reference",
        posting_rules: Nullable<SmallInt> omitted "the version of the posting rules",
        /// Its position: null from before the introduction of positions, 0 while it waits for one.
        position [Computed]: Nullable<BigInt> omitted "the internal position of the operation",
        /// The owner of the entity, if the operation has an event.
        owner_id: Nullable<BigInt> omitted "the owner of the entity, which is exported",
        /// The DJ of a request.
        dj_id: Nullable<BigInt> omitted "the DJ of the request, which is exported",
    }
    mentions own_and(
        "([profile] IS NOT NULL OR reason IS NOT NULL) AND '{id}' IN ([profile.user.id], \
            [withdrawal.withdrawal.user_id], [request.requester_id], [topup.user_id], \
            [adjustment.adjustment.user_id])",
        &[
            (
                "reason IS NULL AND [profile] IS NULL",
                "exported as the object or the entry that it made",
            ),
            ("[request] IS NOT NULL", "about the guest; the DJ's entry has the reason"),
            (
                "'{id}' IN (CAST(actor_user_id AS text), [withdrawal.withdrawal.approved_by], \
                    [withdrawal.withdrawal.second_approved_by])",
                "acts of operators are exported to the affected user",
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
        scope: Binary omitted "a checksum",
        fingerprint: Binary omitted "a checksum",
        operation_id: OperationUuid omitted "internal id of the operation",
        at: UtcTime omitted "the exported object has its own time",
    }
    mentions own("operation_id IN (SELECT id FROM operations WHERE actor_user_id = {id})");
}

table! {
    /// An entry.
    ledger_entries(wallet_id, seq): StoredEntry {
        wallet_id: BigInt,
        seq: BigInt,
        operation_id: OperationUuid omitted "internal id of the operation",
        kind: Named<EntryKind> omitted "exported under the public name of the kind",
        reference_kind: Text,
        reference_id: BigInt,
        available_change: MoneySum,
        held_change: MoneySum omitted "the difference between successive held balances",
        owed_change: MoneySum omitted "the difference between successive owed balances",
        available_after: MoneySum,
        held_after: MoneySum,
        owed_after: MoneySum,
        at: UtcTime,
        previous: Binary omitted "a checksum",
        hash: Binary omitted "a checksum",
    }
    mentions own("wallet_id = {id}");
}

table! {
    /// A posting, without its id.
    postings(id): StoredPosting {
        id [id]: BigInt omitted "internal id of a posting",
        operation_id: OperationUuid omitted "internal id of the operation",
        account: Named<PostingAccount> omitted "a ledger account of the service",
        amount: MoneySum omitted "the amount on the service's ledger account",
        at: UtcTime omitted "the time of the wallet entry, which is exported",
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
        actor_id: Nullable<BigInt> omitted "the id of the operator" where BY_OTHERS,
        session_id: Nullable<BigInt> omitted "the operator's session" where BY_OTHERS,
        address: Nullable<Text> omitted "the operator's address" where BY_OTHERS,
        agent: Nullable<Text> omitted "the operator's user agent" where BY_OTHERS,
        detail: Nullable<Text>,
        at: UtcTime,
    }
    counter Generated security_events_id_seq;
    mentions own_and(
        "user_id = {id}",
        &[("actor_id = {id}", "acts of operators are exported to the affected user")],
    );
}
