//! Lists of music requests that are read together: those of one form in one statement.

use std::cmp::Reverse;
use std::marker::PhantomData;

use cuepoint_domain::ids::UserId;
use cuepoint_domain::music_request::{Due, RequestFilter, StoredMatch};
use cuepoint_domain::page::PageRequest;
use diesel::expression::{AppearsOnTable, TypedExpressionType, ValidGrouping, is_aggregate};
use diesel::helper_types::IntoBoxed;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{Array, BigInt, Bool, Nullable, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use futures_util::TryStreamExt as _;
use futures_util::future::try_join_all;
use time::OffsetDateTime;

use super::batcher::Question;
use super::{Counted, columns, limits};
use crate::connect::failure::Failure;
use crate::rows::{MusicRequestRow, column_time};
use crate::schema::music_requests::{self, table};

type Condition = Box<dyn BoxableExpression<table, Pg, SqlType = Nullable<Bool>>>;
/// The place of a list among those that are asked for, its length, and a row of its page.
type ListedRow = (i64, i64, Option<MusicRequestRow>);

/// The page of a list.
#[derive(Clone, Copy)]
pub(crate) struct RequestList {
    pub(crate) filter: RequestFilter,
    pub(crate) page: PageRequest,
}

impl Question for RequestList {
    type Answer = Counted<MusicRequestRow>;
    // Few, since all of them wait for the longest list.
    const AT_ONCE: usize = 16;

    async fn answer(
        questions: &[Self],
        connection: &AsyncPgConnection,
    ) -> Result<Vec<Self::Answer>, Failure> {
        let mut forms: Vec<Vec<(usize, Self)>> = Vec::new();
        for (place, list) in questions.iter().copied().enumerate() {
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
            Ok::<_, Failure>(places.into_iter().zip(answers))
        });
        let mut answers: Vec<_> = try_join_all(read).await?.into_iter().flatten().collect();
        answers.sort_unstable_by_key(|(place, _)| *place);
        Ok(answers.into_iter().map(|(_, answer)| answer).collect())
    }
}

/// Whether two filters are of one form: the same statement finds what they show.
fn are_alike(one: &RequestFilter, other: &RequestFilter) -> bool {
    one.requester.is_some() == other.requester.is_some()
        && one.dj.is_some() == other.dj.is_some()
        && one.status == other.status
}

/// The requests of the list in `asked`, whose filter is of this form.
fn filtered(form: &RequestFilter) -> IntoBoxed<'static, table, Pg> {
    let mut query = table.into_boxed();
    if form.requester.is_some() {
        query = query.filter(music_requests::requester_id.eq(Asked::<BigInt>::column("asked.requester")));
    }
    if form.dj.is_some() {
        query = query.filter(music_requests::dj_id.eq(Asked::<BigInt>::column("asked.dj")));
    }
    let alternatives = form.stored().unwrap_or_default().into_iter().map(matching);
    match alternatives.reduce(|left, right| Box::new(left.or(right))) {
        Some(any) => query.filter(any),
        None => query,
    }
}

/// The stored requests that match one of a filter's alternatives.
fn matching(one: StoredMatch) -> Condition {
    let status = music_requests::status.eq(one.stored.name());
    let now = Asked::<Nullable<Timestamptz>>::column("asked.now");
    match one.due {
        Due::Either => Box::new(status.nullable()),
        Due::Over => Box::new(status.nullable().and(music_requests::expires_at.le(now))),
        Due::NotYet => Box::new(status.nullable().and(music_requests::expires_at.gt(now))),
    }
}

/// Reads lists of one form.
async fn read(
    lists: &[RequestList],
    mut connection: &AsyncPgConnection,
) -> QueryResult<Vec<Counted<MusicRequestRow>>> {
    let [RequestList { filter: form, .. }, ..] = lists else { return Ok(Vec::new()) };
    let statement = Lists {
        count: filtered(form).count(),
        page: filtered(form)
            .order((music_requests::created_at.desc(), music_requests::id.desc()))
            .select(columns::<MusicRequestRow>()),
        requesters: lists.iter().map(|list| list.filter.requester.map(UserId::get)).collect(),
        djs: lists.iter().map(|list| list.filter.dj.map(UserId::get)).collect(),
        moments: lists.iter().map(|list| column_time(list.filter.now)).collect(),
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
    // In their order already, of which a join promises nothing.
    answers.iter_mut().for_each(|answer| answer.rows.sort_by_key(|row| Reverse((row.created_at, row.id))));
    Ok(answers)
}

/// A column of `asked`; unlike SQL in a literal it lets the statement be prepared once for each connection.
struct Asked<Type>(&'static str, PhantomData<Type>);

impl<Type> Asked<Type> {
    const fn column(name: &'static str) -> Self {
        Self(name, PhantomData)
    }
}

impl<Type> QueryId for Asked<Type> {
    type QueryId = ();
    // Its type does not say which column it is.
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<Type: TypedExpressionType> Expression for Asked<Type> {
    type SqlType = Type;
}

impl<Type> QueryFragment<Pg> for Asked<Type> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql(self.0);
        Ok(())
    }
}

impl<Type, From> AppearsOnTable<From> for Asked<Type> where Self: Expression {}

impl<Type, From> SelectableExpression<From> for Asked<Type> where Self: Expression {}

impl<Type, Grouping> ValidGrouping<Grouping> for Asked<Type> {
    type IsAggregate = is_aggregate::Never;
}

/// The statement for lists of one form.
#[derive(QueryId)]
struct Lists<Count, Page> {
    count: Count,
    page: Page,
    requesters: Vec<Option<i64>>,
    djs: Vec<Option<i64>>,
    moments: Vec<OffsetDateTime>,
    sizes: Vec<i64>,
    offsets: Vec<i64>,
}

impl<Count, Page: Query> Query for Lists<Count, Page> {
    type SqlType = (BigInt, BigInt, Nullable<Page::SqlType>);
}

impl<Count: QueryFragment<Pg>, Page: QueryFragment<Pg>> QueryFragment<Pg> for Lists<Count, Page> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("SELECT asked.number, counted.total, page.* FROM unnest(");
        out.push_bind_param::<Array<Nullable<BigInt>>, _>(&self.requesters)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Nullable<BigInt>>, _>(&self.djs)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Timestamptz>, _>(&self.moments)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<BigInt>, _>(&self.sizes)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<BigInt>, _>(&self.offsets)?;
        out.push_sql(
            ") WITH ORDINALITY AS asked (requester, dj, now, size, before, number) CROSS JOIN LATERAL (",
        );
        self.count.walk_ast(out.reborrow())?;
        out.push_sql(") AS counted (total) LEFT JOIN LATERAL (");
        self.page.walk_ast(out.reborrow())?;
        out.push_sql(" LIMIT asked.size OFFSET asked.before) AS page ON true");
        Ok(())
    }
}
