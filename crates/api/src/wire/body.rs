//! Bodies of requests: each field is declared once, for the reader and for the schema.
//!
//! ```text
//! body! {
//!     /// A top-up to open.
//!     pub struct NewTopup as "NewTopup", example: {"amount": 50.00} {
//!         /// Amount in major units of the wallet's currency.
//!         amount: Amount = required(kinds::AMOUNT),
//!     }
//! }
//! ```
//!
//! A field is `required`, `optional`, a `change` (it may be missing, but not null or empty) or a
//! `change_or_clear` (null or empty clears it). A last line `..name: Body` adds the fields of another body. All
//! wrong fields are reported at once, in the order of their declaration.

use cuepoint_domain::money::Currency;
use utoipa::openapi::schema::{Object, SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};

use crate::wire::error::ApiError;
use crate::wire::fields::Fields;
use crate::wire::kinds::Kind;
use cuepoint_views::wire::json::Object as JsonObject;
use cuepoint_views::wire::schema::text_of;

/// The fields of a body.
pub trait RequestBody: Sized {
    /// Reads all fields; `None` if one is invalid. Amounts are in this currency.
    fn read_fields(fields: &mut Fields<'_>, currency: &Currency) -> Option<Self>;

    /// Describes all fields as properties of this schema.
    fn describe(schema: &mut Object);

    /// Whether the object has any of the fields, regardless of its value.
    fn is_in(object: &JsonObject) -> bool;

    /// Reads an object; amounts are in this currency.
    ///
    /// # Errors
    /// 422 with the messages of all wrong fields.
    fn read(object: &JsonObject, currency: &Currency) -> Result<Self, ApiError> {
        let mut fields = Fields::of(object);
        let body = Self::read_fields(&mut fields, currency);
        fields.complete(|| body)
    }
}

/// Readers for each form of field; `None` for an invalid field.
pub mod read {
    use cuepoint_domain::money::Currency;
    use cuepoint_domain::user::Field;

    use crate::wire::fields::Fields;
    use crate::wire::kinds::Kind;

    /// A required field.
    pub fn required<T>(
        fields: &mut Fields<'_>,
        name: &'static str,
        kind: &Kind<T>,
        of: &Currency,
    ) -> Option<T> {
        fields.required(name, kind.reader(of))
    }

    /// A field that may be missing, null or empty.
    pub fn optional<T>(
        fields: &mut Fields<'_>,
        name: &'static str,
        kind: &Kind<T>,
        of: &Currency,
    ) -> Option<Option<T>> {
        Some(fields.optional(name, kind.reader(of)))
    }

    /// A field that may be missing, but not null or empty.
    pub fn change<T>(
        fields: &mut Fields<'_>,
        name: &'static str,
        kind: &Kind<T>,
        of: &Currency,
    ) -> Option<Field<T>> {
        Some(fields.change(name, kind.reader(of)))
    }

    /// A field that may be missing, and whose null or empty value clears it.
    pub fn change_or_clear<T>(
        fields: &mut Fields<'_>,
        name: &'static str,
        kind: &Kind<T>,
        of: &Currency,
    ) -> Option<Field<Option<T>>> {
        Some(fields.change_or_clear(name, kind.reader(of)))
    }
}

/// Schema descriptions for each form of field.
pub mod describe {
    use super::{Kind, Object, add, nullable, without_least_length};

    /// A required field.
    pub fn required<T>(body: &mut Object, name: &str, kind: &Kind<T>, documentation: &[&str]) {
        body.required.push(name.to_owned());
        add(body, name, kind.schema.used(), documentation);
    }

    /// A field that may be missing, null or empty.
    pub fn optional<T>(body: &mut Object, name: &str, kind: &Kind<T>, documentation: &[&str]) {
        add(body, name, without_least_length(nullable(kind.schema.used())), documentation);
    }

    /// A field that may be missing.
    pub fn change<T>(body: &mut Object, name: &str, kind: &Kind<T>, documentation: &[&str]) {
        add(body, name, kind.schema.used(), documentation);
    }

