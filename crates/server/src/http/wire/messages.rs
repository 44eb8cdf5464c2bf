//! What is said of wrong fields, in Laravel's wording, and the list of it.

use serde::ser::{Serialize, SerializeMap, Serializer};

/// What is wrong with each field, in the order in which it was found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Errors(Vec<(&'static str, Vec<String>)>);

impl Errors {
    /// One sentence of one field.
    #[must_use]
    pub fn one(field: &'static str, sentence: String) -> Self {
        Self(vec![(field, vec![sentence])])
    }

    /// Adds a sentence of a field.
    pub fn add(&mut self, field: &'static str, sentence: String) {
        match self.0.iter_mut().find(|(known, _)| *known == field) {
            Some((_, sentences)) => sentences.push(sentence),
            None => self.0.push((field, vec![sentence])),
        }
    }

    /// Whether no field is wrong.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first sentence, and how many more there are.
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

/// A field's name as a sentence has it.
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
    /// It is missing, null or empty.
    required() = "The {field} field is required.";
    /// It is no text.
    string() = "The {field} field must be a string.";
    /// It is no number.
    number() = "The {field} field must be a number.";
    /// It is no whole number of 64 bits.
    integer() = "The {field} field must be an integer.";
    /// It is no object.
    object() = "The {field} field must be an object.";
    /// It is no yes or no.
    boolean() = "The {field} field must be true or false.";
    /// It is no 0 or 1.
    flag() = "The {field} field must be 0 or 1.";
    /// The number is too small.
    at_least(least) = "The {field} field must be at least {least}.";
    /// The number is too large.
    at_most(most) = "The {field} field must not be greater than {most}.";
    /// The number is outside its bounds.
    between(least, most) = "The {field} field must be between {least} and {most}.";
    /// The number has more decimals than the currency.
    decimals(places) = "The {field} field must have {places} decimal places.";
    /// The text is too short.
    at_least_characters(least) = "The {field} field must be at least {least} characters.";
    /// The text is too long.
    at_most_characters(most) = "The {field} field must not be greater than {most} characters.";
    /// The text has a character that it must not have.
    format() = "The {field} field format is invalid.";
    /// It is no e-mail address.
    email() = "The {field} field must be a valid email address.";
    /// It is no phone number.
    phone() = "The {field} field must be a phone number such as +4930123456.";
    /// It is no web address.
    url() = "The {field} field must be a valid URL.";
    /// It is an address of another network than the one named.
    other_network() = "The {field} field is an address of another network.";
    /// It is an address of a network for tests.
    test_network() = "The {field} field is an address of a test network.";
    /// It is an address that no private key leads to.
    ownerless() = "The {field} field is an address without a private key.";
    /// It is an address that anybody can spend from.
    anyone_can_spend() = "The {field} field is an address that anybody can spend from.";
    /// It is no moment.
    date() = "The {field} field must be a valid date.";
    /// It is none of those that there are.
    selected() = "The selected {field} is invalid.";
    /// It is not the one that is kept.
    incorrect() = "The {field} is incorrect.";
    /// Somebody has it.
    taken() = "The {field} has already been taken.";
    /// It is known to people who guess.
    breached() = "The given {field} has appeared in a data leak. Please choose a different {field}.";
    /// It was never sent, was used, or is too old.
    stale() = "The {field} is invalid or has expired.";
    /// It is nothing where something is needed.
    not_zero() = "The {field} field must not be 0.";
    /// More than there is.
    funds() = "The {field} is more than the available balance.";
}

/// Another request would be one too many.
#[must_use]
pub fn too_many_open(most: u32) -> String {
    format!("No more than {most} requests can be open with one DJ.")
}

/// It is missing although the other one is there.
#[must_use]
pub fn required_with(field: &str, other: &str) -> String {
    format!("The {} field is required when {} is present.", spoken(field), spoken(other))
}

/// Both this field and the alternative one are missing.
#[must_use]
pub fn required_without(field: &str, other: &str) -> String {
    format!("The {} field is required when {} is not present.", spoken(field), spoken(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn underscores_are_spoken_as_spaces() {
        assert_eq!(selected("dj_id"), "The selected dj id is invalid.");
        assert_eq!(
            required_with("latitude", "longitude"),
            "The latitude field is required when longitude is present."
        );
    }

    #[test]
    fn the_summary_counts_the_other_sentences() {
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
