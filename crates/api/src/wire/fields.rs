//! Reads the fields of a body one by one, so that a refusal names all invalid fields at once.

use cuepoint_domain::user::Field;
use serde_json::value::RawValue;

use crate::wire::error::ApiError;
use crate::wire::validation_texts::{self, Errors};
use crate::wire::values::{InvalidValue, Read};
use cuepoint_views::wire::json::Object;

/// The fields of a body being read.
#[derive(Debug)]
pub struct Fields<'a> {
    object: &'a Object,
    errors: Errors,
}

impl<'a> Fields<'a> {
    /// Starts reading the body.
    #[must_use]
    pub fn of(object: &'a Object) -> Self {
        Self { object, errors: Errors::default() }
    }

    /// A required field; `None` if invalid, which [`Fields::complete`] reports.
    pub fn required<T>(
        &mut self,
        field: &'static str,
        read: impl Fn(&str, &RawValue) -> Read<T>,
    ) -> Option<T> {
        match self.value(field).map_or(Err(InvalidValue::Empty), |raw| read(field, raw)) {
            Ok(value) => Some(value),
            Err(wrong) => self.refuse(field, wrong),
        }
    }

    /// A field that may be missing, null or empty.
    pub fn optional<T>(
        &mut self,
        field: &'static str,
        read: impl Fn(&str, &RawValue) -> Read<T>,
    ) -> Option<T> {
        match self.value(field).map_or(Err(InvalidValue::Empty), |raw| read(field, raw)) {
            Ok(value) => Some(value),
            Err(InvalidValue::Empty) => None,
            Err(wrong) => self.refuse(field, wrong),
        }
    }

    /// A field that may be missing, but not null or empty.
    pub fn change<T>(&mut self, field: &'static str, read: impl Fn(&str, &RawValue) -> Read<T>) -> Field<T> {
        match self.object.get(field) {
            None => Field::Keep,
            Some(_) => self.required(field, read).map_or(Field::Keep, Field::Set),
        }
    }

    /// A field that may be missing, and whose null or empty value clears it.
    pub fn change_or_clear<T>(
        &mut self,
        field: &'static str,
        read: impl Fn(&str, &RawValue) -> Read<T>,
    ) -> Field<Option<T>> {
        match self.object.get(field) {
            None => Field::Keep,
            Some(_) => Field::Set(self.optional(field, read)),
        }
    }

    /// The value that the fields form.
    ///
    /// # Errors
    /// 422 with all validation messages if any field is invalid.
    pub fn complete<T>(self, make: impl FnOnce() -> Option<T>) -> Result<T, ApiError> {
        if !self.errors.is_empty() {
            return Err(ApiError::invalid(self.errors));
        }
        make().ok_or_else(|| ApiError::internal("a missing field was not reported"))
    }

    fn value(&self, field: &str) -> Option<&'a RawValue> {
        self.object.get(field).filter(|raw| raw.get() != "null")
    }

    fn refuse<T>(&mut self, field: &'static str, wrong: InvalidValue) -> Option<T> {
        match wrong {
            InvalidValue::Empty => self.errors.add(field, validation_texts::required(field)),
            InvalidValue::Problems(problems) => {
                for problem in problems {
                    self.errors.add(field, problem);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::error::Code;
    use crate::wire::values;

    fn object(text: &str) -> Object {
        Object::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn all_invalid_fields_are_named_together() {
        let body = object(r#"{"name":5,"phone":null,"email":" ","city":7}"#);
        let mut fields = Fields::of(&body);
        assert_eq!(fields.required("name", values::line), None);
        assert_eq!(fields.required("email", values::email), None);
        assert_eq!(fields.required("phone", values::line), None);
        assert_eq!(fields.required("title", values::line), None);
        assert_eq!(fields.optional("city", values::line), None);
        let error = fields.complete(|| Some(())).unwrap_err();
        assert_eq!(error.code, Code::ValidationFailed);
        assert_eq!(
            serde_json::to_value(&error.details.errors).unwrap(),
            serde_json::json!({
                "name": ["The name field must be a string."],
                "email": ["The email field is required."],
                "phone": ["The phone field is required."],
                "title": ["The title field is required."],
                "city": ["The city field must be a string."],
            })
        );
    }

    #[test]
    fn changes_distinguish_missing_and_null_fields() {
        let body = object(r#"{"city":null,"state":" ","phone":"1","name":null}"#);
        let mut fields = Fields::of(&body);
        assert_eq!(fields.change_or_clear("city", values::line), Field::Set(None));
        assert_eq!(fields.change_or_clear("state", values::line), Field::Set(None));
        assert_eq!(fields.change_or_clear("country", values::line), Field::Keep);
        assert!(matches!(fields.change_or_clear("phone", values::line), Field::Set(Some(_))));
        assert_eq!(fields.change("online", values::flag), Field::Keep);
        assert_eq!(fields.change("name", values::line), Field::Keep);
        let error = fields.complete(|| Some(())).unwrap_err();
        assert_eq!(error.message, "The name field is required.");
    }
}
