//! A session at a service: its calls, and its failures as sentences.

use std::collections::BTreeMap;

use anyhow::{Context, anyhow};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use thiserror::Error;
use uuid::Uuid;

use super::object::{ApiObject, visible};
use cuepoint_adapters::api_calls::{ApiAnswer, ApiCalls, ApiRequest, CallError, Content};
use cuepoint_adapters::security::random::{RandomSecrets, random};
use cuepoint_domain::text::Line;

/// The prefix of the paths of the API.
const PREFIX: &str = "/api/v1";
/// What an operator does if the outcome of a change is unknown. The API repeats no change of these commands.
const OUTCOME_UNKNOWN: &str =
    "It is unknown whether the change was made. Repeat the command: no change is made twice.";

/// The service cannot be reached, or cannot do it now.
#[derive(Debug, Error)]
#[error("{0}")]
pub(super) struct NotNow(String);

/// A logged-in operator.
pub(super) struct ApiSession {
    calls: ApiCalls,
    tokens: Tokens,
}

#[derive(Deserialize)]
struct Tokens {
    access_token: String,
    refresh_token: String,
}

/// The common JSON structure of successes and failures, as far as commands read it.
#[derive(Deserialize)]
struct Envelope {
    status: String,
    message: Option<String>,
    data: Option<Box<RawValue>>,
    #[serde(default)]
    errors: BTreeMap<String, Vec<String>>,
    /// The status that does not allow a transition.
    current: Option<String>,
    /// The debt that does not allow an approval.
    owed: Option<Box<RawValue>>,
}

/// A page of a list.
#[derive(Deserialize)]
struct RawPage {
    data: Vec<Box<RawValue>>,
    total: usize,
    last_page: usize,
}

/// A page of a list.
pub(super) struct ObjectPage {
    pub(super) objects: Vec<ApiObject>,
    /// The number of objects in the whole list.
    pub(super) total: usize,
    pub(super) is_last: bool,
}

impl ApiSession {
    /// Logs in.
    ///
    /// # Errors
    /// When the service cannot be called, or refuses the login.
    pub(super) async fn begin(calls: ApiCalls, email: &str, password: &str) -> anyhow::Result<Self> {
        let body = json!({"email": email, "password": password}).to_string();
        let content = Content::Post { body, key: None };
        let data = exchange(&calls, "/auth/login", None, content).await.context("cannot log in")?;
        Ok(Self { tokens: expected(&data)?, calls })
    }

    /// Logs out.
    ///
    /// # Errors
    /// When the service cannot be called, or refuses.
    pub(super) async fn end(self) -> anyhow::Result<()> {
        let body = json!({"refresh_token": self.tokens.refresh_token}).to_string();
        exchange(&self.calls, "/auth/logout", None, Content::Post { body, key: None }).await.map(drop)
    }

    /// Reads the data at a path.
    ///
    /// # Errors
    /// When the service cannot be called, or refuses.
    pub(super) async fn get(&self, path: &str) -> anyhow::Result<Box<RawValue>> {
        exchange(&self.calls, path, Some(&self.tokens.access_token), Content::Get).await
    }

    /// Reads a page of a list, counted from 1. The path has a query.
    ///
    /// # Errors
    /// As [`ApiSession::get`].
    pub(super) async fn page(&self, path: &str, number: usize) -> anyhow::Result<ObjectPage> {
        let page: RawPage = expected(&self.get(&format!("{path}&page={number}")).await?)?;
        let objects = page.data.into_iter().map(ApiObject::new).collect::<anyhow::Result<_>>()?;
        Ok(ObjectPage { objects, total: page.total, is_last: number >= page.last_page })
    }

    /// Makes a change for a reason, and returns the data of the answer.
    ///
    /// # Errors
    /// When the service cannot be called, or refuses.
    pub(super) async fn change(&self, path: &str, reason: &Line) -> anyhow::Result<Box<RawValue>> {
        self.post(path, &json!({"reason": reason.as_str()})).await
    }

