//! Rows with ids that the database makes.

use diesel::backend::Backend;
use diesel::deserialize::{self, FromStaticSqlRow, Queryable};
use diesel::expression::{Expression, Selectable};

/// A row without the column of its id.
pub trait NumberedRow {
    /// The column of the id.
    type Id: Expression + Default;
}

/// A row with its id.
#[derive(Clone, Debug)]
pub struct Numbered<R> {
    pub id: i64,
    /// The other columns.
    pub row: R,
}

impl<R: NumberedRow + Selectable<DB>, DB: Backend> Selectable<DB> for Numbered<R>
where
    (R::Id, R::SelectExpression): Expression,
{
    type SelectExpression = (R::Id, R::SelectExpression);

    fn construct_selection() -> Self::SelectExpression {
        (R::Id::default(), R::construct_selection())
    }
}

impl<R, ST, DB: Backend> Queryable<ST, DB> for Numbered<R>
where
    (i64, R): FromStaticSqlRow<ST, DB>,
{
    type Row = (i64, R);

    fn build((id, row): Self::Row) -> deserialize::Result<Self> {
        Ok(Self { id, row })
    }
}
