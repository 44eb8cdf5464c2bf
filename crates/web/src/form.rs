//! The fields of a form.

use std::collections::{BTreeMap, BTreeSet};

use actix_web::http::header::{self, HeaderMap};
use cuepoint_domain::text::TextError;

/// The fields of a form or of a query, by name; of several with one name, the last one counts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Form {
    fields: BTreeMap<String, String>,
    /// The names of those that were sent more than once.
    repeated: BTreeSet<String>,
}

/// The media type of forms.
const FORM: &str = "application/x-www-form-urlencoded";

impl Form {
    /// The fields of a body or a query.
    #[must_use]
    pub fn parse(encoded: &[u8]) -> Self {
        let mut form = Self::default();
        for (name, value) in url::form_urlencoded::parse(encoded).into_owned() {
            if form.fields.insert(name.clone(), value).is_some() {
                form.repeated.insert(name);
            }
        }
        form
    }

    /// The fields in their encoded form.
    #[must_use]
    pub fn encode(&self) -> String {
        url::form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.fields).finish()
    }

    /// A form without fields.
    pub const EMPTY: &Self = &Self { fields: BTreeMap::new(), repeated: BTreeSet::new() };

    /// The form with another field.
    #[must_use]
    pub fn with(mut self, name: &str, value: String) -> Self {
        self.fields.insert(name.to_owned(), value);
        self
    }

    /// The form without this field.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.fields.remove(name);
        self
    }

    /// The text of a field without white space around it; empty if it is missing.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        self.secret(name).trim()
    }

    /// The text of a field with its white space, such as a password; empty if it is missing.
    #[must_use]
    pub fn secret(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }

    /// The text of a field that was sent once, without white space around it; otherwise empty.
    #[must_use]
    pub fn single(&self, name: &str) -> &str {
        if self.is_repeated(name) { "" } else { self.text(name) }
    }

    /// Whether a field was sent more than once.
    #[must_use]
    pub fn is_repeated(&self, name: &str) -> bool {
        self.repeated.contains(name)
    }

    /// The value of a field that may be empty.
    ///
    /// # Errors
    /// The error of reading a text that is not empty.
    pub fn optional<T>(
        &self,
        name: &str,
        read: impl Fn(&str) -> Result<T, TextError>,
    ) -> Result<Option<T>, TextError> {
        match self.text(name) {
            "" => Ok(None),
            text => read(text).map(Some),
        }
    }

    /// Whether a box is ticked, or a button of this name was pressed.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    /// The fields with these names.
    #[must_use]
    pub fn only(&self, names: &[&str]) -> Self {
        let mut kept = self.clone();
        kept.fields.retain(|name, _| names.contains(&name.as_str()));
        kept
    }
}

/// Whether a request carries a form.
#[must_use]
pub fn is_form(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case(FORM))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_decoded_and_trimmed_except_secrets() {
        let form = Form::parse(b"song=+Blue%20Monday+&artist=New+Order&artist=Orgy&password=+a+&x");
        assert_eq!((form.text("song"), form.text("artist")), ("Blue Monday", "Orgy"));
        assert_eq!((form.secret("password"), form.text("absent")), (" a ", ""));
        assert_eq!(
            (form.text("artist"), form.single("artist"), form.single("song")),
            ("Orgy", "", "Blue Monday")
        );
        assert!(form.has("x") && !form.has("y"));
        assert_eq!(form.only(&["artist"]).encode(), "artist=Orgy");
    }

    #[test]
    fn malformed_forms_have_replacement_characters_and_no_error() {
        let form = Form::parse(b"a=%ff%zz&=b&&c");
        assert_eq!(form.text("a"), "\u{fffd}%zz");
        assert!(form.has("c"));
    }
}
