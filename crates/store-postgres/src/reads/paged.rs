//! One page of a list together with the length of the whole list, in one statement: both as of one moment, also for
//! a page past the end.

use cuepoint_domain::page::{PageRequest, Rows};
use diesel::pg::Pg;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, Nullable};
use diesel::{QueryResult, Selectable};

/// The order of most lists: the newest first.
pub(crate) const NEWEST_FIRST: &str = "page.created_at DESC, page.id DESC";

/// A statement that counts by one query and reads by another.
#[derive(QueryId)]
pub(crate) struct Paged<Count, Page> {
    pub(crate) count: Count,
    pub(crate) page: Page,
    /// The order of `page`, once more: a join keeps none.
    pub(crate) order: &'static str,
}

impl<Count, Page: Query> Query for Paged<Count, Page> {
    type SqlType = (BigInt, Nullable<Page::SqlType>);
}

impl<Count: QueryFragment<Pg>, Page: QueryFragment<Pg>> QueryFragment<Pg> for Paged<Count, Page> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("SELECT counted.total, page.* FROM (");
        self.count.walk_ast(out.reborrow())?;
        out.push_sql(") AS counted (total) LEFT JOIN (");
        self.page.walk_ast(out.reborrow())?;
        out.push_sql(") AS page ON true ORDER BY ");
        out.push_sql(self.order);
        Ok(())
    }
}

/// The columns of a row, which may all be missing.
pub(crate) fn columns<Row: Selectable<Pg>>() -> Row::SelectExpression {
    Row::construct_selection()
}

/// How many rows the page has at most, and how many come before it; a page that no list reaches comes after them all.
pub(crate) fn limits(asked: PageRequest) -> (i64, i64) {
    (i64::from(asked.size()), asked.offset().unwrap_or(i64::MAX))
}

/// The rows of a page as they come: the length of the list beside each, or alone where the page is empty.
pub(crate) fn page<Row, T, E>(
    counted: Vec<(i64, Option<Row>)>,
    convert: impl FnMut(Row) -> Result<T, E>,
) -> Result<Rows<T>, E> {
    let total = counted.first().map_or(0, |(total, _)| u64::try_from(*total).unwrap_or(0));
    let rows = counted.into_iter().filter_map(|(_, row)| row).map(convert).collect::<Result<_, _>>()?;
    Ok(Rows { rows, total })
}
