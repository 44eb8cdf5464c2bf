//! Columns of any table, as values of a copy.

use std::iter::repeat_n;

use bigdecimal::BigDecimal;
use cuepoint_domain::money::Currency;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::copy::{CopiedRow as Values, Value, canonical_json};
use cuepoint_store_sql::rows::{Corrupt, Sum, known};
use cuepoint_store_sql::sql_types::Json;
use cuepoint_store_sql::table::{ColumnKind, Table};
use diesel::QueryResult;
use diesel::deserialize::{self, FromSql, QueryableByName};
use diesel::pg::{Pg, PgValue};
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::row::{Field, NamedRow, Row};
use diesel::sql_types::{
    Array, BigInt, Bool, Bytea, Double, Integer, Nullable, Numeric, SmallInt, Text, Timestamptz,
    Uuid as SqlUuid,
};
use time::OffsetDateTime;
use uuid::Uuid;

/// The value of a column as PostgreSQL sends it.
#[derive(Debug)]
enum Cell {
    Null,
    Integer(i64),
    Boolean(bool),
    Text(String),
    Real(f64),
    Numeric(BigDecimal),
    Time(OffsetDateTime),
    Id(Uuid),
    Bytes(Vec<u8>),
    Json(String),
}

/// The ids of types in PostgreSQL's catalog, which are constant.
mod oid {
    pub(super) const BOOL: u32 = 16;
    pub(super) const BYTEA: u32 = 17;
    pub(super) const INT8: u32 = 20;
    pub(super) const INT2: u32 = 21;
    pub(super) const INT4: u32 = 23;
    pub(super) const TEXT: u32 = 25;
    pub(super) const FLOAT8: u32 = 701;
    pub(super) const TIMESTAMPTZ: u32 = 1184;
    pub(super) const NUMERIC: u32 = 1700;
    pub(super) const UUID: u32 = 2950;
    pub(super) const JSONB: u32 = 3802;
}

fn cell(value: PgValue<'_>) -> deserialize::Result<Cell> {
    Ok(match value.get_oid().get() {
        oid::BOOL => Cell::Boolean(FromSql::<Bool, Pg>::from_sql(value)?),
        oid::BYTEA => Cell::Bytes(FromSql::<Bytea, Pg>::from_sql(value)?),
        oid::INT8 => Cell::Integer(FromSql::<BigInt, Pg>::from_sql(value)?),
        oid::INT4 => Cell::Integer(<i32 as FromSql<Integer, Pg>>::from_sql(value)?.into()),
        oid::INT2 => Cell::Integer(<i16 as FromSql<SmallInt, Pg>>::from_sql(value)?.into()),
        oid::TEXT => Cell::Text(FromSql::<Text, Pg>::from_sql(value)?),
        oid::FLOAT8 => Cell::Real(FromSql::<Double, Pg>::from_sql(value)?),
        oid::TIMESTAMPTZ => Cell::Time(FromSql::<Timestamptz, Pg>::from_sql(value)?),
        oid::NUMERIC => Cell::Numeric(FromSql::<Numeric, Pg>::from_sql(value)?),
        oid::UUID => Cell::Id(FromSql::<SqlUuid, Pg>::from_sql(value)?),
        oid::JSONB => Cell::Json(FromSql::<Json, Pg>::from_sql(value)?),
        other => return Err(format!("no column has the type {other}").into()),
    })
}

/// A row of any table.
pub(super) struct PostgresCells(Vec<Cell>);

impl QueryableByName<Pg> for PostgresCells {
    fn build<'a>(row: &impl NamedRow<'a, Pg>) -> deserialize::Result<Self> {
        let read = |place| {
            let field = Row::get(row, place).ok_or("a column is missing")?;
            field.value().map_or(Ok(Cell::Null), cell)
        };
        (0..row.field_count()).map(read).collect::<deserialize::Result<_>>().map(Self)
    }
}

impl PostgresCells {
    /// The values of a row of this table.
    pub(super) fn values(self, table: &Table, currency: &Currency) -> Result<Values, Corrupt> {
        let columns = table.columns.iter().zip(self.0);
        columns
            .map(|(column, cell)| known(column.name, value(column.kind, column.name, cell, currency)?))
            .collect()
    }
}

