//! The tables as Diesel knows them; a test compares them with the migrated database.

diesel::table! {
    deployment (singleton) {
        singleton -> Bool,
        currency -> Text,
        scale -> SmallInt,
        created_at -> Timestamptz,
    }
}

diesel::table! {
    users (id) {
        id -> BigInt,
        name -> Text,
        email -> Text,
        email_folded -> Text,
        email_verified -> Bool,
        phone -> Nullable<Text>,
        phone_verified -> Bool,
        password_hash -> Text,
        role -> Text,
        is_dj -> Bool,
        online -> Bool,
        fee_upcoming_artist -> Numeric,
        fee_popular_song -> Numeric,
        played -> BigInt,
        rating_stars -> BigInt,
        rating_count -> BigInt,
        city -> Nullable<Text>,
        state -> Nullable<Text>,
        country -> Nullable<Text>,
        latitude -> Nullable<Double>,
        longitude -> Nullable<Double>,
        radius -> Nullable<Double>,
        created_at -> Timestamptz,
    }
}

diesel::table! {
    wallets (user_id) {
        user_id -> BigInt,
        available -> Numeric,
        held -> Numeric,
        owed -> Numeric,
        seq -> BigInt,
        last_at -> Timestamptz,
        head -> Bytea,
    }
}

diesel::table! {
    music_requests (id) {
        id -> BigInt,
        requester_id -> BigInt,
        dj_id -> BigInt,
        song_title -> Text,
        artist_name -> Text,
        artist_type -> Text,
        music_url -> Text,
        fee -> Numeric,
        status -> Text,
        expires_at -> Nullable<Timestamptz>,
        changed_at -> Timestamptz,
        commission -> Nullable<Numeric>,
        created_at -> Timestamptz,
    }
}

diesel::table! {
    withdrawals (id) {
        id -> BigInt,
        user_id -> BigInt,
        amount -> Numeric,
        wallet_address -> Text,
        currency -> Text,
        network -> Text,
        status -> Text,
        txid -> Nullable<Text>,
        created_at -> Timestamptz,
        updated_at -> Timestamptz,
        attempts -> Integer,
        retry_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    topups (id) {
        id -> BigInt,
        user_id -> BigInt,
        amount -> Numeric,
        status -> Text,
        payment_url -> Nullable<Text>,
        created_at -> Timestamptz,
        updated_at -> Timestamptz,
    }
}

diesel::table! {
    operations (id) {
        id -> Uuid,
        kind -> Text,
        actor_user_id -> Nullable<BigInt>,
        reason -> Nullable<Text>,
        at -> Timestamptz,
        receipt -> Jsonb,
    }
}

diesel::table! {
    idempotency_keys (scope) {
        scope -> Bytea,
        fingerprint -> Bytea,
        operation_id -> Uuid,
        at -> Timestamptz,
    }
}

diesel::table! {
    ledger_entries (wallet_id, seq) {
        wallet_id -> BigInt,
        seq -> BigInt,
        operation_id -> Uuid,
        kind -> Text,
        reference_kind -> Text,
        reference_id -> BigInt,
        available_change -> Numeric,
        held_change -> Numeric,
        owed_change -> Numeric,
        available_after -> Numeric,
        held_after -> Numeric,
        owed_after -> Numeric,
        at -> Timestamptz,
        previous -> Bytea,
        hash -> Bytea,
    }
}

diesel::table! {
    postings (id) {
        id -> BigInt,
        operation_id -> Uuid,
        account -> Text,
        amount -> Numeric,
        at -> Timestamptz,
    }
}

diesel::table! {
    refresh_token_families (id) {
        id -> Uuid,
        user_id -> BigInt,
        ended_at -> Nullable<Timestamptz>,
        created_at -> Timestamptz,
    }
}

diesel::table! {
    refresh_tokens (hash) {
        hash -> Bytea,
        family_id -> Uuid,
        issued_at -> Timestamptz,
        expires_at -> Timestamptz,
        used_at -> Nullable<Timestamptz>,
    }
}

diesel::joinable!(wallets -> users (user_id));
diesel::joinable!(idempotency_keys -> operations (operation_id));
diesel::joinable!(refresh_tokens -> refresh_token_families (family_id));
diesel::allow_tables_to_appear_in_same_query!(
    deployment,
    users,
    wallets,
    music_requests,
    withdrawals,
    topups,
    operations,
    idempotency_keys,
    ledger_entries,
    postings,
    refresh_token_families,
    refresh_tokens,
);
