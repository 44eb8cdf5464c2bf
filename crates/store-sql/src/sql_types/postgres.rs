//! The SQL types on PostgreSQL: parameters and columns have PostgreSQL's own types.

use std::io::Write;

use cuepoint_domain::timestamp::Timestamp;
use diesel::deserialize::{self, FromSql};
use diesel::pg::{Pg, PgTypeMetadata, PgValue};
use diesel::serialize::{self, Output, ToSql};
use diesel::sql_types::{Jsonb, Numeric, Timestamptz, Uuid as SqlUuid};
use uuid::Uuid;

use super::binary_format::{Encoded, JSONB_VERSION};
use super::{Json, MoneySum, OperationUuid, Text, UtcTime, numeric, stored_as};
use crate::named::{Named, StoredName};
use crate::sum::Sum;

stored_as! {
    Pg, PgTypeMetadata;
    MoneySum = Numeric;
    UtcTime = Timestamptz;
    OperationUuid = SqlUuid;
    Json = Jsonb;
}

/// Binds values as their columns encode them.
macro_rules! bound_as_encoded {
    ($($value:ty: $sql:ty;)+) => {$(
        impl ToSql<$sql, Pg> for $value {
            fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
                let mut bytes = Vec::new();
                let is_null = <$sql>::encode(self, &mut bytes)?;
                out.write_all(&bytes)?;
                Ok(is_null)
            }
        }
    )+};
}

bound_as_encoded! {
    Sum: MoneySum;
    Timestamp: UtcTime;
    Uuid: OperationUuid;
    String: Json;
}

impl FromSql<MoneySum, Pg> for Sum {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        let (units, decimals) = numeric::read(value.as_bytes())?;
        Ok(Self::of_column(units, decimals))
    }
}

impl<T: StoredName> ToSql<Text, Pg> for Named<T> {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        out.write_all(self.name()?.as_bytes())?;
        Ok(serialize::IsNull::No)
    }
}

impl<T: StoredName> FromSql<Text, Pg> for Named<T> {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        Ok(Self::stored(std::str::from_utf8(value.as_bytes())?))
    }
}

impl FromSql<UtcTime, Pg> for Timestamp {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        FromSql::<Timestamptz, Pg>::from_sql(value).map(Self::new)
    }
}

impl FromSql<OperationUuid, Pg> for Uuid {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        FromSql::<SqlUuid, Pg>::from_sql(value)
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