/// The value of a cell; `None` if a column of this kind has no such cell.
fn value(
    kind: ColumnKind,
    name: &'static str,
    cell: Cell,
    currency: &Currency,
) -> Result<Option<Value>, Corrupt> {
    Ok(Some(match (kind, cell) {
        (ColumnKind::Integer, Cell::Null) => Value::Integer(None),
        (ColumnKind::Integer, Cell::Integer(number)) => Value::Integer(Some(number)),
        (ColumnKind::Boolean, Cell::Null) => Value::Boolean(None),
        (ColumnKind::Boolean, Cell::Boolean(is)) => Value::Boolean(Some(is)),
        (ColumnKind::Text, Cell::Null) => Value::Text(None),
        (ColumnKind::Text, Cell::Text(text)) => Value::Text(Some(text)),
        (ColumnKind::Real, Cell::Null) => Value::Real(None),
        (ColumnKind::Real, Cell::Real(number)) => Value::Real(Some(number)),
        (ColumnKind::Money, Cell::Null) => Value::Money(None),
        (ColumnKind::Money, Cell::Numeric(sum)) => Value::Money(Some(Sum::from(sum).money(currency, name)?)),
        (ColumnKind::Time, Cell::Null) => Value::Time(None),
        (ColumnKind::Time, Cell::Time(at)) => Value::Time(Some(Timestamp::new(at))),
        (ColumnKind::Id, Cell::Null) => Value::Id(None),
        (ColumnKind::Id, Cell::Id(id)) => Value::Id(Some(id)),
        (ColumnKind::Bytes, Cell::Null) => Value::Bytes(None),
        (ColumnKind::Bytes, Cell::Bytes(bytes)) => Value::Bytes(Some(bytes)),
        (ColumnKind::Json, Cell::Null) => Value::Json(None),
        (ColumnKind::Json, Cell::Json(text)) => Value::Json(Some(canonical_json(&text)?)),
        _ => return Ok(None),
    }))
}

/// The values of one column of many rows.
enum ColumnArray {
    Integer(Vec<Option<i64>>),
    Boolean(Vec<Option<bool>>),
    Text(Vec<Option<String>>),
    Real(Vec<Option<f64>>),
    Money(Vec<Option<BigDecimal>>),
    Time(Vec<Option<OffsetDateTime>>),
    Id(Vec<Option<Uuid>>),
    Bytes(Vec<Option<Vec<u8>>>),
    Json(Vec<Option<String>>),
}

impl ColumnArray {
    const fn of(kind: ColumnKind) -> Self {
        match kind {
            ColumnKind::Integer => Self::Integer(Vec::new()),
            ColumnKind::Boolean => Self::Boolean(Vec::new()),
            ColumnKind::Text => Self::Text(Vec::new()),
            ColumnKind::Real => Self::Real(Vec::new()),
            ColumnKind::Money => Self::Money(Vec::new()),
            ColumnKind::Time => Self::Time(Vec::new()),
            ColumnKind::Id => Self::Id(Vec::new()),
            ColumnKind::Bytes => Self::Bytes(Vec::new()),
            ColumnKind::Json => Self::Json(Vec::new()),
        }
    }

    /// Adds a value; `None` if it is of another kind.
    fn push(&mut self, value: Value, currency: &Currency) -> Option<()> {
        match (self, value) {
            (Self::Integer(array), Value::Integer(number)) => array.push(number),
            (Self::Boolean(array), Value::Boolean(is)) => array.push(is),
            (Self::Text(array), Value::Text(text)) => array.push(text),
            (Self::Real(array), Value::Real(number)) => array.push(number),
            (Self::Money(array), Value::Money(sum)) => array.push(sum.map(|sum| currency.to_decimal(sum))),
            (Self::Time(array), Value::Time(at)) => array.push(at.map(Timestamp::to_utc)),
            (Self::Id(array), Value::Id(id)) => array.push(id),
            (Self::Bytes(array), Value::Bytes(bytes)) => array.push(bytes),
            (Self::Json(array), Value::Json(text)) => array.push(text),
            _ => return None,
        }
        Some(())
    }

    fn bind<'b>(&'b self, out: &mut AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        match self {
            Self::Integer(array) => out.push_bind_param::<Array<Nullable<BigInt>>, _>(array),
            Self::Boolean(array) => out.push_bind_param::<Array<Nullable<Bool>>, _>(array),
            Self::Text(array) => out.push_bind_param::<Array<Nullable<Text>>, _>(array),
            Self::Real(array) => out.push_bind_param::<Array<Nullable<Double>>, _>(array),
            Self::Money(array) => out.push_bind_param::<Array<Nullable<Numeric>>, _>(array),
            Self::Time(array) => out.push_bind_param::<Array<Nullable<Timestamptz>>, _>(array),
            Self::Id(array) => out.push_bind_param::<Array<Nullable<SqlUuid>>, _>(array),
            Self::Bytes(array) => out.push_bind_param::<Array<Nullable<Bytea>>, _>(array),
            Self::Json(array) => out.push_bind_param::<Array<Nullable<Json>>, _>(array),
        }
    }
}

