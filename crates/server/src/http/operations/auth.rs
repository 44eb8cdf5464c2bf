//! Registration, login, and refresh tokens.

use cuepoint_domain::access::Caller;
use cuepoint_domain::ports::{Clock, Token};
use cuepoint_domain::service::{LoginError, RefreshError, RegisterError, Registration, SignedIn};
use cuepoint_domain::text::Password;

use crate::http::call::Call;
use crate::http::openapi::bodies::{Login, RefreshToken, Registration as RegistrationBody};
use crate::http::operations::views::{Nothing, Session, User};
use crate::http::wire::envelope::{Answer, Success};
use crate::http::wire::error::ApiError;
use crate::http::wire::values;

/// Registers a guest or DJ and logs them in.
///
/// A client that lost the answer sends the call again: within 60 seconds, with the same address and password, and while the
/// refresh token is unused, the answer is the session that was begun, with the same refresh token and a fresh access token.
/// In every other case the address is taken.
#[utoipa::path(
    post,
    path = "/api/v1/auth/register",
    operation_id = "register",
    tag = "Accounts",
    request_body = RegistrationBody,
    responses((status = 201, description = "They are registered and logged in.", body = Success<Session>)),
)]
pub async fn register(call: Call) -> Result<Answer, ApiError> {
    let mut fields = call.fields();
    let name = fields.required("name", values::line);
    let email = fields.required("email", values::email);
    let password = fields.required("password", values::password);
    let phone = fields.optional("phone", values::phone);
    let is_dj = fields.optional("is_dj", values::boolean).unwrap_or(false);
    let registration = fields
        .complete(|| Some(Registration { name: name?, email: email?, password: password?, phone, is_dj }))?;
    let attempt = call.admit_registration(&registration.email)?;
    let registered = call.app.services.accounts.register(registration, call.visitor()).await;
    if !matches!(registered, Err(RegisterError::EmailTaken)) {
        call.app.limits.give_back(attempt);
    }
    Answer::created("Registered.", session(&call, &registered?)?)
}

/// Logs somebody in.
///
/// The access token is valid for 15 minutes, the refresh token for 30 days, unless configured otherwise.
#[utoipa::path(
    post,
    path = "/api/v1/auth/login",
    operation_id = "login",
    tag = "Accounts",
    request_body = Login,
    responses((status = 200, description = "They are logged in.", body = Success<Session>)),
)]
pub async fn login(call: Call) -> Result<Answer, ApiError> {
    let mut fields = call.fields();
    let email = fields.required("email", values::presented);
    let password = fields.required("password", values::presented);
    let (email, password) = fields.complete(|| Some((email?, Password::presented(&password?))))?;
    let attempt = call.admit_login(&email).await?;
    let logged_in = call.app.services.accounts.login(&email, &password, call.visitor()).await;
    if !matches!(logged_in, Err(LoginError::InvalidCredentials)) {
        call.app.limits.give_back(attempt);
    }
    Answer::ok("Logged in.", session(&call, &logged_in?)?)
}

/// Exchanges a refresh token for new tokens; a used one presented again ends its whole session.
///
/// A client that lost the answer sends the call again: within 60 seconds, and while the new refresh token is unused, the
/// answer has the same refresh token and a fresh access token. Later, or once the new refresh token was used, the old one is
/// a 401 and ends the session.
#[utoipa::path(
    post,
    path = "/api/v1/auth/refresh",
    operation_id = "refresh",
    tag = "Accounts",
    request_body = RefreshToken,
    responses((
        status = 200,
        description = "They stay logged in with new tokens; the presented one is used up.",
        body = Success<Session>,
    )),
)]
pub async fn refresh(call: Call) -> Result<Answer, ApiError> {
    let refreshed = call.app.services.accounts.refresh(&refresh_token(&call)?, call.visitor()).await;
    if matches!(refreshed, Err(RefreshError::Reused)) {
        call.refresh_revocations().await;
    }
    Answer::ok("Refreshed.", session(&call, &refreshed?)?)
}

/// Ends the session of a refresh token; an unknown one has none.
#[utoipa::path(
    post,
    path = "/api/v1/auth/logout",
    operation_id = "logout",
    tag = "Accounts",
    request_body = RefreshToken,
    responses((
        status = 200,
        description = "The session of the token is ended, if there was one.",
        body = Success<Nothing>,
    )),
)]
pub async fn logout(call: Call) -> Result<Answer, ApiError> {
    if call.app.services.accounts.logout(&refresh_token(&call)?, call.visitor()).await? {
        call.refresh_revocations().await;
    }
    Answer::ok("Logged out.", Nothing {})
}

fn refresh_token(call: &Call) -> Result<Token, ApiError> {
    let mut fields = call.fields();
    let token = fields.required("refresh_token", values::presented);
    fields.complete(|| token.map(Token))
}

fn session(call: &Call, signed_in: &SignedIn) -> Result<Session, ApiError> {
    let SignedIn { profile, session, refresh_token } = signed_in;
    let user = &profile.user;
    let caller = Caller { user: user.id, role: user.role, is_dj: user.is_dj(), session: *session };
    let issued = call.app.tokens.issue(&caller, call.app.revocations.epoch(), call.app.clock.now());
    let issued = issued.map_err(ApiError::internal)?;
    Ok(Session {
        user: User::new(user, profile.balance.available, call.currency()),
        access_token: issued.token,
        token_type: "Bearer",
        expires_in: issued.expires_in_seconds,
        refresh_token: refresh_token.0.clone(),
    })
}
