//! Batched lists of music requests: all lists of one form are read by one statement.

use std::cmp::Reverse;
use std::sync::LazyLock;

use cuepoint_domain::ids::UserId;
use cuepoint_domain::music_request::{Due, RequestFilter, StoredMatch};
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::rows::StoredRequest;
use cuepoint_store_sql::sql_types::UtcTime;
use diesel::QueryResult;
use diesel::pg::Pg;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{Array, BigInt, Nullable, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use futures_util::TryStreamExt as _;
use futures_util::future::try_join_all;

use super::batcher::BatchedRead;
use super::{Counted, limits};
use crate::connect::failure::DatabaseFailure;
use crate::statement::{Columns, SqlText};

/// The index of a list in its batch, its length, and a row of its page.
type ListedRow = (i64, i64, Option<StoredRequest>);

/// A page of a list.
#[derive(Clone, Copy)]
pub(crate) struct RequestList {
    pub(crate) filter: RequestFilter,
    pub(crate) page: PageRequest,
}

impl BatchedRead for RequestList {
    type Answer = Counted<StoredRequest>;
    // Few, since all of them wait for the longest list.
    const MAX_BATCH: usize = 16;

    async fn answer(
        reads: &[Self],
        connection: &AsyncPgConnection,
    ) -> Result<Vec<Self::Answer>, DatabaseFailure> {
        let mut forms: Vec<Vec<(usize, Self)>> = Vec::new();
        for (place, list) in reads.iter().copied().enumerate() {
            let alike = |form: &&mut Vec<(usize, Self)>| {
                form.iter().any(|(_, other)| are_alike(&list.filter, &other.filter))
            };
            match forms.iter_mut().find(alike) {
                Some(form) => form.push((place, list)),
                None => forms.push(vec![(place, list)]),
            }
        }
        let read = forms.into_iter().map(async |form| {
            let (places, lists): (Vec<usize>, Vec<Self>) = form.into_iter().unzip();
            let answers = read(&lists, connection).await?;
            Ok::<_, DatabaseFailure>(places.into_iter().zip(answers))
        });
        let mut answers: Vec<_> = try_join_all(read).await?.into_iter().flatten().collect();
        answers.sort_unstable_by_key(|(place, _)| *place);
        Ok(answers.into_iter().map(|(_, answer)| answer).collect())
    }
}

/// Whether two filters have the same form and so the same statement.
fn are_alike(one: &RequestFilter, other: &RequestFilter) -> bool {
    one.requester.is_some() == other.requester.is_some()
        && one.dj.is_some() == other.dj.is_some()
        && one.status == other.status
}

/// Reads lists of one form.
async fn read(
    lists: &[RequestList],
    mut connection: &AsyncPgConnection,
) -> QueryResult<Vec<Counted<StoredRequest>>> {
    let [RequestList { filter: form, .. }, ..] = lists else { return Ok(Vec::new()) };
    let statement = Lists {
        form: *form,
        requesters: lists.iter().map(|list| list.filter.requester.map(UserId::get)).collect(),
        djs: lists.iter().map(|list| list.filter.dj.map(UserId::get)).collect(),
        moments: lists.iter().map(|list| list.filter.now).collect(),
        sizes: lists.iter().map(|list| limits(list.page).0).collect(),
        offsets: lists.iter().map(|list| limits(list.page).1).collect(),
    };
    let empty = |list: &RequestList| {
        let most = usize::try_from(list.page.size()).unwrap_or_default();
        Counted { rows: Vec::with_capacity(most), total: 0 }
    };
    let mut answers: Vec<_> = lists.iter().map(empty).collect();
    let mut rows = statement.load_stream::<ListedRow>(&mut connection).await?;
    while let Some((number, total, row)) = rows.try_next().await? {
        let place = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        if let Some(answer) = place.and_then(|place| answers.get_mut(place)) {
            answer.total = total;
            answer.rows.extend(row);
        }
    }
    // The rows arrive in this order, but a join does not guarantee it.
    answers.iter_mut().for_each(|answer| answer.rows.sort_by_key(|row| Reverse((row.created_at, row.id))));
    Ok(answers)
}

/// The statement for lists of one form.
struct Lists {
    form: RequestFilter,
    requesters: Vec<Option<i64>>,
    djs: Vec<Option<i64>>,
    moments: Vec<Timestamp>,
    sizes: Vec<i64>,
    offsets: Vec<i64>,
}

/// The condition in the file that is replaced by that of a form.
const FILTER: &str = "requester_id = asked.requester /* filter */";
/// The parts of the file before, between and after its conditions.
static PARTS: LazyLock<Vec<SqlText>> =
    LazyLock::new(|| include_str!("request_lists.sql").split(FILTER).map(SqlText::parse).collect());

impl QueryId for Lists {
    type QueryId = ();
    // Cached by its text, which depends on the form.
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for Lists {
    type SqlType = (BigInt, BigInt, Nullable<Columns<StoredRequest>>);
}

impl QueryFragment<Pg> for Lists {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        for (place, text) in PARTS.iter().enumerate() {
            if place > 0 {
                out.push_sql(" ");
                push_filter(&self.form, &mut out)?;
                out.push_sql(" ");
            }
            for (sql, parameter) in &text.parts {
                out.push_sql(sql);
                match parameter {
                    1 => out.push_bind_param::<Array<Nullable<BigInt>>, _>(&self.requesters)?,
                    2 => out.push_bind_param::<Array<Nullable<BigInt>>, _>(&self.djs)?,
                    3 => out.push_bind_param::<Array<UtcTime>, _>(&self.moments)?,
                    4 => out.push_bind_param::<Array<BigInt>, _>(&self.sizes)?,
                    _ => out.push_bind_param::<Array<BigInt>, _>(&self.offsets)?,
                }
            }
            out.push_sql(&text.end);
        }
        Ok(())
    }
}

/// Writes the condition that a form places on a request of the list in `asked`.
fn push_filter<'b>(form: &RequestFilter, out: &mut AstPass<'_, 'b, Pg>) -> QueryResult<()> {
    out.push_sql("true");
    if form.requester.is_some() {
        out.push_sql(" AND requester_id = asked.requester");
    }
    if form.dj.is_some() {
        out.push_sql(" AND dj_id = asked.dj");
    }
    let Some(alternatives) = form.stored() else { return Ok(()) };
    let mut lead = std::iter::once(" AND (").chain(std::iter::repeat(" OR "));
    for StoredMatch { stored, due } in alternatives {
        out.push_sql(lead.next().unwrap_or_default());
        out.push_sql("status = ");
        out.push_bind_param::<Text, str>(stored.name())?;
        out.push_sql(match due {
            Due::Either => "",
            Due::Over => " AND expires_at <= asked.now",
            Due::NotYet => " AND expires_at > asked.now",
        });
    }
    out.push_sql(")");
    Ok(())
}
