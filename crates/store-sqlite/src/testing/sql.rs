//! SQL of tests on a database file, beside the server that uses it.

use std::path::Path;

use diesel::connection::SimpleConnection;
use diesel::deserialize::{self, FromSql, QueryableByName};
use diesel::row::{Field, NamedRow, Row};
use diesel::sql_types::{Nullable, Text};
use diesel::sqlite::Sqlite;
use diesel::{RunQueryDsl, SqliteConnection};

use crate::connect::connection::{Access, open};

/// A row, each column as text.
struct TextRow(Vec<Option<String>>);

impl QueryableByName<Sqlite> for TextRow {
    fn build<'a>(row: &impl NamedRow<'a, Sqlite>) -> deserialize::Result<Self> {
        let column = |place: usize| {
            let field = Row::<'a, Sqlite>::get(row, place);
            let value = field.as_ref().and_then(Field::value);
            <Option<String> as FromSql<Nullable<Text>, Sqlite>>::from_nullable_sql(value)
        };
        Ok(Self((0..row.field_count()).map(column).collect::<Result<_, _>>()?))
    }
}

/// Returns the rows of one statement, each column as text.
#[must_use]
pub fn rows(database: &Path, statement: &str) -> Vec<Vec<Option<String>>> {
    let mut connection = open(database, Access::Writer).expect("a connection");
    let rows = diesel::sql_query(statement).load::<TextRow>(&mut connection);
    rows.expect("the rows of the statement").into_iter().map(|TextRow(columns)| columns).collect()
}

/// Runs several statements.
pub fn execute(database: &Path, statements: &str) {
    let mut connection = open(database, Access::Writer).expect("a connection");
    connection.batch_execute(statements).expect("the statements");
}

/// The lock of the database's only writer, held until it is dropped.
pub struct WriteLock(SqliteConnection);

impl WriteLock {
    /// Waits for the lock for at most a second.
    #[must_use]
    pub fn take(database: &Path) -> Self {
        let mut connection = open(database, Access::Writer).expect("a connection");
        connection.batch_execute("BEGIN IMMEDIATE").expect("the lock");
        Self(connection)
    }
}

impl std::fmt::Debug for WriteLock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WriteLock").finish_non_exhaustive()
    }
}

impl Drop for WriteLock {
    fn drop(&mut self) {
        // Closing the connection releases the lock as well.
        let _ = self.0.batch_execute("ROLLBACK");
    }
}
