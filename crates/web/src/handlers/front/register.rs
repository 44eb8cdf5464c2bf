//! Registration of members and DJs.

use actix_web::http::StatusCode;
use cuepoint_domain::application::{BrowserSession, CommandError, RegisterRefusal, Registration};
use cuepoint_domain::text::{Email, Line, Password};
use cuepoint_pages::forms::FieldState;
use cuepoint_pages::frame::Frame;
use cuepoint_pages::front::RegisterPage;

use super::login;
use crate::call::PageCall;
use crate::failure::PageFailure;
use crate::form::Form;
use crate::next_path;
use crate::response::{INVALID, PageResponse};

/// The fields of a new account, with what is wrong with them.
pub(super) struct AccountFields {
    pub(super) name: FieldState,
    pub(super) email: FieldState,
    pub(super) password: FieldState,
}

/// The values of a new account.
pub(super) struct NewAccount {
    pub(super) name: Line,
    pub(super) email: Email,
    pub(super) password: Password,
}

impl AccountFields {
    /// The fields of a form that was not sent yet.
    pub(super) fn unsent(form: &Form) -> Self {
        Self {
            name: FieldState::with(form.text("name")),
            email: FieldState::with(form.text("email")),
            password: FieldState::default(),
        }
    }

    /// The values, or the fields with their errors.
    pub(super) fn read(form: &Form, frame: &Frame<'_>) -> Result<NewAccount, Box<Self>> {
        let name = Line::new(form.text("name"));
        let email = Email::to_own(form.text("email"));
        let password = Password::new(form.secret("password"));
        match (name, email, password) {
            (Ok(name), Ok(email), Ok(password)) => Ok(NewAccount { name, email, password }),
            (name, email, password) => {
                let unsent = Self::unsent(form);
                let error = |error| Some(frame.refused_text(error));
                Err(Box::new(Self {
                    name: FieldState { error: name.err().and_then(error), ..unsent.name },
                    email: FieldState {
                        error: email.err().map(|error| frame.refused_email(error)),
                        ..unsent.email
                    },
                    password: FieldState { error: password.err().and_then(error), ..unsent.password },
                }))
            }
        }
    }

    /// The fields with an error of the address or the password.
    pub(super) fn refused(form: &Form, refusal: RegisterRefusal, frame: &Frame<'_>) -> Self {
        let unsent = Self::unsent(form);
        match refusal {
            RegisterRefusal::EmailTaken => {
                Self { email: FieldState { error: Some(frame.t.email_taken()), ..unsent.email }, ..unsent }
            }
            RegisterRefusal::BreachedPassword => Self {
                password: FieldState { error: Some(frame.t.breached_password()), ..unsent.password },
                ..unsent
            },
        }
    }
}

pub(super) async fn show(call: PageCall) -> Result<PageResponse, PageFailure> {
    let is_dj = call.query.text("dj") == "1";
    render(&call, StatusCode::OK, &call.query, AccountFields::unsent(Form::EMPTY), is_dj)
}

pub(super) async fn send(call: PageCall) -> Result<PageResponse, PageFailure> {
    let is_dj = call.form.text("is_dj") == "1";
    let frame = call.frame(None);
    let account = match AccountFields::read(&call.form, &frame) {
        Ok(account) => account,
        Err(fields) => return render(&call, INVALID, &call.form, *fields, is_dj),
    };
    let NewAccount { name, email, password } = account;
    let attempt = call.limits().admit_registration(&call.state.password_queue, &email)?;
    let registration = Registration { name, email, password, phone: None, is_dj };
    let sign_ins = &call.use_cases().sign_ins;
    let registered = sign_ins.register::<BrowserSession>(&call.client_context(), registration).await;
    if !matches!(registered, Err(CommandError::Refused(RegisterRefusal::EmailTaken))) {
        call.state.limits.give_back(attempt);
    }
    call.limits().refund_unhashed(&registered);
    match registered {
        Ok(session) => login::begun(&call, &session).await,
        Err(CommandError::Refused(refusal)) => {
            let fields = AccountFields::refused(&call.form, refusal, &frame);
            render(&call, INVALID, &call.form, fields, is_dj)
        }
        Err(CommandError::Input(never)) => match never {},
        Err(CommandError::Failed(failure)) => Err(failure.into()),
    }
}

fn render(
    call: &PageCall,
    status: StatusCode,
    form: &Form,
    fields: AccountFields,
    is_dj: bool,
) -> Result<PageResponse, PageFailure> {
    let AccountFields { name, email, password } = fields;
    let (frame, key) = (call.frame(None), call.new_key());
    let next = next_path::local(form.text("next"));
    let page = RegisterPage { frame: &frame, key: &key, name, email, password, is_dj, next };
    Ok(call.html(status, page.render()))
}
