//! Rows of tables, each column declared once: the struct that is read and the arrays that statements bind are
//! generated from one declaration.

use bigdecimal::BigDecimal;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::rows::Sum;
use diesel::QueryResult;
use diesel::pg::Pg;
use diesel::query_builder::AstPass;
use time::OffsetDateTime;

/// How statements write a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ColumnRole {
    /// Written only when the row is added.
    Fixed,
    /// The key of the row in an update.
    Key,
    /// Written when the row is added and by each update.
    Moves,
    /// Written only by an update of its own.
    Later,
}

/// A row of one table, declared by [`table_row!`].
pub(crate) trait TableRow: Sized + 'static {
    /// The table.
    const TABLE: &'static str;
    /// Many rows, as one array per column.
    type Arrays: Default + Send + Sync;

    /// Visits each column, in the order of the arrays.
    fn columns(each: &mut dyn FnMut(&'static str, ColumnRole));

    /// Adds the row to the arrays of the wanted columns.
    fn push(self, arrays: &mut Self::Arrays, wanted: fn(ColumnRole) -> bool);

    /// Binds the arrays of the wanted columns, each after the next separator.
    fn bind<'b>(
        arrays: &'b Self::Arrays,
        wanted: fn(ColumnRole) -> bool,
        separators: &mut dyn Iterator<Item = &'static str>,
        out: &mut AstPass<'_, 'b, Pg>,
    ) -> QueryResult<()>;
}

/// Conversion of a column's value.
pub(crate) trait ColumnValue<T> {
    /// Returns the column's value.
    fn encode(value: T) -> Self;
    /// Returns the stored row's value.
    fn decode(self) -> T;
}

impl<T> ColumnValue<T> for T {
    fn encode(value: T) -> Self {
        value
    }

    fn decode(self) -> T {
        self
    }
}

impl ColumnValue<Sum> for BigDecimal {
    fn encode(sum: Sum) -> Self {
        sum.into()
    }

    fn decode(self) -> Sum {
        self.into()
    }
}

impl ColumnValue<Option<Sum>> for Option<BigDecimal> {
    fn encode(sum: Option<Sum>) -> Self {
        sum.map(Into::into)
    }

    fn decode(self) -> Option<Sum> {
        self.map(Into::into)
    }
}

impl ColumnValue<Timestamp> for OffsetDateTime {
    fn encode(at: Timestamp) -> Self {
        at.to_utc()
    }

    fn decode(self) -> Timestamp {
        Timestamp::new(self)
    }
}

impl ColumnValue<Option<Timestamp>> for Option<OffsetDateTime> {
    fn encode(at: Option<Timestamp>) -> Self {
        at.map(Timestamp::to_utc)
    }

    fn decode(self) -> Option<Timestamp> {
        self.map(Timestamp::new)
    }
}

