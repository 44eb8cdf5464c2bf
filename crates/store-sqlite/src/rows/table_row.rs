//! Rows of tables, each column declared once: the struct that is read and the statements that write it are
//! generated from one declaration.

use cuepoint_domain::money::{Currency, Money};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::rows::{Corrupt, Sum, known};
use diesel::QueryResult;
use diesel::query_builder::AstPass;
use diesel::sqlite::Sqlite;
use uuid::Uuid;

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
    /// The row as plain data.
    type Stored;

    /// Encodes the row for its columns.
    fn encode(stored: Self::Stored, currency: &Currency) -> Result<Self, Corrupt>;

    /// Decodes the row from its columns.
    fn decode(self, currency: &Currency) -> Result<Self::Stored, Corrupt>;

    /// Visits each column in its order.
    fn columns(each: &mut dyn FnMut(&'static str, ColumnRole));

    /// Binds the values of the wanted columns in their order, each after the text that `before` returns for
    /// it.
    fn bind<'b>(
        &'b self,
        wanted: fn(ColumnRole) -> bool,
        before: &mut dyn FnMut() -> &'static str,
        named: bool,
        out: &mut AstPass<'_, 'b, Sqlite>,
    ) -> QueryResult<()>;
}

/// A column, to encode or decode its values.
#[derive(Clone, Copy)]
pub(crate) struct Column<'c> {
    /// The name of the column, with its table.
    pub(crate) name: &'static str,
    /// The currency of its sums.
    pub(crate) currency: &'c Currency,
}

/// Conversion of a column's value.
pub(crate) trait ColumnValue<T>: Sized {
    /// Encodes a value for the column.
    fn to_column(value: T, column: Column<'_>) -> Result<Self, Corrupt>;
    /// Decodes the value of the column.
    fn of_column(self, column: Column<'_>) -> Result<T, Corrupt>;
}

impl<T> ColumnValue<T> for T {
    fn to_column(value: T, _: Column<'_>) -> Result<Self, Corrupt> {
        Ok(value)
    }

    fn of_column(self, _: Column<'_>) -> Result<T, Corrupt> {
        Ok(self)
    }
}

/// Defines the conversion of a type that is encoded as another one, nullable or not.
macro_rules! encoded {
    ($value:ty as $rust:ty, $encode:expr, $decode:expr) => {
        impl ColumnValue<$value> for $rust {
            fn to_column(value: $value, column: Column<'_>) -> Result<Self, Corrupt> {
                ($encode)(value, column)
            }

            fn of_column(self, column: Column<'_>) -> Result<$value, Corrupt> {
                ($decode)(self, column)
            }
        }

        impl ColumnValue<Option<$value>> for Option<$rust> {
            fn to_column(value: Option<$value>, column: Column<'_>) -> Result<Self, Corrupt> {
                value.map(|value| ($encode)(value, column)).transpose()
            }

            fn of_column(self, column: Column<'_>) -> Result<Option<$value>, Corrupt> {
                self.map(|value| ($decode)(value, column)).transpose()
            }
        }
    };
}

encoded!(Sum as String, minor_units, sum);
encoded!(Timestamp as i64, |at: Timestamp, _| Ok(at.unix_micros()), |micros, _| Ok(
    Timestamp::from_unix_micros(micros)
));
encoded!(Uuid as Vec<u8>, |id: Uuid, _| Ok(id.as_bytes().to_vec()), |bytes: Vec<u8>, column: Column<'_>| {
    known(column.name, Uuid::from_slice(&bytes).ok())
});

/// Encodes a sum as a canonical integer of minor units.
fn minor_units(sum: Sum, column: Column<'_>) -> Result<String, Corrupt> {
    Ok(sum.money(column.currency, column.name)?.minor().to_string())
}

/// Decodes a sum; only the canonical form is accepted, since no other is ever written.
#[expect(clippy::needless_pass_by_value, reason = "the conversions of all types take their value")]
fn sum(text: String, column: Column<'_>) -> Result<Sum, Corrupt> {
    let digits = text.strip_prefix('-').unwrap_or(&text);
    let is_canonical = text == "0" || digits.starts_with(|first| matches!(first, '1'..='9'));
    let minor = text.parse().ok().filter(|_| is_canonical);
    Ok(Sum::of(column.currency, Money::from_minor(known(column.name, minor)?)))
}

/// Declares the columns of a stored row in a table: `column: SQL type as Rust type`, with `[key]`, `[moves]`
/// or `[later]` after the name if the [`ColumnRole`] is not [`ColumnRole::Fixed`].
///
/// It generates the struct that Diesel reads and [`TableRow`], with the conversions from and to the stored
/// row, whose fields have the same names. After `+`, a part of the stored row has a declaration of its own.
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
        #[diesel(table_name = crate::schema::$table, check_for_backend(diesel::sqlite::Sqlite))]
        pub(crate) struct $row {
            $(pub(crate) $column: $rust,)+
            $(
                #[diesel(embed)]
                pub(crate) $part: $part_row,
            )?
        }

