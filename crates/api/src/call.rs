//! The call of a handler: body fields, parameters, id and idempotency key.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use actix_web::http::Method;
use actix_web::{HttpMessage as _, HttpRequest};
use cuepoint_domain::application::{ClientContext, CommandError, Context, UseCases};
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::ids::{self, UserId};
use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::{IdempotencyKey, Position};
use cuepoint_domain::page::Rows;
use cuepoint_domain::ports::Clock as _;
use cuepoint_domain::text::Email;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::guest_account::{GuestKey, GuestTrust};
use cuepoint_domain::user::session::ClientInfo;
use serde::Serialize;
use serde_json::Value;

use crate::state::{ApiSettings, ApiState};
use crate::wire::body::RequestBody;
use crate::wire::envelope::ApiResponse;
use crate::wire::error::{ApiError, Code};
use crate::wire::filters::{Filter, QueryFilters};
use crate::wire::headers::{self, Signature};
use crate::wire::page::{Page, Paging};
use crate::wire::query::Query;
use crate::wire::read_only;
use crate::wire::validation_texts::Errors;
use cuepoint_adapters::event_hub::ClientConnection;
use cuepoint_adapters::security::authentication::Authentication;
use cuepoint_transport::client_address;
use cuepoint_transport::connections::Connection;
use cuepoint_transport::deadline::RequestDeadline;
use cuepoint_transport::rate_limits::{Class, LoginAttempt};
use cuepoint_transport::request_limits::RequestLimits;
use cuepoint_views::user_names::UserNames;
use cuepoint_views::wire::json::Object;
use cuepoint_views::wire::write_json::WriteJson;

/// A call whose form has been checked.
#[derive(Clone)]
pub struct ApiCall {
    /// The state that handlers share.
    pub api: Arc<ApiState>,
    pub(super) request: HttpRequest,
    pub(super) path: &'static str,
    /// The rate limit of the operation.
    pub(super) class: Class,
    pub(super) query: Query,
    pub(super) filters: &'static [Filter],
    pub(super) refusals: Errors,
    pub(super) read_only: Rc<[String]>,
    pub(super) deadline: RequestDeadline,
    pub(super) id: Option<String>,
    pub(super) body: Object,
    pub(super) key: Option<IdempotencyKey>,
}

impl ApiCall {
    /// The use cases.
    #[must_use]
    pub fn use_cases(&self) -> &UseCases {
        &self.api.service.use_cases
    }

    /// The settings of the API.
    #[must_use]
    pub fn settings(&self) -> &ApiSettings {
        &self.api.settings
    }

    /// The currency of the deployment.
    #[must_use]
    pub fn currency(&self) -> &Currency {
        self.api.currency()
    }

    /// The values of the body's fields. Read-only fields of a new object are refused.
    ///
    /// # Errors
    /// 422 with the messages of all wrong fields and parameters.
    pub fn body<B: RequestBody>(&self) -> Result<B, ApiError> {
        self.read_body(None)
    }

    /// The values of the body's fields. Read-only fields are refused if they differ from those of the object in
    /// `present`, the data of an answer.
    ///
    /// # Errors
    /// As [`ApiCall::body`].
    pub fn change_of<B: RequestBody>(&self, present: &impl Serialize) -> Result<B, ApiError> {
        let present = serde_json::to_value(present).map_err(ApiError::internal)?;
        self.read_body(Some(&present))
    }

    fn read_body<B: RequestBody>(&self, present: Option<&Value>) -> Result<B, ApiError> {
        let read = B::read(&self.body, self.currency());
        let read = ApiError::with_messages(read, &read_only::refusals(&self.read_only, &self.body, present));
        self.judged(read)
    }

    /// Whether the body names a field that it cannot set.
    #[must_use]
    pub fn has_read_only_field(&self) -> bool {
        self.read_only.iter().any(|name| self.body.get(name).is_some())
    }

    /// The result of reading fields, with the refusals of query parameters.
    ///
    /// # Errors
    /// 422 with the messages of all wrong fields and parameters.
    pub fn judged<T>(&self, read: Result<T, ApiError>) -> Result<T, ApiError> {
        ApiError::with_messages(read, &self.refusals)
    }

