//! Users and their credentials.

use cuepoint_domain::user::Role;
use diesel::{AsChangeset, ExpressionMethods};
use serde::{Deserialize, Serialize};

use super::text;
use crate::sql_types::{
    BigInt, Binary, Bool, ColumnTime, Double, MoneySum, Nullable, SmallInt, Text, UtcTime,
};
use crate::table::{nobody, own, table};

table! {
    /// A user without the folded address, the password and the mark of an erasure.
    #[derive(Serialize, Deserialize, AsChangeset)]
    #[diesel(table_name = users, treat_none_as_null = true)]
    users(id): StoredUser {
        id [Key]: BigInt,
        name [Moves]: Text,
        email: Text,
        email_folded [apart]: Text omitted "the exported address in lower case",
        email_verified: Bool,
        phone [Moves]: Nullable<Text>,
        phone_verified [Moves]: Bool,
        password_hash [apart]: Text omitted "a secret",
        role [Moves]: Named<Role>,
        is_dj [Moves]: Bool,
        online [Moves]: Bool,
        fee_upcoming_artist [Moves]: MoneySum,
        fee_popular_song [Moves]: MoneySum,
        played [Moves]: BigInt,
        rating_stars [Moves]: BigInt omitted "exported as the mean rating",
        rating_count [Moves]: BigInt,
        city [Moves]: Nullable<Text>,
        state [Moves]: Nullable<Text>,
        country [Moves]: Nullable<Text>,
        #[serde(with = "text::double::option")]
        latitude [Moves]: Nullable<Double>,
        #[serde(with = "text::double::option")]
        longitude [Moves]: Nullable<Double>,
        #[serde(with = "text::double::option")]
        radius [Moves]: Nullable<Double>,
        #[serde(with = "text::micros")]
        #[diesel(serialize_as = ColumnTime)]
        created_at: UtcTime,
        #[serde(default, with = "text::micros::option")]
        suspended_at [Moves]: Nullable<UtcTime> omitted "suspended users cannot export",
        #[serde(default, with = "text::micros::option")]
        standing_at [Moves]: Nullable<UtcTime>,
        #[serde(default, with = "text::micros::option")]
        erased_at: Nullable<UtcTime> omitted "erased users cannot export",
        erasure_pending [apart]: Bool omitted "erased users cannot export",
        #[serde(default, with = "text::micros::option")]
        login_changed_at: Nullable<UtcTime>,
    }
    counter Reserved user_ids;
    mentions own("id = {id}");
}

table! {
    /// A session, without the hash of its cookie.
    sessions(id): StoredSession {
        id: BigInt,
        user_id: BigInt,
        began_at: UtcTime,
        used_at: UtcTime,
        expires_at: UtcTime,
        ended_at: Nullable<UtcTime>,
        address: Nullable<Text>,
        agent: Nullable<Text>,
        cookie_hash [apart]: Nullable<Binary> omitted "a secret",
    }
    counter Reserved session_ids;
    mentions own("user_id = {id}");
}

table! {
    /// A refresh token.
    refresh_tokens(hash): StoredToken {
        hash: Binary omitted "a secret",
        session_id: BigInt,
        issued_at: UtcTime omitted "the session has the newest token's time",
        expires_at: UtcTime omitted "the session has the newest token's time",
        used_at: Nullable<UtcTime> omitted "the session has the newest token's time",
    }
    mentions own("session_id IN (SELECT id FROM sessions WHERE user_id = {id})");
}

table! {
    /// Name, scopes and secret hash of a personal access token.
    personal_tokens(session_id): StoredPersonalToken {
        session_id: BigInt,
        name: Text,
        hash: Binary omitted "a secret",
        scopes: Text,
    }
    mentions own("session_id IN (SELECT id FROM sessions WHERE user_id = {id})");
}

table! {
    /// A network from which a user has logged in.
    login_networks(id) {
        id [apart]: BigInt omitted "an internal id",
        user_id [apart]: BigInt,
        network [apart]: Text,
        seen_at [apart]: UtcTime,
    }
    counter Generated login_networks_id_seq;
    mentions own("user_id = {id}");
}

table! {
    /// A challenge, without its id.
    challenges(id): StoredChallenge {
        id [id]: BigInt omitted "an internal id",
        user_id: BigInt,
        purpose: Text,
        target: Text omitted "the folded address; the original spelling is exported",
        address: Nullable<Text>,
        hash: Binary omitted "a secret",
        issued_at: UtcTime,
        attempts: SmallInt,
        ended_at: Nullable<UtcTime>,
    }
    counter Generated challenges_id_seq;
    mentions own("user_id = {id}");
}

table! {
    /// A code that was sent by phone.
    phone_codes(id) {
        id [apart]: BigInt,
        number [apart]: Binary,
        network [apart]: Binary,
        sent_at [apart]: UtcTime,
    }
    counter Generated phone_codes_id_seq;
    mentions nobody("checksums of numbers and networks of codes by phone, without the user");
}

table! {
    /// A block of a guest by a DJ.
    blocks(dj_id, guest_id) {
        dj_id [apart]: BigInt,
        guest_id [apart]: BigInt,
        at [apart]: UtcTime,
    }
    mentions own("{id} IN (dj_id, guest_id)");
}
