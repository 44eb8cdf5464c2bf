//! The tables as declared to Diesel; a test compares them with the migrated database. Sums are `Text`, times
//! `BigInt`, and ids of operations `Binary`.

diesel::table! {
    deployment (singleton) {
        singleton -> BigInt,
        currency -> Text,
        scale -> SmallInt,
        created_at -> BigInt,
        database_id -> Binary,
        epoch -> BigInt,
        feature_level -> SmallInt,
        copy_state -> Nullable<Text>,
        copy_id -> Nullable<Binary>,
        copy_target -> Nullable<Text>,
        origin_copy_id -> Nullable<Binary>,
        begun_copy_id -> Nullable<Binary>,
    }
}

diesel::table! {
    bootstrap_operator (singleton) {
        singleton -> BigInt,
        made_at -> BigInt,
    }
}

diesel::table! {
    ids (kind) {
        kind -> Text,
        next -> BigInt,
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
        fee_upcoming_artist -> Text,
        fee_popular_song -> Text,
        played -> BigInt,
        rating_stars -> BigInt,
        rating_count -> BigInt,
        city -> Nullable<Text>,
        state -> Nullable<Text>,
        country -> Nullable<Text>,
        latitude -> Nullable<Double>,
        longitude -> Nullable<Double>,
        radius -> Nullable<Double>,
        created_at -> BigInt,
        suspended_at -> Nullable<BigInt>,
        standing_at -> Nullable<BigInt>,
        erased_at -> Nullable<BigInt>,
        erasure_pending -> Bool,
        login_changed_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    wallets (user_id) {
        user_id -> BigInt,
        available -> Text,
        held -> Text,
        owed -> Text,
        seq -> BigInt,
        last_at -> BigInt,
        head -> Binary,
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
        fee -> Text,
        status -> Text,
        expires_at -> Nullable<BigInt>,
        changed_at -> BigInt,
        commission -> Nullable<Text>,
        created_at -> BigInt,
    }
}

diesel::table! {
    withdrawals (id) {
        id -> BigInt,
        user_id -> BigInt,
        amount -> Text,
        wallet_address -> Text,
        currency -> Text,
        network -> Text,
        status -> Text,
        txid -> Nullable<Text>,
        created_at -> BigInt,
        updated_at -> BigInt,
        attempts -> Integer,
        retry_at -> Nullable<BigInt>,
        reference -> Nullable<Binary>,
        approved_by -> Nullable<BigInt>,
        approved_at -> Nullable<BigInt>,
        second_approved_by -> Nullable<BigInt>,
        second_approved_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    topups (id) {
        id -> BigInt,
        user_id -> BigInt,
        amount -> Text,
        status -> Text,
        payment_url -> Nullable<Text>,
        created_at -> BigInt,
        updated_at -> BigInt,
        reference -> Nullable<Binary>,
        attempts -> Nullable<Integer>,
        order_at -> Nullable<BigInt>,
        suspense_operation -> Nullable<Binary>,
        suspense_at -> Nullable<BigInt>,
        settled_operation -> Nullable<Binary>,
        settled_at -> Nullable<BigInt>,
        settled_by -> Nullable<BigInt>,
        settled_reason -> Nullable<Text>,
    }
}

diesel::table! {
    operations (id) {
        id -> Binary,
        kind -> Text,
        actor_user_id -> Nullable<BigInt>,
        reason -> Nullable<Text>,
        at -> BigInt,
        receipt -> Text,
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
        scope -> Binary,
        fingerprint -> Binary,
        operation_id -> Binary,
        at -> BigInt,
    }
}

diesel::table! {
    ledger_entries (wallet_id, seq) {
        wallet_id -> BigInt,
        seq -> BigInt,
        operation_id -> Binary,
        kind -> Text,
        reference_kind -> Text,
        reference_id -> BigInt,
        available_change -> Text,
        held_change -> Text,
        owed_change -> Text,
        available_after -> Text,
        held_after -> Text,
        owed_after -> Text,
        at -> BigInt,
        previous -> Binary,
        hash -> Binary,
    }
}

diesel::table! {
    postings (id) {
        id -> BigInt,
        operation_id -> Binary,
        account -> Text,
        amount -> Text,
        at -> BigInt,
    }
}

diesel::table! {
    sessions (id) {
        id -> BigInt,
        user_id -> BigInt,
        began_at -> BigInt,
        used_at -> BigInt,
        expires_at -> BigInt,
        ended_at -> Nullable<BigInt>,
        address -> Nullable<Text>,
        agent -> Nullable<Text>,
    }
}

diesel::table! {
    login_networks (id) {
        id -> BigInt,
        user_id -> BigInt,
        network -> Text,
        seen_at -> BigInt,
    }
}

diesel::table! {
    refresh_tokens (hash) {
        hash -> Binary,
        session_id -> BigInt,
        issued_at -> BigInt,
        expires_at -> BigInt,
        used_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    challenges (id) {
        id -> BigInt,
        user_id -> BigInt,
        purpose -> Text,
        target -> Text,
        hash -> Binary,
        issued_at -> BigInt,
        attempts -> SmallInt,
        ended_at -> Nullable<BigInt>,
        address -> Nullable<Text>,
    }
}

diesel::table! {
    phone_codes (id) {
        id -> BigInt,
        number -> Binary,
        network -> Binary,
        sent_at -> BigInt,
    }
}

diesel::table! {
    blocks (dj_id, guest_id) {
        dj_id -> BigInt,
        guest_id -> BigInt,
        at -> BigInt,
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
        at -> BigInt,
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
        received_at -> BigInt,
        resolved_at -> Nullable<BigInt>,
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
        disabled_at -> Nullable<BigInt>,
        disabled_reason -> Nullable<Text>,
        secrets -> Text,
        cursor -> BigInt,
        replay_after -> Nullable<BigInt>,
        replay_until -> Nullable<BigInt>,
        failing_since -> Nullable<BigInt>,
        created_at -> BigInt,
        lease -> BigInt,
        leased_until -> Nullable<BigInt>,
        attempts -> BigInt,
        url_session_id -> Nullable<BigInt>,
        creation_key -> Nullable<Binary>,
        creation_body -> Nullable<Binary>,
    }
}

diesel::table! {
    webhook_deliveries (endpoint_id, position) {
        endpoint_id -> BigInt,
        position -> BigInt,
        attempts -> Integer,
        next_at -> Nullable<BigInt>,
        failed_at -> BigInt,
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
        at -> BigInt,
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
    ids,
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
