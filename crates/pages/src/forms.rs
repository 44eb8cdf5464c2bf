//! Forms: the values and errors of fields, and the keys that make a repeated post take effect once.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::money::Money;
use memchr::memmem::Finder;

use crate::texts::{Text, Texts};

/// The keys of the forms of a page, derived from one random text.
///
/// Every form with a change of money has a hidden field `key`. A key that is sent twice takes effect once. The keys of
/// a page differ by the purpose of their forms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Keys<'a>(&'a str);

impl<'a> Keys<'a> {
    /// The keys of a page with this random text of 22 to 100 characters, which is new for each response.
    #[must_use]
    pub const fn new(random: &'a str) -> Self {
        Self(random)
    }

    /// Finds these keys in the HTML of a part; `None` if they have no random text.
    pub(crate) fn finder(self) -> Option<Finder<'a>> {
        (!self.0.is_empty()).then(|| Finder::new(self.0))
    }

    /// The key of the form with this purpose.
    #[must_use]
    pub fn of(&self, purpose: &str) -> String {
        format!("{}-{purpose}", self.0)
    }

    /// The key of the form with this purpose for the object with this number.
    #[must_use]
    pub fn of_object(&self, purpose: &str, id: i64) -> String {
        format!("{}-{purpose}-{id}", self.0)
    }
}

/// A wallet that the browser had before its session, and that a form can spend.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeptWallet {
    /// Its guest account, which the form names.
    pub user: UserId,
    pub available: Money,
}

/// A field of a form: the value that it shows, and the error of a refused post.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FieldState {
    /// The text in the field, as it was sent.
    pub value: String,
    /// What is wrong with it, in the language of the page.
    pub error: Option<Text>,
}

impl FieldState {
    /// A field with a value and without an error.
    #[must_use]
    pub fn with(value: impl Into<String>) -> Self {
        Self { value: value.into(), error: None }
    }

    /// A field with a value that was refused.
    #[must_use]
    pub fn refused(value: impl Into<String>, error: Text) -> Self {
        Self { value: value.into(), error: Some(error) }
    }
}

/// The fields of a new account.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AccountFields {
    pub name: FieldState,
    pub email: FieldState,
    /// Only its error is shown.
    pub password: FieldState,
}

impl AccountFields {
    /// The fields, each with its id and label, in their order.
    pub(crate) fn labelled(&self, t: &dyn Texts) -> [(&'static str, Text, &FieldState); 3] {
        [
            ("name", t.name(), &self.name),
            ("email", t.email(), &self.email),
            ("password", t.password(), &self.password),
        ]
    }
}

/// An error of a form in the summary above it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FormError<'a> {
    /// The id of the field's element.
    pub field: &'a str,
    /// The name of the field.
    pub label: Text,
    pub message: &'a str,
}

/// The errors of these fields, each with its id and label, in their order.
pub(crate) fn errors<'a>(
    fields: impl IntoIterator<Item = (&'a str, Text, &'a FieldState)>,
) -> Vec<FormError<'a>> {
    let errors = fields.into_iter().filter_map(|(field, label, state)| {
        state.error.as_deref().map(|message| FormError { field, label, message })
    });
    errors.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_of_a_page_differ_by_their_purpose() {
        let keys = Keys::new("0123456789012345678901");
        let all = [keys.of("request"), keys.of("tip"), keys.of_object("tip", 1), keys.of_object("tip", 2)];
        for (place, key) in all.iter().enumerate() {
            assert!(key.len() >= 22);
            assert!(!all[..place].contains(key), "{key}");
        }
    }
}
