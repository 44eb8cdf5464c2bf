//! Every statement by which plans change the database.

use bigdecimal::BigDecimal;
use diesel::sql_types::{
    BigInt, Bool, Bytea, Double, Integer, Jsonb, Nullable, Numeric, SmallInt, Text, Timestamptz,
    Uuid as SqlUuid,
};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::bulk::bulk;
use crate::rows::{
    EndedSessionsRow, EntryRow, KeyRow, MusicRequestRow, NewEventRow, NewPostingRow, OperationRow,
    ProviderMessageRow, ReceiptText, SuspenseRow, TopupRow, UserRow, WalletRow, WithdrawalRow,
};

bulk! {
    /// Adds operations.
    AddOperations(OperationRow)
        "INSERT INTO operations (id, kind, actor_user_id, reason, at, receipt, posting_rules) SELECT * FROM unnest("
        [
            id: SqlUuid as Uuid,
            kind: Text as String,
            actor_user_id: Nullable<BigInt> as Option<i64>,
            reason: Nullable<Text> as Option<String>,
            at: Timestamptz as OffsetDateTime,
            receipt: Jsonb as ReceiptText,
            posting_rules: Nullable<SmallInt> as Option<i16>,
        ]
        ")"

    /// Adds keys.
    AddKeys(KeyRow)
        "INSERT INTO idempotency_keys (scope, fingerprint, operation_id, at) SELECT * FROM unnest("
        [
            scope: Bytea as Vec<u8>,
            fingerprint: Bytea as Vec<u8>,
            operation_id: SqlUuid as Uuid,
            at: Timestamptz as OffsetDateTime,
        ]
        ")"

    /// Adds music requests.
    AddRequests(MusicRequestRow)
        "INSERT INTO music_requests (id, requester_id, dj_id, song_title, artist_name, artist_type, music_url, \
         fee, status, expires_at, changed_at, commission, created_at) SELECT * FROM unnest("
        [
            id: BigInt as i64,
            requester_id: BigInt as i64,
            dj_id: BigInt as i64,
            song_title: Text as String,
            artist_name: Text as String,
            artist_type: Text as String,
            music_url: Text as String,
            fee: Numeric as BigDecimal,
            status: Text as String,
            expires_at: Nullable<Timestamptz> as Option<OffsetDateTime>,
            changed_at: Timestamptz as OffsetDateTime,
            commission: Nullable<Numeric> as Option<BigDecimal>,
            created_at: Timestamptz as OffsetDateTime,
        ]
        ")"

    /// Moves music requests.
    MoveRequests(MusicRequestRow)
        "UPDATE music_requests AS kept SET status = moved.status, expires_at = moved.expires_at, \
         changed_at = moved.changed_at, commission = moved.commission FROM unnest("
        [
            id: BigInt as i64,
            status: Text as String,
            expires_at: Nullable<Timestamptz> as Option<OffsetDateTime>,
            changed_at: Timestamptz as OffsetDateTime,
            commission: Nullable<Numeric> as Option<BigDecimal>,
        ]
        ") AS moved (id, status, expires_at, changed_at, commission) WHERE kept.id = moved.id"

    /// Adds withdrawals.
    AddWithdrawals(WithdrawalRow)
        "INSERT INTO withdrawals (id, user_id, amount, wallet_address, currency, network, status, txid, \
         created_at, updated_at, attempts, retry_at, reference, approved_by, approved_at, \
         second_approved_by, second_approved_at) SELECT * FROM unnest("
        [
            id: BigInt as i64,
            user_id: BigInt as i64,
            amount: Numeric as BigDecimal,
            wallet_address: Text as String,
            currency: Text as String,
            network: Text as String,
            status: Text as String,
            txid: Nullable<Text> as Option<String>,
            created_at: Timestamptz as OffsetDateTime,
            updated_at: Timestamptz as OffsetDateTime,
            attempts: Integer as i32,
            retry_at: Nullable<Timestamptz> as Option<OffsetDateTime>,
            reference: Nullable<SqlUuid> as Option<Uuid>,
            approved_by: Nullable<BigInt> as Option<i64>,
            approved_at: Nullable<Timestamptz> as Option<OffsetDateTime>,
            second_approved_by: Nullable<BigInt> as Option<i64>,
            second_approved_at: Nullable<Timestamptz> as Option<OffsetDateTime>,
        ]
        ")"

    /// Moves withdrawals; no move writes the reference.
    MoveWithdrawals(WithdrawalRow)
        "UPDATE withdrawals AS kept SET status = moved.status, txid = moved.txid, \
         updated_at = moved.updated_at, attempts = moved.attempts, retry_at = moved.retry_at, \
         approved_by = moved.approved_by, approved_at = moved.approved_at, \
         second_approved_by = moved.second_approved_by, second_approved_at = moved.second_approved_at FROM unnest("
        [
            id: BigInt as i64,
            status: Text as String,
            txid: Nullable<Text> as Option<String>,
            updated_at: Timestamptz as OffsetDateTime,
            attempts: Integer as i32,
            retry_at: Nullable<Timestamptz> as Option<OffsetDateTime>,
            approved_by: Nullable<BigInt> as Option<i64>,
            approved_at: Nullable<Timestamptz> as Option<OffsetDateTime>,
            second_approved_by: Nullable<BigInt> as Option<i64>,
            second_approved_at: Nullable<Timestamptz> as Option<OffsetDateTime>,
        ]
        ") AS moved (id, status, txid, updated_at, attempts, retry_at, approved_by, approved_at, \
         second_approved_by, second_approved_at) \
         WHERE kept.id = moved.id"

    /// Adds top-ups.
    AddTopups(TopupRow)
        "INSERT INTO topups (id, user_id, amount, status, payment_url, created_at, updated_at, reference, \
         attempts, order_at) SELECT * FROM unnest("
        [
            id: BigInt as i64,
            user_id: BigInt as i64,
            amount: Numeric as BigDecimal,
            status: Text as String,
            payment_url: Nullable<Text> as Option<String>,
            created_at: Timestamptz as OffsetDateTime,
            updated_at: Timestamptz as OffsetDateTime,
            reference: Nullable<SqlUuid> as Option<Uuid>,
            attempts: Nullable<Integer> as Option<i32>,
            order_at: Nullable<Timestamptz> as Option<OffsetDateTime>,
        ]
        ")"

    /// Orders and ends top-ups; no move writes the reference.
    MoveTopups(TopupRow)
        "UPDATE topups AS kept SET status = moved.status, payment_url = moved.payment_url, \
         updated_at = moved.updated_at, attempts = moved.attempts, order_at = moved.order_at FROM unnest("
        [
            id: BigInt as i64,
            status: Text as String,
            payment_url: Nullable<Text> as Option<String>,
            updated_at: Timestamptz as OffsetDateTime,
            attempts: Nullable<Integer> as Option<i32>,
            order_at: Nullable<Timestamptz> as Option<OffsetDateTime>,
        ]
        ") AS moved (id, status, payment_url, updated_at, attempts, order_at) WHERE kept.id = moved.id"

    /// Resolves messages of providers.
    ResolveMessages(ProviderMessageRow)
        "UPDATE provider_messages AS kept SET resolved_at = resolved.resolved_at, \
         resolved_by = resolved.resolved_by, resolution = resolved.resolution FROM unnest("
        [
            id: BigInt as i64,
            resolved_at: Nullable<Timestamptz> as Option<OffsetDateTime>,
            resolved_by: Nullable<BigInt> as Option<i64>,
            resolution: Nullable<Text> as Option<String>,
        ]
        ") AS resolved (id, resolved_at, resolved_by, resolution) WHERE kept.id = resolved.id"

    /// Writes the money of top-ups that is, or was, in suspense.
    SuspendTopups(SuspenseRow)
        "UPDATE topups AS kept SET suspense_operation = moved.suspense_operation, \
         suspense_at = moved.suspense_at, settled_operation = moved.settled_operation, \
         settled_at = moved.settled_at, settled_by = moved.settled_by, \
         settled_reason = moved.settled_reason FROM unnest("
        [
            id: BigInt as i64,
            suspense_operation: Nullable<SqlUuid> as Option<Uuid>,
            suspense_at: Nullable<Timestamptz> as Option<OffsetDateTime>,
            settled_operation: Nullable<SqlUuid> as Option<Uuid>,
            settled_at: Nullable<Timestamptz> as Option<OffsetDateTime>,
            settled_by: Nullable<BigInt> as Option<i64>,
            settled_reason: Nullable<Text> as Option<String>,
        ]
        ") AS moved (id, suspense_operation, suspense_at, settled_operation, settled_at, settled_by, \
         settled_reason) WHERE kept.id = moved.id"

    /// Changes people, but for their e-mail address and being a DJ, which no plan changes.
    ChangeUsers(UserRow)
        "UPDATE users AS kept SET name = changed.name, phone = changed.phone, \
         phone_verified = changed.phone_verified, role = changed.role, \
         suspended_at = changed.suspended_at, standing_at = changed.standing_at, online = changed.online, \
         fee_upcoming_artist = changed.fee_upcoming_artist, fee_popular_song = changed.fee_popular_song, \
         played = changed.played, city = changed.city, state = changed.state, country = changed.country, \
         latitude = changed.latitude, longitude = changed.longitude, radius = changed.radius FROM unnest("
        [
            id: BigInt as i64,
            name: Text as String,
            phone: Nullable<Text> as Option<String>,
            phone_verified: Bool as bool,
            role: Text as String,
            suspended_at: Nullable<Timestamptz> as Option<OffsetDateTime>,
            standing_at: Nullable<Timestamptz> as Option<OffsetDateTime>,
            online: Bool as bool,
            fee_upcoming_artist: Numeric as BigDecimal,
            fee_popular_song: Numeric as BigDecimal,
            played: BigInt as i64,
            city: Nullable<Text> as Option<String>,
            state: Nullable<Text> as Option<String>,
            country: Nullable<Text> as Option<String>,
            latitude: Nullable<Double> as Option<f64>,
            longitude: Nullable<Double> as Option<f64>,
            radius: Nullable<Double> as Option<f64>,
        ]
        ") AS changed (id, name, phone, phone_verified, role, suspended_at, standing_at, online, \
         fee_upcoming_artist, fee_popular_song, played, city, state, country, latitude, longitude, radius) WHERE kept.id = changed.id"

    /// Ends the live sessions of people, whose rows the group has locked; the sessions are locked by id, as by whoever else
    /// ends several.
    EndSessions(EndedSessionsRow)
        "UPDATE sessions AS kept SET ended_at = alive.at FROM (SELECT session.id, ended.at FROM sessions AS session \
         JOIN unnest("
        [
            user_id: BigInt as i64,
            at: Timestamptz as OffsetDateTime,
        ]
        ") AS ended (user_id, at) ON session.user_id = ended.user_id AND session.ended_at IS NULL \
         AND session.expires_at > ended.at ORDER BY session.id FOR UPDATE OF session) AS alive WHERE kept.id = alive.id"

    /// Changes wallets.
    ChangeWallets(WalletRow)
        "UPDATE wallets AS kept SET available = changed.available, held = changed.held, owed = changed.owed, \
         seq = changed.seq, last_at = changed.last_at, head = changed.head FROM unnest("
        [
            user_id: BigInt as i64,
            available: Numeric as BigDecimal,
            held: Numeric as BigDecimal,
            owed: Numeric as BigDecimal,
            seq: BigInt as i64,
            last_at: Timestamptz as OffsetDateTime,
            head: Bytea as Vec<u8>,
        ]
        ") AS changed (user_id, available, held, owed, seq, last_at, head) WHERE kept.user_id = changed.user_id"

    /// Adds entries.
    AddEntries(EntryRow)
        "INSERT INTO ledger_entries (wallet_id, seq, operation_id, kind, reference_kind, reference_id, \
         available_change, held_change, owed_change, available_after, held_after, owed_after, at, previous, hash) \
         SELECT * FROM unnest("
        [
            wallet_id: BigInt as i64,
            seq: BigInt as i64,
            operation_id: SqlUuid as Uuid,
            kind: Text as String,
            reference_kind: Text as String,
            reference_id: BigInt as i64,
            available_change: Numeric as BigDecimal,
            held_change: Numeric as BigDecimal,
            owed_change: Numeric as BigDecimal,
            available_after: Numeric as BigDecimal,
            held_after: Numeric as BigDecimal,
            owed_after: Numeric as BigDecimal,
            at: Timestamptz as OffsetDateTime,
            previous: Bytea as Vec<u8>,
            hash: Bytea as Vec<u8>,
        ]
        ")"

    /// Adds postings.
    AddPostings(NewPostingRow)
        "INSERT INTO postings (operation_id, account, amount, at) SELECT * FROM unnest("
        [
            operation_id: SqlUuid as Uuid,
            account: Text as String,
            amount: Numeric as BigDecimal,
            at: Timestamptz as OffsetDateTime,
        ]
        ")"

    /// Adds events to the security log.
    AddEvents(NewEventRow)
        "INSERT INTO security_events (kind, user_id, actor_id, session_id, address, agent, detail, at) \
         SELECT * FROM unnest("
        [
            kind: Text as String,
            user_id: Nullable<BigInt> as Option<i64>,
            actor_id: Nullable<BigInt> as Option<i64>,
            session_id: Nullable<BigInt> as Option<i64>,
            address: Nullable<Text> as Option<String>,
            agent: Nullable<Text> as Option<String>,
            detail: Nullable<Text> as Option<String>,
            at: Timestamptz as OffsetDateTime,
        ]
        ")"
}
