//! The caller's personal access tokens.

use std::collections::BTreeSet;

use cuepoint_domain::application::TokenRequest;
use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_domain::ids::SessionId;
use cuepoint_domain::text::{Line, Password};
use cuepoint_domain::user::personal_token::{TokenDays, TokenScope};

use crate::call::ApiCall;
use crate::declaration::{created, json, ok, operations};
use crate::endpoint::authenticated;
use crate::wire::body::body;
use crate::wire::envelope::ApiResponse;
use crate::wire::error::{ApiError, Code};
use crate::wire::kinds;
use cuepoint_transport::rate_limits::Class;
use cuepoint_views::Empty;
use cuepoint_views::personal_token::{PersonalTokenSecretData, PersonalTokenView, PersonalTokensData};

operations! {
    /// List personal access tokens
    ///
    /// The caller's tokens that have not ended, newest first: at most ten.
    GET "/api/v1/auth/tokens" "listPersonalTokens" {
        tag: SignIn,
        run: authenticated(Action::ManageTokens, list),
        answers: ok::<PersonalTokensData>("The tokens."),
    }

    /// Create a personal access token
    ///
    /// A credential for a program that reads for the caller, such as a display or DJ software. The program sends the
    /// secret as a bearer token, without refreshing it. `TokenScope` describes the scopes. Operations outside these scopes
    /// return 403 `insufficient_scope`.
    ///
    /// Only this answer contains the secret. A wrong password returns 422 for `password`, and an eleventh token
    /// 422 `limit_exceeded`. If the deployment sends e-mail and the caller's address is verified, an e-mail reports the
    /// token.
    ///
    /// A token ends after `expires_in_days`, by `endPersonalToken`, by `logoutEverywhere`, by a reset of the password,
    /// by the restoration of an e-mail address, and when its owner is suspended or erased. A changed password does not end
    /// it. The e-mail about the change lists the tokens.
    POST "/api/v1/auth/tokens" "createPersonalToken" {
        tag: SignIn,
        run: authenticated(Action::ManageTokens, create),
        answers: created::<PersonalTokenSecretData>("The token with its secret."),
        class: Class::Guess,
        body: json::<NewPersonalTokenBody>(),
        fails: &[Code::LimitExceeded],
    }

    /// End a personal access token
    ///
    /// This server refuses the token immediately, and other servers within two seconds. A token that has ended returns
    /// 404 `not_found`.
    DELETE "/api/v1/auth/tokens/{id}" "endPersonalToken" {
        tag: SignIn,
        run: authenticated(Action::ManageTokens, end),
        answers: ok::<Empty>("The token has ended."),
    }
}

body! {
    /// A personal access token to create.
    pub struct NewPersonalTokenBody as "NewPersonalToken", example: {
        "name": "Display at the bar", "scopes": ["gigs:read"], "password": "correct horse"
    } {
        /// Name, to recognise the token.
        name: Line = required(kinds::LINE),
        /// What the token may read.
        scopes: BTreeSet<TokenScope> = required(kinds::TOKEN_SCOPES),
        /// Lifetime in days, 1 to 365; by default 90.
        expires_in_days: Option<TokenDays> = optional(kinds::TOKEN_DAYS),
        /// Password of the caller.
        password: Password = required(kinds::PRESENTED_PASSWORD),
    }
}

async fn list(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let tokens = call.use_cases().tokens.list(&principal).await?;
    let tokens = tokens.iter().map(PersonalTokenView::new).collect();
    ApiResponse::new("Personal access tokens.", PersonalTokensData { tokens })
}

async fn create(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let NewPersonalTokenBody { name, scopes, expires_in_days, password } = call.body()?;
    let asked = TokenRequest { name, scopes, lifetime: expires_in_days.unwrap_or_default() };
    let created = call.use_cases().tokens.create(&call.context(&principal), asked, &password).await;
    call.limits().refund_unhashed(&created);
    let (token, secret) = created?;
    let data = PersonalTokenSecretData { token: PersonalTokenView::new(&token), secret: secret.0 };
    ApiResponse::new("Personal access token created.", data)
}

async fn end(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let id = call.id(SessionId::new)?;
    call.use_cases().tokens.end(&call.context(&principal), id).await?;
    ApiResponse::new("Personal access token ended.", Empty {})
}
