//! Registration, login, and refresh tokens.

use cuepoint_domain::application::{
    AccountClaim, ClaimRefusal, LoginRefusal, NewOperator, RegisterRefusal, Registration, SignedIn,
};
use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_domain::ports::Token;
use cuepoint_domain::text::{Email, Line, Password, Phone};
use cuepoint_domain::user::guest_account::ClaimDetails;
use serde::Serialize;
use utoipa::ToSchema;

use super::sessions::STRANDED;
use crate::call::ApiCall;
use crate::declaration::{created, json, object, ok, operations};
use crate::endpoint::{anonymous, anonymous_keyed, authenticated};
use crate::wire::body::body;
use crate::wire::envelope::ApiResponse;
use crate::wire::error::{ApiError, Code};
use crate::wire::kinds;
use cuepoint_transport::rate_limits::Class;
use cuepoint_views::Empty;
use cuepoint_views::people::UserView;
use cuepoint_views::wire::names;

/// The fields of a new guest account in an example.
const GUEST: &[(&str, &str)] = &[("name", "Mia"), ("email", "guest-7@guest.invalid")];

/// The fields of the first operator in an example.
const OPERATOR: &[(&str, &str)] = &[("name", "Ada"), ("email", "ada@example.com")];

operations! {
    /// Register a user
    ///
    /// Registers a guest or a DJ, and starts a session. A taken e-mail address returns 422 for `email`.
    ///
    /// If the answer is lost, repeat the request. Within 60 seconds, with the same e-mail address and the right
    /// password, and while the refresh token is unused, it returns the same session and refresh token with a new
    /// access token. The other fields of the repetition change nothing. In every other case, the address counts as
    /// taken.
    POST "/api/v1/auth/register" "register" {
        tag: SignIn,
        run: anonymous(register),
        answers: created::<SessionView>("The first session of the new user."),
        class: Class::Registrations,
        body: object::<RegistrationBody>(),
    }

    /// Register the first operator
    ///
    /// Registers the first operator of the service, with a code that the service prints on its terminal, and starts a
    /// session. The code is valid for an hour. Once there was an operator, this returns 404. If the answer is lost, log
    /// in.
    POST "/api/v1/auth/first-operator" "registerFirstOperator" {
        tag: SignIn,
        run: anonymous(register_first_operator),
        answers: created::<SessionView>("The first session of the operator.").showing(OPERATOR),
        class: Class::Guess,
        body: object::<FirstOperatorBody>(),
        fails: &[Code::NotFound],
    }

    /// Create a guest account
    ///
    /// Creates an account without an e-mail address and a password, and starts its session. A guest account can request
    /// songs, pay in, and use what the matrix gives a guest. Operations of members return 403 `claim_required`. The
    /// refresh token is the only access to the account, until 400 days after its last use. An account that was never used
    /// to pay or to request is deleted a day after its last use. Until an upgrade of the service is complete, this returns
    /// 503.
    ///
    /// If the answer is lost, repeat the request with its Idempotency-Key. Within 60 seconds, and while the refresh
    /// token is unused, it returns the same session and refresh token with a new access token. Choose the key at random,
    /// with at least 128 bits, because it gives access to the account for that time. Afterwards, the key returns 422
    /// `idempotency_key_reused`, until the account is claimed or deleted.
    POST "/api/v1/auth/guest" "createGuest" {
        tag: SignIn,
        run: anonymous_keyed(create_guest),
        answers: created::<SessionView>("The session of the new guest account.").showing(GUEST),
        class: Class::Guests,
        body: json::<GuestBody>(),
        fails: &[Code::IdempotencyKeyReused],
    }

    /// Claim a guest account
    ///
    /// Adds an e-mail address and a password to the caller's guest account. It becomes a member with everything it has.
    /// The session gets a new refresh token. A taken address returns 422 for `email` and
    /// counts as a failed login. For a member, this returns 409 `conflict`.
    ///
    /// If the answer is lost, repeat the request. Within 60 seconds, with the same address and password, and while the
    /// new refresh token is unused, it returns the same refresh token.
    POST "/api/v1/auth/claim" "claimAccount" {
        tag: SignIn,
        run: authenticated(Action::ClaimAccount, claim),
        answers: ok::<SessionView>("The member's session with new tokens."),
        class: Class::Claims,
        body: object::<ClaimBody>(),
        fails: &[Code::Conflict],
    }

    /// Log in
    ///
    /// Starts a session. By default, the access token is valid for 15 minutes and the refresh token for 30 days. A
    /// wrong address or password returns 401 `invalid_credentials`. For a suspended user, the right password
    /// returns 403 `account_suspended`.
    ///
    /// A user can have 100 sessions. Another login ends the least recently used one.
    POST "/api/v1/auth/login" "login" {
        tag: SignIn,
        run: anonymous(login),
        answers: ok::<SessionView>("The new session."),
        class: Class::Login,
        body: json::<LoginBody>(),
        fails: &[Code::InvalidCredentials, Code::AccountSuspended],
    }

    /// Refresh a session
    ///
    /// Returns a new access token and a new refresh token. If the answer was lost, send the old refresh token
    /// again: for 60 seconds, and while the new one is unused, it returns the same new refresh token with a fresh
    /// access token. Two concurrent requests both get it.
    ///
    /// Any other reuse returns 401 `invalid_refresh_token` and ends the session. It also disables the webhook
    /// endpoints for the user's own events if this session set their URL. For a suspended user, a refresh returns
    /// 403 `account_suspended`.
    POST "/api/v1/auth/refresh" "refreshSession" {
        tag: SignIn,
        run: anonymous(refresh),
        answers: ok::<SessionView>("The session with new tokens."),
        class: Class::Refreshes,
        body: json::<RefreshTokenBody>(),
        fails: &[Code::InvalidRefreshToken, Code::AccountSuspended],
    }

    /// Log out
    ///
    /// Ends the session of the refresh token. An unknown refresh token also returns 200. No access token is needed.
    ///
    /// No login leads back to a guest account. Let its guest claim or spend the money before; afterwards, only the link
    /// of an operator reaches it.
    POST "/api/v1/auth/logout" "logout" {
        tag: SignIn,
        run: anonymous(logout),
        answers: ok::<Empty>("The session has ended."),
        body: json::<RefreshTokenBody>(),
    }
}