/// Declares the columns of a stored row in a table: `column: SQL type as Rust type`, with `[key]`, `[moves]`
/// or `[later]` after the name if the [`ColumnRole`] is not [`ColumnRole::Fixed`].
///
/// It generates the struct that Diesel reads, the conversions from and to the stored row, whose fields have
/// the same names, and [`TableRow`]. After `+`, a part of the stored row has a declaration of its own.
macro_rules! table_row {
    (
        $(#[$attribute:meta])*
        $table:ident: $row:ident = $stored:ident {
            $($column:ident $([$role:ident])?: $sql:ty as $rust:ty,)+
        }
        $(+ $part:ident: $part_row:ident)?
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, diesel::Queryable, diesel::Selectable)]
        #[diesel(table_name = crate::schema::$table, check_for_backend(diesel::pg::Pg))]
        pub(crate) struct $row {
            $(pub(crate) $column: $rust,)+
            $(
                #[diesel(embed)]
                pub(crate) $part: $part_row,
            )?
        }

        impl From<$stored> for $row {
            fn from(stored: $stored) -> Self {
                Self {
                    $($column: $crate::rows::table_row::ColumnValue::encode(stored.$column),)+
                    $($part: stored.$part.into(),)?
                }
            }
        }

        impl From<$row> for $stored {
            fn from(row: $row) -> Self {
                Self {
                    $($column: $crate::rows::table_row::ColumnValue::decode(row.$column),)+
                    $($part: row.$part.into(),)?
                }
            }
        }

        const _: () = {
            use $crate::rows::table_row::{ColumnRole, TableRow, role};

            #[derive(Default)]
            pub(crate) struct Arrays {
                $($column: Vec<$rust>,)+
                $($part: <$part_row as TableRow>::Arrays,)?
            }

            impl TableRow for $row {
                const TABLE: &'static str = stringify!($table);
                type Arrays = Arrays;

                fn columns(each: &mut dyn FnMut(&'static str, ColumnRole)) {
                    $(each(stringify!($column), role!($($role)?));)+
                    $(<$part_row as TableRow>::columns(each);)?
                }

                fn push(self, arrays: &mut Arrays, wanted: fn(ColumnRole) -> bool) {
                    $(
                        if wanted(role!($($role)?)) {
                            arrays.$column.push(self.$column);
                        }
                    )+
                    $(self.$part.push(&mut arrays.$part, wanted);)?
                }

                fn bind<'b>(
                    arrays: &'b Arrays,
                    wanted: fn(ColumnRole) -> bool,
                    separators: &mut dyn Iterator<Item = &'static str>,
                    out: &mut diesel::query_builder::AstPass<'_, 'b, diesel::pg::Pg>,
                ) -> diesel::QueryResult<()> {
                    $(
                        if wanted(role!($($role)?)) {
                            out.push_sql(separators.next().unwrap_or_default());
                            out.push_bind_param::<diesel::sql_types::Array<$sql>, _>(&arrays.$column)?;
                        }
                    )+
                    $(<$part_row as TableRow>::bind(&arrays.$part, wanted, separators, out)?;)?
                    Ok(())
                }
            }
        };
    };
}

/// The [`ColumnRole`] with this name.
macro_rules! role {
    () => {
        ColumnRole::Fixed
    };
    (key) => {
        ColumnRole::Key
    };
    (moves) => {
        ColumnRole::Moves
    };
    (later) => {
        ColumnRole::Later
    };
}

/// Defines the conversions between a row and a value of the domain.
macro_rules! row_value {
    ($row:ident = $stored:ident: read $value:ty, $read:ident with currency) => {
        impl $row {
            /// Converts the row to its value.
            pub(crate) fn $read(
                self,
                currency: &cuepoint_domain::money::Currency,
            ) -> Result<$value, cuepoint_store_sql::rows::Corrupt> {
                $stored::from(self).$read(currency)
            }
        }
    };
    ($row:ident = $stored:ident: read $value:ty, $read:ident) => {
        impl $row {
            /// Converts the row to its value.
            pub(crate) fn $read(self) -> Result<$value, cuepoint_store_sql::rows::Corrupt> {
                $stored::from(self).$read()
            }
        }
    };
    ($row:ident = $stored:ident: $value:ty, $read:ident with currency) => {
        impl $row {
            /// Converts a value to its row.
            pub(crate) fn of(value: &$value, currency: &cuepoint_domain::money::Currency) -> Self {
                $stored::of(value, currency).into()
            }
        }

        $crate::rows::table_row::row_value!($row = $stored: read $value, $read with currency);
    };
    ($row:ident = $stored:ident: $value:ty, $read:ident) => {
        $crate::rows::table_row::row_value!($row = $stored: $value);
        $crate::rows::table_row::row_value!($row = $stored: read $value, $read);
    };
    ($row:ident = $stored:ident: $value:ty) => {
        impl $row {
            /// Converts a value to its row.
            pub(crate) fn of(value: &$value) -> Self {
                $stored::of(value).into()
            }
        }
    };
}

pub(crate) use {role, row_value, table_row};
