//! The tables that this store declares itself, as declared to Diesel. A test compares them and
//! [`cuepoint_store_sql::schema`] with the migrated database.

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
    ids (kind) {
        kind -> Text,
        next -> BigInt,
    }
}
