//! Statements that write any number of rows at once.
//!
//! The columns travel as arrays through `unnest`, so the text of a statement never changes with the number of rows:
//! each is prepared once a connection, which Diesel's own inserts of many rows never are.

/// Defines a statement from the text before its arrays, the arrays, and the text after them.
macro_rules! bulk {
    ($($(#[$doc:meta])* $name:ident($row:ty) $before:literal
       [$($column:ident: $sql:ty as $rust:ty),+ $(,)?] $after:literal)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Default)]
        pub(crate) struct $name {
            $($column: Vec<$rust>),+
        }

        impl FromIterator<$row> for $name {
            fn from_iter<I: IntoIterator<Item = $row>>(rows: I) -> Self {
                let mut columns = Self::default();
                for row in rows {
                    $(columns.$column.push(row.$column);)+
                }
                columns
            }
        }

        impl diesel::query_builder::QueryFragment<diesel::pg::Pg> for $name {
            fn walk_ast<'b>(
                &'b self,
                mut out: diesel::query_builder::AstPass<'_, 'b, diesel::pg::Pg>,
            ) -> diesel::QueryResult<()> {
                let mut lead = std::iter::once($before).chain(std::iter::repeat(", "));
                $(
                    out.push_sql(lead.next().unwrap_or_default());
                    out.push_bind_param::<diesel::sql_types::Array<$sql>, _>(&self.$column)?;
                )+
                out.push_sql($after);
                Ok(())
            }
        }

        impl diesel::query_builder::QueryId for $name {
            type QueryId = Self;
            const HAS_STATIC_QUERY_ID: bool = true;
        }
    )+};
}

pub(crate) use bulk;