/// Adds any number of rows to a table, with the ids that they have.
pub(super) struct InsertRows {
    table: &'static Table,
    arrays: Vec<ColumnArray>,
}

impl InsertRows {
    /// The insert of these rows.
    ///
    /// # Errors
    /// When a value is of another kind than its column.
    pub(super) fn of(table: &'static Table, rows: Vec<Values>, currency: &Currency) -> Result<Self, Corrupt> {
        let mut arrays: Vec<ColumnArray> =
            table.columns.iter().map(|column| ColumnArray::of(column.kind)).collect();
        for row in rows {
            for ((array, value), column) in arrays.iter_mut().zip(row).zip(table.columns) {
                known(column.name, array.push(value, currency))?;
            }
        }
        Ok(Self { table, arrays })
    }
}

impl QueryFragment<Pg> for InsertRows {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("INSERT INTO ");
        out.push_sql(self.table.name);
        out.push_sql(" (");
        out.push_sql(&Table::names(self.table.columns));
        out.push_sql(") OVERRIDING SYSTEM VALUE SELECT * FROM unnest(");
        let separators = [""].into_iter().chain(repeat_n(", ", self.arrays.len()));
        for (separator, array) in separators.zip(&self.arrays) {
            out.push_sql(separator);
            array.bind(&mut out)?;
        }
        out.push_sql(")");
        Ok(())
    }
}

impl QueryId for InsertRows {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

/// Reads rows of a table after a key, ordered by key.
pub(super) struct ReadRows {
    table: &'static Table,
    after: Vec<KeyValue>,
    limit: i64,
}

/// A value of a key as it is bound.
enum KeyValue {
    Integer(i64),
    Time(OffsetDateTime),
    Id(Uuid),
    Bytes(Vec<u8>),
    /// Of a column that is compared by its bytes.
    Text(String),
}

impl ReadRows {
    /// The read of at most this many rows, after a key or from the first one.
    ///
    /// # Errors
    /// When a value of the key is null, or of a kind that no key has.
    pub(super) fn of(table: &'static Table, after: Option<&[Value]>, limit: i64) -> Result<Self, Corrupt> {
        let bound = |value: &Value| {
            let bound = match value.clone() {
                Value::Integer(number) => number.map(KeyValue::Integer),
                Value::Time(at) => at.map(|at: Timestamp| KeyValue::Time(at.to_utc())),
                Value::Id(id) => id.map(KeyValue::Id),
                Value::Bytes(bytes) => bytes.map(KeyValue::Bytes),
                Value::Text(text) => text.map(KeyValue::Text),
                _ => None,
            };
            known("key", bound)
        };
        let after = after.unwrap_or_default().iter().map(bound).collect::<Result<_, _>>()?;
        Ok(Self { table, after, limit })
    }
}

impl QueryFragment<Pg> for ReadRows {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        let key = Table::names(self.table.key());
        out.push_sql("SELECT ");
        out.push_sql(&Table::names(self.table.columns));
        out.push_sql(" FROM ");
        out.push_sql(self.table.name);
        if !self.after.is_empty() {
            out.push_sql(" WHERE (");
            out.push_sql(&key);
            out.push_sql(") > (");
            let separators = [""].into_iter().chain(repeat_n(", ", self.after.len()));
            for (separator, value) in separators.zip(&self.after) {
                out.push_sql(separator);
                match value {
                    KeyValue::Integer(number) => out.push_bind_param::<BigInt, _>(number)?,
                    KeyValue::Time(at) => out.push_bind_param::<Timestamptz, _>(at)?,
                    KeyValue::Id(id) => out.push_bind_param::<SqlUuid, _>(id)?,
                    KeyValue::Bytes(bytes) => out.push_bind_param::<Bytea, _>(bytes)?,
                    KeyValue::Text(text) => out.push_bind_param::<Text, _>(text)?,
                }
            }
            out.push_sql(")");
        }
        out.push_sql(" ORDER BY ");
        out.push_sql(&key);
        out.push_sql(" LIMIT ");
        out.push_bind_param::<BigInt, _>(&self.limit)
    }
}

impl QueryId for ReadRows {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl diesel::query_builder::Query for ReadRows {
    type SqlType = diesel::sql_types::Untyped;
}
