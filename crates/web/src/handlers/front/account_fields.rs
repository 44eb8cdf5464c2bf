//! The fields of a new account: what was typed, and what it means.

use cuepoint_domain::application::RegisterRefusal;
use cuepoint_domain::text::{Email, Line, Password};
use cuepoint_pages::forms::{AccountFields, FieldState};
use cuepoint_pages::frame::Frame;

use crate::form::Form;

/// The values of a new account.
pub(super) struct NewAccount {
    pub(super) name: Line,
    pub(super) email: Email,
    pub(super) password: Password,
}

/// The fields of a form without errors.
pub(super) fn unsent(form: &Form) -> AccountFields {
    AccountFields {
        name: FieldState::with(form.text("name")),
        email: FieldState::with(form.text("email")),
        password: FieldState::default(),
    }
}

/// The values, or the fields with their errors.
pub(super) fn read(form: &Form, frame: &Frame<'_>) -> Result<NewAccount, Box<AccountFields>> {
    match (Line::new(form.text("name")), read_login(form, frame)) {
        (Ok(name), Ok((email, password))) => Ok(NewAccount { name, email, password }),
        (name, login) => {
            let mut fields = login.err().unwrap_or_else(|| Box::new(unsent(form)));
            fields.name.error = name.err().map(|error| frame.refused_text(error));
            Err(fields)
        }
    }
}

/// The address and the password, or the fields with their errors.
pub(super) fn read_login(form: &Form, frame: &Frame<'_>) -> Result<(Email, Password), Box<AccountFields>> {
    match (Email::to_own(form.text("email")), Password::new(form.secret("password"))) {
        (Ok(email), Ok(password)) => Ok((email, password)),
        (email, password) => {
            let mut fields = unsent(form);
            fields.email.error = email.err().map(|error| frame.refused_email(error));
            fields.password.error = password.err().map(|error| frame.refused_text(error));
            Err(Box::new(fields))
        }
    }
}

/// The fields with an error of the address or the password.
pub(super) fn refused(form: &Form, refusal: RegisterRefusal, frame: &Frame<'_>) -> AccountFields {
    let mut fields = unsent(form);
    match refusal {
        RegisterRefusal::EmailTaken => fields.email.error = Some(frame.t.email_taken()),
        RegisterRefusal::BreachedPassword => fields.password.error = Some(frame.t.breached_password()),
    }
    fields
}
