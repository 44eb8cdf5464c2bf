//! The tables as declared to Diesel; a test compares them with the migrated database.

diesel::table! {
    deployment (singleton) {
        singleton -> Bool,
        currency -> Text,
        scale -> SmallInt,
        created_at -> Timestamptz,
        system_identifier -> BigInt,
        epoch -> BigInt,
        feature_level -> SmallInt,
        copy_state -> Nullable<Text>,
        copy_id -> Nullable<Uuid>,
        copy_target -> Nullable<Text>,
        origin_copy_id -> Nullable<Uuid>,
        timeline -> Nullable<BigInt>,
        begun_copy_id -> Nullable<Uuid>,
    }
}

diesel::table! {
    bootstrap_operator (singleton) {
        singleton -> Bool,
        made_at -> Timestamptz,
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
        suspended_at -> Nullable<Timestamptz>,
        standing_at -> Nullable<Timestamptz>,
        erased_at -> Nullable<Timestamptz>,
        erasure_pending -> Bool,
        login_changed_at -> Nullable<Timestamptz>,
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
        reference -> Nullable<Uuid>,
        approved_by -> Nullable<BigInt>,
        approved_at -> Nullable<Timestamptz>,
        second_approved_by -> Nullable<BigInt>,
        second_approved_at -> Nullable<Timestamptz>,
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
        reference -> Nullable<Uuid>,
        attempts -> Nullable<Integer>,
        order_at -> Nullable<Timestamptz>,
        suspense_operation -> Nullable<Uuid>,
        suspense_at -> Nullable<Timestamptz>,
        settled_operation -> Nullable<Uuid>,
        settled_at -> Nullable<Timestamptz>,
        settled_by -> Nullable<BigInt>,
        settled_reason -> Nullable<Text>,
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
        posting_rules -> Nullable<SmallInt>,
        position -> Nullable<BigInt>,
        owner_id -> Nullable<BigInt>,
        dj_id -> Nullable<BigInt>,
    }
}

diesel::table! {
    position_gaps (last) {
        last -> BigInt,
        next -> BigInt,
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
    sessions (id) {
        id -> BigInt,
        user_id -> BigInt,
        began_at -> Timestamptz,
        used_at -> Timestamptz,
        expires_at -> Timestamptz,
        ended_at -> Nullable<Timestamptz>,
        address -> Nullable<Text>,
        agent -> Nullable<Text>,
    }
}

diesel::table! {
    login_networks (id) {
        id -> BigInt,
        user_id -> BigInt,
        network -> Text,
        seen_at -> Timestamptz,
    }
}

diesel::table! {
    refresh_tokens (hash) {
        hash -> Bytea,
        session_id -> BigInt,
        issued_at -> Timestamptz,
        expires_at -> Timestamptz,
        used_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    challenges (id) {
        id -> BigInt,
        user_id -> BigInt,
        purpose -> Text,
        target -> Text,
        hash -> Bytea,
        issued_at -> Timestamptz,
        attempts -> SmallInt,
        ended_at -> Nullable<Timestamptz>,
        address -> Nullable<Text>,
    }
}

diesel::table! {
    phone_codes (id) {
        id -> BigInt,
        number -> Bytea,
        network -> Bytea,
        sent_at -> Timestamptz,
    }
}

diesel::table! {
    blocks (dj_id, guest_id) {
        dj_id -> BigInt,
        guest_id -> BigInt,
        at -> Timestamptz,
    }
}

diesel::table! {
    security_events (id) {
        id -> BigInt,
        kind -> Text,
        user_id -> Nullable<BigInt>,
        actor_id -> Nullable<BigInt>,
        session_id -> Nullable<BigInt>,
        address -> Nullable<Text>,
        agent -> Nullable<Text>,
        detail -> Nullable<Text>,
        at -> Timestamptz,
    }
}

diesel::table! {
    provider_messages (id) {
        id -> BigInt,
        source -> Text,
        webhook_id -> Text,
        kind -> Text,
        reason_code -> Text,
        reference -> Text,
        stated_id -> Nullable<BigInt>,
        row_id -> Nullable<BigInt>,
        amount -> Nullable<Text>,
        currency -> Nullable<Text>,
        txid -> Nullable<Text>,
        received_at -> Timestamptz,
        resolved_at -> Nullable<Timestamptz>,
        resolved_by -> Nullable<BigInt>,
        resolution -> Nullable<Text>,
    }
}

diesel::table! {
    webhook_endpoints (id) {
        id -> BigInt,
        owner_id -> BigInt,
        feed -> Text,
        url -> Text,
        types -> Nullable<Text>,
        description -> Nullable<Text>,
        state -> Text,
        disabled_at -> Nullable<Timestamptz>,
        disabled_reason -> Nullable<Text>,
        secrets -> Text,
        cursor -> BigInt,
        replay_after -> Nullable<BigInt>,
        replay_until -> Nullable<BigInt>,
        failing_since -> Nullable<Timestamptz>,
        created_at -> Timestamptz,
        lease -> BigInt,
        leased_until -> Nullable<Timestamptz>,
        attempts -> BigInt,
        url_session_id -> Nullable<BigInt>,
        creation_key -> Nullable<Bytea>,
        creation_body -> Nullable<Bytea>,
    }
}

diesel::table! {
    webhook_deliveries (endpoint_id, position) {
        endpoint_id -> BigInt,
        position -> BigInt,
        attempts -> Integer,
        next_at -> Nullable<Timestamptz>,
        failed_at -> Timestamptz,
    }
}

diesel::table! {
    webhook_attempts (endpoint_id, number) {
        endpoint_id -> BigInt,
        number -> BigInt,
        position -> Nullable<BigInt>,
        event_type -> Nullable<Text>,
        attempt -> Integer,
        status -> Nullable<Integer>,
        error -> Nullable<Text>,
        milliseconds -> Integer,
        answer -> Nullable<Text>,
        at -> Timestamptz,
    }
}

diesel::joinable!(wallets -> users (user_id));
diesel::joinable!(login_networks -> users (user_id));
diesel::joinable!(idempotency_keys -> operations (operation_id));
diesel::joinable!(refresh_tokens -> sessions (session_id));
diesel::joinable!(blocks -> users (guest_id));
diesel::joinable!(webhook_endpoints -> users (owner_id));
diesel::joinable!(webhook_deliveries -> webhook_endpoints (endpoint_id));
diesel::allow_tables_to_appear_in_same_query!(
    deployment,
    bootstrap_operator,
    users,
    wallets,
    music_requests,
    withdrawals,
    topups,
    operations,
    position_gaps,
    idempotency_keys,
    ledger_entries,
    postings,
    sessions,
    login_networks,
    refresh_tokens,
    challenges,
    phone_codes,
    blocks,
    security_events,
    provider_messages,
    webhook_endpoints,
    webhook_deliveries,
    webhook_attempts,
);
