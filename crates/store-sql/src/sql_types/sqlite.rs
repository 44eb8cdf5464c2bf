//! The SQL types on SQLite, whose own types are all exact here: sums are texts of minor units, times integers
//! of microseconds, ids of operations bytes, and JSON is text.

use cuepoint_domain::timestamp::Timestamp;
use diesel::deserialize::{self, FromSql};
use diesel::serialize::{self, IsNull, Output, ToSql};
use diesel::sql_types::{BigInt, Binary, Text};
use diesel::sqlite::{Sqlite, SqliteType, SqliteValue};
use uuid::Uuid;

use super::{Json, MoneySum, OperationUuid, UtcTime, stored_as};
use crate::named::{Named, StoredName};
use crate::sum::Sum;

stored_as! {
    Sqlite, SqliteType;
    MoneySum = Text;
    UtcTime = BigInt;
    OperationUuid = Binary;
    Json = Text;
}

impl ToSql<MoneySum, Sqlite> for Sum {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        let minor = self.minor().ok_or("the sum is not in minor units of the currency")?;
        out.set_value(minor.minor().to_string());
        Ok(IsNull::No)
    }
}

impl FromSql<MoneySum, Sqlite> for Sum {
    fn from_sql(mut value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
        Ok(Self::from_minor_units(value.read_text()))
    }
}

impl<T: StoredName> ToSql<Text, Sqlite> for Named<T> {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(self.name()?);
        Ok(IsNull::No)
    }
}

impl<T: StoredName> FromSql<Text, Sqlite> for Named<T> {
    fn from_sql(mut value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
        Ok(Self::stored(value.read_text()))
    }
}

impl ToSql<UtcTime, Sqlite> for Timestamp {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(self.unix_micros());
        Ok(IsNull::No)
    }
}

impl FromSql<UtcTime, Sqlite> for Timestamp {
    fn from_sql(value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
        FromSql::<BigInt, Sqlite>::from_sql(value).map(Self::from_unix_micros)
    }
}

impl ToSql<OperationUuid, Sqlite> for Uuid {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(self.as_bytes().as_slice());
        Ok(IsNull::No)
    }
}

impl FromSql<OperationUuid, Sqlite> for Uuid {
    fn from_sql(mut value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
        Ok(Self::from_slice(value.read_blob())?)
    }
}

impl ToSql<Json, Sqlite> for String {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        ToSql::<Text, Sqlite>::to_sql(self, out)
    }
}

impl FromSql<Json, Sqlite> for String {
    fn from_sql(value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
        FromSql::<Text, Sqlite>::from_sql(value)
    }
}
