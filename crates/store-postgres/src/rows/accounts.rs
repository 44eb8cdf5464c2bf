//! Users and their credentials.

use bigdecimal::BigDecimal;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::{Balance, Wallet};
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::PasswordHash;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::User;
use cuepoint_domain::user::challenge::Challenge;
use cuepoint_domain::user::session::{RefreshToken, Session};
use cuepoint_store_sql::rows::{
    Corrupt, StoredChallenge, StoredSession, StoredToken, StoredUser, StoredWallet,
};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Bytea, Double, Nullable, Numeric, SmallInt, Text, Timestamptz};
use time::OffsetDateTime;

use super::table_row::{row_value, table_row};
use super::timestamp;
use crate::schema::{challenges, users};

/// The condition of `User::is_present`, in SQL.
pub(crate) fn is_present() -> diesel::dsl::IsNull<users::erased_at> {
    users::erased_at.is_null()
}

table_row! {
    /// A user without the columns of registration and login. No plan changes the e-mail address.
    #[derive(Insertable, AsChangeset)]
    #[diesel(treat_none_as_null = true)]
    users: UserRow = StoredUser {
        id [key]: BigInt as i64,
        name [moves]: Text as String,
        email: Text as String,
        email_verified: Bool as bool,
        phone [moves]: Nullable<Text> as Option<String>,
        phone_verified [moves]: Bool as bool,
        role [moves]: Text as String,
        is_dj [moves]: Bool as bool,
        online [moves]: Bool as bool,
        fee_upcoming_artist [moves]: Numeric as BigDecimal,
        fee_popular_song [moves]: Numeric as BigDecimal,
        played [moves]: BigInt as i64,
        rating_stars: BigInt as i64,
        rating_count: BigInt as i64,
        city [moves]: Nullable<Text> as Option<String>,
        state [moves]: Nullable<Text> as Option<String>,
        country [moves]: Nullable<Text> as Option<String>,
        latitude [moves]: Nullable<Double> as Option<f64>,
        longitude [moves]: Nullable<Double> as Option<f64>,
        radius [moves]: Nullable<Double> as Option<f64>,
        created_at: Timestamptz as OffsetDateTime,
        suspended_at [moves]: Nullable<Timestamptz> as Option<OffsetDateTime>,
        standing_at [moves]: Nullable<Timestamptz> as Option<OffsetDateTime>,
        erased_at: Nullable<Timestamptz> as Option<OffsetDateTime>,
        login_changed_at: Nullable<Timestamptz> as Option<OffsetDateTime>,
    }
}

row_value!(UserRow = StoredUser: User, user with currency);

/// A newly registered user.
#[derive(Clone, Insertable)]
#[diesel(table_name = users)]
pub(crate) struct NewUserRow {
    #[diesel(embed)]
    user: UserRow,
    email_folded: String,
    password_hash: String,
}

impl NewUserRow {
    pub(crate) fn of(user: &User, password: &PasswordHash, currency: &Currency) -> Self {
        Self {
            email_folded: user.email.folded(),
            password_hash: password.0.clone(),
            user: UserRow::of(user, currency),
        }
    }

    /// The user's id, their folded address, and the time of the registration.
    pub(crate) fn address(&self) -> (i64, &str, Timestamp) {
        (self.user.id, &self.email_folded, timestamp(self.user.created_at))
    }
}

table_row! {
    /// A wallet with the end of its chain.
    #[derive(Insertable)]
    wallets: WalletRow = StoredWallet {
        user_id [key]: BigInt as i64,
        available [moves]: Numeric as BigDecimal,
        held [moves]: Numeric as BigDecimal,
        owed [moves]: Numeric as BigDecimal,
        seq [moves]: BigInt as i64,
        last_at [moves]: Timestamptz as OffsetDateTime,
        head [moves]: Bytea as Vec<u8>,
    }
}

row_value!(WalletRow = StoredWallet: Wallet, wallet with currency);
row_value!(WalletRow = StoredWallet: read Balance, balance with currency);

table_row! {
    /// A session.
    #[derive(Insertable)]
    sessions: SessionRow = StoredSession {
        id: BigInt as i64,
        user_id: BigInt as i64,
        began_at: Timestamptz as OffsetDateTime,
        used_at: Timestamptz as OffsetDateTime,
        expires_at: Timestamptz as OffsetDateTime,
        ended_at: Nullable<Timestamptz> as Option<OffsetDateTime>,
        address: Nullable<Text> as Option<String>,
        agent: Nullable<Text> as Option<String>,
    }
}

row_value!(SessionRow = StoredSession: Session, session);

table_row! {
    /// A refresh token.
    #[derive(Insertable)]
    refresh_tokens: TokenRow = StoredToken {
        hash: Bytea as Vec<u8>,
        session_id: BigInt as i64,
        issued_at: Timestamptz as OffsetDateTime,
        expires_at: Timestamptz as OffsetDateTime,
        used_at: Nullable<Timestamptz> as Option<OffsetDateTime>,
    }
}

row_value!(TokenRow = StoredToken: RefreshToken);

impl TokenRow {
    /// Converts the row to a token of this user.
    pub(crate) fn token(self, user: UserId) -> Result<RefreshToken, Corrupt> {
        StoredToken::from(self).token(user)
    }
}

table_row! {
    /// A challenge before it has an id.
    #[derive(Insertable)]
    challenges: NewChallengeRow = StoredChallenge {
        user_id: BigInt as i64,
        purpose: Text as String,
        target: Text as String,
        address: Nullable<Text> as Option<String>,
        hash: Bytea as Vec<u8>,
        issued_at: Timestamptz as OffsetDateTime,
        attempts: SmallInt as i16,
        ended_at: Nullable<Timestamptz> as Option<OffsetDateTime>,
    }
}

row_value!(NewChallengeRow = StoredChallenge: Challenge, challenge);

/// A challenge with its id.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = challenges, check_for_backend(diesel::pg::Pg))]
pub(crate) struct ChallengeRow {
    pub(crate) id: i64,
    #[diesel(embed)]
    challenge: NewChallengeRow,
}

impl ChallengeRow {
    pub(crate) fn challenge(self) -> Result<Challenge, Corrupt> {
        self.challenge.challenge()
    }
}
