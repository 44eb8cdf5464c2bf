//! The length of the documents, so that readers can finish them.

use super::tree::Tree;

/// The maximum numbers of lines.
const LINES: &[(&str, usize)] = &[("docs/api.md", 250), ("docs/guide/app.md", 300)];

/// The maximum number of words in all documents together, outside of tables and code blocks.
const WORDS: usize = 17_800;

/// The documents that are not counted: lists that grow with the product.
const UNCOUNTED: &[&str] = &["CHANGELOG.md", "docs/adr/", "docs/attacks.md"];

/// Checks every document.
pub(super) fn check(tree: &Tree<'_>) -> Vec<String> {
    let lines = LINES.iter().filter_map(|(path, allowed)| {
        let file = tree.files.iter().find(|file| file.path == *path)?;
        let lines = file.text().lines().count();
        (lines > *allowed).then(|| format!("{path}: {lines} lines are more than {allowed}"))
    });
    let mut complaints: Vec<String> = lines.collect();
    let is_counted = |path: &str| !UNCOUNTED.iter().any(|start| path.starts_with(start));
    let counted = tree.documents.iter().filter(|(path, _)| is_counted(path));
    let words: usize = counted.map(|(_, document)| document.words).sum();
    if words > WORDS {
        complaints.push(format!("the documents have {words} words; the maximum is {WORDS}"));
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::super::File;
    use super::super::tests::file;
    use super::*;

    fn check_files(files: &[File]) -> Vec<String> {
        check(&Tree::of(files))
    }

    #[test]
    fn a_document_longer_than_its_maximum_is_reported() {
        assert!(check_files(&[file("docs/api.md", &"x\n".repeat(250))]).is_empty());
        let files = [file("docs/api.md", &"x\n".repeat(251)), file("docs/storage.md", &"x\n".repeat(400))];
        assert_eq!(check_files(&files), ["docs/api.md: 251 lines are more than 250"]);
    }

    #[test]
    fn too_many_words_in_all_documents_together_are_reported() {
        let half = "word ".repeat(WORDS / 2);
        let table = format!("\n\n| a |\n|---|\n| {half} |\n");
        let mut files = vec![
            file("README.md", &format!("{half}{table}")),
            file("docs/adr/0001-a.md", &half),
            file("migrations/README.md", &half),
        ];
        assert!(check_files(&files).is_empty());
        files.push(file("docs/storage.md", "one more"));
        let expected = format!("the documents have {} words; the maximum is {WORDS}", WORDS + 2);
        assert_eq!(check_files(&files), [expected]);
    }
}
