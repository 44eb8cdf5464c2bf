//! The query of an address.
//!
//! The parameters of the fixed operations are parsed as PHP does: a repeated parameter keeps its place and takes
//! the last value, and an empty one counts as missing. All other operations are strict.

use std::fmt::Write as _;

use actix_web::web;

use crate::wire::validation_texts::{self, Errors};

/// The parameters of an address.
#[derive(Clone, Debug, Default)]
pub struct Query {
    parameters: Vec<Parameter>,
    /// Whether an empty value is judged as a value.
    is_strict: bool,
}

#[derive(Clone, Debug)]
struct Parameter {
    name: String,
    value: String,
    is_repeated: bool,
}

impl Query {
    /// Parses the text after the `?` as PHP does.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let pairs = web::Query::<Vec<(String, String)>>::from_query(text).map(web::Query::into_inner);
        let mut parameters: Vec<Parameter> = Vec::new();
        for (name, value) in pairs.unwrap_or_default() {
            match parameters.iter_mut().find(|known| known.name == name) {
                Some(known) => *known = Parameter { name, value, is_repeated: true },
                None => parameters.push(Parameter { name, value, is_repeated: false }),
            }
        }
        Self { parameters, is_strict: false }
    }

    /// Parses the text after the `?`; an empty value is judged as a value.
    #[must_use]
    pub fn strict(text: &str) -> Self {
        Self { is_strict: true, ..Self::parse(text) }
    }

    /// The refusals of parameters that are not among the declared ones, and of repeated ones. A query that is not
    /// strict has none.
    #[must_use]
    pub fn refusals(&self, is_declared: impl Fn(&str) -> bool) -> Errors {
        let mut errors = Errors::default();
        for Parameter { name, is_repeated, .. } in self.parameters.iter().filter(|_| self.is_strict) {
            if !is_declared(name) {
                errors.add(name.clone(), validation_texts::unknown_parameter(name));
            } else if *is_repeated {
                errors.add(name.clone(), validation_texts::repeated_parameter(name));
            }
        }
        errors
    }

    /// A parameter's trimmed value; `None` when it is missing, or empty and the query is not strict.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|known| known.name == name).and_then(|found| self.value(found))
    }

    fn value<'p>(&self, parameter: &'p Parameter) -> Option<&'p str> {
        Some(parameter.value.trim()).filter(|value| self.is_strict || !value.is_empty())
    }

    /// The known parameters that have a value, in the client's order and spelling, encoded anew.
    #[must_use]
    pub fn kept(&self, known: &[&str]) -> String {
        let mut text = String::new();
        for parameter in &self.parameters {
            let Parameter { name, value, .. } = parameter;
            if known.contains(&name.as_str()) && self.value(parameter).is_some() {
                let separator = if text.is_empty() { "" } else { "&" };
                let _ = write!(text, "{separator}{name}={}", encoded(value));
            }
        }
        text
    }
}

/// The text with all but RFC 3986's unreserved characters percent-encoded.
fn encoded(text: &str) -> String {
    text.bytes().fold(String::with_capacity(text.len()), |mut encoded, byte| {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
        encoded
    })
}

/// Parses an integer as PHP's `FILTER_VALIDATE_INT` does: an optional sign, no leading zero.
#[must_use]
pub fn integer(text: &str) -> Option<i64> {
    let text = text.trim();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) || (digits.len() > 1 && digits.starts_with('0')) {
        return None;
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_parsed_as_in_php() {
        for (text, number) in [
            ("1", Some(1)),
            (" 7 ", Some(7)),
            ("+3", Some(3)),
            ("-3", Some(-3)),
            ("0", Some(0)),
            ("-0", Some(0)),
            ("9223372036854775807", Some(i64::MAX)),
            ("9223372036854775808", None),
            ("02", None),
            ("1.0", None),
            ("1e3", None),
            ("", None),
            ("+", None),
            ("+-1", None),
            ("abc", None),
            ("0x1A", None),
        ] {
            assert_eq!(integer(text), number, "{text:?}");
        }
    }

    #[test]
    fn only_known_nonempty_parameters_are_kept() {
        for (query, kept) in [
            ("", ""),
            ("status=pending", "status=pending"),
            ("per_page=5&status=pending&page=3", "per_page=5&status=pending"),
            ("status=&per_page=5", "per_page=5"),
            ("x=1&status=a%20b+c%26%C3%A9", "status=a%20b%20c%26%C3%A9"),
            ("status=a&per_page=5&status=b", "status=b&per_page=5"),
            ("status[]=a", ""),
        ] {
            assert_eq!(Query::parse(query).kept(&["status", "per_page"]), kept, "{query}");
        }
    }

    #[test]
    fn the_last_value_of_a_repeated_parameter_wins() {
        let query = Query::parse("page=2&page=%203%20&online=");
        assert_eq!(query.get("page"), Some("3"));
        assert_eq!(query.get("online"), None);
    }

    #[test]
    fn a_strict_query_names_unknown_and_repeated_parameters() {
        let text = "page=2&junk=1&page=3&online=&junk=2";
        let known = |name: &str| ["page", "online"].contains(&name);
        assert!(Query::parse(text).refusals(known).is_empty());
        let query = Query::strict(text);
        assert_eq!((query.get("online"), query.get("status")), (Some(""), None));
        assert_eq!(query.kept(&["online"]), "online=");
        assert_eq!(
            serde_json::to_string(&query.refusals(known)).unwrap(),
            r#"{"page":["The page parameter may be given only once."],"junk":["The junk parameter is unknown."]}"#
        );
    }
}
