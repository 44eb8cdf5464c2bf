//! A check of the built pages: every link leads to a file of the site and, after `#`, to an element of it. Nothing is
//! loaded from other hosts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::markdown::resolve;
use crate::tidy::read_folder;

/// Checks the pages in a folder; returns a line for each wrong reference.
///
/// # Errors
/// If a file cannot be read.
pub(super) fn check(folder: &Path) -> anyhow::Result<Vec<String>> {
    let files = read_folder(folder, &[])?;
    let pages = files.iter().filter(|file| file.has_extension(&["html"]));
    let pages = pages.map(|file| (file.path.as_str(), Page::of(&file.text()))).collect();
    Ok(problems(&files.iter().map(|file| file.path.as_str()).collect(), &pages))
}

fn problems(files: &BTreeSet<&str>, pages: &BTreeMap<&str, Page>) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, page) in pages {
        problems.extend(page.loaded.iter().map(|url| format!("{name} loads {url} from another host")));
        for target in &page.targets {
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = resolve(name, path);
            // The page of the API makes its places, such as `#/Wallet/getWallet`, when it is shown.
            let is_place = anchor.starts_with('/') && path == "docs/api/index.html";
            let has_anchor = |page: &Page| anchor.is_empty() || is_place || page.ids.contains(anchor);
            if !files.contains(path.as_str()) || !pages.get(path.as_str()).is_none_or(has_anchor) {
                problems.push(format!("{name} links to {target}, which does not exist"));
            }
        }
    }
    problems
}

/// What a page holds and refers to.
#[derive(Default)]
struct Page {
    ids: BTreeSet<String>,
    /// The targets in the site.
    targets: BTreeSet<String>,
    /// The addresses of styles, scripts and images on other hosts.
    loaded: BTreeSet<String>,
}

impl Page {
    fn of(html: &str) -> Self {
        let mut page = Self::default();
        for tag in html.split('<').skip(1).filter_map(|tag| tag.split('>').next()) {
            page.ids.extend(attribute(tag, "id").map(str::to_owned));
            for (name, target) in
                ["href", "src"].into_iter().filter_map(|name| Some((name, attribute(tag, name)?)))
            {
                let is_followed = name == "href" && tag.starts_with("a ");
                match target.split_once(':') {
                    None if !target.starts_with("//") => page.targets.insert(target.to_owned()),
                    Some(("data", _)) => false,
                    _ => !is_followed && page.loaded.insert(target.to_owned()),
                };
            }
        }
        page
    }
}

/// Returns the value of an attribute of a tag.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, value) = tag.split_once(&format!(" {name}=\""))?;
    value.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_links_and_files_loaded_from_other_hosts_are_found() {
        let html = "<h1 id=\"top\">A</h1><a class=\"x\" href=\"b/c.html#d\">c</a><a href=\"#top\">t</a>\
                    <a href=\"https://x.org\">x</a><script src=\"a.js\"></script><link href=\"data:x\">";
        let broken = "<h1 id=\"d\">C</h1><a href=\"../a.html#gone\">a</a><a href=\"d.html\">d</a>\
                      <script src=\"https://cdn.example.com/x.js\"></script>";
        let pages = BTreeMap::from([("a.html", Page::of(html)), ("b/c.html", Page::of(broken))]);
        let files = ["a.html", "a.js", "b/c.html"].into();
        let expected = [
            "b/c.html loads https://cdn.example.com/x.js from another host",
            "b/c.html links to ../a.html#gone, which does not exist",
            "b/c.html links to d.html, which does not exist",
        ];
        assert_eq!(problems(&files, &pages), expected);
    }
}
