//! The operations of the OpenAPI document: a page for each tag, in Markdown.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Page;
use super::schemas::{self, block, cell, fields, kind};
use crate::markdown::anchor;
use crate::openapi;
use crate::openapi::values::{entries, items, resolved, text};

/// The folder of the pages.
const FOLDER: &str = "docs/api";

/// The methods of operations in a path item.
const METHODS: &[&str] = &["get", "post", "put", "patch", "delete"];

/// Returns an overview, a page for each tag, and the page of the schemas.
///
/// # Errors
/// If an operation has no tag that the document declares.
pub(super) fn pages(document: &Value) -> anyhow::Result<Vec<Page>> {
    let operations = operations(document);
    let tags = items(document.get("tags"));
    let untagged = operations.iter().find(|one| !tags.iter().any(|tag| one.has_tag(text(tag, "name"))));
    if let Some(untagged) = untagged {
        anyhow::bail!("{} of {} has no tag that is declared", untagged.method, untagged.path);
    }
    let mut pages = vec![overview(document, &operations)];
    pages.extend(tags.iter().map(|tag| tag_page(document, tag, &operations)));
    pages.push(schemas::page(document, FOLDER));
    let places = places(document, &operations);
    for page in &mut pages {
        let folder = if page.path.starts_with(FOLDER) { "" } else { "api/" };
        page.text = with_references(&page.text, &places, folder);
    }
    Ok(pages)
}

/// Returns the targets of links to operations and schemas, by the names by which descriptions refer to them.
fn places<'d>(document: &'d Value, operations: &[Operation<'d>]) -> BTreeMap<&'d str, String> {
    let of_operations = operations.iter().filter_map(|operation| {
        let tag = items(operation.value.get("tags")).first()?.as_str()?;
        Some((operation.id(), format!("{}.md#{}", anchor(tag), anchor(operation.summary()))))
    });
    let of_schemas = entries(document.pointer("/components/schemas"))
        .map(|(name, _)| (name.as_str(), format!("{}#{}", schemas::PAGE, anchor(name))));
    // Names in lower case are also names of fields and values.
    of_operations.chain(of_schemas).filter(|(name, _)| name.contains(char::is_uppercase)).collect()
}

/// Turns the code spans that name an operation or a schema into links.
fn with_references(text: &str, places: &BTreeMap<&str, String>, folder: &str) -> String {
    let parts: Vec<String> = text
        .split('`')
        .enumerate()
        .map(|(index, part)| match places.get(part) {
            Some(place) if index % 2 == 1 => format!("[`{part}`]({folder}{place})"),
            _ if index % 2 == 1 => format!("`{part}`"),
            _ => part.to_owned(),
        })
        .collect();
    parts.concat()
}

/// An operation of the service, or a message that it sends.
struct Operation<'d> {
    method: String,
    /// The path, or the name of the message.
    path: &'d str,
    is_sent: bool,
    value: &'d Value,
}

impl<'d> Operation<'d> {
    fn has_tag(&self, tag: &str) -> bool {
        items(self.value.get("tags")).first().is_some_and(|first| first == tag)
    }

    fn summary(&self) -> &'d str {
        text(self.value, "summary")
    }

    fn id(&self) -> &'d str {
        text(self.value, "operationId")
    }
}

fn operations(document: &Value) -> Vec<Operation<'_>> {
    let mut operations = Vec::new();
    for (key, is_sent) in [("paths", false), ("webhooks", true)] {
        for (path, item) in entries(document.get(key)) {
            for (method, value) in entries(Some(item)).filter(|(name, _)| METHODS.contains(&name.as_str())) {
                operations.push(Operation { method: method.to_uppercase(), path, is_sent, value });
            }
        }
    }
    operations
}

