//! The API: the page that services show at `/docs`, with the OpenAPI document in it, and a list of links to its
//! operations.

use std::sync::Arc;

use anyhow::{Context, anyhow};
use serde_json::Value;
use utoipa_swagger_ui::Config;

use super::Page;
use crate::openapi;
use crate::openapi::values::{entries, items, text};

/// The parts of the page that its library supplies.
const PARTS: &[&str] = &["swagger-ui.css", "swagger-ui-bundle.js"];

/// Returns the files of the page by their paths from the root of the site.
///
/// # Errors
/// If the library lacks a part.
pub(super) fn files(document: &[u8]) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let script = [&b"const openapi = "[..], document, b";\n"].concat();
    let mut files = vec![
        ("index.html".to_owned(), include_bytes!("api.html").to_vec()),
        ("document.js".to_owned(), script),
    ];
    for part in PARTS {
        let found = utoipa_swagger_ui::serve(part, Arc::new(Config::from("")));
        let file =
            found.map_err(|error| anyhow!("{part}: {error}"))?.with_context(|| format!("no {part}"))?;
        files.push(((*part).to_owned(), file.bytes.into_owned()));
    }
    Ok(files.into_iter().map(|(name, content)| (format!("docs/api/{name}"), content)).collect())
}

/// Returns the list of operations and of messages that the service sends, by tag.
pub(super) fn list(document: &Value) -> Page {
    let version = document.pointer("/info/version").and_then(Value::as_str).unwrap_or_default();
    let mut list = format!(
        "# Operations\n\n[The page of the API](api/index.html) shows the operations of version {version} with their \
         fields, values, errors and examples, as [openapi.json](openapi.json) describes them. [The rules](api.md) apply \
         to all of them.\n"
    );
    for tag in items(document.get("tags")) {
        let name = text(tag, "name");
        list.push_str(&format!("\n## {name}\n\n{}\n\n", text(tag, "description")));
        for (path, item) in ["paths", "webhooks"].into_iter().flat_map(|part| entries(document.get(part))) {
            for (method, operation) in entries(Some(item)) {
                if items(operation.get("tags")).first().is_some_and(|first| first == name) {
                    let (summary, id) = (text(operation, "summary"), text(operation, "operationId"));
                    let (folder, method) = (name.replace(' ', "%20"), method.to_uppercase());
                    list.push_str(&if path.starts_with('/') {
                        format!("- [{summary}](api/index.html#/{folder}/{id}): `{method} {path}`\n")
                    } else {
                        format!("- [{summary}](api/index.html): sent by the service\n")
                    });
                }
            }
        }
    }
    let path = format!("{}.md", openapi::DOCUMENT);
    Page { path, title: "Operations".to_owned(), text: list, is_nested: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_api_operation_is_listed_once_with_a_link_to_its_place() {
        let document: Value = serde_json::from_str(&openapi::committed().unwrap()).unwrap();
        let list = list(&document).text;
        let operations = entries(document.get("paths"))
            .flat_map(|(_, item)| entries(Some(item)).map(|(_, operation)| operation));
        let mut count = 0_usize;
        for operation in operations {
            let place = format!("/{}): `", text(operation, "operationId"));
            assert_eq!(list.matches(&place).count(), 1, "{place}");
            count = count.saturating_add(1);
        }
        assert_eq!(list.matches("(api/index.html#/").count(), count);
        assert!(list.contains("- [Receive a payment request](api/index.html): sent by the service\n"));
        assert!(list.contains(
            "- [Get the OpenAPI document](api/index.html#/Service/getOpenapi): `GET /openapi.json`"
        ));
    }
}
