//! Statements in `.sql` files.
//!
//! A file begins with a comment about the result, the parameters and the indexes. A test prepares every file,
//! compares its parameters and columns with a reviewed list, and looks for sequential scans in its plan.

use diesel::data_types::PgInterval;
use diesel::dsl::SqlTypeOf;
use diesel::pg::Pg;
use diesel::query_builder::SqlQuery;
use time::Duration;

/// The types of a row's columns, in the order of its fields.
pub(crate) type Columns<Row> = SqlTypeOf<<Row as diesel::Selectable<Pg>>::SelectExpression>;

/// Creates a statement that returns no rows, or columns by name, from the text of its file; its parameters
/// are bound one by one.
pub(crate) fn query(file: &str) -> SqlQuery {
    diesel::sql_query(one_line(file))
}

/// A duration as a parameter.
pub(crate) fn interval(length: Duration) -> PgInterval {
    PgInterval::from_microseconds(i64::try_from(length.whole_microseconds()).unwrap_or(i64::MAX))
}

/// Returns the text of a file in one line, without comments. No literal in it may contain `--` or consecutive
/// spaces.
fn one_line(file: &str) -> String {
    let lines = file.lines().map(|line| line.split_once("--").map_or(line, |(sql, _)| sql));
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    words.join(" ")
}

/// The text of a `.sql` file as it is sent: one line without comments, split at its parameters.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SqlText {
    /// The text before a parameter, and the parameter's number.
    pub(crate) parts: Vec<(String, usize)>,
    /// The text after the last parameter.
    pub(crate) end: String,
}

impl SqlText {
    /// Parses a file or a part of one. No literal in it may contain `$`.
    pub(crate) fn parse(file: &str) -> Self {
        let line = one_line(file);
        let mut pieces = line.split('$');
        let mut before = pieces.next().unwrap_or_default().to_owned();
        let mut parts = Vec::new();
        for piece in pieces {
            let after = piece.trim_start_matches(|c: char| c.is_ascii_digit());
            let number = piece.strip_suffix(after).and_then(|number| number.parse().ok()).unwrap_or_default();
            parts.push((std::mem::replace(&mut before, after.to_owned()), number));
        }
        Self { parts, end: before }
    }
}

/// Defines the statement of a file in the module's folder: its parameters in the order of their numbers and,
/// if it returns rows, the types of its columns.
///
/// It is planned for its values at each execution: a generic plan would guess the number of rows. A parameter
/// that the file names twice is sent twice, since Diesel numbers parameters itself.
macro_rules! statement {
    (
        $(#[$doc:meta])*
        $name:ident($file:literal) [$($parameter:ident: $sql:ty as $rust:ty),* $(,)?] $(-> $columns:ty)?
    ) => {
        $(#[$doc])*
        pub(crate) struct $name {
            $(pub(crate) $parameter: $rust,)*
        }

        impl diesel::query_builder::QueryFragment<diesel::pg::Pg> for $name {
            #[allow(unused_mut, unused_variables, reason = "a statement may have no parameters")]
            fn walk_ast<'b>(
                &'b self,
                mut out: diesel::query_builder::AstPass<'_, 'b, diesel::pg::Pg>,
            ) -> diesel::QueryResult<()> {
                static TEXT: std::sync::LazyLock<$crate::statement::SqlText> =
                    std::sync::LazyLock::new(|| $crate::statement::SqlText::parse(include_str!($file)));
                out.unsafe_to_cache_prepared();
                for (sql, parameter) in &TEXT.parts {
                    out.push_sql(sql);
                    let mut numbers = 1_usize..;
                    $(
                        if numbers.next() == Some(*parameter) {
                            out.push_bind_param::<$sql, _>(&self.$parameter)?;
                        }
                    )*
                }
                out.push_sql(&TEXT.end);
                Ok(())
            }
        }

        impl diesel::query_builder::QueryId for $name {
            type QueryId = Self;
            const HAS_STATIC_QUERY_ID: bool = false;
        }

        $(
            impl diesel::query_builder::Query for $name {
                type SqlType = $columns;
            }
        )?
    };
}

pub(crate) use statement;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sql_file_is_sent_as_one_line_split_at_its_parameters() {
        let text = SqlText::parse(
            "-- All.\n-- $1: the id.\nSELECT *\n  FROM t -- here\nWHERE id = $1 AND n < $12;\n",
        );
        let parts = [("SELECT * FROM t WHERE id = ", 1), (" AND n < ", 12)];
        assert_eq!(text.parts, parts.map(|(sql, number)| (sql.to_owned(), number)));
        assert_eq!(text.end, ";");
        assert_eq!(SqlText::parse("SELECT 1\n"), SqlText { parts: Vec::new(), end: "SELECT 1".to_owned() });
    }
}
