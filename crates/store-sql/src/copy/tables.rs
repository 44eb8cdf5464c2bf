//! The tables of a copy with their columns, and the counters of their ids: declared once for every store.
//!
//! Not listed: the deployment, which a copy adapts to its target, and the tables with which a store counts
//! ids.

/// The meaning of a column's values, which each store encodes in its own way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColumnKind {
    /// A whole number.
    Integer,
    /// True or false.
    Boolean,
    /// A text.
    Text,
    /// A number of degrees or kilometres.
    Real,
    /// An amount of money in the deployment's currency.
    Money,
    /// A time.
    Time,
    /// The id of an operation.
    Id,
    /// Bytes.
    Bytes,
    /// A JSON document.
    Json,
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name in every store.
    pub name: &'static str,
    /// The meaning of its values.
    pub kind: ColumnKind,
}

/// A table.
#[derive(Debug)]
pub struct Table {
    /// Its name in every store.
    pub name: &'static str,
    /// Its columns; those of the key come first, and are integers, ids of operations, bytes or times.
    pub columns: &'static [Column],
    /// The number of columns of the key, by which rows are ordered.
    key: usize,
}

impl Table {
    /// The columns of the key.
    #[must_use]
    pub fn key(&self) -> &'static [Column] {
        self.columns.get(..self.key).unwrap_or(self.columns)
    }

    /// The names of tables as a list for a statement.
    #[must_use]
    pub fn list(tables: &[Self]) -> String {
        tables.iter().map(|table| table.name).collect::<Vec<_>>().join(", ")
    }

    /// The names of columns as a list for a statement.
    #[must_use]
    pub fn names(columns: &[Column]) -> String {
        columns.iter().map(|column| column.name).collect::<Vec<_>>().join(", ")
    }
}

/// Declares tables: the columns of the key, a semicolon, the other columns.
macro_rules! tables {
    ($($table:ident {
        $($key:ident: $key_kind:ident),+;
        $($column:ident: $kind:ident),* $(,)?
    })+) => {
        /// Every table, in an order in which each row comes after those that its foreign keys name.
        pub const TABLES: &[Table] = &[$(Table {
            name: stringify!($table),
            columns: &[
                $(Column { name: stringify!($key), kind: ColumnKind::$key_kind },)+
                $(Column { name: stringify!($column), kind: ColumnKind::$kind },)*
            ],
            key: [$(stringify!($key)),+].len(),
        }),+];
    };
}

