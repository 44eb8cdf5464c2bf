//! A page of a list together with the length of the whole list, in one statement.

use std::marker::PhantomData;

use cuepoint_domain::page::{PageRequest, Rows};
use diesel::pg::Pg;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::BigInt;
use diesel::{QueryResult, Selectable};

/// The order of a list, as a type, because prepared statements are cached by their type.
pub(crate) trait ListOrder: QueryId {
    /// The `ORDER BY` expressions over `page`.
    const SQL: &'static str;
}

/// Defines orders of lists, each as a type.
macro_rules! orders {
    ($($(#[$doc:meta])* $order:ident = $sql:literal;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, QueryId)]
        pub(crate) struct $order;

        impl ListOrder for $order {
            const SQL: &'static str = $sql;
        }
    )+};
}

orders! {
    /// The newest first, as in most lists.
    NewestFirst = "page.created_at DESC, page.id DESC";
    /// Sessions: the most recently begun first.
    BeganLastFirst = "page.began_at DESC, page.id DESC";
    /// Gigs: the most recently opened first.
    OpenedLastFirst = "page.opened_at DESC, page.id DESC";
    /// Blocks: the newest first.
    BlockedLastFirst = "page.at DESC, page.guest_id DESC";
    /// The highest id first.
    LastIdFirst = "page.id DESC";
    /// The highest number first.
    LastNumberFirst = "page.number DESC";
    /// Entries of a wallet: the highest number first.
    LastEntryFirst = "page.seq DESC";
    /// Provider messages: unresolved ones first, then the newest.
    UnresolvedFirst = "(page.resolved_at IS NULL) DESC, page.id DESC";
    /// Money in suspense: unsettled amounts first, then the most recent.
    UnsettledFirst = "page.settled_operation IS NOT NULL, page.suspense_at DESC, page.id DESC";
}

/// A statement that counts by one query and reads by another.
#[derive(QueryId)]
pub(crate) struct Paged<Count, Page, Order> {
    pub(crate) count: Count,
    pub(crate) page: Page,
    /// The order of `page`, repeated: a subquery does not preserve it.
    pub(crate) order: PhantomData<Order>,
}

impl<Count, Page: Query, Order> Query for Paged<Count, Page, Order> {
    type SqlType = (BigInt, Page::SqlType);
}

impl<Count: QueryFragment<Pg>, Page: QueryFragment<Pg>, Order: ListOrder> QueryFragment<Pg>
    for Paged<Count, Page, Order>
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("SELECT (");
        self.count.walk_ast(out.reborrow())?;
        out.push_sql("), page.* FROM (");
        self.page.walk_ast(out.reborrow())?;
        out.push_sql(") AS page ORDER BY ");
        out.push_sql(Order::SQL);
        Ok(())
    }
}

/// The rows of a page, and the length of the list.
pub(crate) struct Counted<Row> {
    pub(crate) rows: Vec<Row>,
    pub(crate) total: i64,
}

/// Reads a page, given a list and the order of its rows as expressions that can be evaluated twice, and the type of
/// that order.
///
/// The length is a column of each row, so a page past the end of the list takes a second statement. It is a
/// macro because the compiler cannot prove that the future of a function generic over statements is `Send`.
macro_rules! page {
    (
        $connection:ident, $asked:expr, $list:expr, $order:expr => $order_type:ident,
        $columns:expr => $row:ty, $value:expr
    ) => {{
        let (limit, offset) = $crate::reads::limits($asked);
        let page = $list.order($order).limit(limit).offset(offset).select($columns);
        let order = std::marker::PhantomData::<$crate::reads::$order_type>;
        let paged = $crate::reads::Paged { count: $list.count(), page, order };
        let counted: Vec<(i64, $row)> = paged.load(&mut $connection).await?;
        let total = match &*counted {
            [(total, _), ..] => *total,
            [] if offset == 0 => 0,
            [] => $list.count().get_result(&mut $connection).await?,
        };
        let rows = counted.into_iter().map(|(_, row)| row).collect();
        Ok($crate::reads::Counted { rows, total }.page($value)?)
    }};
}

pub(crate) use page;

impl<Row> Counted<Row> {
    /// Converts the rows to a page of the domain.
    pub(crate) fn page<T, E>(self, mut convert: impl FnMut(Row) -> Result<T, E>) -> Result<Rows<T>, E> {
        let mut rows = Vec::with_capacity(self.rows.len());
        for row in self.rows {
            rows.push(convert(row)?);
        }
        Ok(Rows { rows, total: u64::try_from(self.total).unwrap_or(0) })
    }
}

/// The columns of a row.
pub(crate) fn columns<Row: Selectable<Pg>>() -> Row::SelectExpression {
    Row::construct_selection()
}

/// The maximum number of rows of the page and the number of rows before it; an offset that overflows is past
/// the end of every list.
pub(crate) fn limits(asked: PageRequest) -> (i64, i64) {
    (i64::from(asked.size()), asked.offset().unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use std::any::TypeId;

    use diesel::prelude::*;

    use super::*;
    use cuepoint_store_sql::rows::StoredTopup;
    use cuepoint_store_sql::schema::topups::table;

    #[test]
    fn lists_in_different_orders_are_prepared_separately() {
        fn prepared_as<Order: ListOrder>() -> Option<TypeId> {
            let (count, page) = (table.count(), table.select(columns::<StoredTopup>()));
            id_of(&Paged { count, page, order: PhantomData::<Order> })
        }
        fn id_of<T: QueryId>(_: &T) -> Option<TypeId> {
            T::query_id()
        }
        assert!(prepared_as::<NewestFirst>().is_some());
        assert_eq!(prepared_as::<NewestFirst>(), prepared_as::<NewestFirst>());
        assert_ne!(prepared_as::<NewestFirst>(), prepared_as::<LastIdFirst>());
    }
}