    /// Makes a change with this body, and returns the data of the answer.
    ///
    /// # Errors
    /// As [`ApiSession::change`].
    pub(super) async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Box<RawValue>> {
        let key = uuid::Builder::from_random_bytes(random(RandomSecrets::new()?)).into_uuid();
        let key = Uuid::to_string(&key);
        let body = body.to_string();
        let content = Content::Post { body, key: Some(&key) };
        exchange(&self.calls, path, Some(&self.tokens.access_token), content).await
    }
}

/// Sends a request and returns the data of a success.
async fn exchange(
    calls: &ApiCalls,
    path: &str,
    token: Option<&str>,
    content: Content<'_>,
) -> anyhow::Result<Box<RawValue>> {
    let is_change = token.is_some() && matches!(content, Content::Post { .. });
    let request = ApiRequest { path: &format!("{PREFIX}{path}"), token, content };
    let origin = calls.origin();
    match calls.send(request).await {
        Ok(answer) => data(origin, answer, is_change),
        Err(error @ CallError::Request(_)) => Err(error.into()),
        Err(error) => {
            let unknown = if is_change && error.may_have_arrived() { OUTCOME_UNKNOWN } else { "" };
            let sentence = format!("{origin}: {error}");
            Err(NotNow(with(visible(&sentence), unknown)).into())
        }
    }
}

/// The data of a success, or the sentence of a failure.
fn data(origin: &str, answer: ApiAnswer, is_change: bool) -> anyhow::Result<Box<RawValue>> {
    let ApiAnswer { status, is_success, location, retry_after, body } = answer;
    if let (300..400, Some(location)) = (status, location) {
        let location = visible(&location);
        return Err(anyhow!(
            "{origin} redirects to {location}: pass the address of the service itself as --url"
        ));
    }
    let envelope = serde_json::from_slice::<Envelope>(&body).ok();
    let envelope = envelope.filter(|envelope| envelope.status == if is_success { "ok" } else { "error" });
    let sentence = match envelope {
        Some(Envelope { data: Some(data), .. }) if is_success => return Ok(data),
        Some(envelope) if !is_success => refusal(envelope),
        _ => format!(
            "{origin} answers {status} without JSON of the API: it is no Cuepoint, or a proxy answers for it"
        ),
    };
    let sentence = match (status, retry_after) {
        (404, _) => {
            with(sentence, "A service with access.operator_networks also says this to all other networks.")
        }
        (429 | 503, Some(seconds)) => with(sentence, &format!("Try again in {seconds} seconds.")),
        _ => sentence,
    };
    match status {
        // The deployment lacks the feature.
        501 => Err(anyhow!(sentence)),
        500.. if is_change => Err(NotNow(with(sentence, OUTCOME_UNKNOWN)).into()),
        429 | 500.. => Err(NotNow(sentence).into()),
        _ => Err(anyhow!(sentence)),
    }
}

/// The sentences of a refusal.
fn refusal(envelope: Envelope) -> String {
    let Envelope { message, errors, current, owed, .. } = envelope;
    let fields = errors.into_values().flatten().collect::<Vec<_>>().join(" ");
    let said = if fields.is_empty() { message.unwrap_or_default() } else { fields };
    let current = current.map(|current| format!("It is {current}.")).unwrap_or_default();
    let owed = owed.map(|owed| format!("The debt is {}.", owed.get())).unwrap_or_default();
    visible(&with(with(said, &current), &owed))
}

/// Sentences with another one, if that is not empty.
fn with(said: String, more: &str) -> String {
    let dot = if said.ends_with('.') { "" } else { "." };
    if more.is_empty() { said } else { format!("{said}{dot} {more}") }
}

/// Reads data in the expected form.
///
/// # Errors
/// When it has another form. Its text is not shown, because it may contain tokens.
pub(super) fn expected<'a, T: Deserialize<'a>>(data: &'a RawValue) -> anyhow::Result<T> {
    serde_json::from_str(data.get())
        .map_err(|_| anyhow!("the service answers with another form of JSON than this version expects"))
}