    /// A field that may be missing, null or empty.
    pub fn change_or_clear<T>(body: &mut Object, name: &str, kind: &Kind<T>, documentation: &[&str]) {
        add(body, name, without_least_length(nullable(kind.schema.used())), documentation);
    }
}

fn add(body: &mut Object, name: &str, mut schema: RefOr<Schema>, documentation: &[&str]) {
    let description = text_of(documentation);
    match &mut schema {
        RefOr::Ref(reference) => reference.description = description,
        RefOr::T(Schema::Object(object)) => object.description = Some(description),
        RefOr::T(Schema::Array(list)) => list.description = Some(description),
        RefOr::T(_) => {}
    }
    body.properties.insert(name.to_owned(), schema);
}

fn nullable(mut schema: RefOr<Schema>) -> RefOr<Schema> {
    let schema_type = match &mut schema {
        RefOr::T(Schema::Object(object)) => &mut object.schema_type,
        RefOr::T(Schema::Array(list)) => &mut list.schema_type,
        RefOr::T(_) | RefOr::Ref(_) => return schema,
    };
    if let SchemaType::Type(of_type) = schema_type {
        *schema_type = SchemaType::Array(vec![of_type.clone(), Type::Null]);
    }
    schema
}

fn without_least_length(mut schema: RefOr<Schema>) -> RefOr<Schema> {
    if let RefOr::T(Schema::Object(object)) = &mut schema {
        object.min_length = None;
    }
    schema
}

/// Declares a body: a struct of its values, their reader and its schema.
macro_rules! body {
    (
        $(#[doc = $doc:literal])+
        $vis:vis struct $body:ident as $name:literal, example: $example:tt {
            $($(#[doc = $about:literal])+ $field:ident $([$key:literal])?: $type:ty = $form:ident($kind:expr),)+
            $(..$more:ident: $more_type:ty,)?
        }
    ) => {
        $(#[doc = $doc])+
        $vis struct $body {
            $($(#[doc = $about])+ $vis $field: $type,)+
            $(#[doc = concat!("The fields of [`", stringify!($more_type), "`].")] $vis $more: $more_type,)?
        }

        impl $crate::wire::body::RequestBody for $body {
            fn read_fields(
                fields: &mut $crate::wire::fields::Fields<'_>,
                currency: &cuepoint_domain::money::Currency,
            ) -> Option<Self> {
                $(let $field = $crate::wire::body::read::$form(
                    fields,
                    $crate::wire::body::key!($field $($key)?),
                    &$kind,
                    currency,
                );)+
                $(let $more = <$more_type as $crate::wire::body::RequestBody>::read_fields(fields, currency);)?
                Some(Self { $($field: $field?,)+ $($more: $more?,)? })
            }

            fn describe(schema: &mut utoipa::openapi::Object) {
                $($crate::wire::body::describe::$form(
                    schema,
                    $crate::wire::body::key!($field $($key)?),
                    &$kind,
                    &[$($about),+],
                );)+
                $(<$more_type as $crate::wire::body::RequestBody>::describe(schema);)?
            }

            fn is_in(object: &cuepoint_views::wire::json::Object) -> bool {
                [$($crate::wire::body::key!($field $($key)?)),+].iter().any(|key| object.get(key).is_some())
                    $(|| <$more_type as $crate::wire::body::RequestBody>::is_in(object))?
            }
        }

        $crate::wire::body::body_schema! {
            $body, $name, [$($doc),+], Some(serde_json::json!($example)),
            <$body as $crate::wire::body::RequestBody>::describe,
            [$($kind),+] $(, $more_type)?
        }
    };
}

/// Declares only the schema of an object whose fields depend on each other and are read by a handler.
macro_rules! described_fields {
    (
        $(#[doc = $doc:literal])+
        pub struct $body:ident as $name:literal {
            $($(#[doc = $about:literal])+ $field:ident = $form:ident($kind:expr),)+
        }
    ) => {
        $(#[doc = $doc])+
        pub struct $body;

        $crate::wire::body::body_schema! {
            $body, $name, [$($doc),+], None,
            |schema: &mut utoipa::openapi::Object| {
                $($crate::wire::body::describe::$form(
                    schema,
                    stringify!($field),
                    &$kind,
                    &[$($about),+],
                );)+
            },
            [$($kind),+]
        }
    };
}

/// The schema of a body.
macro_rules! body_schema {
    (
        $body:ident, $name:literal, [$($doc:literal),+], $example:expr, $describe:expr,
        [$($kind:expr),+] $(, $more_type:ty)?
    ) => {
        impl utoipa::PartialSchema for $body {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                let mut body = utoipa::openapi::Object::new();
                body.description = Some(cuepoint_views::wire::schema::text_of(&[$($doc),+]));
                body.example = $example;
                $describe(&mut body);
                utoipa::openapi::Schema::from(body).into()
            }
        }

        impl utoipa::ToSchema for $body {
            fn name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }

            fn schemas(
                schemas: &mut Vec<(String, utoipa::openapi::RefOr<utoipa::openapi::Schema>)>,
            ) {
                let mut parts = cuepoint_views::wire::schema::Schemas::new();
                $($kind.schema.collect(&mut parts);)+
                schemas.extend(parts);
                $(<$more_type as utoipa::ToSchema>::schemas(schemas);)?
            }
        }
    };
}

/// The name of a field in JSON: its identifier, or the name in brackets.
macro_rules! key {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $key:literal) => {
        $key
    };
}

pub(crate) use {body, body_schema, described_fields, key};

#[cfg(test)]
mod tests {
    use cuepoint_domain::text::Line;
    use cuepoint_domain::user::Field;
    use serde_json::{Value, json};
    use utoipa::PartialSchema as _;

    use super::*;
    use crate::wire::kinds;

    body! {
        /// A body.
        struct Example as "Example", example: {"name": "Ada"} {
            /// The name,
            /// on two lines.
            name: Line = required(kinds::LINE),
            /// A keyword.
            kind ["type"]: Option<Line> = optional(kinds::LINE),
            /// A change.
            online: Field<bool> = change(kinds::FLAG),
            /// What can be cleared.
            city: Field<Option<Line>> = change_or_clear(kinds::LINE),
        }
    }

    body! {
        /// A body with the fields of another one.
        struct Extended as "Extended", example: {"name": "Ada"} {
            /// The number.
            number: Field<bool> = change(kinds::FLAG),
            ..example: Example,
        }
    }

    fn read(text: &str) -> Result<Example, ApiError> {
        Example::read(&JsonObject::parse(text.as_bytes()).unwrap(), &Currency::new("USD", 2).unwrap())
    }

    #[test]
    fn fields_are_read_as_declared() {
        let body =
            read(r#"{"name":"Ada","type":null,"city":""}"#).unwrap_or_else(|_| panic!("it is complete"));
        assert_eq!((body.name.as_str(), body.kind), ("Ada", None));
        assert_eq!((body.online, body.city), (Field::Keep, Field::Set(None)));
    }

    #[test]
    fn all_invalid_fields_are_named_in_declaration_order() {
        let Err(error) = read(r#"{"city":5,"online":null,"type":7}"#) else { panic!("it is wrong") };
        assert_eq!(
            serde_json::to_string(&error.details.errors).unwrap(),
            r#"{"name":["The name field is required."],"type":["The type field must be a string."],"online":["The online field is required."],"city":["The city field must be a string."]}"#
        );
    }

    #[test]
    fn a_body_can_extend_another_body() {
        let object = |text: &str| JsonObject::parse(text.as_bytes()).unwrap();
        let read = |text: &str| Extended::read(&object(text), &Currency::new("USD", 2).unwrap());
        let body = read(r#"{"name":"Ada","number":1}"#).unwrap_or_else(|_| panic!("it is complete"));
        assert_eq!((body.number, body.example.name.as_str()), (Field::Set(true), "Ada"));
        let Err(error) = read(r#"{"number":"x"}"#) else { panic!("it is wrong") };
        assert_eq!(
            serde_json::to_string(&error.details.errors).unwrap(),
            r#"{"number":["The number field must be 0 or 1."],"name":["The name field is required."]}"#
        );
        assert!(Extended::is_in(&object(r#"{"type":null}"#)) && !Extended::is_in(&object(r#"{"kind":1}"#)));
        let schema = serde_json::to_value(Extended::schema()).unwrap();
        assert!(schema["properties"]["number"].is_object() && schema["properties"]["city"].is_object());
        assert_eq!(schema["required"], json!(["name"]));
    }

    #[test]
    fn the_schema_describes_the_declared_fields() {
        let schema = serde_json::to_value(Example::schema()).unwrap();
        assert_eq!(
            (&schema["description"], &schema["example"]),
            (&json!("A body."), &json!({"name": "Ada"}))
        );
        assert_eq!(schema["required"], json!(["name"]));
        let property = |name: &str, key: &str| schema["properties"][name][key].clone();
        assert_eq!(property("name", "description"), "The name, on two lines.");
        assert_eq!((property("name", "type"), property("name", "maxLength")), (json!("string"), json!(255)));
        assert_eq!(property("type", "type"), json!(["string", "null"]));
        assert_eq!((property("online", "type"), property("online", "maximum")), (json!("integer"), json!(1)));
        assert_eq!((property("city", "minLength"), property("name", "minLength")), (Value::Null, json!(1)));
    }
}
