//! The schemas of the OpenAPI document, in Markdown.

use serde_json::Value;

use super::Page;
use crate::markdown::anchor;
use crate::openapi::values::{entries, items, text};

/// The page of the schemas, in the folder of the pages of operations.
pub(super) const PAGE: &str = "schemas.md";

/// Returns the page of all schemas.
pub(super) fn page(document: &Value, folder: &str) -> Page {
    let mut text = String::from("# Schemas\n");
    for (name, schema) in entries(document.pointer("/components/schemas")) {
        text.push_str(&format!("\n## {name}\n\n{}", section(schema)));
    }
    Page { path: format!("{folder}/{PAGE}"), title: "Schemas".to_owned(), text, is_nested: true }
}

/// Returns a text as a cell of a table.
pub(super) fn cell(text: &str) -> String {
    let text = text.trim().replace('|', "\\|");
    text.replace("\n\n", "<br>").replace("\n- ", "<br>• ").replace('\n', " ")
}

/// Returns a value as a block of code.
pub(super) fn block(value: &Value) -> String {
    match value {
        Value::String(text) => format!("```text\n{}\n```\n", text.trim_end()),
        value => format!("```json\n{value:#}\n```\n"),
    }
}

/// Describes a schema: its meaning, its values or fields, and its example.
fn section(schema: &Value) -> String {
    let mut section = paragraph(text(schema, "description"));
    let table = fields(schema, false);
    let alternatives = items(schema.get("oneOf"));
    let values: Vec<String> = alternatives.iter().filter_map(value_row).collect();
    if !values.is_empty() && values.len() == alternatives.len() {
        section.push_str(&format!("| value | meaning |\n|---|---|\n{}", values.concat()));
    } else if !alternatives.is_empty() {
        section.push_str("One of:\n\n");
        for alternative in alternatives {
            let table = fields(alternative, false);
            let meaning = if table.is_empty() { kind(alternative) } else { meaning(alternative).to_owned() };
            section.push_str(&format!("**{}**\n\n{table}", meaning.trim_end_matches('.')));
        }
    } else if table.is_empty() && !explains_values(schema) {
        section.push_str(&paragraph(&kind(schema)));
    }
    for part in items(schema.get("allOf")).iter().filter(|part| part.get("$ref").is_some()) {
        section.push_str(&format!("The fields of {}, and:\n\n", kind(part)));
    }
    section.push_str(&table);
    section.push_str(&schema.get("example").map(block).unwrap_or_default());
    section
}

/// Whether the description of an enumeration names each of its values.
fn explains_values(schema: &Value) -> bool {
    let (values, description) = (items(schema.get("enum")), text(schema, "description"));
    !values.is_empty() && values.iter().all(|value| description.contains(&code_of(value)))
}

fn paragraph(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{}\n\n", text.trim()) }
}

/// Returns the row of a value of an enumeration that describes each of its values.
fn value_row(value: &Value) -> Option<String> {
    let code = value.get("const")?;
    Some(format!("| {} | {} |\n", code_of(code), cell(meaning(value))))
}

/// Returns the table of the fields of an object, or nothing if the schema has no fields of its own.
pub(super) fn fields(schema: &Value, with_required: bool) -> String {
    let mut rows = String::new();
    for part in std::iter::once(schema).chain(items(schema.get("allOf"))) {
        add_rows(&mut rows, "", part, with_required);
    }
    if rows.is_empty() { rows } else { format!("| field | type | meaning |\n|---|---|---|\n{rows}\n") }
}

/// Adds a row for each field, and for the fields of the objects in it that have no name.
fn add_rows(rows: &mut String, prefix: &str, schema: &Value, with_required: bool) {
    let required = items(schema.get("required"));
    for (name, field) in entries(schema.get("properties")) {
        let is_required = with_required && required.iter().any(|one| one == name);
        let mark = if is_required { ", required" } else { "" };
        rows.push_str(&format!("| `{prefix}{name}` | {}{mark} | {} |\n", kind(field), cell(meaning(field))));
        add_rows(rows, &format!("{prefix}{name}."), field, with_required);
        if let Some(items) = field.get("items") {
            add_rows(rows, &format!("{prefix}{name}[]."), items, with_required);
        }
    }
}

/// Returns the description of a field, or else the description of its only alternative to `null`.
fn meaning(schema: &Value) -> &str {
    let parts = ["oneOf", "anyOf", "allOf"].into_iter().flat_map(|key| items(schema.get(key)));
    let descriptions = std::iter::once(schema).chain(parts).map(|part| text(part, "description"));
    descriptions.into_iter().find(|description| !description.is_empty()).unwrap_or_default()
}

/// Returns the type of a schema, with its limits; a schema with a name is a link.
pub(super) fn kind(schema: &Value) -> String {
    if let Some((_, name)) = text(schema, "$ref").rsplit_once('/') {
        return format!("[{name}]({PAGE}#{})", anchor(name));
    }
    let join = |parts: &[Value], word: &str| parts.iter().map(kind).collect::<Vec<_>>().join(word);
    for (key, word) in [("oneOf", " or "), ("anyOf", " or "), ("allOf", " and ")] {
        if let parts @ [_, ..] = items(schema.get(key)) {
            return join(parts, word);
        }
    }
    if let Some(value) = schema.get("const") {
        return code_of(value);
    }
    if let values @ [_, ..] = items(schema.get("enum")) {
        return values.iter().map(code_of).collect::<Vec<_>>().join(", ");
    }
    let named = match schema.get("type") {
        Some(Value::Array(types)) => {
            types.iter().filter_map(Value::as_str).map(|name| one_type(name, schema)).collect()
        }
        Some(Value::String(name)) => vec![one_type(name, schema)],
        _ => vec!["any value".to_owned()],
    };
    let limits = limits(schema);
    named.join(" or ") + &if limits.is_empty() { limits } else { format!(", {limits}") }
}

