//! Schemas of the OpenAPI document: inline, or named and listed among its components.

use std::collections::BTreeMap;

use utoipa::openapi::schema::ArrayBuilder;
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// The end of the names of types that only wrap the objects in an answer, such as `WalletData`.
const WRAPPER: &str = "Data";

/// Schemas by their names.
pub type Schemas = BTreeMap<String, RefOr<Schema>>;

/// A schema and its place in the document.
#[derive(Clone, Copy, Debug)]
pub struct Described {
    name: Option<fn() -> String>,
    schema: fn() -> RefOr<Schema>,
    parts: fn(&mut Vec<(String, RefOr<Schema>)>),
    /// The content of an envelope, which a generic type does not list among its parts, or of a list.
    content: Option<fn(&mut Schemas)>,
}

impl Described {
    /// A type listed among the components under its own name.
    #[must_use]
    pub const fn named<T: ToSchema>() -> Self {
        let (schema, parts) = (<T as PartialSchema>::schema, <T as ToSchema>::schemas);
        Self { name: Some(name_of::<T>), schema, parts, content: None }
    }

    /// An envelope around data of this type, named after it: `WalletResponse`.
    #[must_use]
    pub const fn envelope<E: ToSchema, T: ToSchema>() -> Self {
        let schema = || with_data(E::schema(), Self::data::<T>().used());
        let content = |schemas: &mut Schemas| Self::data::<T>().collect(schemas);
        Self { name: Some(response_name::<T>), schema, content: Some(content), ..Self::named::<E>() }
    }

    /// The data of an envelope: inline if its type only wraps objects.
    fn data<T: ToSchema>() -> Self {
        let named = Self::named::<T>();
        if T::name().ends_with(WRAPPER) { Self { name: None, ..named } } else { named }
    }

    /// An envelope around a page of these rows, named after them: `WithdrawalList`.
    #[must_use]
    pub const fn page<E: ToSchema, P: ToSchema, T: ToSchema>() -> Self {
        let content = |schemas: &mut Schemas| {
            Self { name: None, ..Self::named::<P>() }.collect(schemas);
            Self::named::<T>().collect(schemas);
        };
        Self {
            name: Some(|| format!("{}List", T::name())),
            schema: || with_data(E::schema(), P::schema()),
            content: Some(content),
            ..Self::named::<E>()
        }
    }

    /// A list of at least one value of this type.
    #[must_use]
    pub const fn list<T: ToSchema>() -> Self {
        let schema = || ArrayBuilder::new().items(Self::named::<T>().used()).min_items(Some(1)).into();
        let content = |schemas: &mut Schemas| Self::named::<T>().collect(schemas);
        Self { content: Some(content), ..Self::inline(schema) }
    }

    /// An inline schema.
    #[must_use]
    pub const fn inline(schema: fn() -> RefOr<Schema>) -> Self {
        Self { name: None, schema, parts: |_| {}, content: None }
    }

    /// The schema itself.
    #[must_use]
    pub fn schema(&self) -> RefOr<Schema> {
        (self.schema)()
    }

    /// The schema at its point of use: a reference if it is named.
    #[must_use]
    pub fn used(&self) -> RefOr<Schema> {
        match self.name {
            Some(name) => RefOr::Ref(Ref::from_schema_name(name())),
            None => self.schema(),
        }
    }

    /// Adds the schema, if it is named, and all schemas that it refers to.
    pub fn collect(&self, schemas: &mut Schemas) {
        let mut parts = Vec::new();
        (self.parts)(&mut parts);
        schemas.extend(parts);
        if let Some(collect) = self.content {
            collect(schemas);
        }
        if let Some(name) = self.name {
            schemas.insert(name(), self.schema());
        }
    }
}

/// The envelope with this schema for its data, since the schema of a generic type has only the bare name.
fn with_data(mut envelope: RefOr<Schema>, data: RefOr<Schema>) -> RefOr<Schema> {
    if let RefOr::T(Schema::Object(envelope)) = &mut envelope {
        envelope.properties.insert("data".to_owned(), data);
    }
    envelope
}

/// The name of a type in the document.
fn name_of<T: ToSchema>() -> String {
    T::name().into_owned()
}

/// The name of the envelope around data of this type.
fn response_name<T: ToSchema>() -> String {
    let name = T::name();
    format!("{}Response", name.strip_suffix(WRAPPER).unwrap_or(&name))
}

/// The text of doc comments: the lines of a paragraph are joined. Paragraphs, items of lists and rows of tables are
/// kept apart.
#[must_use]
pub fn text_of(lines: &[&str]) -> String {
    let mut text = String::new();
    for line in lines.iter().map(|line| line.trim()) {
        let separator = match line {
            _ if text.is_empty() || text.ends_with('\n') => "",
            "" => "\n\n",
            _ if line.starts_with("- ") || line.starts_with('|') => "\n",
            _ => " ",
        };
        text.push_str(separator);
        text.push_str(line);
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(ToSchema)]
    #[schema(as = Dj)]
    #[expect(dead_code, reason = "only its schema is read")]
    struct DjView {
        id: i64,
    }

    #[derive(ToSchema)]
    #[expect(dead_code, reason = "only its schema is read")]
    struct DjData {
        dj: DjView,
    }

    #[derive(ToSchema)]
    #[expect(dead_code, reason = "only its schema is read")]
    struct Success<T> {
        data: T,
    }

    fn names(described: Described) -> Vec<String> {
        let mut schemas = Schemas::new();
        described.collect(&mut schemas);
        schemas.into_keys().collect()
    }

    #[test]
    fn envelopes_are_named_after_their_data() {
        assert_eq!(names(Described::envelope::<Success<DjView>, DjView>()), ["Dj", "DjResponse"]);
        assert_eq!(names(Described::page::<Success<Vec<DjView>>, Vec<DjView>, DjView>()), ["Dj", "DjList"]);
    }

    #[test]
    fn a_wrapper_of_an_object_is_described_inline_in_its_envelope() {
        let described = Described::envelope::<Success<DjData>, DjData>();
        assert_eq!(names(described), ["Dj", "DjResponse"]);
        let schema = serde_json::to_value(described.schema()).unwrap();
        let dj = &schema["properties"]["data"]["properties"]["dj"];
        assert_eq!(dj["$ref"], "#/components/schemas/Dj");
    }

    #[test]
    fn paragraphs_are_kept_separate() {
        assert_eq!(text_of(&[" One", " two.", "", " Three."]), "One two.\n\nThree.");
        assert_eq!(text_of(&[" One.", ""]), "One.");
    }

    #[test]
    fn list_items_and_table_rows_stay_on_their_lines() {
        let list = [" Either:", "", " - one,", "   on two lines", " - or two.", "", " And", " more."];
        assert_eq!(text_of(&list), "Either:\n\n- one, on two lines\n- or two.\n\nAnd more.");
        assert_eq!(text_of(&[" | a |", " |---|", " | b |"]), "| a |\n|---|\n| b |");
    }
}
