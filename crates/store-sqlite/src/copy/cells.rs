//! Columns of any table, as values of a copy.

use std::iter::repeat_n;

use cuepoint_domain::money::Currency;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::copy::{CopiedRow as Values, Value, canonical_json};
use cuepoint_store_sql::rows::{Corrupt, Sum, known};
use cuepoint_store_sql::table::{ColumnKind, Table};
use diesel::QueryResult;
use diesel::deserialize::{self, FromSql, QueryableByName};
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::query_dsl::RunQueryDsl;
use diesel::row::{Field, NamedRow, Row};
use diesel::sql_types::{BigInt, Binary, Double, Nullable, Text};
use diesel::sqlite::{Sqlite, SqliteType};
use uuid::Uuid;

/// The value of a column as SQLite stores it.
#[derive(Clone, Debug)]
pub(super) enum Cell {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

/// A row of any table.
pub(super) struct SqliteCells(Vec<Cell>);

impl QueryableByName<Sqlite> for SqliteCells {
    fn build<'a>(row: &impl NamedRow<'a, Sqlite>) -> deserialize::Result<Self> {
        let cell = |place| -> deserialize::Result<Cell> {
            let field = Row::get(row, place).ok_or("a column is missing")?;
            let Some(value) = field.value() else { return Ok(Cell::Null) };
            Ok(match value.value_type() {
                None => Cell::Null,
                Some(SqliteType::SmallInt | SqliteType::Integer | SqliteType::Long) => {
                    Cell::Integer(<i64 as FromSql<BigInt, Sqlite>>::from_sql(value)?)
                }
                Some(SqliteType::Float | SqliteType::Double) => {
                    Cell::Real(<f64 as FromSql<Double, Sqlite>>::from_sql(value)?)
                }
                Some(SqliteType::Text) => Cell::Text(<String as FromSql<Text, Sqlite>>::from_sql(value)?),
                Some(SqliteType::Binary) => {
                    Cell::Blob(<Vec<u8> as FromSql<Binary, Sqlite>>::from_sql(value)?)
                }
            })
        };
        (0..row.field_count()).map(cell).collect::<deserialize::Result<_>>().map(Self)
    }
}

impl SqliteCells {
    /// The values of a row of this table.
    pub(super) fn values(self, table: &Table, currency: &Currency) -> Result<Values, Corrupt> {
        let columns = table.columns.iter().zip(self.0);
        columns.map(|(column, cell)| known(column.name, value(column.kind, cell, currency)?)).collect()
    }
}

/// The value of a cell; `None` if a column of this kind has no such cell.
fn value(kind: ColumnKind, cell: Cell, currency: &Currency) -> Result<Option<Value>, Corrupt> {
    Ok(Some(match (kind, cell) {
        (ColumnKind::Integer, Cell::Null) => Value::Integer(None),
        (ColumnKind::Integer, Cell::Integer(number)) => Value::Integer(Some(number)),
        (ColumnKind::Boolean, Cell::Null) => Value::Boolean(None),
        (ColumnKind::Boolean, Cell::Integer(is @ (0 | 1))) => Value::Boolean(Some(is == 1)),
        (ColumnKind::Text, Cell::Null) => Value::Text(None),
        (ColumnKind::Text, Cell::Text(text)) => Value::Text(Some(text)),
        (ColumnKind::Real, Cell::Null) => Value::Real(None),
        (ColumnKind::Real, Cell::Real(number)) => Value::Real(Some(number)),
        (ColumnKind::Money, Cell::Null) => Value::Money(None),
        (ColumnKind::Money, Cell::Text(text)) => {
            Value::Money(Some(Sum::from_minor_units(&text).money(currency, "sum")?))
        }
        (ColumnKind::Time, Cell::Null) => Value::Time(None),
        (ColumnKind::Time, Cell::Integer(micros)) => Value::Time(Some(Timestamp::from_unix_micros(micros))),
        (ColumnKind::Id, Cell::Null) => Value::Id(None),
        (ColumnKind::Id, Cell::Blob(bytes)) => Value::Id(Some(known("id", Uuid::from_slice(&bytes).ok())?)),
        (ColumnKind::Bytes, Cell::Null) => Value::Bytes(None),
        (ColumnKind::Bytes, Cell::Blob(bytes)) => Value::Bytes(Some(bytes)),
        (ColumnKind::Json, Cell::Null) => Value::Json(None),
        (ColumnKind::Json, Cell::Text(text)) => Value::Json(Some(canonical_json(&text)?)),
        _ => return Ok(None),
    }))
}

