//! Rows as arrays of PostgreSQL.

use std::fmt;
use std::io::Write;

use diesel::QueryResult;
use diesel::pg::Pg;
use diesel::query_builder::AstPass;
use diesel::serialize::{self, IsNull, Output, ToSql};
use diesel::sql_types::{Array, HasSqlType};

use super::{ColumnRole, TableRow};
use crate::sql_types::ColumnType;
use crate::sql_types::binary_format::Encoded;

/// The length of null in the place of the length of an element.
const NULL: i32 = -1;
/// The bytes of an array before its elements, and of an element of a common length.
const HEAD: usize = 20;
const USUAL_ELEMENT: usize = 16;

/// A column of some rows, bound as an array.
pub struct ArrayColumn<T: ColumnType>(Vec<T::Value>);

impl<T: ColumnType> ArrayColumn<T> {
    /// A column with room for this many values.
    #[must_use]
    pub fn with_capacity(rows: usize) -> Self {
        Self(Vec::with_capacity(rows))
    }

    /// Adds the value of a row.
    pub fn push(&mut self, value: T::Value) {
        self.0.push(value);
    }
}

impl<T: ColumnType> fmt::Debug for ArrayColumn<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArrayColumn").finish_non_exhaustive()
    }
}

/// Written at once, since a buffer of Diesel starts empty and grows with every element.
impl<T: Encoded> ToSql<Array<T::Sql>, Pg> for ArrayColumn<T>
where
    Pg: HasSqlType<T::Sql>,
{
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        let element = <Pg as HasSqlType<T::Sql>>::metadata(out.metadata_lookup()).oid()?;
        let mut bytes = Vec::with_capacity(self.0.len().saturating_mul(USUAL_ELEMENT).saturating_add(HEAD));
        // One dimension, no flags, the type, the number of elements, and the number of the first.
        bytes.extend_from_slice(&1_i32.to_be_bytes());
        bytes.extend_from_slice(&0_i32.to_be_bytes());
        bytes.extend_from_slice(&element.to_be_bytes());
        bytes.extend_from_slice(&i32::try_from(self.0.len())?.to_be_bytes());
        bytes.extend_from_slice(&1_i32.to_be_bytes());
        for value in &self.0 {
            let before = bytes.len();
            bytes.extend_from_slice(&NULL.to_be_bytes());
            let is_null = T::encode(value, &mut bytes)?;
            if let Some((length, element)) = bytes.get_mut(before..).and_then(<[u8]>::split_first_chunk_mut)
                && is_null == IsNull::No
            {
                *length = i32::try_from(element.len())?.to_be_bytes();
            }
        }
        out.write_all(&bytes)?;
        Ok(IsNull::No)
    }
}

/// A type of row that PostgreSQL's statements bind as one array per column.
pub trait ArrayRow: TableRow {
    /// The arrays.
    type Arrays: Send + Sync;

    /// Arrays with room for this many rows in the wanted columns.
    fn arrays(rows: usize, wanted: fn(ColumnRole) -> bool) -> Self::Arrays;

    /// Adds the row to the arrays of the wanted columns.
    fn push(self, arrays: &mut Self::Arrays, wanted: fn(ColumnRole) -> bool);

    /// Binds the arrays of the wanted columns, each after the next separator.
    ///
    /// # Errors
    /// When a value cannot be bound.
    fn bind_arrays<'b>(
        arrays: &'b Self::Arrays,
        wanted: fn(ColumnRole) -> bool,
        separators: &mut dyn Iterator<Item = &'static str>,
        out: &mut AstPass<'_, 'b, Pg>,
    ) -> QueryResult<()>;
}