body! {
    /// A user to register.
    pub struct RegistrationBody as "Registration", example: {
        "name": "DJ Ada", "email": "ada@example.com", "password": "correct horse", "is_dj": true
    } {
        /// Display name.
        name: Line = required(kinds::LINE),
        /// E-mail address, unique regardless of letter case.
        email: Email = required(kinds::EMAIL),
        /// Password. One of the most common passwords in data leaks returns 422.
        password: Password = required(kinds::PASSWORD),
        /// Phone number in E.164 form: `+` and 7 to 15 digits, without spaces.
        phone: Option<Phone> = optional(kinds::PHONE),
        /// Whether the user is a DJ; `false` by default.
        is_dj: Option<bool> = optional(kinds::BOOLEAN),
    }
}

body! {
    /// The first operator.
    pub struct FirstOperatorBody as "FirstOperator", example: {
        "code": "bntE_GS4RCx0KV37F1UrUOK6KToVtUo03oh9oh-6w1c", "name": "Ada", "email": "ada@example.com",
        "password": "correct horse"
    } {
        /// Code that the service printed on its terminal.
        code: Token = required(kinds::TOKEN),
        /// Display name.
        name: Line = required(kinds::LINE),
        /// E-mail address, unique regardless of letter case.
        email: Email = required(kinds::EMAIL),
        /// Password. One of the most common passwords in data leaks returns 422.
        password: Password = required(kinds::PASSWORD),
    }
}

body! {
    /// A guest account.
    pub struct GuestBody as "Guest", example: {"name": "Mia"} {
        /// Display name; `Guest` by default.
        name: Option<Line> = optional(kinds::LINE),
    }
}

body! {
    /// What a guest adds to claim the account.
    pub struct ClaimBody as "Claim", example: {"email": "mia@example.com", "password": "correct horse"} {
        /// E-mail address, unique regardless of letter case.
        email: Email = required(kinds::EMAIL),
        /// Password. One of the most common passwords in data leaks returns 422.
        password: Password = required(kinds::PASSWORD),
        /// Another display name.
        name: Option<Line> = optional(kinds::LINE),
        /// Phone number in E.164 form: `+` and 7 to 15 digits, without spaces.
        phone: Option<Phone> = optional(kinds::PHONE),
    }
}

body! {
    /// Credentials.
    pub struct LoginBody as "Login", example: {"email": "ada@example.com", "password": "correct horse"} {
        /// E-mail address of the user, in any letter case.
        email: String = required(kinds::PRESENTED),
        /// Password.
        password: Password = required(kinds::PRESENTED_PASSWORD),
    }
}

body! {
    /// A refresh token.
    pub struct RefreshTokenBody as "RefreshToken", example: {
        "refresh_token": "bntE_GS4RCx0KV37F1UrUOK6KToVtUo03oh9oh-6w1c"
    } {
        /// The latest refresh token of the session.
        refresh_token: Token = required(kinds::TOKEN),
    }
}

