//! The record of the first operator.

use crate::sql_types::{ColumnType, UtcTime};
use crate::table::{Column, Declared, Table, nobody};

diesel::table! {
    use crate::sql_types::*;

    bootstrap_operator (singleton) {
        singleton -> Bool,
        made_at -> UtcTime,
    }
}

// By hand: the key of the only row is the same in every store, so that a copy leaves it out.
impl Declared for bootstrap_operator::table {
    const TABLE: Table = Table {
        name: "bootstrap_operator",
        columns: &[Column {
            name: "made_at",
            kind: UtcTime::KIND,
            sql_type: UtcTime::NAME,
            is_nullable: UtcTime::IS_NULLABLE,
            omission: None,
        }],
        key: 1,
        counter: None,
        mentions: nobody("that the first operator was created"),
    };
}
