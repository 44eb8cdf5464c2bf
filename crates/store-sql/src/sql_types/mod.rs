//! The SQL types of columns, and the Rust types of their values. Each
//! database stores the types of this module in its own way: PostgreSQL natively, SQLite as text, integer or bytes.

#[cfg(feature = "postgres")]
pub(crate) mod binary_format;
#[cfg(feature = "postgres")]
mod numeric;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::convert::identity;

use cuepoint_domain::timestamp::Timestamp;
use diesel::backend::Backend;
use diesel::deserialize::{self, FromSql, Queryable};
use diesel::expression::AsExpression;
use diesel::query_builder::QueryId;
use diesel::serialize::{self, Output, ToSql};
use diesel::sql_types::{SqlOrd, SqlType};
use uuid::Uuid;

use crate::sum::Sum;
use crate::table::ColumnKind;

pub use diesel::sql_types::{BigInt, Binary, Bool, Double, Integer, Nullable, SmallInt, Text};

/// Declares the types of a database that store the types of this module.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
macro_rules! stored_as {
    ($backend:ty, $metadata:ty; $($sql:ident = $stored:ident;)+) => {$(
        impl diesel::sql_types::HasSqlType<$sql> for $backend {
            fn metadata(lookup: &mut Self::MetadataLookup) -> $metadata {
                <Self as diesel::sql_types::HasSqlType<$stored>>::metadata(lookup)
            }
        }
    )+};
}

#[cfg(any(feature = "postgres", feature = "sqlite"))]
use stored_as;

/// An amount of money: `numeric`, or a text of minor units.
#[derive(Clone, Copy, Debug, Default, QueryId, SqlType)]
pub struct MoneySum;
/// A time: `timestamptz`, or an integer of microseconds since the start of 1970. Diesel takes a type of the name `Time`
/// for a time of the day.
#[derive(Clone, Copy, Debug, Default, QueryId, SqlType)]
pub struct UtcTime;
/// The id of an operation: `uuid`, or its 16 bytes.
#[derive(Clone, Copy, Debug, Default, QueryId, SqlType)]
pub struct OperationUuid;
/// A JSON document: `jsonb`, or its text.
#[derive(Clone, Copy, Debug, Default, QueryId, SqlType)]
pub struct Json;

impl SqlOrd for UtcTime {}

/// The type of a column.
pub trait ColumnType {
    /// The SQL type.
    type Sql;
    /// A value in a row.
    type Value;
    /// A value as an insert binds it, null left out.
    type Inserted<'v>;

    /// The name of the type, without `Nullable`.
    const NAME: &'static str;
    /// The meaning of the values.
    const KIND: ColumnKind;
    /// Whether a value may be null.
    const IS_NULLABLE: bool;

    /// The value as an insert binds it; `None` for null, so that the column keeps its default.
    fn inserted(value: &Self::Value) -> Option<Self::Inserted<'_>>;
}

impl<T: ColumnType> ColumnType for Nullable<T> {
    type Sql = Nullable<T::Sql>;
    type Value = Option<T::Value>;
    type Inserted<'v> = T::Inserted<'v>;

    const NAME: &'static str = T::NAME;
    const KIND: ColumnKind = T::KIND;
    const IS_NULLABLE: bool = true;

    fn inserted(value: &Self::Value) -> Option<Self::Inserted<'_>> {
        value.as_ref().and_then(T::inserted)
    }
}

/// Declares column types: the SQL type, the meaning, the Rust type, the type that an insert binds, and the
/// conversion to it.
macro_rules! column_types {
    ($($sql:ty: $kind:ident, $value:ty as $inserted:ty, $convert:expr;)+) => {$(
        impl ColumnType for $sql {
            type Sql = Self;
            type Value = $value;
            type Inserted<'v> = $inserted;

            const NAME: &'static str = stringify!($sql);
            const KIND: ColumnKind = ColumnKind::$kind;
            const IS_NULLABLE: bool = false;

            fn inserted(value: &Self::Value) -> Option<Self::Inserted<'_>> {
                Some($convert(value))
            }
        }
    )+};
}

column_types! {
    BigInt: Integer, i64 as &'v i64, identity;
    Integer: Integer, i32 as &'v i32, identity;
    SmallInt: Integer, i16 as &'v i16, identity;
    Bool: Boolean, bool as &'v bool, identity;
    Text: Text, String as &'v String, identity;
    Double: Real, f64 as &'v f64, identity;
    Binary: Bytes, Vec<u8> as &'v Vec<u8>, identity;
    MoneySum: Money, Sum as &'v Sum, identity;
    UtcTime: Time, Timestamp as ColumnTime, ColumnTime::from;
    OperationUuid: Id, Uuid as ColumnId, ColumnId::from;
    Json: Json, String as ColumnJson, ColumnJson::from;
}

/// Declares types that bind a value of a foreign type, for which Diesel's traits cannot be implemented.
macro_rules! bound {
    ($($(#[$attribute:meta])* $bound:ident($value:ty): $sql:ident;)+) => {$(
        $(#[$attribute])*
        #[derive(Clone, Debug, AsExpression)]
        #[diesel(sql_type = $sql)]
        pub struct $bound(pub $value);

        impl From<$value> for $bound {
            fn from(value: $value) -> Self {
                Self(value)
            }
        }

        impl From<&$value> for $bound {
            fn from(value: &$value) -> Self {
                Self(value.clone())
            }
        }

        impl<DB: Backend> ToSql<$sql, DB> for $bound
        where
            $value: ToSql<$sql, DB>,
        {
            fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, DB>) -> serialize::Result {
                self.0.to_sql(out)
            }
        }
    )+};
}

bound! {
    /// A time, to be bound in an expression.
    #[derive(Copy)]
    ColumnTime(Timestamp): UtcTime;
    /// The id of an operation, to be bound in an expression.
    #[derive(Copy)]
    ColumnId(Uuid): OperationUuid;
    /// A JSON document, to be bound in an expression.
    ColumnJson(String): Json;
}

impl<DB: Backend> Queryable<UtcTime, DB> for Timestamp
where
    Self: FromSql<UtcTime, DB>,
{
    type Row = Self;

    fn build(row: Self) -> deserialize::Result<Self> {
        Ok(row)
    }
}