fn one_type(name: &str, schema: &Value) -> String {
    match (name, text(schema, "format")) {
        ("array", _) => {
            format!("array of {}", schema.get("items").map_or_else(|| "any value".to_owned(), kind))
        }
        ("object", _) => match schema.get("additionalProperties").filter(|values| values.is_object()) {
            Some(values) => format!("object of {}", kind(values)),
            None => "object".to_owned(),
        },
        ("null", _) => "null".to_owned(),
        (name, "" | "int32" | "int64") => name.to_owned(),
        (name, format) => format!("{name} ({format})"),
    }
}

/// Returns the limits of numbers, lengths and lists.
fn limits(schema: &Value) -> String {
    let range = |minimum: &str, maximum: &str, unit: &str| {
        let (range, last) = match (schema.get(minimum), schema.get(maximum)) {
            (Some(minimum), Some(maximum)) => (format!("{minimum} to {maximum}"), maximum),
            (Some(minimum), None) => (format!("at least {minimum}"), minimum),
            (None, Some(maximum)) => (format!("at most {maximum}"), maximum),
            (None, None) => return None,
        };
        let plural = if unit.is_empty() || *last == 1 { "" } else { "s" };
        Some(format!("{range}{unit}{plural}"))
    };
    let above = schema.get("exclusiveMinimum").map(|minimum| format!("more than {minimum}"));
    let ranges = [
        range("minimum", "maximum", ""),
        above,
        range("minLength", "maxLength", " character"),
        range("minItems", "maxItems", " item"),
    ];
    ranges.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn code_of(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    format!("`{text}`")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(schema: &Value, expected: &str) {
        assert_eq!(kind(schema), expected);
    }

    #[test]
    fn a_type_is_described_with_its_limits() {
        check(&json!({"$ref": "#/components/schemas/Success_Dj"}), "[Success_Dj](schemas.md#success_dj)");
        check(&json!({"type": "integer", "format": "int64", "minimum": 1}), "integer, at least 1");
        check(
            &json!({"type": ["string", "null"], "format": "date-time", "maxLength": 30}),
            "string (date-time) or null, at most 30 characters",
        );
        check(&json!({"type": "string", "minLength": 1}), "string, at least 1 character");
        check(&json!({"type": "string", "enum": ["a", "b"]}), "`a`, `b`");
        check(
            &json!({"type": "array", "items": {"type": "number"}, "minItems": 1, "maxItems": 9}),
            "array of number, 1 to 9 items",
        );
        check(
            &json!({"oneOf": [{"$ref": "#/components/schemas/A"}, {"type": "null"}]}),
            "[A](schemas.md#a) or null",
        );
        check(&json!({"type": "object", "additionalProperties": {"type": "string"}}), "object of string");
    }

    #[test]
    fn fields_of_unnamed_objects_are_listed_with_their_path() {
        let schema = json!({
            "type": "object",
            "required": ["data"],
            "properties": {
                "data": {"type": "object", "properties": {"id": {"type": "integer", "description": "Its\nid."}}},
                "links": {"type": "array", "items": {"properties": {"url": {"type": "string"}}, "type": "object"}},
            },
        });
        let expected = "| field | type | meaning |\n|---|---|---|\n| `data` | object, required |  |\n\
                        | `data.id` | integer | Its id. |\n| `links` | array of object |  |\n\
                        | `links[].url` | string |  |\n\n";
        assert_eq!(fields(&schema, true), expected);
        assert_eq!(fields(&json!({"type": "string"}), true), "");
    }

    #[test]
    fn an_enumeration_lists_its_values_and_a_choice_its_alternatives() {
        let values = json!({"description": "A state.", "oneOf": [{"const": "on", "description": "Open."}]});
        assert_eq!(section(&values), "A state.\n\n| value | meaning |\n|---|---|\n| `on` | Open. |\n");
        let explained = json!({"description": "A state:\n\n- `on`: Open.", "type": "string", "enum": ["on"]});
        assert_eq!(section(&explained), "A state:\n\n- `on`: Open.\n\n");
        let bare = json!({"description": "A state.", "type": "string", "enum": ["on", "off"]});
        assert_eq!(section(&bare), "A state.\n\n`on`, `off`\n\n");
        let choice = json!({"oneOf": [
            {"type": "object", "description": "A bus.", "properties": {"bus": {"type": "integer"}}},
            {"$ref": "#/components/schemas/Tram"},
        ]});
        let expected = "One of:\n\n**A bus**\n\n| field | type | meaning |\n|---|---|---|\n| `bus` | integer |  |\n\n\
                        **[Tram](schemas.md#tram)**\n\n";
        assert_eq!(section(&choice), expected);
    }

    #[test]
    fn an_extending_schema_links_to_the_schema_that_it_extends() {
        let schema = json!({"allOf": [
            {"$ref": "#/components/schemas/A"},
            {"properties": {"b": {"type": "boolean", "description": "Whether | so."}}},
        ]});
        let expected = "The fields of [A](schemas.md#a), and:\n\n\
                        | field | type | meaning |\n|---|---|---|\n| `b` | boolean | Whether \\| so. |\n\n";
        assert_eq!(section(&schema), expected);
    }
}
