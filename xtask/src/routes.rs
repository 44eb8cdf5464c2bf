//! `cargo xtask routes`: one line per operation.

use serde_json::Value;

use crate::openapi;
use crate::openapi::values::{entries, resolved};

/// Prints the table of all operations.
pub(crate) fn run() -> anyhow::Result<u8> {
    let document: Value = serde_json::from_str(&openapi::described()?)?;
    print!("{}", table(&document));
    Ok(0)
}

/// The header of the table.
const HEAD: [&str; 8] = ["method", "path", "operation", "action", "rate limit", "body", "answer", "failures"];

fn table(document: &Value) -> String {
    let operations = entries(document.get("paths")).flat_map(|(path, item)| {
        entries(Some(item)).map(move |(method, operation)| row(document, method, path, operation))
    });
    let rows: Vec<[String; 8]> = std::iter::once(HEAD.map(str::to_owned)).chain(operations).collect();
    let widths: [usize; 8] = std::array::from_fn(|column| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    });
    let lines = rows.iter().map(|row| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    });
    lines.collect()
}

fn row(document: &Value, method: &str, path: &str, operation: &Value) -> [String; 8] {
    let text = |pointer: &str| operation.pointer(pointer).and_then(Value::as_str);
    let (successes, failures): (Vec<_>, Vec<_>) =
        entries(operation.get("responses")).partition(|(status, _)| status.starts_with('2'));
    let answers = successes.iter().map(|(status, response)| match schema_name(response) {
        Some(name) => format!("{status} {name}"),
        None => (*status).clone(),
    });
    let codes = failures.iter().flat_map(|(_, response)| codes(resolved(document, response)));
    [
        method.to_uppercase(),
        path.to_owned(),
        text("/operationId").unwrap_or_default().to_owned(),
        text("/x-access/action").or(text("/x-access/who")).unwrap_or_default().to_owned(),
        text("/x-access/rate_limit").unwrap_or("-").to_owned(),
        operation.get("requestBody").and_then(schema_name).unwrap_or_else(|| "-".to_owned()),
        answers.collect::<Vec<_>>().join(", "),
        codes.collect::<Vec<_>>().join(", "),
    ]
}

fn schema_name(body: &Value) -> Option<String> {
    let (_, content) = body.get("content")?.as_object()?.iter().next()?;
    let reference = content.pointer("/schema/$ref")?.as_str()?;
    reference.rsplit('/').next().map(str::to_owned)
}

/// The error codes of a failure, which are the names of its examples.
fn codes(response: &Value) -> Vec<String> {
    entries(response.pointer("/content/application~1json/examples")).map(|(code, _)| code.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::Document;
    use crate::tidy;

    /// The operation that a code span names, such as `GET /djs?online=1`, with `{id}` for numbers.
    fn named(code: &str) -> Option<(&str, String)> {
        let methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];
        let (method, path) = code
            .split_once(' ')
            .filter(|(method, path)| methods.contains(method) && path.starts_with('/'))?;
        let path = path.split('?').next().unwrap_or_default();
        let is_id = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
        let parts = path.split('/').map(|part| if is_id(part) { "{id}" } else { part });
        Some((method, parts.collect::<Vec<_>>().join("/")))
    }

    #[test]
    fn api_operations_named_by_documents_exist() {
        let openapi: Value = serde_json::from_str(&openapi::committed().unwrap()).unwrap();
        let exists = |method: &str, path: &str| {
            let of =
                |path: &str| openapi["paths"][path.trim_end_matches('/')][method.to_lowercase()].is_object();
            of(path) || of(&format!("/api/v1{path}"))
        };
        let is_checked = |path: &str| {
            path.ends_with(".md")
                && (path.starts_with("docs/")
                    || ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].contains(&path))
        };
        let mut count = 0_usize;
        for file in tidy::read_files().unwrap().iter().filter(|file| is_checked(&file.path)) {
            for (line, code) in Document::parse(&file.text()).codes {
                if let Some((method, path)) = named(&code) {
                    assert!(exists(method, &path), "{}:{line}: {method} {path} does not exist", file.path);
                    count = count.saturating_add(1);
                }
            }
        }
        assert!(count > 50, "the documents name only {count} operations");
    }

    #[test]
    fn the_table_lists_api_operations_with_their_schemas_and_failures() {
        let table = table(&serde_json::from_str(&openapi::committed().unwrap()).unwrap());
        let rows: Vec<&str> = table.lines().skip(1).collect();
        assert!(rows.len() > 60, "{} operations", rows.len());
        let withdrawal = rows.iter().find(|row| row.contains("createWithdrawal")).unwrap();
        for cell in ["withdrawals", "NewWithdrawal", "201 CreatedWithdrawalResponse", "limit_exceeded"] {
            assert!(withdrawal.contains(cell), "{cell}: {withdrawal}");
        }
    }
}