fn overview(document: &Value, operations: &[Operation<'_>]) -> Page {
    let mut text_of_page = format!(
        "# Operations\n\nThe operations of version {}, generated from [openapi.json](openapi.json). [The rules]\
         (api.md) apply to all of them.\n\n| group | operations | |\n|---|---|---|\n",
        document.pointer("/info/version").and_then(Value::as_str).unwrap_or_default()
    );
    for tag in items(document.get("tags")) {
        let name = text(tag, "name");
        let count = operations.iter().filter(|one| one.has_tag(name)).count();
        let file = page_path(name).replace("docs/", "");
        text_of_page
            .push_str(&format!("| [{name}]({file}) | {count} | {} |\n", cell(text(tag, "description"))));
    }
    let path = format!("{}.md", openapi::DOCUMENT);
    Page { path, title: "Operations".to_owned(), text: text_of_page, is_nested: false }
}

fn page_path(tag: &str) -> String {
    format!("{FOLDER}/{}.md", anchor(tag))
}

fn tag_page(document: &Value, tag: &Value, operations: &[Operation<'_>]) -> Page {
    let name = text(tag, "name");
    let mut page = format!("# {name}\n\n{}\n\n", text(tag, "description"));
    let operations: Vec<_> = operations.iter().filter(|one| one.has_tag(name)).collect();
    if !operations.is_empty() {
        page.push_str("| operation | |\n|---|---|\n");
    }
    for operation in &operations {
        let (summary, call) = (operation.summary(), call(operation));
        page.push_str(&format!("| [{summary}](#{}) | {call} |\n", anchor(summary)));
    }
    for operation in &operations {
        page.push_str(&section(document, operation));
    }
    Page { path: page_path(name), title: name.to_owned(), text: page, is_nested: true }
}

fn call(operation: &Operation<'_>) -> String {
    if operation.is_sent {
        return format!("`{}`, sent by the service", operation.method);
    }
    format!("`{} {}`", operation.method, operation.path)
}

/// Describes an operation: its access, its parameters, its body and its answers.
fn section(document: &Value, operation: &Operation<'_>) -> String {
    let value = operation.value;
    let mut section =
        format!("\n## {}\n\n{} · `{}`\n\n", operation.summary(), call(operation), operation.id());
    for paragraph in [text(value, "description"), &access(value)] {
        if !paragraph.is_empty() {
            section.push_str(&format!("{}\n\n", paragraph.trim()));
        }
    }
    section.push_str(&parameters(document, value));
    if let Some(body) = value.get("requestBody").map(|body| resolved(document, body)) {
        for (media, content) in entries(body.get("content")) {
            let schema = content.get("schema").unwrap_or(&Value::Null);
            section.push_str(&format!("**Body** (`{media}`): {}\n\n", kind(schema)));
            section.push_str(&fields(resolved(document, schema), true));
            section.push_str(&examples(document, content));
        }
    }
    section.push_str(&answers(document, value));
    section
}

/// Returns who may call an operation, and the quota that counts it.
fn access(operation: &Value) -> String {
    let mut parts = Vec::new();
    if let Some(security) = operation.get("security") {
        let schemes = items(Some(security)).iter().map(|scheme| {
            let names: Vec<String> = entries(Some(scheme)).map(|(name, _)| format!("`{name}`")).collect();
            if names.is_empty() { "none".to_owned() } else { names.join(" and ") }
        });
        let schemes: Vec<String> = schemes.collect();
        let needed = if schemes.is_empty() { "none".to_owned() } else { schemes.join(" or ") };
        parts.push(format!("Authentication: {needed}"));
    }
    let reach = entries(operation.pointer("/x-access/reach")).filter_map(|(role, reach)| {
        let objects = match reach.as_str()? {
            "own" => "own objects",
            "others'" => "objects of others",
            "all" => "all objects",
            _ => return None,
        };
        let role = if role == "guest" { "every user" } else { role };
        Some(format!("{role} ({objects})"))
    });
    let reach: Vec<String> = reach.collect();
    if !reach.is_empty() {
        parts.push(format!("Access: {}", reach.join(", ")));
    }
    if let Some(limit) = operation.pointer("/x-access/rate_limit").and_then(Value::as_str) {
        parts.push(format!("Rate limit: `{limit}`"));
    }
    parts.join(" · ")
}

fn parameters(document: &Value, operation: &Value) -> String {
    let mut rows = String::new();
    for parameter in items(operation.get("parameters")).iter().map(|one| resolved(document, one)) {
        let mark = if parameter.get("required") == Some(&Value::Bool(true)) { ", required" } else { "" };
        let kind = parameter.get("schema").map(kind).unwrap_or_default();
        let (name, place) = (text(parameter, "name"), text(parameter, "in"));
        let meaning = cell(text(parameter, "description"));
        rows.push_str(&format!("| `{name}` | {place} | {kind}{mark} | {meaning} |\n"));
    }
    let head = "**Parameters**\n\n| parameter | in | type | meaning |\n|---|---|---|---|\n";
    if rows.is_empty() { rows } else { format!("{head}{rows}\n") }
}

/// Returns the table of answers, and the examples of the successful ones.
fn answers(document: &Value, operation: &Value) -> String {
    let (mut rows, mut shown) = (String::new(), String::new());
    for (status, answer) in entries(operation.get("responses")) {
        let answer = resolved(document, answer);
        let mut kinds = Vec::new();
        for (media, content) in entries(answer.get("content")) {
            let kind = content.get("schema").filter(|_| media == "application/json").map(kind);
            kinds.push(kind.unwrap_or_else(|| format!("`{media}`")));
            let examples = if status.starts_with('2') { examples(document, content) } else { String::new() };
            if !examples.is_empty() {
                shown.push_str(&format!("**Example** of {status}:\n\n{examples}\n"));
            }
        }
        let meaning = cell(text(answer, "description"));
        rows.push_str(&format!("| {status} | {} | {meaning} |\n", kinds.join(" or ")));
    }
    let head = "**Answers**\n\n| status | body | meaning |\n|---|---|---|\n";
    if rows.is_empty() { rows } else { format!("{head}{rows}\n{shown}") }
}

/// Returns the examples of a body, each in a block.
fn examples(document: &Value, content: &Value) -> String {
    let mut blocks = content.get("example").map(block).unwrap_or_default();
    for (_, example) in entries(content.get("examples")) {
        let example = resolved(document, example);
        blocks.push_str(&example.get("value").map(block).unwrap_or_default());
        blocks.push('\n');
    }
    blocks
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;
    use crate::markdown::Document;

    #[test]
    fn every_api_operation_and_schema_is_shown_once() {
        let document: Value = serde_json::from_str(&openapi::committed().unwrap()).unwrap();
        let pages = pages(&document).unwrap();
        let headings: Vec<String> = pages
            .iter()
            .flat_map(|page| Document::parse(&page.text).headings.into_iter().skip(1))
            .map(|heading| heading.text)
            .collect();
        let operations = operations(&document);
        let schemas: Vec<&String> =
            entries(document.pointer("/components/schemas")).map(|(name, _)| name).collect();
        assert_eq!(headings.len(), operations.len() + schemas.len());
        let headings: BTreeSet<&str> = headings.iter().map(String::as_str).collect();
        assert!(operations.iter().all(|operation| headings.contains(operation.summary())));
        assert!(schemas.iter().all(|name| headings.contains(name.as_str())));
    }

    #[test]
    fn the_page_of_an_api_operation_shows_its_access_body_and_answers() {
        let document = json!({
            "tags": [{"name": "Songs", "description": "The songs."}],
            "paths": {"/songs/{id}": {"patch": {
                "tags": ["Songs"],
                "operationId": "renameSong",
                "summary": "Rename a song",
                "description": "Renames it, as `Name` says.",
                "security": [{"bearer": []}],
                "x-access": {"reach": {"guest": "own", "DJ": "–"}, "rate_limit": "songs_per_minute"},
                "parameters": [{"$ref": "#/components/parameters/id"}],
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Name"}}}},
                "responses": {
                    "200": {
                        "description": "The song.",
                        "content": {"application/json": {
                            "schema": {"$ref": "#/components/schemas/Name"},
                            "example": {"name": "Blue Monday"},
                        }},
                    },
                    "404": {"description": "`not_found`: It\ndoes not exist."},
                },
            }}},
            "components": {
                "parameters": {"id": {"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}},
                "schemas": {"Name": {
                    "type": "object",
                    "required": ["name"],
                    "properties": {"name": {"type": "string", "description": "The name."}},
                }},
            },
        });
        let pages = pages(&document).unwrap();
        let paths: Vec<&str> = pages.iter().map(|page| page.path.as_str()).collect();
        assert_eq!(paths, ["docs/openapi.json.md", "docs/api/songs.md", "docs/api/schemas.md"]);
        let expected = "\
# Songs

The songs.

| operation | |
|---|---|
| [Rename a song](#rename-a-song) | `PATCH /songs/{id}` |

## Rename a song

`PATCH /songs/{id}` · [`renameSong`](songs.md#rename-a-song)

Renames it, as [`Name`](schemas.md#name) says.

Authentication: `bearer` · Access: every user (own objects) · Rate limit: `songs_per_minute`

**Parameters**

| parameter | in | type | meaning |
|---|---|---|---|
| `id` | path | integer, required |  |

**Body** (`application/json`): [Name](schemas.md#name)

| field | type | meaning |
|---|---|---|
| `name` | string, required | The name. |

**Answers**

| status | body | meaning |
|---|---|---|
| 200 | [Name](schemas.md#name) | The song. |
| 404 |  | `not_found`: It does not exist. |

**Example** of 200:

```json
{
  \"name\": \"Blue Monday\"
}
```

";
        assert_eq!(pages[1].text, expected);
    }

    #[test]
    fn a_webhook_operation_is_shown_as_sent_by_the_service() {
        let document = json!({
            "tags": [{"name": "Songs"}],
            "webhooks": {"song": {"post": {"tags": ["Songs"], "summary": "Receive a song"}}},
        });
        let pages = pages(&document).unwrap();
        assert!(
            pages[1].text.contains("| [Receive a song](#receive-a-song) | `POST`, sent by the service |")
        );
    }

    #[test]
    fn an_api_operation_without_a_declared_tag_is_refused() {
        let document = json!({"paths": {"/songs": {"get": {"tags": ["Songs"]}}}});
        assert!(pages(&document).is_err());
    }
}
