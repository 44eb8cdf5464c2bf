//! The documentation of code: every module, and every public type, trait and function, says what it is for. Fields and
//! variants say so where their names do not.

use syn::visit::{self, Visit};

use super::File;
use super::sources::{is_for_tests, is_test_file};

/// Checks every source file outside tests.
///
/// # Errors
/// If a file is not valid Rust.
pub(super) fn check(files: &[File]) -> anyhow::Result<Vec<String>> {
    let mut complaints = Vec::new();
    for file in files.iter().filter(|file| is_checked(file)) {
        let parsed = file.parsed()?;
        let mut search = Search { missing: Vec::new() };
        if !is_documented(&parsed.attrs) {
            search.missing.push("the module".to_owned());
        }
        search.visit_file(&parsed);
        complaints
            .extend(search.missing.into_iter().map(|what| format!("{}: {what} has no docs", file.path)));
    }
    Ok(complaints)
}

fn is_checked(file: &File) -> bool {
    let is_source = file.path.contains("/src/") || file.path.contains("/per_store/");
    is_source && file.has_extension(&["rs"]) && !is_test_file(&file.path)
}

/// The items without docs in a file.
struct Search {
    missing: Vec<String>,
}

impl Search {
    fn item(&mut self, visibility: &syn::Visibility, attributes: &[syn::Attribute], name: &syn::Ident) {
        if matches!(visibility, syn::Visibility::Public(_)) && !is_documented(attributes) {
            self.missing.push(format!("`{name}`"));
        }
    }
}

impl<'ast> Visit<'ast> for Search {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.item(&item.vis, &item.attrs, &item.ident);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.item(&item.vis, &item.attrs, &item.ident);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.item(&item.vis, &item.attrs, &item.ident);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.item(&item.vis, &item.attrs, &item.ident);
        if matches!(item.vis, syn::Visibility::Public(_)) {
            for function in &item.items {
                if let syn::TraitItem::Fn(function) = function {
                    self.item(&item.vis, &function.attrs, &function.sig.ident);
                }
            }
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.item(&item.vis, &item.attrs, &item.sig.ident);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.item(&item.vis, &item.attrs, &item.sig.ident);
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
