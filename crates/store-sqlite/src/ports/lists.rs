//! Pages of lists.

use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_store_sql::rows::Corrupt;

use crate::connect::failure::SqliteFailure;

/// The limit and offset of a page.
pub(super) fn limits(asked: PageRequest) -> (i64, i64) {
    (i64::from(asked.size()), asked.offset().unwrap_or(i64::MAX))
}

/// Converts the rows of a page of a list with this many rows.
pub(super) fn rows<Row, T>(
    total: i64,
    rows: Vec<Row>,
    value: impl FnMut(Row) -> Result<T, Corrupt>,
) -> Result<Rows<T>, SqliteFailure> {
    let rows = rows.into_iter().map(value).collect::<Result<_, _>>()?;
    Ok(Rows { rows, total: u64::try_from(total).unwrap_or_default() })
}

/// Reads a page, given the list and the order of its rows as expressions that can be evaluated twice.
macro_rules! page {
    ($connection:ident, $asked:ident, $list:expr, $order:expr, $row:ty, $value:expr) => {{
        let (limit, offset) = $crate::ports::lists::limits($asked);
        let total: i64 = $list.count().get_result($connection)?;
        let found: Vec<$row> =
            $list.order($order).limit(limit).offset(offset).select(<$row>::as_select()).load($connection)?;
        $crate::ports::lists::rows(total, found, $value)
    }};
}

pub(super) use page;
