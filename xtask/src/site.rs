//! `cargo xtask site`: the documents and the API as static pages, which need no server and load nothing from other
//! hosts.

mod api;
mod built;
mod contents;
mod sources;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};

use crate::workspace::{exit_code, remove_folder, target_dir};
use crate::{openapi, tidy, tools};

/// The release of mdBook that builds the pages.
const MDBOOK: &str = "mdbook@0.5.4";

/// A page of the site.
struct Page {
    /// The path of its source from the root of the site, separated by `/`.
    path: String,
    /// Its entry in the table of contents.
    title: String,
    /// Its text, in Markdown.
    text: String,
    /// Whether its entry belongs to the page before it.
    is_nested: bool,
}

/// Builds the site anew. Returns 1 if the table of contents or a link is wrong.
///
/// # Errors
/// If mdBook cannot be installed or fails.
pub(crate) fn run() -> anyhow::Result<u8> {
    let files = tidy::read_files()?;
    let differences = contents::differences(&files.iter().map(|file| file.path.as_str()).collect());
    if !differences.is_empty() {
        differences.iter().for_each(|difference| println!("the table of contents of the site: {difference}"));
        return Ok(1);
    }
    let parts = sources::parts(&files)?;
    let (sources, site) = (target_dir()?.join("site-sources"), target_dir()?.join("site"));
    write(&sources, &parts, &files)?;

    let mut mdbook = Command::new(tools::program(MDBOOK, &["search"])?);
    mdbook.arg("build").arg(&sources).arg("--dest-dir").arg(&site);
    ensure!(exit_code(&mut mdbook)? == 0, "mdBook failed");

    let problems = built::check(&site)?;
    problems.iter().for_each(|problem| println!("{problem}"));
    println!("{}", site.join("index.html").display());
    Ok(u8::from(!problems.is_empty()))
}

/// Writes the sources of the site into an empty folder.
fn write(folder: &Path, parts: &[(&str, Vec<Page>)], files: &[tidy::File]) -> anyhow::Result<()> {
    remove_folder(folder)?;
    let document = files.iter().find(|file| file.path == openapi::DOCUMENT).context("no OpenAPI document")?;
    let pages = parts.iter().flat_map(|(_, pages)| pages);
    let pictures = files.iter().filter(|file| sources::is_picture(&file.path));
    let mut written: Vec<(String, Vec<u8>)> =
        pages.map(|page| (format!("src/{}", page.path), page.text.clone().into_bytes())).collect();
    written.extend(pictures.map(|picture| (format!("src/{}", picture.path), picture.content.clone())));
    written.push(("src/SUMMARY.md".to_owned(), summary(parts).into_bytes()));
    let api = api::files(&document.content)?.into_iter();
    written.extend(api.map(|(path, content)| (format!("src/{path}"), content)));
    written.push((format!("src/{}", openapi::DOCUMENT), document.content.clone()));
    written.push(("book.toml".to_owned(), include_bytes!("site/book.toml").to_vec()));
    written.push(("site.css".to_owned(), include_bytes!("site/site.css").to_vec()));
    let paths: BTreeSet<&String> = written.iter().map(|(path, _)| path).collect();
    ensure!(paths.len() == written.len(), "two pages have the same path");
    for (path, content) in &written {
        let path = folder.join(path);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).with_context(|| format!("{} cannot be created", parent.display()))?;
        fs::write(&path, content).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    Ok(())
}

/// Returns the table of contents in the form of mdBook.
fn summary(parts: &[(&str, Vec<Page>)]) -> String {
    let mut summary = String::from("# Summary\n");
    for (title, pages) in parts {
        summary.push_str(&if title.is_empty() { "\n".to_owned() } else { format!("\n# {title}\n\n") });
        for page in pages {
            let bullet = match (title.is_empty(), page.is_nested) {
                (true, _) => "",
                (false, false) => "- ",
                (false, true) => "  - ",
            };
            let title = page.title.replace('[', "\\[").replace(']', "\\]");
            summary.push_str(&format!("{bullet}[{title}]({})\n", page.path));
        }
    }
    summary
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(path: &str, is_nested: bool) -> Page {
        Page { path: path.to_owned(), title: path.replace(".md", " [x]"), text: String::new(), is_nested }
    }

    #[test]
    fn the_summary_lists_the_pages_by_part() {
        let parts =
            [("", vec![page("a.md", false)]), ("B", vec![page("b/c.md", false), page("b/d.md", true)])];
        let expected =
            "# Summary\n\n[a \\[x\\]](a.md)\n\n# B\n\n- [b/c \\[x\\]](b/c.md)\n  - [b/d \\[x\\]](b/d.md)\n";
        assert_eq!(summary(&parts), expected);
    }
}
