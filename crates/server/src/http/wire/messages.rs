//! Validation messages in Laravel's wording, and the list of them.

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeMap, Serializer};

/// The validation messages of each invalid field, in the order of detection.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Errors(Vec<(Cow<'static, str>, Vec<String>)>);

impl Errors {
    /// One message of one field.
    #[must_use]
    pub fn one(field: &'static str, sentence: String) -> Self {
        Self(vec![(field.into(), vec![sentence])])
    }

    /// Adds a message of a field.
    pub fn add(&mut self, field: impl Into<Cow<'static, str>>, sentence: String) {
        let field = field.into();
        match self.0.iter_mut().find(|(known, _)| *known == field) {
            Some((_, sentences)) => sentences.push(sentence),
            None => self.0.push((field, vec![sentence])),
        }
    }

    /// Adds the messages that are missing.
    pub fn merge(&mut self, others: &Self) {
        for (field, sentences) in &others.0 {
            let known = self.0.iter().find(|(known, _)| known == field);
            let known = known.map_or(&[][..], |(_, sentences)| sentences).to_vec();
            for sentence in sentences.iter().filter(|sentence| !known.contains(sentence)) {
                self.add(field.clone(), sentence.clone());
            }
        }
    }

    /// Whether there are no messages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first message and the number of further ones.
    #[must_use]
    pub fn summary(&self) -> Option<String> {
        let mut sentences = self.0.iter().flat_map(|(_, sentences)| sentences);
        let first = sentences.next()?;
        Some(match sentences.count() {
            0 => first.clone(),
            1 => format!("{first} (and 1 more error)"),
            more => format!("{first} (and {more} more errors)"),
        })
    }
}

impl Serialize for Errors {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (field, sentences) in &self.0 {
            map.serialize_entry(field, sentences)?;
        }
        map.end()
    }
}

/// The name of a field within a message.
fn spoken(field: &str) -> String {
    field.replace('_', " ")
}

macro_rules! sentences {
    ($($(#[$doc:meta])* $name:ident($($part:ident),*) = $text:literal;)+) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(field: &str $(, $part: &str)*) -> String {
            format!($text, field = spoken(field) $(, $part = $part)*)
        }
    )+};
}

sentences! {
    /// Missing, null or empty.
    required() = "The {field} field is required.";
    /// Not a string.
    string() = "The {field} field must be a string.";
    /// Not a number.
    number() = "The {field} field must be a number.";
    /// Not a 64-bit integer.
    integer() = "The {field} field must be an integer.";
    /// Not an object.
    object() = "The {field} field must be an object.";
    /// Not a list.
    list() = "The {field} field must be a list.";
    /// A list without items.
    at_least_one_item() = "The {field} field must have at least 1 item.";
    /// Not a boolean.
    boolean() = "The {field} field must be true or false.";
    /// Neither 0 nor 1.
    flag() = "The {field} field must be 0 or 1.";
    /// A number below its minimum.
    at_least(least) = "The {field} field must be at least {least}.";
    /// A number above its maximum.
    at_most(most) = "The {field} field must not be greater than {most}.";
    /// A number outside its bounds.
    between(least, most) = "The {field} field must be between {least} and {most}.";
    /// A number with more decimals than the currency.
    decimals(places) = "The {field} field must have {places} decimal places.";
    /// A text that is too short.
    at_least_characters(least) = "The {field} field must be at least {least} characters.";
    /// A text that is too long.
    at_most_characters(most) = "The {field} field must not be greater than {most} characters.";
    /// A text with an invalid character.
    format() = "The {field} field format is invalid.";
    /// Not an e-mail address.
    email() = "The {field} field must be a valid email address.";
    /// Not a phone number.
    phone() = "The {field} field must be a phone number such as +4930123456.";
    /// Not a web address.
    url() = "The {field} field must be a valid URL.";
    /// An address of a network other than the named one.
    other_network() = "The {field} field is an address of another network.";
    /// An address of a test network.
    test_network() = "The {field} field is an address of a test network.";
    /// An address without a private key.
    ownerless() = "The {field} field is an address without a private key.";
    /// An address that can be spent from without a private key.
    anyone_can_spend() = "The {field} field is an address that anybody can spend from.";
    /// Not a timestamp.
    date() = "The {field} field must be a valid date.";
    /// Not one of the known names.
    selected() = "The selected {field} is invalid.";
    /// Not equal to the stored value.
    incorrect() = "The {field} is incorrect.";
    /// Equal to the stored value.
    different() = "The {field} is already yours.";
    /// Not to be set back.
    unchangeable() = "The {field} field cannot be changed back.";
    /// Used by another account.
    taken() = "The {field} has already been taken.";
    /// Found in a data leak.
    breached() = "The given {field} has appeared in a data leak. Please choose a different {field}.";
    /// Unknown, used or expired.
    stale() = "The {field} is invalid or has expired.";
    /// Zero where a nonzero number is required.
    not_zero() = "The {field} field must not be 0.";
    /// A URL that may not be called; the problem completes the sentence.
    url_refused(problem) = "The {field} field {problem}.";
    /// A position after which a replay has nothing to deliver.
    empty_range() = "The {field} field must be before until and before the cursor of the endpoint.";
    /// A query parameter that the operation does not have.
    unknown_parameter() = "The {field} parameter is unknown.";
    /// A query parameter that is given more than once.
    repeated_parameter() = "The {field} parameter must be given once.";
    /// A field that cannot be set.
    prohibited() = "The {field} field is prohibited.";
    /// More than the available balance.
    funds() = "The {field} is more than the available balance.";
}

/// The limit of open requests is reached.
#[must_use]
pub fn too_many_open(most: u32) -> String {
    format!("No more than {most} requests can be open with one DJ.")
}

/// Missing although the other field is present.
#[must_use]
pub fn required_with(field: &str, other: &str) -> String {
    format!("The {} field is required when {} is present.", spoken(field), spoken(other))
}

/// Both this field and its alternative are missing.
#[must_use]
pub fn required_without(field: &str, other: &str) -> String {
    format!("The {} field is required when {} is not present.", spoken(field), spoken(other))
}

/// Present although another field excludes it.
#[must_use]
pub fn prohibited_with(field: &str, other: &str) -> String {
    format!("The {} field is prohibited when {} is present.", spoken(field), spoken(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn underscores_are_shown_as_spaces() {
        assert_eq!(selected("dj_id"), "The selected dj id is invalid.");
        assert_eq!(
            required_with("latitude", "longitude"),
            "The latitude field is required when longitude is present."
        );
    }

    #[test]
    fn the_summary_counts_the_other_messages() {
        let mut errors = Errors::one("amount", required("amount"));
        assert_eq!(errors.summary().unwrap(), "The amount field is required.");
        errors.add("network", required("network"));
        assert_eq!(errors.summary().unwrap(), "The amount field is required. (and 1 more error)");
        errors.add("network", string("network"));
        assert_eq!(errors.summary().unwrap(), "The amount field is required. (and 2 more errors)");
        assert_eq!(
            serde_json::to_string(&errors).unwrap(),
            r#"{"amount":["The amount field is required."],"network":["The network field is required.","The network field must be a string."]}"#
        );
    }
}
