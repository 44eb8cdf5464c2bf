//! Music requests, withdrawals, top-ups and provider messages.

use bigdecimal::BigDecimal;
use cuepoint_domain::music_request::MusicRequest;
use cuepoint_domain::provider_message::{MessageRecord, ProviderMessage};
use cuepoint_domain::topup::Topup;
use cuepoint_domain::withdrawal::Withdrawal;
use cuepoint_store_sql::rows::{
    StoredMessage, StoredMessageRecord, StoredRequest, StoredSuspense, StoredTopup, StoredWithdrawal,
};
use diesel::sql_types::{BigInt, Integer, Nullable, Numeric, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use super::table_row::{row_value, table_row};

table_row! {
    /// A music request.
    music_requests: MusicRequestRow = StoredRequest {
        id [key]: BigInt as i64,
        requester_id: BigInt as i64,
        dj_id: BigInt as i64,
        song_title: Text as String,
        artist_name: Text as String,
        artist_type: Text as String,
        music_url: Text as String,
        fee: Numeric as BigDecimal,
        status [moves]: Text as String,
        expires_at [moves]: Nullable<Timestamptz> as Option<OffsetDateTime>,
        changed_at [moves]: Timestamptz as OffsetDateTime,
        commission [moves]: Nullable<Numeric> as Option<BigDecimal>,
        created_at: Timestamptz as OffsetDateTime,
    }
}

row_value!(MusicRequestRow = StoredRequest: read MusicRequest, request with currency);

table_row! {
    /// A withdrawal.
    withdrawals: WithdrawalRow = StoredWithdrawal {
        id [key]: BigInt as i64,
        user_id: BigInt as i64,
        amount: Numeric as BigDecimal,
        wallet_address: Text as String,
        currency: Text as String,
        network: Text as String,
        status [moves]: Text as String,
        txid [moves]: Nullable<Text> as Option<String>,
        created_at: Timestamptz as OffsetDateTime,
        updated_at [moves]: Timestamptz as OffsetDateTime,
        attempts [moves]: Integer as i32,
        retry_at [moves]: Nullable<Timestamptz> as Option<OffsetDateTime>,
        reference: Nullable<SqlUuid> as Option<Uuid>,
        approved_by [moves]: Nullable<BigInt> as Option<i64>,
        approved_at [moves]: Nullable<Timestamptz> as Option<OffsetDateTime>,
        second_approved_by [moves]: Nullable<BigInt> as Option<i64>,
        second_approved_at [moves]: Nullable<Timestamptz> as Option<OffsetDateTime>,
    }
}

row_value!(WithdrawalRow = StoredWithdrawal: read Withdrawal, withdrawal with currency);

table_row! {
    /// A top-up.
    topups: TopupRow = StoredTopup {
        id [key]: BigInt as i64,
        user_id: BigInt as i64,
        amount: Numeric as BigDecimal,
        status [moves]: Text as String,
        payment_url [moves]: Nullable<Text> as Option<String>,
        created_at: Timestamptz as OffsetDateTime,
        updated_at [moves]: Timestamptz as OffsetDateTime,
        reference: Nullable<SqlUuid> as Option<Uuid>,
        attempts [moves]: Nullable<Integer> as Option<i32>,
        order_at [moves]: Nullable<Timestamptz> as Option<OffsetDateTime>,
    }
    + suspense: SuspenseRow
}

row_value!(TopupRow = StoredTopup: read Topup, topup with currency);

table_row! {
    /// The money of a top-up that arrived after its owner was erased.
    topups: SuspenseRow = StoredSuspense {
        suspense_operation [later]: Nullable<SqlUuid> as Option<Uuid>,
        suspense_at [later]: Nullable<Timestamptz> as Option<OffsetDateTime>,
        settled_operation [later]: Nullable<SqlUuid> as Option<Uuid>,
        settled_at [later]: Nullable<Timestamptz> as Option<OffsetDateTime>,
        settled_by [later]: Nullable<BigInt> as Option<i64>,
        settled_reason [later]: Nullable<Text> as Option<String>,
    }
}

table_row! {
    /// A provider message before it has an id.
    provider_messages: MessageRecordRow = StoredMessageRecord {
        source: Text as String,
        webhook_id: Text as String,
        kind: Text as String,
        reason_code: Text as String,
        reference: Text as String,
        stated_id: Nullable<BigInt> as Option<i64>,
        row_id: Nullable<BigInt> as Option<i64>,
        amount: Nullable<Text> as Option<String>,
        currency: Nullable<Text> as Option<String>,
        txid: Nullable<Text> as Option<String>,
        received_at: Timestamptz as OffsetDateTime,
    }
}

row_value!(MessageRecordRow = StoredMessageRecord: MessageRecord);

table_row! {
    /// A provider message.
    provider_messages: ProviderMessageRow = StoredMessage {
        id [key]: BigInt as i64,
        resolved_at [moves]: Nullable<Timestamptz> as Option<OffsetDateTime>,
        resolved_by [moves]: Nullable<BigInt> as Option<i64>,
        resolution [moves]: Nullable<Text> as Option<String>,
    }
    + record: MessageRecordRow
}

row_value!(ProviderMessageRow = StoredMessage: read ProviderMessage, message);
