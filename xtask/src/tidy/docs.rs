//! The documentation of code: every module, and every public type, trait and function, says what it is for. Fields and
//! variants say so where their names do not.

use super::File;
use super::sources::{definition, is_for_tests, is_test_file};

/// Checks every source file outside tests.
///
/// # Errors
/// If a file is not valid Rust.
pub(super) fn check(files: &[File]) -> anyhow::Result<Vec<String>> {
    let mut complaints = Vec::new();
    for file in files.iter().filter(|file| is_checked(file)) {
        let parsed = file.parsed()?;
        let mut missing = Missing::default();
        if !is_documented(&parsed.attrs) {
            missing.0.push("the module".to_owned());
        }
        missing.add_items(&parsed.items);
        complaints.extend(missing.0.into_iter().map(|what| format!("{}: {what} has no docs", file.path)));
    }
    Ok(complaints)
}

fn is_checked(file: &File) -> bool {
    let is_source = file.path.contains("/src/") || file.path.contains("/per_store/");
    is_source && file.has_extension(&["rs"]) && !is_test_file(&file.path)
}

/// The items without docs in a file.
#[derive(Default)]
struct Missing(Vec<String>);

impl Missing {
    fn add_items(&mut self, items: &[syn::Item]) {
        for item in items {
            if let Some((visibility, attributes, name)) = definition(item) {
                self.add(visibility, attributes, name);
            }
            match item {
                syn::Item::Fn(item) => self.add(&item.vis, &item.attrs, &item.sig.ident),
                syn::Item::Mod(module) if !is_for_tests(&module.attrs) => {
                    module.content.iter().for_each(|(_, items)| self.add_items(items));
                }
                syn::Item::Impl(item) => {
                    for item in &item.items {
                        if let syn::ImplItem::Fn(item) = item {
                            self.add(&item.vis, &item.attrs, &item.sig.ident);
                        }
                    }
                }
                syn::Item::Trait(of) => {
                    for item in &of.items {
                        if let syn::TraitItem::Fn(item) = item {
                            self.add(&of.vis, &item.attrs, &item.sig.ident);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn add(&mut self, visibility: &syn::Visibility, attributes: &[syn::Attribute], name: &syn::Ident) {
        if matches!(visibility, syn::Visibility::Public(_)) && !is_documented(attributes) {
            self.0.push(format!("`{name}`"));
        }
    }
}

fn is_documented(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("doc"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    fn missing(text: &str) -> Vec<String> {
        check(&[file("crates/domain/src/a.rs", text)]).unwrap()
    }

    #[test]
    fn modules_and_public_items_without_docs_are_reported() {
        let documented = "//! A.\n/// B.\npub struct B { pub c: u8 }\n/// D.\npub fn d() {}\nfn e() {}\n";
        assert!(missing(documented).is_empty());
        let found =
            missing("pub enum B { C }\nimpl B { pub fn d() {} fn e() {} }\npub trait F { fn g(); }\n");
        let expected = ["the module", "`B`", "`d`", "`F`", "`g`"];
        assert_eq!(found, expected.map(|what| format!("crates/domain/src/a.rs: {what} has no docs")));
    }

    #[test]
    fn tests_need_no_docs() {
        assert!(missing("//! A.\n#[cfg(test)]\nmod tests { pub fn b() {} }\n").is_empty());
        assert!(check(&[file("crates/domain/src/a/tests.rs", "pub fn b() {}\n")]).unwrap().is_empty());
    }
}