        const _: () = {
            use cuepoint_domain::money::Currency;
            use cuepoint_store_sql::rows::Corrupt;
            use $crate::rows::table_row::{Column, ColumnRole, ColumnValue, TableRow, role};

            impl TableRow for $row {
                const TABLE: &'static str = stringify!($table);
                type Stored = $stored;

                fn encode(stored: $stored, currency: &Currency) -> Result<Self, Corrupt> {
                    Ok(Self {
                        $(
                            $column: ColumnValue::to_column(
                                stored.$column,
                                Column { name: concat!(stringify!($table), ".", stringify!($column)), currency },
                            )?,
                        )+
                        $($part: <$part_row as TableRow>::encode(stored.$part, currency)?,)?
                    })
                }

                fn decode(self, currency: &Currency) -> Result<$stored, Corrupt> {
                    Ok($stored {
                        $(
                            $column: ColumnValue::of_column(
                                self.$column,
                                Column { name: concat!(stringify!($table), ".", stringify!($column)), currency },
                            )?,
                        )+
                        $($part: <$part_row as TableRow>::decode(self.$part, currency)?,)?
                    })
                }

                fn columns(each: &mut dyn FnMut(&'static str, ColumnRole)) {
                    $(each(stringify!($column), role!($($role)?));)+
                    $(<$part_row as TableRow>::columns(each);)?
                }

                fn bind<'b>(
                    &'b self,
                    wanted: fn(ColumnRole) -> bool,
                    before: &mut dyn FnMut() -> &'static str,
                    named: bool,
                    out: &mut diesel::query_builder::AstPass<'_, 'b, diesel::sqlite::Sqlite>,
                ) -> diesel::QueryResult<()> {
                    $(
                        if wanted(role!($($role)?)) {
                            out.push_sql(before());
                            if named {
                                out.push_sql(concat!(stringify!($column), " = "));
                            }
                            out.push_bind_param::<$sql, _>(&self.$column)?;
                        }
                    )+
                    $(<$part_row as TableRow>::bind(&self.$part, wanted, before, named, out)?;)?
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
                <Self as $crate::rows::table_row::TableRow>::decode(self, currency)?.$read(currency)
            }
        }
    };
    ($row:ident = $stored:ident: read $value:ty, $read:ident) => {
        impl $row {
            /// Converts the row to its value.
            pub(crate) fn $read(
                self,
                currency: &cuepoint_domain::money::Currency,
            ) -> Result<$value, cuepoint_store_sql::rows::Corrupt> {
                <Self as $crate::rows::table_row::TableRow>::decode(self, currency)?.$read()
            }
        }
    };
    ($row:ident = $stored:ident: $value:ty, $read:ident with currency) => {
        impl $row {
            /// Converts a value to its row.
            pub(crate) fn of(
                value: &$value,
                currency: &cuepoint_domain::money::Currency,
            ) -> Result<Self, cuepoint_store_sql::rows::Corrupt> {
                <Self as $crate::rows::table_row::TableRow>::encode($stored::of(value, currency), currency)
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
            pub(crate) fn of(
                value: &$value,
                currency: &cuepoint_domain::money::Currency,
            ) -> Result<Self, cuepoint_store_sql::rows::Corrupt> {
                <Self as $crate::rows::table_row::TableRow>::encode($stored::of(value), currency)
            }
        }
    };
}

pub(crate) use {role, row_value, table_row};

#[cfg(test)]
mod tests {
    use super::*;

    fn with<T>(check: impl FnOnce(Column<'_>) -> T) -> T {
        let currency = Currency::new("USD", 2).unwrap();
        check(Column { name: "wallets.held", currency: &currency })
    }

    #[test]
    fn sums_are_stored_as_canonical_integers_of_minor_units() {
        let most = Money::MAX_BALANCE.minor();
        for (minor, text) in [(0, "0"), (1250, "1250"), (-3, "-3"), (most, "99999999999999999999")] {
            with(|column| {
                let value = Sum::of(column.currency, Money::from_minor(minor));
                let stored = String::to_column(value, column).unwrap();
                assert_eq!(stored, text);
                let read: Sum = stored.of_column(column).unwrap();
                assert_eq!(read.money(column.currency, "").unwrap().minor(), minor);
            });
        }
    }

    #[test]
    fn another_form_of_a_sum_is_corrupt() {
        for text in ["", "-", "-0", "01", "+1", "1.5", "1e3", " 1", "1\0", "NaN"] {
            let read: Result<Sum, Corrupt> = with(|column| text.to_owned().of_column(column));
            assert!(matches!(read, Err(Corrupt::Column("wallets.held"))), "{text:?}");
        }
    }

    #[test]
    fn ids_and_times_read_back() {
        with(|column| {
            let id = Uuid::from_u128(7);
            let bytes = Vec::<u8>::to_column(id, column).unwrap();
            assert_eq!((bytes.len(), bytes.last()), (16, Some(&7)));
            let read: Uuid = bytes.of_column(column).unwrap();
            assert_eq!(read, id);
            let short: Result<Uuid, Corrupt> = vec![0_u8; 15].of_column(column);
            assert!(short.is_err());
            let at = Timestamp::from_unix_micros(-1);
            assert_eq!(i64::to_column(at, column).unwrap(), -1);
        });
    }
}