    /// Whether the body has any field of `B`, regardless of its value.
    #[must_use]
    pub fn has_any_of<B: RequestBody>(&self) -> bool {
        B::is_in(&self.body)
    }

    /// The parameter in the path, such as a code; empty without one.
    #[must_use]
    pub fn path_parameter(&self) -> &str {
        self.id.as_deref().unwrap_or_default()
    }

    /// The id in the path.
    ///
    /// # Errors
    /// [`Code::NotFound`] if it is not a positive decimal integer without leading zeros.
    pub fn id<T>(&self, make: fn(i64) -> Option<T>) -> Result<T, ApiError> {
        ids::written(self.path_parameter()).and_then(make).ok_or_else(|| Code::NotFound.into())
    }

    /// The headers of a provider's message.
    ///
    /// # Errors
    /// As [`headers::signature`].
    pub fn signature(&self) -> Result<Signature<'_>, ApiError> {
        headers::signature(self.request.headers())
    }

    /// The key with which a guest account is created, if there is one.
    ///
    /// # Errors
    /// [`Code::BadRequest`] for a malformed or short key.
    pub fn creation_key(&self) -> Result<Option<GuestKey>, ApiError> {
        let Some(key) = headers::idempotency_key(self.request.headers())? else { return Ok(None) };
        let key = GuestKey::new(key).ok_or_else(|| {
            let least = GuestKey::MIN_CHARACTERS;
            let message =
                format!("This Idempotency-Key must have at least {least} characters, chosen at random.");
            ApiError::saying(Code::BadRequest, message)
        })?;
        Ok(Some(key))
    }

    /// The client info.
    #[must_use]
    pub fn client(&self) -> ClientInfo {
        client_address::client(&self.request)
    }

    /// The position after which a client resumes a stream.
    ///
    /// # Errors
    /// As [`headers::last_event_id`].
    pub fn last_event_id(&self) -> Result<Option<Position>, ApiError> {
        headers::last_event_id(self.request.headers())
    }

    /// The time until which the token of the request authorizes a stream.
    ///
    /// # Errors
    /// [`Code::TokenExpired`] if it has expired meanwhile.
    pub fn authorized_until(&self) -> Result<Timestamp, ApiError> {
        if let Some(AuthorizedUntil(until)) = self.request.extensions().get() {
            return Ok(*until);
        }
        let token = headers::bearer(self.request.headers())?;
        let Authentication { tokens, revocations, clock, .. } = &self.api.service.authentication;
        Ok(tokens.expiry(token, revocations.epoch(), clock.now())?)
    }

    /// The client's connection.
    #[must_use]
    pub fn connection(&self) -> Arc<dyn ClientConnection> {
        Arc::new(self.request.conn_data::<Connection>().cloned())
    }

    /// Whether the request is a HEAD, whose response has no body.
    #[must_use]
    pub fn is_head(&self) -> bool {
        self.request.method() == Method::HEAD
    }

    /// The context of a request by this principal.
    #[must_use]
    pub fn context(&self, principal: &Principal) -> Context {
        Context {
            principal: *principal,
            client: self.client(),
            key: self.key,
            deadline: self.deadline_of_waits(),
        }
    }

    /// The context of a request without a principal.
    #[must_use]
    pub fn client_context(&self) -> ClientContext {
        ClientContext { client: self.client(), deadline: self.deadline_of_waits() }
    }

    fn deadline_of_waits(&self) -> cuepoint_domain::ports::Deadline {
        self.api.service.authentication.timer.deadline(self.deadline.for_waits())
    }

    /// The rate limits of this request.
    #[must_use]
    pub fn limits(&self) -> RequestLimits<'_> {
        RequestLimits::new(&self.api.limits, &self.request)
    }

    /// Counts a login, as [`RequestLimits::admit_login`]. Apps have no cookies, so that only a known network shows that a
    /// client has an account.
    ///
    /// # Errors
    /// [`Code::RateLimited`] after too many failures from this network with this address. If the network is not known for
    /// the user, also after too many failures in all, or if too many passwords of the network are waiting.
    /// [`Code::Unavailable`].
    pub async fn admit_login(&self, email: &str) -> Result<LoginAttempt, ApiError> {
        let sign_ins = &self.use_cases().sign_ins;
        Ok(self.limits().admit_login(&self.api.password_queue, sign_ins, email, None).await?)
    }

    /// Counts a registration, as [`RequestLimits::admit_registration`].
    ///
    /// # Errors
    /// [`Code::RateLimited`].
    pub fn admit_registration(&self, email: &Email) -> Result<LoginAttempt, ApiError> {
        Ok(self.limits().admit_registration(&self.api.password_queue, email)?)
    }

    /// Counts a claim, as [`RequestLimits::admit_claim`].
    ///
    /// # Errors
    /// [`Code::RateLimited`].
    pub fn admit_claim(&self, email: &Email, trust: GuestTrust) -> Result<LoginAttempt, ApiError> {
        Ok(self.limits().admit_claim(&self.api.password_queue, email, trust)?)
    }

    /// The body of an operation without a token. Once it is valid, it counts in the class of the operation.
    ///
    /// # Errors
    /// As [`ApiCall::body`], and [`Code::RateLimited`].
    pub fn counted_body<B: RequestBody>(&self) -> Result<B, ApiError> {
        let body = self.body()?;
        self.count_valid()?;
        Ok(body)
    }

    /// Counts a request without a token in the class of its operation, now that its fields are valid.
    ///
    /// # Errors
    /// [`Code::RateLimited`].
    pub fn count_valid(&self) -> Result<(), ApiError> {
        self.limits().count_for_network_instead(self.class).map_err(ApiError::rate_limited)
    }

    /// Does work with a password that the principal presents, as [`RequestLimits::with_password`].
    ///
    /// # Errors
    /// [`Code::RateLimited`], and the error of the work.
    pub async fn with_password<T, R>(
        &self,
        principal: &Principal,
        work: impl Future<Output = Result<T, CommandError<R>>>,
    ) -> Result<T, ApiError>
    where
        ApiError: From<CommandError<R>>,
    {
        let outcome = self.limits().with_password(principal, work).await;
        Ok(outcome.map_err(ApiError::rate_limited)??)
    }

    /// The names of these users, for staff; nobody needs a permission for none.
    ///
    /// # Errors
    /// [`Code::Unavailable`].
    pub async fn names(
        &self,
        principal: &Principal,
        users: impl IntoIterator<Item = UserId>,
    ) -> Result<UserNames, ApiError> {
        let users: BTreeSet<UserId> = users.into_iter().collect();
        if users.is_empty() {
            return Ok(UserNames::default());
        }
        Ok(UserNames::new(self.use_cases().people.names(principal, &users).await?))
    }

    /// The values of the filters.
    ///
    /// # Errors
    /// 422 with the messages of all wrong parameters.
    pub fn filters<F: QueryFilters>(&self) -> Result<F, ApiError> {
        self.judged(F::read(&self.query))
    }

    /// The requested page; its links keep the declared filters.
    #[must_use]
    pub fn paging(&self) -> Paging {
        let path = self.path.replace("{id}", self.path_parameter());
        let path = format!("{}{path}", self.api.settings.public_url);
        let filters: Vec<&str> = self.filters.iter().map(|filter| filter.name).collect();
        Paging::read(&self.query, path, &filters)
    }
}

/// The time until which the personal access token of a request authorizes a stream, as an extension of the request.
#[derive(Clone, Copy)]
pub(super) struct AuthorizedUntil(pub(super) Timestamp);

/// The input of a command that takes none.
///
/// # Errors
/// None.
pub(crate) const fn no_input() -> Result<(), ApiError> {
    Ok(())
}

/// The answer with a page of these rows.
///
/// # Errors
/// None.
pub(crate) fn page<'r, R, T: WriteJson + Serialize>(
    message: &'static str,
    paging: &Paging,
    rows: &'r Rows<R>,
    view: impl Fn(&'r R) -> T,
) -> Result<ApiResponse, ApiError> {
    let page: Page<T> = paging.page(rows, view);
    Ok(ApiResponse::view(message, page))
}
