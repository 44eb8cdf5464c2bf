//! The macros that declare a table and its rows.

/// Declares a table: that of Diesel, its [`Table`] and its row.
///
/// ```text
/// table! {
///     /// A user without a password.
///     #[derive(Serialize, Deserialize)]
///     users(id): StoredUser {
///         id [Key]: BigInt,
///         #[serde(default)]
///         name [Moves]: Nullable<Text>,
///         password_hash [apart]: Text omitted "a secret",
///     }
///     counter Reserved user_ids;
///     mentions own("id = {id}");
/// }
/// ```
///
/// Attributes before the table go to the row, attributes before a column to its field. The row may be missing. After
/// `omitted` stands the reason why an export omits the column; `where` limits the omission to some rows.
/// In brackets are a [`ColumnRole`] other than `Fixed`, or `apart` if the row lacks the column, or `id` if only a
/// [`Numbered`] row has it. A column of type `Named` has the names of an enumeration as its text.
///
/// A row may have one part, a struct of its own, declared after the columns by `part name: Row;`. Among the columns,
/// `+ name` is the place of its field, and `name.column` a column of it. Selections and statements name the columns
/// of the part last.
///
/// [`Table`]: super::Table
/// [`ColumnRole`]: super::ColumnRole
/// [`Numbered`]: super::Numbered
macro_rules! table {
    // Each column is added to some of six lists: the columns of Diesel's table, those of the declaration, the fields
    // of the row, its columns, the columns of its part, and the id.
    (@sort $head:tt $diesel:tt $declared:tt $fields:tt $own:tt $part:tt $id:tt) => {
        $crate::table::table!(@declare $head $diesel $declared);
        $crate::table::table!(@rows $head $fields $own $part $id);
    };
    (
        @sort { $attributes:tt $table:tt $key:tt $row:tt $part_attributes:tt [$part:ident $part_row:ident] $rest:tt }
        $diesel:tt $declared:tt [$($fields:tt)*] $own:tt $part_columns:tt $id:tt
        $(#[$attribute:meta])* + $place:ident, $($columns:tt)*
    ) => {
        $crate::table::table!(
            @sort { $attributes $table $key $row $part_attributes [$part $part_row] $rest } $diesel $declared
            [$($fields)* $(#[$attribute])* pub $place: $part_row,] $own $part_columns $id $($columns)*
        );
    };
    (
        @sort $head:tt [$($diesel:tt)*] [$($declared:tt)*] $fields:tt $own:tt $part:tt []
        $column:ident [id]: $sql:ident $(omitted $why:tt)?, $($columns:tt)*
    ) => {
        $crate::table::table!(
            @sort $head [$($diesel)* { $column $sql }] [$($declared)* { $column [$sql] [$($why)?] }] $fields $own $part
            [$column] $($columns)*
        );
    };
    (
        @sort $head:tt [$($diesel:tt)*] [$($declared:tt)*] $fields:tt $own:tt $part:tt $id:tt
        $column:ident [apart]: $sql:ident $(<$of:ident>)? $(omitted $why:tt)?, $($columns:tt)*
    ) => {
        $crate::table::table!(
            @sort $head [$($diesel)* { $column $sql $(<$of>)? }]
            [$($declared)* { $column [$sql $(<$of>)?] [$($why)?] }] $fields $own $part $id $($columns)*
        );
    };
    (
        @sort $head:tt [$($diesel:tt)*] [$($declared:tt)*] $fields:tt $own:tt [$($part:tt)*] $id:tt
        $(#[$attribute:meta])*
        $of_part:ident . $column:ident $([$role:ident])?: $sql:ident $(<$of:ident>)? $(omitted $why:tt)?,
        $($columns:tt)*
    ) => {
        $crate::table::table!(
            @sort $head [$($diesel)* { $column $sql $(<$of>)? }]
            [$($declared)* { $column [$sql $(<$of>)?] [$($why)?] }] $fields $own
            [$($part)* { [$(#[$attribute])*] $column [$($role)?] [$sql $(<$of>)?] }] $id $($columns)*
        );
    };
    (
        @sort $head:tt [$($diesel:tt)*] [$($declared:tt)*] [$($fields:tt)*] [$($own:tt)*] $part:tt $id:tt
        $(#[$attribute:meta])*
        $column:ident $([$role:ident])?: Named<$of:ident> $(omitted $why:tt)?, $($columns:tt)*
    ) => {
        $crate::table::table!(
            @sort $head [$($diesel)* { $column Text }]
            [$($declared)* { $column [$crate::named::Named<$of>] [$($why)?] }]
            [$($fields)* $(#[$attribute])* pub $column: $crate::named::Named<$of>,]
            [$($own)* { $column [$($role)?] [$crate::named::Named<$of>] }] $part $id $($columns)*
        );
    };
    (
        @sort $head:tt [$($diesel:tt)*] [$($declared:tt)*] [$($fields:tt)*] [$($own:tt)*] $part:tt $id:tt
        $(#[$attribute:meta])*
        $column:ident $([$role:ident])?: $sql:ident $(<$of:ident>)?
        $(omitted $why:tt $(where $rows:tt)?)?, $($columns:tt)*
    ) => {
        $crate::table::table!(
            @sort $head [$($diesel)* { $column $sql $(<$of>)? }]
            [$($declared)* { $column [$sql $(<$of>)?] [$($why $(, $rows)?)?] }]
            [
                $($fields)*
                $(#[$attribute])*
                pub $column: <$sql $(<$of>)? as $crate::sql_types::ColumnType>::Value,
            ]
            [$($own)* { $column [$($role)?] [$sql $(<$of>)?] }] $part $id $($columns)*
        );
    };
    (
        @declare {
            $attributes:tt $table:ident [$($key:ident)+] $row:tt $part_attributes:tt $part:tt
            [[$($counting:ident $sequence:ident)?] [$mentions:expr]]
        }
        [$({ $($diesel:tt)+ })+] [$({ $column:ident [$($sql:tt)+] [$($omission:tt),*] })+]
    ) => {
        $crate::table::table!(@diesel $table [$($key)+] $({ $($diesel)+ })+);

        impl $crate::table::Declared for $table::table {
            const TABLE: $crate::table::Table = $crate::table::Table {
                name: stringify!($table),
                columns: &[$($crate::table::Column {
                    name: stringify!($column),
                    kind: <$($sql)+ as $crate::sql_types::ColumnType>::KIND,
                    sql_type: <$($sql)+ as $crate::sql_types::ColumnType>::NAME,
                    is_nullable: <$($sql)+ as $crate::sql_types::ColumnType>::IS_NULLABLE,
                    omission: $crate::table::Omission::of(&[$($omission),*]),
                }),+],
                key: [$(stringify!($key)),+].len(),
                counter: $crate::table::Counter::one(&[$($crate::table::Counter {
                    name: stringify!($table),
                    sequence: stringify!($sequence),
                    counting: $crate::table::Counting::$counting,
                    greatest: concat!("SELECT max(id) FROM ", stringify!($table)),
                })?]),
                mentions: $mentions,
            };
        }
    };
    (@diesel $table:ident [$($key:ident)+] $({ $column:ident $($sql:tt)+ })+) => {
        diesel::table! {
            use $crate::sql_types::*;

            $table ($($key),+) {
                $($column -> $($sql)+,)+
            }
        }
    };
    (@rows { $attributes:tt $table:tt $key:tt [] $part_attributes:tt $part:tt $rest:tt } [] [] [] []) => {};
    (
        @rows { $attributes:tt $table:ident $key:tt [$row:ident] $part_attributes:tt [] $rest:tt }
        $fields:tt $own:tt [] [$($id:ident)?]
    ) => {
        $crate::table::row!($attributes $table $row $fields $own []);
        $(
            impl $crate::table::NumberedRow for $row {
                type Id = $table::$id;
            }
        )?
    };
    (
        @rows { $attributes:tt $table:ident $key:tt [$row:ident] $part_attributes:tt [$part:ident $part_row:ident] $rest:tt }
        $fields:tt $own:tt
        [$({ [$($attribute:tt)*] $column:ident $role:tt [$($sql:tt)+] })+] []
    ) => {
        $crate::table::row!($attributes $table $row $fields $own [$part $part_row]);
        $crate::table::row!(
            $part_attributes $table $part_row
            [$($($attribute)* pub $column: <$($sql)+ as $crate::sql_types::ColumnType>::Value,)+]
            [$({ $column $role [$($sql)+] })+] []
        );
    };
    (
        $(#[$attribute:meta])*
        $table:ident($($key:ident),+) $(: $row:ident)? { $($columns:tt)+ }
        $($(#[$part_attribute:meta])* part $part:ident: $part_row:ident;)?
        $(counter $counting:ident $sequence:ident;)?
        mentions $mentions:expr;
    ) => {
        $crate::table::table!(
            @sort {
                [$(#[$attribute])*] $table [$($key)+] [$($row)?] [$($(#[$part_attribute])*)?] [$($part $part_row)?]
                [[$($counting $sequence)?] [$mentions]]
            }
            [] [] [] [] [] [] $($columns)+
        );
    };
}

/// Declares a row of a table, or the part of one: its attributes, the table, its name, its fields, its columns, and
/// its own part.
macro_rules! row {
    (
        [$($attribute:tt)*] $table:ident $row:ident [$($field:tt)*]
        [$({ $column:ident [$($role:ident)?] [$($sql:tt)+] })+] [$($part:ident $part_row:ident)?]
    ) => {
        $($attribute)*
        #[derive(Clone, Debug)]
        pub struct $row {
            $($field)*
        }

        const _: () = {
            use diesel::backend::Backend;
            use diesel::deserialize::{self, FromStaticSqlRow, Queryable};
            use diesel::expression::Selectable;
            use diesel::insertable::Insertable;
            use $crate::sql_types::ColumnType;
            use $crate::table::{ColumnRole, TableRow, role};

            impl<DB: Backend> Selectable<DB> for $row {
                type SelectExpression =
                    ($($table::$column,)+ $(<$part_row as Selectable<DB>>::SelectExpression,)?);

                fn construct_selection() -> Self::SelectExpression {
                    ($($table::$column,)+ $(<$part_row as Selectable<DB>>::construct_selection(),)?)
                }
            }

            impl<ST, DB: Backend> Queryable<ST, DB> for $row
            where
                ($(<$($sql)+ as ColumnType>::Value,)+ $($part_row,)?): FromStaticSqlRow<ST, DB>,
            {
                type Row = ($(<$($sql)+ as ColumnType>::Value,)+ $($part_row,)?);

                fn build(($($column,)+ $($part,)?): Self::Row) -> deserialize::Result<Self> {
                    Ok(Self { $($column,)+ $($part,)? })
                }
            }

            impl<'v> Insertable<$table::table> for &'v $row {
                type Values = <(
                    $(Option<diesel::dsl::Eq<$table::$column, <$($sql)+ as ColumnType>::Inserted<'v>>>,)+
                    $(&'v $part_row,)?
                ) as Insertable<$table::table>>::Values;

                fn values(self) -> Self::Values {
                    use diesel::ExpressionMethods;

                    Insertable::values((
                        $(<$($sql)+ as ColumnType>::inserted(&self.$column).map(|value| $table::$column.eq(value)),)+
                        $(&self.$part,)?
                    ))
                }
            }

            impl TableRow for $row {
                const TABLE: &'static str = stringify!($table);

                fn columns(each: &mut dyn FnMut(&'static str, ColumnRole)) {
                    $(each(stringify!($column), role!($($role)?));)+
                    $(<$part_row as TableRow>::columns(each);)?
                }
            }

            #[cfg(feature = "postgres")]
            pub struct Arrays {
                $($column: $crate::table::ArrayColumn<$($sql)+>,)+
                $($part: <$part_row as $crate::table::ArrayRow>::Arrays,)?
            }

            #[cfg(feature = "postgres")]
            impl $crate::table::ArrayRow for $row {
                type Arrays = Arrays;

                fn arrays(rows: usize, wanted: fn(ColumnRole) -> bool) -> Arrays {
                    let room = |role| if wanted(role) { rows } else { 0 };
                    Arrays {
                        $($column: $crate::table::ArrayColumn::with_capacity(room(role!($($role)?))),)+
                        $($part: <$part_row as $crate::table::ArrayRow>::arrays(rows, wanted),)?
                    }
                }

                fn push(self, arrays: &mut Arrays, wanted: fn(ColumnRole) -> bool) {
                    $(
                        if wanted(role!($($role)?)) {
                            arrays.$column.push(self.$column);
                        }
                    )+
                    $(self.$part.push(&mut arrays.$part, wanted);)?
                }

                fn bind_arrays<'b>(
                    arrays: &'b Arrays,
                    wanted: fn(ColumnRole) -> bool,
                    separators: &mut dyn Iterator<Item = &'static str>,
                    out: &mut diesel::query_builder::AstPass<'_, 'b, diesel::pg::Pg>,
                ) -> diesel::QueryResult<()> {
                    use diesel::sql_types::Array;

                    $(
                        if wanted(role!($($role)?)) {
                            out.push_sql(separators.next().unwrap_or_default());
                            out.push_bind_param::<Array<<$($sql)+ as ColumnType>::Sql>, _>(&arrays.$column)?;
                        }
                    )+
                    $(<$part_row as $crate::table::ArrayRow>::bind_arrays(&arrays.$part, wanted, separators, out)?;)?
                    Ok(())
                }
            }

            #[cfg(feature = "sqlite")]
            impl $crate::table::BoundRow for $row {
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
                            out.push_bind_param::<<$($sql)+ as ColumnType>::Sql, _>(&self.$column)?;
                        }
                    )+
                    $(<$part_row as $crate::table::BoundRow>::bind(&self.$part, wanted, before, named, out)?;)?
                    Ok(())
                }
            }
        };
    };
}

/// The [`ColumnRole`](super::ColumnRole) with this name.
macro_rules! role {
    () => {
        ColumnRole::Fixed
    };
    ($role:ident) => {
        ColumnRole::$role
    };
}

pub(crate) use {role, row, table};
