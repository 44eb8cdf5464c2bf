//! The values of a copied row, and the digest of a table.

use cuepoint_domain::money::Money;
use cuepoint_domain::timestamp::Timestamp;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::rows::Corrupt;
use crate::table::{ColumnKind, Table};

/// The value of a column, or `None` for null.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// A whole number.
    Integer(Option<i64>),
    /// True or false.
    Boolean(Option<bool>),
    Text(Option<String>),
    /// A number of degrees or kilometres.
    Real(Option<f64>),
    /// An amount of money in the deployment's currency.
    Money(Option<Money>),
    Time(Option<Timestamp>),
    /// The id of an operation.
    Id(Option<Uuid>),
    Bytes(Option<Vec<u8>>),
    /// A JSON document as [`canonical_json`].
    Json(Option<String>),
}

/// The values of a row, in the order of the table's columns.
pub type CopiedRow = Vec<Value>;

impl Value {
    /// The kind of columns with such values.
    #[must_use]
    pub const fn kind(&self) -> ColumnKind {
        match self {
            Self::Integer(_) => ColumnKind::Integer,
            Self::Boolean(_) => ColumnKind::Boolean,
            Self::Text(_) => ColumnKind::Text,
            Self::Real(_) => ColumnKind::Real,
            Self::Money(_) => ColumnKind::Money,
            Self::Time(_) => ColumnKind::Time,
            Self::Id(_) => ColumnKind::Id,
            Self::Bytes(_) => ColumnKind::Bytes,
            Self::Json(_) => ColumnKind::Json,
        }
    }
}

/// Rewrites a JSON document without spaces and with sorted keys, since a store may keep another form of it.
///
/// # Errors
/// [`Corrupt::Receipt`] if it is no JSON document.
pub fn canonical_json(text: &str) -> Result<String, Corrupt> {
    let mut value: serde_json::Value = serde_json::from_str(text)?;
    value.sort_all_objects();
    Ok(value.to_string())
}

/// The number of rows of a table, and their SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableDigest {
    /// The number of rows.
    pub rows: u64,
    /// The SHA-256 of all rows by key.
    pub sha256: [u8; 32],
}

/// The digest of the rows of a table so far.
///
/// A table begins with its name and those of its columns; each value is a byte for its kind, a byte for its
/// presence and its bytes, with their number before those of variable length. Two tables have the same digest
/// only if they have the same values.
pub(super) struct Digester {
    rows: u64,
    sha256: Sha256,
    /// The encoding of one row.
    row: Vec<u8>,
}

impl Digester {
    pub(super) fn of(table: &Table) -> Self {
        let mut sha256 = Sha256::new();
        sha256.update(format!("{}({})", table.name, Table::names(table.columns)));
        Self { rows: 0, sha256, row: Vec::new() }
    }

    /// Adds the next rows by key.
    pub(super) fn add(&mut self, rows: &[CopiedRow]) {
        for row in rows {
            self.rows = self.rows.saturating_add(1);
            self.row.clear();
            row.iter().for_each(|value| encode(value, &mut self.row));
            self.sha256.update(&self.row);
        }
    }

    pub(super) fn finish(self) -> TableDigest {
        TableDigest { rows: self.rows, sha256: self.sha256.finalize().into() }
    }
}

fn encode(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Integer(number) => fixed(b'i', number.map(i64::to_be_bytes), out),
        Value::Boolean(is) => fixed(b'b', is.map(|is| [u8::from(is)]), out),
        Value::Text(text) => variable(b't', text.as_ref().map(String::as_bytes), out),
        // Not every store keeps the sign of zero.
        Value::Real(number) => fixed(b'r', number.map(|number| (number + 0.0).to_bits().to_be_bytes()), out),
        Value::Money(sum) => fixed(b'm', sum.map(|sum| sum.minor().to_be_bytes()), out),
        Value::Time(at) => fixed(b'a', at.map(|at| at.unix_micros().to_be_bytes()), out),
        Value::Id(id) => fixed(b'o', id.map(Uuid::into_bytes), out),
        Value::Bytes(bytes) => variable(b'x', bytes.as_deref(), out),
        Value::Json(text) => variable(b'j', text.as_ref().map(String::as_bytes), out),
    }
}

fn fixed<const LENGTH: usize>(kind: u8, bytes: Option<[u8; LENGTH]>, out: &mut Vec<u8>) {
    out.extend([kind, u8::from(bytes.is_some())]);
    out.extend(bytes.iter().flatten());
}

fn variable(kind: u8, bytes: Option<&[u8]>, out: &mut Vec<u8>) {
    out.extend([kind, u8::from(bytes.is_some())]);
    if let Some(bytes) = bytes {
        out.extend(u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_be_bytes());
        out.extend(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::TABLES;

    fn digest(rows: &[CopiedRow]) -> [u8; 32] {
        let mut digester = Digester::of(&TABLES[0]);
        digester.add(rows);
        digester.finish().sha256
    }

    #[test]
    fn different_rows_of_the_same_width_have_different_digests() {
        let text = |text: &str| Value::Text(Some(text.to_owned()));
        let tables = [
            vec![],
            vec![vec![text("a"), text("b")]],
            vec![vec![text("a")], vec![text("b")]],
            vec![vec![text("ab"), text("")]],
            vec![vec![text("ab"), Value::Text(None)]],
            vec![vec![Value::Bytes(Some(b"a".to_vec())), text("b")]],
            vec![vec![Value::Integer(Some(0))]],
            vec![vec![Value::Integer(None)]],
            vec![vec![Value::Time(Some(Timestamp::from_unix_micros(0)))]],
            vec![vec![Value::Money(Some(Money::from_minor(1)))]],
            vec![vec![Value::Money(Some(Money::from_minor(-1)))]],
        ];
        // Two rows of one value and one row of two values differ only because a table fixes the width of its
        // rows.
        for (place, one) in tables.iter().enumerate() {
            for (other_place, other) in tables.iter().enumerate() {
                let same_bytes = [place, other_place] == [1, 2] || [place, other_place] == [2, 1];
                assert_eq!(
                    digest(one) == digest(other),
                    place == other_place || same_bytes,
                    "{one:?} {other:?}"
                );
            }
        }
        assert_ne!(Digester::of(&TABLES[0]).finish(), Digester::of(&TABLES[1]).finish());
    }

    #[test]
    fn positive_and_negative_zero_have_the_same_digest() {
        let real = |number| digest(&[vec![Value::Real(Some(number))]]);
        assert_eq!(real(0.0), real(-0.0));
        assert_ne!(real(1.0), real(-1.0));
    }

    #[test]
    fn equal_json_documents_have_the_same_canonical_form() {
        let one = canonical_json(r#"{ "b": [1, {"d": "\u00e9", "c": null}], "a": "2.50" }"#).unwrap();
        assert_eq!(one, r#"{"a":"2.50","b":[1,{"c":null,"d":"é"}]}"#);
        assert_eq!(canonical_json(&one).unwrap(), one);
        assert!(canonical_json("{").is_err());
    }
}
