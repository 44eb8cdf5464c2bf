//! Conditions that no method of Diesel expresses. Unlike `diesel::dsl::sql`, they let the prepared statement be kept.

use std::marker::PhantomData;

use diesel::expression::{AppearsOnTable, Expression, SelectableExpression, ValidGrouping, is_aggregate};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{Array, BigInt, Bool};

/// The text of a condition before, between and after two arrays of ids.
pub(super) trait ConditionText: Send + 'static {
    const PARTS: [&'static str; 3];
}

/// A condition with two arrays of ids.
pub(super) struct Condition<T> {
    arrays: [Vec<i64>; 2],
    text: PhantomData<T>,
}

impl<T> Condition<T> {
    pub(super) fn of(arrays: [Vec<i64>; 2]) -> Self {
        Self { arrays, text: PhantomData }
    }
}

/// A gig has an id of the first array, or is one of the last two of a DJ in the second one.
pub(super) struct NamedOrLastGig;

impl ConditionText for NamedOrLastGig {
    const PARTS: [&'static str; 3] = [
        "gigs.id = ANY (",
        " || ARRAY (SELECT last.id FROM unnest(",
        ") AS dj (id) CROSS JOIN LATERAL (SELECT gigs.id FROM gigs WHERE gigs.dj_id = dj.id \
         ORDER BY gigs.opened_at DESC, gigs.id DESC LIMIT 2) AS last))",
    ];
}

/// A request is by the guest and to the DJ at one place of the arrays. Two conditions with ANY would search for each guest
/// with each DJ.
pub(super) struct OfGuestAndDj;

impl ConditionText for OfGuestAndDj {
    const PARTS: [&'static str; 3] = ["(requester_id, dj_id) IN (SELECT * FROM unnest(", ", ", "))"];
}

impl<T: ConditionText> QueryFragment<Pg> for Condition<T> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        let ([before, between, after], [first, second]) = (T::PARTS, &self.arrays);
        out.push_sql(before);
        out.push_bind_param::<Array<BigInt>, _>(first)?;
        out.push_sql(between);
        out.push_bind_param::<Array<BigInt>, _>(second)?;
        out.push_sql(after);
        Ok(())
    }
}

impl<T: ConditionText> QueryId for Condition<T> {
    type QueryId = Self;
    const HAS_STATIC_QUERY_ID: bool = true;
}

impl<T> Expression for Condition<T> {
    type SqlType = Bool;
}

impl<T, S> SelectableExpression<S> for Condition<T> {}

impl<T, S> AppearsOnTable<S> for Condition<T> {}

impl<T, G> ValidGrouping<G> for Condition<T> {
    type IsAggregate = is_aggregate::No;
}
