//! Views in answers: each field is declared once, for its type, its schema and its value.
//!
//! ```text
//! view! {
//!     /// A top-up.
//!     pub struct TopupView as Topup of (topup: &Topup, currency: &Currency) {
//!         /// Id of the top-up.
//!         #[id(example = 3)]
//!         id: i64 = topup.id.get(),
//!         /// Amount in major units.
//!         #[decimal(example = 50.00)]
//!         amount: Number = Number::money(currency, topup.amount.money()),
//!     }
//! }
//! ```
//!
//! This is a struct that serializes, writes itself as JSON and is named `Topup` in the document, with a function `new` of
//! the values in parentheses. Values that several fields need stand before the fields, in `let` statements.
//!
//! A field has at most one attribute for its schema, with the keys of utoipa's `schema`: `schema` itself; `id` for an
//! id, `decimal` for a [`Number`](crate::wire::money::Number), `timestamp` for a
//! [`WireTimestamp`](crate::wire::time::WireTimestamp), and `timestamp_or_null` for an optional one, which add
//! the schema of that type. The types do not carry it themselves, because utoipa drops the example of a field whose type
//! is not one of its own.

/// Declares a view: a struct, its schema, and the function that makes it from its object.
#[macro_export]
macro_rules! view {
    (
        $(#[doc = $doc:tt])+
        $vis:vis struct $view:ident $(<$life:lifetime>)? as $name:ident of ($($of:ident: $of_type:ty),* $(,)?) {
            $(let $local:pat = $init:expr;)*
            $(
                $(#[doc = $about:tt])+
                $(#[serde($($serde:tt)*)])?
                $(#[schema($($schema:tt)*)])?
                $(#[id($($id:tt)*)])?
                $(#[decimal($($decimal:tt)*)])?
                $(#[timestamp($($timestamp:tt)*)])?
                $(#[timestamp_or_null($($timestamp_or_null:tt)*)])?
                $field:ident: $type:ty = $value:expr,
            )+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, serde::Serialize, utoipa::ToSchema)]
        #[schema(as = $name)]
        $vis struct $view $(<$life>)? {
            $(
                $(#[doc = $about])+
                $(#[serde($($serde)*)])?
                $(#[schema($($schema)*)])?
                $(#[schema(minimum = 1, $($id)*)])?
                $(#[schema(value_type = f64, format = "decimal", $($decimal)*)])?
                $(#[schema(value_type = String, format = DateTime, $($timestamp)*)])?
                $(#[schema(value_type = Option<String>, format = DateTime, $($timestamp_or_null)*)])?
                $field: $type,
            )+
        }

        $crate::json_members!([$(<$life>)?] $view $(<$life>)? { $($field [$($($serde)*)?]),+ });

        impl $(<$life>)? $view $(<$life>)? {
            /// Shows these values.
            #[must_use]
            $vis fn new($($of: $of_type),*) -> Self {
                $(let $local = $init;)*
                Self { $($field: $value,)+ }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use cuepoint_domain::money::{Currency, Money};
    use cuepoint_domain::timestamp::Timestamp;
    use serde_json::json;
    use utoipa::{PartialSchema as _, ToSchema as _};

    use crate::wire::money::Number;
    use crate::wire::time::WireTimestamp;

    view! {
        /// A view.
        struct ExampleView<'n> as Example of (number: i64, name: &'n str, currency: &Currency) {
            let doubled = number.saturating_mul(2);
            /// The id.
            #[id(example = 5)]
            id: i64 = number,
            /// The name.
            #[serde(rename = "name")]
            #[schema(example = "Ada")]
            text: &'n str = name,
            /// The price.
            #[decimal(maximum = 5, example = 2.50)]
            price: Number = Number::money(currency, Money::from_minor(doubled.into())),
            /// The time.
            #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
            at: WireTimestamp = WireTimestamp(Timestamp::EPOCH),
            /// The end.
            #[timestamp_or_null()]
            ended_at: Option<WireTimestamp> = None,
        }
    }

    #[test]
    fn fields_have_the_declared_values() {
        let usd = Currency::new("USD", 2).unwrap();
        assert_eq!(
            serde_json::to_string(&ExampleView::new(125, "Ada", &usd)).unwrap(),
            r#"{"id":125,"name":"Ada","price":2.50,"at":"1970-01-01T00:00:00.000000Z","ended_at":null}"#
        );
    }

    #[test]
    fn the_schema_describes_the_declared_fields() {
        assert_eq!(ExampleView::name(), "Example");
        let schema = serde_json::to_value(ExampleView::schema()).unwrap();
        assert_eq!(schema["description"], "A view.");
        let id = json!({"type": "integer", "format": "int64", "description": "The id.", "example": 5, "minimum": 1});
        assert_eq!(schema["properties"]["id"], id);
        let property = |name: &str, key: &str| schema["properties"][name][key].clone();
        assert_eq!((property("name", "type"), property("name", "example")), (json!("string"), json!("Ada")));
        assert_eq!(
            (property("price", "type"), property("price", "format")),
            (json!("number"), json!("decimal"))
        );
        assert_eq!(property("at", "format"), "date-time");
        assert_eq!(property("ended_at", "type"), json!(["string", "null"]));
    }
}
