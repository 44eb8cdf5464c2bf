//! Tables of plain text.

use super::object::ApiObject;

/// A column of a table.
pub(super) struct TableColumn {
    heading: &'static str,
    is_right: bool,
    text: fn(&ApiObject) -> Option<String>,
}

impl TableColumn {
    /// A column of texts. An object without a text leaves it empty.
    pub(super) const fn left(heading: &'static str, text: fn(&ApiObject) -> Option<String>) -> Self {
        Self { heading, is_right: false, text }
    }

    /// A column of numbers, aligned at their ends.
    pub(super) const fn right(heading: &'static str, text: fn(&ApiObject) -> Option<String>) -> Self {
        Self { heading, is_right: true, text }
    }
}

/// A line with the headings, and a line for each object.
pub(super) fn rows(columns: &[TableColumn], objects: &[ApiObject]) -> String {
    let headings = columns.iter().map(|column| column.heading.to_uppercase()).collect();
    let cells = |object| columns.iter().map(|column| (column.text)(object).unwrap_or_default()).collect();
    let rows: Vec<Vec<String>> = std::iter::once(headings).chain(objects.iter().map(cells)).collect();
    let is_right: Vec<bool> = columns.iter().map(|column| column.is_right).collect();
    aligned(&rows, &is_right)
}

/// A line for each field of an object, with its heading. Fields without a text are left out.
pub(super) fn fields(columns: &[TableColumn], object: &ApiObject) -> String {
    let lines =
        columns.iter().filter_map(|column| Some(vec![column.heading.to_owned(), (column.text)(object)?]));
    aligned(&lines.collect::<Vec<_>>(), &[false, false])
}

/// Lines whose cells are padded to the width of their columns. The last column is not padded, so texts whose width a
/// terminal decides belong there.
fn aligned(rows: &[Vec<String>], is_right: &[bool]) -> String {
    let mut text = String::new();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..is_right.len()).map(width).collect();
    for row in rows {
        let cells = row.iter().zip(&widths).zip(is_right);
        let padded = cells.map(|((cell, width), is_right)| {
            // Not by the widths of formats, which end at 65 535.
            let space = " ".repeat(width.saturating_sub(cell.chars().count()));
            if *is_right { format!("{space}{cell}") } else { format!("{cell}{space}") }
        });
        text.push_str(padded.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    #[test]
    fn a_cell_of_any_width_is_shown() {
        let rows = [vec!["a".repeat(70_000), "b".to_owned()], vec!["c".to_owned(), "d".to_owned()]];
        let text = aligned(&rows, &[false, false]);
        assert!(text.lines().all(|line| line.chars().count() == 70_003), "{}", text.len());
    }

    const COLUMNS: &[TableColumn] = &[
        TableColumn::right("amount", |object| object.text("amount")),
        TableColumn::left("name", |object| object.text("name")),
    ];

    #[test]
    fn columns_are_aligned_below_their_headings() {
        let object = |json: &str| ApiObject::new(RawValue::from_string(json.to_owned()).unwrap()).unwrap();
        let objects = [object(r#"{"amount":1.00,"name":"Ada"}"#), object(r#"{"amount":1234567.00}"#)];
        assert_eq!(rows(COLUMNS, &objects), "    AMOUNT  NAME\n      1.00  Ada\n1234567.00\n");
        assert_eq!(fields(COLUMNS, &objects[0]), "amount  1.00\nname    Ada\n");
        assert_eq!(fields(COLUMNS, &objects[1]), "amount  1234567.00\n");
    }
}
