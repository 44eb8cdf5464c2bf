//! What the content security policy of pages refuses, in their templates: inline style and script, and other hosts.

use super::File;

/// The folder of the templates.
const FOLDER: &str = "crates/pages/templates/";

/// The beginnings of URLs of other hosts.
const SCHEMES: &[&str] = &["http://", "https://", "=\"//"];

/// Checks all templates.
pub(super) fn check(files: &[File]) -> Vec<String> {
    let templates = files.iter().filter(|file| file.path.starts_with(FOLDER));
    templates.flat_map(|file| check_template(&file.path, &file.text())).collect()
}

fn check_template(path: &str, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let mut complain = |what: &str| complaints.push(format!("{path}:{number}: it has {what}"));
        if line.contains(" style=") || line.contains("<style") {
            complain("an inline style; write it into a style sheet");
        }
        if line.split("<script").skip(1).any(|script| !script.starts_with(" src=")) {
            complain("an inline script; write it into the script of the assets");
        }
        if line.split_whitespace().any(is_handler) {
            complain("an inline handler; write it into the script of the assets");
        }
        if SCHEMES.iter().any(|scheme| line.contains(scheme)) {
            complain("the URL of another host; only a user or the configuration may name one");
        }
    }
    complaints
}

/// Whether a word is an attribute such as `onclick="…"`.
fn is_handler(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.len() > 2 && name.starts_with("on") && name.bytes().all(|letter| letter.is_ascii_lowercase())
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_complaints, file};
    use super::*;

    #[test]
    fn what_the_content_security_policy_refuses_is_reported() {
        for (template, part) in [
            ("<p style=\"color:red\">", "inline style"),
            ("<style>p{}</style>", "inline style"),
            ("<script>alert(1)</script>", "inline script"),
            ("<button onclick=\"f()\">", "inline handler"),
            ("<a href=\"https://example.com\">", "another host"),
            ("<img src=\"//example.com/x.svg\">", "another host"),
        ] {
            assert_complaints(&check(&[file("crates/pages/templates/a/b.html", template)]), &[part]);
        }
    }

    #[test]
    fn other_templates_and_other_files_are_accepted() {
        let script =
            "<script src=\"{{ assets.script }}\" defer></script><p>{% if on == 1 %}one=1{% endif %}</p>";
        assert!(check(&[file("crates/pages/templates/a/b.html", script)]).is_empty());
        assert!(check(&[file("docs/page.html", "<p style=\"color:red\">")]).is_empty());
    }
}