/// A session with its tokens.
#[derive(Clone, Serialize, ToSchema)]
#[schema(as = Session)]
pub struct SessionView {
    /// The profile of the user.
    pub user: UserView,
    /// Access token, to be sent as `Authorization: Bearer …`.
    #[schema(example = "eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI3In0.c2lnbmF0dXJl")]
    pub access_token: String,
    /// Scheme of the Authorization header.
    #[schema(value_type = names::TokenType)]
    pub token_type: &'static str,
    /// Lifetime of the access token in seconds, `auth.access_token_ttl_seconds`.
    #[schema(example = 900)]
    pub expires_in: i64,
    /// Refresh token for the next `refreshSession`.
    #[schema(example = "bntE_GS4RCx0KV37F1UrUOK6KToVtUo03oh9oh-6w1c")]
    pub refresh_token: String,
}

async fn register(call: ApiCall) -> Result<ApiResponse, ApiError> {
    let RegistrationBody { name, email, password, phone, is_dj } = call.body()?;
    if call.use_cases().sign_ins.is_breached(&password) {
        return Err(RegisterRefusal::BreachedPassword.into());
    }
    let registration = Registration { name, email, password, phone, is_dj: is_dj.unwrap_or(false) };
    let attempt = call.admit_registration(&registration.email)?;
    let registered = call.use_cases().sign_ins.register(&call.client_context(), registration).await;
    call.limits().conclude(attempt, &registered, |refusal| matches!(refusal, RegisterRefusal::EmailTaken));
    ApiResponse::new("Registered.", session(&call, &registered?))
}

async fn register_first_operator(call: ApiCall) -> Result<ApiResponse, ApiError> {
    let FirstOperatorBody { code, name, email, password } = call.counted_body()?;
    let new = NewOperator { name, email, password };
    let registered = call.use_cases().operators.register_first(&call.client_context(), &code, new).await?;
    ApiResponse::new("Registered.", session(&call, &registered))
}

async fn create_guest(call: ApiCall) -> Result<ApiResponse, ApiError> {
    let key = call.creation_key()?;
    let GuestBody { name } = call.counted_body()?;
    let created = call.use_cases().sign_ins.create_guest(&call.client_context(), name, key).await?;
    ApiResponse::new("Created.", session(&call, &created))
}

async fn claim(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let read =
        call.body().and_then(|body: ClaimBody| match call.use_cases().sign_ins.is_breached(&body.password) {
            true => Err(ClaimRefusal::BreachedPassword.into()),
            false => Ok(body),
        });
    let ClaimBody { email, password, name, phone } = read.or_else(|invalid| {
        // A count for each account would not help, because guest accounts cost nothing.
        call.limits().count_for_network_instead(Class::Public).map_err(ApiError::rate_limited)?;
        Err(invalid)
    })?;
    let trust = call.use_cases().profiles.guest_trust(&principal).await?;
    let attempt = call.admit_claim(&email, trust)?;
    let claim = AccountClaim { details: ClaimDetails { email, name, phone }, password };
    let claimed = call.use_cases().sign_ins.claim(&call.context(&principal), claim).await;
    call.limits().conclude(attempt, &claimed, |refusal| {
        matches!(refusal, ClaimRefusal::EmailTaken | ClaimRefusal::NotAGuest)
    });
    ApiResponse::new("Claimed.", session(&call, &claimed?))
}

async fn login(call: ApiCall) -> Result<ApiResponse, ApiError> {
    let LoginBody { email, password } = call.body()?;
    let attempt = call.admit_login(&email).await?;
    let logged_in = call.use_cases().sign_ins.login(&call.client_context(), &email, &password).await;
    call.limits()
        .conclude(attempt, &logged_in, |refusal| matches!(refusal, LoginRefusal::InvalidCredentials));
    ApiResponse::new("Logged in.", session(&call, &logged_in?))
}

async fn refresh(call: ApiCall) -> Result<ApiResponse, ApiError> {
    let (sign_ins, token) = (&call.use_cases().sign_ins, refresh_token(&call)?);
    call.limits().count_refresh(sign_ins.session_of(&token).await?).map_err(ApiError::rate_limited)?;
    let refreshed = sign_ins.refresh(&call.client_context(), &token).await?;
    ApiResponse::new("Refreshed.", session(&call, &refreshed))
}

async fn logout(call: ApiCall) -> Result<ApiResponse, ApiError> {
    let strands = call.use_cases().sign_ins.logout(&call.client_context(), &refresh_token(&call)?).await?;
    ApiResponse::new(if strands { STRANDED } else { "Logged out." }, Empty {})
}

fn refresh_token(call: &ApiCall) -> Result<Token, ApiError> {
    let RefreshTokenBody { refresh_token } = call.body()?;
    Ok(refresh_token)
}

fn session(call: &ApiCall, signed_in: &SignedIn) -> SessionView {
    let SignedIn { profile, refresh_token, access_token, .. } = signed_in;
    SessionView {
        user: UserView::new(&profile.user, profile.balance.available, call.currency()),
        access_token: access_token.token.clone(),
        token_type: "Bearer",
        expires_in: access_token.expires_in_seconds,
        refresh_token: refresh_token.0.clone(),
    }
}