/// A value as it is bound, nullable of one type for each kind of column, so that each table has one prepared
/// statement.
enum Bound {
    Integer(Option<i64>),
    Real(Option<f64>),
    Text(Option<String>),
    Blob(Option<Vec<u8>>),
}

impl From<Value> for Bound {
    fn from(value: Value) -> Self {
        match value {
            Value::Integer(number) => Self::Integer(number),
            Value::Boolean(is) => Self::Integer(is.map(i64::from)),
            Value::Text(text) | Value::Json(text) => Self::Text(text),
            Value::Real(number) => Self::Real(number),
            Value::Money(sum) => Self::Text(sum.map(|sum| sum.minor().to_string())),
            Value::Time(at) => Self::Integer(at.map(Timestamp::unix_micros)),
            Value::Id(id) => Self::Blob(id.map(|id| id.as_bytes().to_vec())),
            Value::Bytes(bytes) => Self::Blob(bytes),
        }
    }
}

fn bind<'b>(value: &'b Bound, out: &mut AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
    match value {
        Bound::Integer(number) => out.push_bind_param::<Nullable<BigInt>, _>(number),
        Bound::Real(number) => out.push_bind_param::<Nullable<Double>, _>(number),
        Bound::Text(text) => out.push_bind_param::<Nullable<Text>, _>(text),
        Bound::Blob(bytes) => out.push_bind_param::<Nullable<Binary>, _>(bytes),
    }
}

/// A statement with values behind its text; prepared once for each text.
pub(super) struct Statement<'t> {
    /// The text before the values.
    before: &'t str,
    values: Vec<Bound>,
    /// The text after them.
    after: &'t str,
}

impl<'t> Statement<'t> {
    pub(super) fn of(before: &'t str, values: impl IntoIterator<Item = Value>, after: &'t str) -> Self {
        Self { before, values: values.into_iter().map(Into::into).collect(), after }
    }
}

impl QueryFragment<Sqlite> for Statement<'_> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql(self.before);
        let separators = [""].into_iter().chain(repeat_n(", ", self.values.len()));
        for (separator, value) in separators.zip(&self.values) {
            out.push_sql(separator);
            bind(value, &mut out)?;
        }
        out.push_sql(self.after);
        Ok(())
    }
}

impl QueryId for Statement<'_> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl diesel::query_builder::Query for Statement<'_> {
    type SqlType = diesel::sql_types::Untyped;
}

impl<Connection> RunQueryDsl<Connection> for Statement<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_of_the_wrong_type_are_refused() {
        let currency = Currency::new("USD", 2).unwrap();
        for (kind, cell) in [
            (ColumnKind::Integer, Cell::Text("1".to_owned())),
            (ColumnKind::Boolean, Cell::Integer(2)),
            (ColumnKind::Text, Cell::Blob(vec![b'a'])),
            (ColumnKind::Real, Cell::Integer(1)),
            (ColumnKind::Time, Cell::Real(1.0)),
            (ColumnKind::Bytes, Cell::Text(String::new())),
        ] {
            assert_eq!(value(kind, cell, &currency).unwrap(), None, "{kind:?}");
        }
        for (kind, cell) in [
            (ColumnKind::Money, Cell::Text("01".to_owned())),
            (ColumnKind::Id, Cell::Blob(vec![0; 15])),
            (ColumnKind::Json, Cell::Text("{".to_owned())),
        ] {
            value(kind, cell, &currency).unwrap_err();
        }
    }
}
