//! Parts shared by several operations, moved to the components of the document.

use std::collections::{BTreeMap, BTreeSet};

use utoipa::openapi::path::Operation;
use utoipa::openapi::response::Response;
use utoipa::openapi::{OpenApi, Paths, Ref, RefOr};

/// Replaces equal examples, headers, responses and parameters of operations by references.
///
/// Where parts of the same name differ, the most frequent form becomes the component, and the others stay
/// inline. `failure_names` has the names of responses with failures by their codes.
pub(super) fn share(document: &mut OpenApi, failure_names: &BTreeMap<BTreeSet<String>, &str>) {
    let paths = &mut document.paths;
    let examples = shared("examples", responses(paths).flat_map(|(_, response)| examples_of(response)));
    let headers = shared("headers", responses(paths).flat_map(|(_, response)| headers_of(response)));
    let failures = operations(paths).flat_map(|operation| operation.responses.responses.values_mut());
    let responses = shared(
        "responses",
        failures.filter_map(|response| Some((failure_name(response, failure_names)?, response))),
    );
    let parameters = operations(paths).flat_map(|operation| operation.parameters.iter_mut().flatten());
    let parameters =
        shared("parameters", parameters.filter_map(|parameter| Some((name_of(parameter)?, parameter))));
    let components = document.components.get_or_insert_default();
    components.examples = examples;
    components.headers = headers;
    components.responses = responses;
    components.parameters = parameters;
}

/// The forms that occur more than once, by name; each use becomes a reference.
fn shared<'d, T: Clone + PartialEq + 'd>(
    kind: &str,
    uses: impl Iterator<Item = (String, &'d mut RefOr<T>)>,
) -> BTreeMap<String, RefOr<T>> {
    let uses: Vec<_> = uses.collect();
    let mut forms: BTreeMap<String, Vec<(RefOr<T>, usize)>> = BTreeMap::new();
    for (name, used) in &uses {
        let known = forms.entry(name.clone()).or_default();
        match known.iter_mut().find(|(form, _)| form == &**used) {
            Some((_, count)) => *count = count.saturating_add(1),
            None => known.push(((*used).clone(), 1)),
        }
    }
    let most_frequent = |(name, forms): (String, Vec<(RefOr<T>, usize)>)| {
        let (form, count) = forms.into_iter().rev().max_by_key(|(_, count)| *count)?;
        (count > 1).then_some((name, form))
    };
    let components: BTreeMap<_, _> = forms.into_iter().filter_map(most_frequent).collect();
    for (name, used) in uses {
        if components.get(&name) == Some(&*used) {
            *used = RefOr::Ref(Ref::new(format!("#/components/{kind}/{name}")));
        }
    }
    components
}

fn operations(paths: &mut Paths) -> impl Iterator<Item = &mut Operation> {
    paths.paths.values_mut().flat_map(|item| {
        let methods = [&mut item.get, &mut item.put, &mut item.post, &mut item.patch, &mut item.delete];
        methods.into_iter().flatten()
    })
}

fn responses(paths: &mut Paths) -> impl Iterator<Item = (&String, &mut Response)> {
    let all = operations(paths).flat_map(|operation| &mut operation.responses.responses);
    all.filter_map(|(status, response)| match response {
        RefOr::T(response) => Some((status, response)),
        RefOr::Ref(_) => None,
    })
}

fn examples_of(
    response: &mut Response,
) -> impl Iterator<Item = (String, &mut RefOr<utoipa::openapi::example::Example>)> {
    let contents = response.content.values_mut().filter_map(|content| match content {
        RefOr::T(content) => Some(content),
        RefOr::Ref(_) => None,
    });
    contents.flat_map(|content| &mut content.examples).map(|(name, example)| (name.clone(), example))
}

fn headers_of(
    response: &mut Response,
) -> impl Iterator<Item = (String, &mut RefOr<utoipa::openapi::Header>)> {
    response.headers.iter_mut().map(|(name, header)| (name.clone(), header))
}

/// The component name of a failure, such as `NotFound`.
fn failure_name(response: &RefOr<Response>, names: &BTreeMap<BTreeSet<String>, &str>) -> Option<String> {
    let RefOr::T(response) = response else { return None };
    let RefOr::T(content) = response.content.values().next()? else { return None };
    let codes: BTreeSet<String> = content.examples.keys().cloned().collect();
    names.get(&codes).map(|name| in_pascal_case(name))
}

fn in_pascal_case(code: &str) -> String {
    let words = code.split('_').map(|word| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect::<String>()
    });
    words.collect()
}

fn name_of(parameter: &RefOr<utoipa::openapi::path::Parameter>) -> Option<String> {
    match parameter {
        RefOr::T(parameter) => Some(parameter.name.clone()),
        RefOr::Ref(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_frequent_variant_of_a_component_is_shared() {
        let uses = [("a", 1), ("a", 2), ("a", 2), ("b", 3), ("c", 4), ("c", 4)];
        let mut uses = uses.map(|(name, form)| (name.to_owned(), RefOr::T(form)));
        let components = shared("numbers", uses.iter_mut().map(|(name, form)| (name.clone(), form)));
        let names: Vec<_> = components.iter().map(|(name, form)| (name.as_str(), form.clone())).collect();
        assert!(names == [("a", RefOr::T(2)), ("c", RefOr::T(4))]);
        let references = uses.map(|(_, form)| match form {
            RefOr::T(_) => String::new(),
            RefOr::Ref(reference) => reference.ref_location,
        });
        let (a, c) = ("#/components/numbers/a", "#/components/numbers/c");
        assert_eq!(references, ["", a, a, "", c, c]);
    }

    #[test]
    fn an_error_code_is_converted_to_pascal_case() {
        assert_eq!(in_pascal_case("invalid_token"), "InvalidToken");
    }
}
