//! The SQL types on PostgreSQL: parameters and columns have PostgreSQL's own types.

use std::io::Write;

use bigdecimal::BigDecimal;
use cuepoint_domain::timestamp::Timestamp;
use diesel::deserialize::{self, FromSql};
use diesel::pg::{Pg, PgTypeMetadata, PgValue};
use diesel::serialize::{self, IsNull, Output, ToSql};
use diesel::sql_types::{Jsonb, Numeric, Timestamptz, Uuid as SqlUuid};
use uuid::Uuid;

use super::{Json, MoneySum, OperationUuid, UtcTime, stored_as};
use crate::sum::Sum;

stored_as! {
    Pg, PgTypeMetadata;
    MoneySum = Numeric;
    UtcTime = Timestamptz;
    OperationUuid = SqlUuid;
    Json = Jsonb;
}

impl ToSql<MoneySum, Pg> for Sum {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        let decimal = self.decimal().ok_or("the currency of the sum is not known")?;
        ToSql::<Numeric, Pg>::to_sql(&*decimal, &mut out.reborrow())
    }
}

impl FromSql<MoneySum, Pg> for Sum {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        <BigDecimal as FromSql<Numeric, Pg>>::from_sql(value).map(Self::from)
    }
}

impl ToSql<UtcTime, Pg> for Timestamp {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        ToSql::<Timestamptz, Pg>::to_sql(&self.to_utc(), &mut out.reborrow())
    }
}

impl FromSql<UtcTime, Pg> for Timestamp {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        FromSql::<Timestamptz, Pg>::from_sql(value).map(Self::new)
    }
}

impl ToSql<OperationUuid, Pg> for Uuid {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        ToSql::<SqlUuid, Pg>::to_sql(self, out)
    }
}

impl FromSql<OperationUuid, Pg> for Uuid {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        FromSql::<SqlUuid, Pg>::from_sql(value)
    }
}

/// The version byte of the binary format of `jsonb`; the text follows.
const JSONB_VERSION: u8 = 1;

impl ToSql<Json, Pg> for String {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        out.write_all(&[JSONB_VERSION])?;
        out.write_all(self.as_bytes())?;
        Ok(IsNull::No)
    }
}

impl FromSql<Json, Pg> for String {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        match value.as_bytes().split_first() {
            Some((&JSONB_VERSION, text)) => Ok(std::str::from_utf8(text)?.to_owned()),
            _ => Err("the binary form of jsonb is of an unknown version".into()),
        }
    }
}
