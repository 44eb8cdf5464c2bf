//! The examples that the guides and the reference print: their commands run, and return the printed answers.

use crate::harness::{DOCUMENTED, Examples, Server, Store, bash, blocks, documents, section};

on_one_store!(
    app_guide_examples_return_the_printed_answers,
    gig_guide_examples_follow_those_of_the_app_guide,
    api_reference_examples_return_the_printed_answers,
);

const APP: &str = include_str!("../../../../../docs/guide/app.md");
const GIGS: &str = include_str!("../../../../../docs/guide/gigs.md");
const REFERENCE: &str = include_str!("../../../../../docs/api.md");

/// Runs the examples of a document against a server with rate limits, like the one that a reader starts.
fn check(document: &str, store: Store) {
    let server = Server::configured(store, &[("rate_limits.enabled", "true")]);
    Examples::of(document).check(bash(), &[(DOCUMENTED, &server.client().address)]);
}

fn app_guide_examples_return_the_printed_answers(store: Store) {
    check(APP, store);
}

fn gig_guide_examples_follow_those_of_the_app_guide(store: Store) {
    check(&[APP, GIGS].join("\n"), store);
}

fn api_reference_examples_return_the_printed_answers(store: Store) {
    check(REFERENCE, store);
}

#[test]
fn documented_quotas_match_the_defaults() {
    let defaults = include_str!("../../../../../config/default.toml");
    let mut paragraphs = section(REFERENCE, "## Rate limits").split("\n\n");
    let table = paragraphs.find(|text| text.starts_with("| requests |")).unwrap();
    let rows: Vec<&str> = table.lines().skip(2).collect();
    assert!(rows.len() > 10, "{table}");
    for row in rows {
        let [_, quota, key] = row.split(" | ").collect::<Vec<_>>()[..] else { panic!("{row}") };
        let number = quota.split(|c: char| c == ',' || c.is_alphabetic()).next().unwrap().replace(' ', "");
        let key = key.trim_matches(['`', '|', ' ']);
        assert!(defaults.contains(&format!("\n{key} = {number}\n")), "{key} = {number}");
    }
}

/// The documents with requests, which tests of this suite run.
const RUN: [&str; 6] = [
    "README.md",
    "docs/api.md",
    "docs/guide/app.md",
    "docs/guide/gigs.md",
    "docs/guide/operator.md",
    "docs/guide/providers.md",
];

#[test]
fn every_document_with_curl_commands_is_tested() {
    for (path, text) in documents() {
        let requests =
            blocks(&text).iter().any(|block| block.language == "sh" && block.text.contains("curl "));
        let is_run = RUN.iter().any(|name| path.ends_with(name));
        assert!(is_run || !requests, "no test runs the requests of {}", path.display());
    }
}
