//! The tables that this store declares itself, as declared to Diesel. A test compares them and
//! [`cuepoint_store_sql::schema`] with the migrated database.

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
