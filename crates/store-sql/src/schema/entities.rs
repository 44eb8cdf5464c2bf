//! Music requests, ratings, withdrawals, top-ups and provider messages.

use cuepoint_domain::music_request::RequestStatus;
use cuepoint_domain::topup::TopupStatus;
use cuepoint_domain::user::ArtistType;
use cuepoint_domain::withdrawal::WithdrawalStatus;
use serde::{Deserialize, Serialize};

use super::text;
use crate::sql_types::{BigInt, Bool, Integer, MoneySum, Nullable, OperationUuid, SmallInt, Text, UtcTime};
use crate::table::{own, own_and, table};

/// Why an export omits money in suspense.
const ERASED: &str = "it belongs to an erased user, who cannot export";

table! {
    /// A music request.
    #[derive(Serialize, Deserialize)]
    music_requests(id): StoredRequest {
        id [Key]: BigInt,
        requester_id: BigInt,
        dj_id: BigInt,
        song_title: Text,
        artist_name: Text,
        artist_type: Named<ArtistType>,
        music_url: Text,
        fee: MoneySum,
        status [Moves]: Named<RequestStatus>,
        #[serde(with = "text::micros::option")]
        expires_at [Moves]: Nullable<UtcTime>
            omitted "a time limit that follows from the other times and the service's terms",
        /// The time of the last state change; `created_at` while it is pending.
        #[serde(with = "text::micros")]
        changed_at [Moves]: UtcTime,
        commission [Moves]: Nullable<MoneySum> omitted "the service's commission; the DJ's entry has the rest",
        #[serde(with = "text::micros")]
        created_at: UtcTime,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gig_id: Nullable<BigInt>,
        #[serde(default, skip_serializing_if = "text::is_false")]
        counts_as_guest: Bool omitted "what the service concluded from the account and its payments, which are exported",
        #[serde(default, skip_serializing_if = "text::is_false")]
        displaced [Moves]: Bool omitted "the reason of the operation that rejected it",
    }
    counter Reserved music_request_ids;
    mentions own("{id} IN (requester_id, dj_id)");
}

table! {
    /// A rating of a music request.
    #[derive(Serialize, Deserialize)]
    ratings(request_id): StoredRating {
        request_id [Key]: BigInt,
        stars [Moves]: SmallInt,
        #[serde(with = "text::micros")]
        rated_at [Moves]: UtcTime,
    }
    mentions own_and(
        "request_id IN (SELECT id FROM music_requests WHERE requester_id = {id})",
        &[(
            "request_id IN (SELECT id FROM music_requests WHERE dj_id = {id})",
            "a DJ sees the mean and the number of the ratings",
        )],
    );
}

table! {
    /// A withdrawal.
    #[derive(Serialize, Deserialize)]
    withdrawals(id): StoredWithdrawal {
        id [Key]: BigInt,
        user_id: BigInt,
        amount: MoneySum,
        wallet_address: Text,
        currency: Text,
        network: Text,
        status [Moves]: Named<WithdrawalStatus>,
        txid [Moves]: Nullable<Text>,
        #[serde(with = "text::micros")]
        created_at: UtcTime,
        #[serde(with = "text::micros")]
        updated_at [Moves]: UtcTime,
        #[serde(default)]
        attempts [Moves]: Integer omitted "the number of the service's calls to the provider",
        #[serde(default, with = "text::micros::option")]
        retry_at [Moves]: Nullable<UtcTime> omitted "the time of the service's next call to the provider",
        /// The operation that opened it.
        #[serde(default)]
        reference: Nullable<OperationUuid>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        approved_by [Moves]: Nullable<BigInt> omitted "the id of the operator",
        #[serde(default, skip_serializing_if = "Option::is_none", with = "text::micros::option")]
        approved_at [Moves]: Nullable<UtcTime>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        second_approved_by [Moves]: Nullable<BigInt> omitted "the id of the operator",
        #[serde(default, skip_serializing_if = "Option::is_none", with = "text::micros::option")]
        second_approved_at [Moves]: Nullable<UtcTime>,
    }
    counter Reserved withdrawal_ids;
    mentions own_and(
        "user_id = {id}",
        &[(
            "{id} IN (approved_by, second_approved_by)",
            "the payout of another user, whose export has the approval",
        )],
    );
}