tables! {
    users {
        id: Integer;
        name: Text, email: Text, email_folded: Text, email_verified: Boolean, phone: Text, phone_verified: Boolean,
        password_hash: Text, role: Text, is_dj: Boolean, online: Boolean, fee_upcoming_artist: Money,
        fee_popular_song: Money, played: Integer, rating_stars: Integer, rating_count: Integer, city: Text,
        state: Text, country: Text, latitude: Real, longitude: Real, radius: Real, created_at: Time,
        suspended_at: Time, standing_at: Time, erased_at: Time, erasure_pending: Boolean,
        login_changed_at: Time,
    }
    bootstrap_operator {
        made_at: Time;
    }
    wallets {
        user_id: Integer;
        available: Money, held: Money, owed: Money, seq: Integer, last_at: Time, head: Bytes,
    }
    operations {
        id: Id;
        kind: Text, actor_user_id: Integer, reason: Text, at: Time, receipt: Json, posting_rules: Integer,
        position: Integer, owner_id: Integer, dj_id: Integer,
    }
    position_gaps {
        last: Integer;
        next: Integer,
    }
    idempotency_keys {
        scope: Bytes;
        fingerprint: Bytes, operation_id: Id, at: Time,
    }
    music_requests {
        id: Integer;
        requester_id: Integer, dj_id: Integer, song_title: Text, artist_name: Text, artist_type: Text,
        music_url: Text, fee: Money, status: Text, expires_at: Time, changed_at: Time, commission: Money,
        created_at: Time,
    }
    withdrawals {
        id: Integer;
        user_id: Integer, amount: Money, wallet_address: Text, currency: Text, network: Text, status: Text,
        txid: Text, created_at: Time, updated_at: Time, attempts: Integer, retry_at: Time, reference: Id,
        approved_by: Integer, approved_at: Time, second_approved_by: Integer, second_approved_at: Time,
    }
    topups {
        id: Integer;
        user_id: Integer, amount: Money, status: Text, payment_url: Text, created_at: Time, updated_at: Time,
        reference: Id, attempts: Integer, order_at: Time, suspense_operation: Id, suspense_at: Time,
        settled_operation: Id, settled_at: Time, settled_by: Integer, settled_reason: Text,
    }
    ledger_entries {
        wallet_id: Integer, seq: Integer;
        operation_id: Id, kind: Text, reference_kind: Text, reference_id: Integer, available_change: Money,
        held_change: Money, owed_change: Money, available_after: Money, held_after: Money, owed_after: Money,
        at: Time, previous: Bytes, hash: Bytes,
    }
    postings {
        id: Integer;
        operation_id: Id, account: Text, amount: Money, at: Time,
    }
    sessions {
        id: Integer;
        user_id: Integer, began_at: Time, used_at: Time, expires_at: Time, ended_at: Time, address: Text,
        agent: Text,
    }
    refresh_tokens {
        hash: Bytes;
        session_id: Integer, issued_at: Time, expires_at: Time, used_at: Time,
    }
    login_networks {
        id: Integer;
        user_id: Integer, network: Text, seen_at: Time,
    }
    challenges {
        id: Integer;
        user_id: Integer, purpose: Text, target: Text, hash: Bytes, issued_at: Time, attempts: Integer,
        ended_at: Time, address: Text,
    }
    phone_codes {
        id: Integer;
        number: Bytes, network: Bytes, sent_at: Time,
    }
    blocks {
        dj_id: Integer, guest_id: Integer;
        at: Time,
    }
    security_events {
        id: Integer;
        kind: Text, user_id: Integer, actor_id: Integer, session_id: Integer, address: Text, agent: Text,
        detail: Text, at: Time,
    }
    provider_messages {
        id: Integer;
        source: Text, webhook_id: Text, kind: Text, reason_code: Text, reference: Text, stated_id: Integer,
        row_id: Integer, amount: Text, currency: Text, txid: Text, received_at: Time, resolved_at: Time,
        resolved_by: Integer, resolution: Text,
    }
    webhook_endpoints {
        id: Integer;
        owner_id: Integer, feed: Text, url: Text, types: Text, description: Text, state: Text, disabled_at: Time,
        disabled_reason: Text, secrets: Text, cursor: Integer, replay_after: Integer, replay_until: Integer,
        failing_since: Time, created_at: Time, lease: Integer, leased_until: Time, attempts: Integer,
        url_session_id: Integer, creation_key: Bytes, creation_body: Bytes,
    }
    webhook_deliveries {
        endpoint_id: Integer, position: Integer;
        attempts: Integer, next_at: Time, failed_at: Time,
    }
    webhook_attempts {
        endpoint_id: Integer, number: Integer;
        position: Integer, event_type: Text, attempt: Integer, status: Integer, error: Text, milliseconds: Integer,
        answer: Text, at: Time,
    }
}

/// How a store counts the ids of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counting {
    /// Servers reserve blocks of ids.
    Reserved,
    /// The store makes the ids of rows that may be purged, and uses none twice.
    Generated,
    /// The store makes the ids of rows that are never deleted.
    Permanent,
}

/// A counter of ids.
#[derive(Debug)]
pub struct Counter {
    /// The table of the ids, or `adjustments`, which have no table.
    pub name: &'static str,
    /// The sequence of a store that has sequences.
    pub sequence: &'static str,
    /// How the ids are counted.
    pub counting: Counting,
    /// A statement that reads the greatest id in use, in every store's SQL; null if none is.
    pub greatest: &'static str,
}

/// Declares a counter for each table.
macro_rules! counters {
    ($($name:ident: $counting:ident, $sequence:ident, $greatest:literal;)+) => {
        /// Every counter.
        pub const COUNTERS: &[Counter] = &[$(Counter {
            name: stringify!($name),
            sequence: stringify!($sequence),
            counting: Counting::$counting,
            greatest: $greatest,
        }),+];
    };
}

counters! {
    users: Reserved, user_ids, "SELECT max(id) FROM users";
    music_requests: Reserved, music_request_ids, "SELECT max(id) FROM music_requests";
    withdrawals: Reserved, withdrawal_ids, "SELECT max(id) FROM withdrawals";
    topups: Reserved, topup_ids, "SELECT max(id) FROM topups";
    adjustments: Reserved, adjustment_ids,
        "SELECT max(reference_id) FROM ledger_entries WHERE reference_kind = 'adjustment'";
    sessions: Reserved, session_ids, "SELECT max(id) FROM sessions";
    login_networks: Generated, login_networks_id_seq, "SELECT max(id) FROM login_networks";
    challenges: Generated, challenges_id_seq, "SELECT max(id) FROM challenges";
    phone_codes: Generated, phone_codes_id_seq, "SELECT max(id) FROM phone_codes";
    security_events: Generated, security_events_id_seq, "SELECT max(id) FROM security_events";
    postings: Permanent, postings_id_seq, "SELECT max(id) FROM postings";
    provider_messages: Generated, provider_messages_id_seq, "SELECT max(id) FROM provider_messages";
    webhook_endpoints: Generated, webhook_endpoints_id_seq, "SELECT max(id) FROM webhook_endpoints";
}