table! {
    /// A top-up.
    #[derive(Serialize, Deserialize)]
    topups(id): StoredTopup {
        id [Key]: BigInt,
        user_id: BigInt,
        amount: MoneySum,
        status [Moves]: Named<TopupStatus>,
        payment_url [Moves]: Nullable<Text>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        page_code: Nullable<Text>,
        #[serde(with = "text::micros")]
        created_at: UtcTime,
        #[serde(with = "text::micros")]
        updated_at [Moves]: UtcTime,
        /// The operation that opened it.
        #[serde(default)]
        reference: Nullable<OperationUuid>,
        /// The number of orders; null if an earlier version opened it.
        #[serde(default)]
        attempts [Moves]: Nullable<Integer> omitted "the number of the service's calls to the provider",
        #[serde(default, with = "text::micros::option")]
        order_at [Moves]: Nullable<UtcTime> omitted "the time of the service's next call to the provider",
        #[serde(default, skip_serializing_if = "StoredSuspense::is_empty")]
        + suspense,
        #[serde(skip_serializing_if = "Option::is_none")]
        suspense.suspense_operation [Later]: Nullable<OperationUuid> omitted ERASED,
        #[serde(skip_serializing_if = "Option::is_none", with = "text::micros::option")]
        suspense.suspense_at [Later]: Nullable<UtcTime> omitted ERASED,
        #[serde(skip_serializing_if = "Option::is_none")]
        suspense.settled_operation [Later]: Nullable<OperationUuid> omitted ERASED,
        #[serde(skip_serializing_if = "Option::is_none", with = "text::micros::option")]
        suspense.settled_at [Later]: Nullable<UtcTime> omitted ERASED,
        #[serde(skip_serializing_if = "Option::is_none")]
        suspense.settled_by [Later]: Nullable<BigInt> omitted ERASED,
        #[serde(skip_serializing_if = "Option::is_none")]
        suspense.settled_reason [Later]: Nullable<Text> omitted ERASED,
    }
    /// The columns of money that arrived after the owner was erased; all are null if none did.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(default)]
    part suspense: StoredSuspense;
    counter Reserved topup_ids;
    mentions own_and(
        "user_id = {id}",
        &[("settled_by = {id}", "about the money of another user")],
    );
}

table! {
    /// A provider message.
    #[derive(Serialize, Deserialize)]
    provider_messages(id): StoredMessage {
        id [Key]: BigInt,
        + record,
        record.source: Text,
        record.webhook_id: Text,
        record.kind: Text,
        record.reason_code: Text,
        record.reference: Text,
        record.stated_id: Nullable<BigInt>,
        record.row_id: Nullable<BigInt>,
        record.amount: Nullable<Text>,
        record.currency: Nullable<Text>,
        record.txid: Nullable<Text>,
        #[serde(with = "text::micros")]
        record.received_at: UtcTime,
        #[serde(with = "text::micros::option")]
        resolved_at [Moves]: Nullable<UtcTime>,
        resolved_by [Moves]: Nullable<BigInt> omitted "the id of the operator",
        resolution [Moves]: Nullable<Text>,
    }
    /// A provider message before it has an id.
    #[derive(Serialize, Deserialize)]
    part record: StoredMessageRecord;
    counter Generated provider_messages_id_seq;
    mentions own_and(
        "source = 'topups' AND row_id IN (SELECT id FROM topups WHERE user_id = {id}) \
            OR source = 'payouts' AND row_id IN (SELECT id FROM withdrawals WHERE user_id = {id})",
        &[("resolved_by = {id}", "about the money of another user")],
    );
}
