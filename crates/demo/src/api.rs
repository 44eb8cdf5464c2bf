//! The client: calls with a session that is refreshed, keys for commands, and waits at rate limits.

use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use ureq::Agent;
use ureq::http::{Request, Response};

use crate::answers::{Refusal, Session, Success};

/// The time within which an answer must arrive.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
/// The longest wait after a 429, in seconds; a longer one is shortened to this.
const LONGEST_WAIT: u64 = 60;

/// The result of a call that the service answered: its data, or why it refused.
pub(crate) type Answered<T> = Result<T, Refusal>;

/// A service.
#[derive(Clone)]
pub(crate) struct Api {
    agent: Agent,
    base: String,
}

/// Status, seconds to wait, and body of an answer.
struct Answer {
    status: u16,
    retry_after: u64,
    body: String,
}

impl Api {
    /// A client of the service with this URL, such as `http://127.0.0.1:8080`.
    pub(crate) fn new(url: &str) -> Self {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .proxy(None)
            .timeout_global(Some(ANSWER_WITHIN))
            .build()
            .new_agent();
        Self { agent, base: format!("{}/api/v1", url.trim_end_matches('/')) }
    }

    /// Reads without a session.
    pub(crate) fn get<T: DeserializeOwned>(&self, path: &str) -> anyhow::Result<T> {
        self.answered("GET", path, None, None)?.map_err(|refusal| unexpected(path, &refusal))
    }

    /// Gets a session from this operation.
    fn session(&self, path: &str, body: &impl Serialize) -> anyhow::Result<Session> {
        let body = serde_json::to_string(body)?;
        self.answered("POST", path, None, Some(&body))?.map_err(|refusal| unexpected(path, &refusal))
    }

    /// Makes a call, again as soon as a rate limit permits it.
    fn answered<T: DeserializeOwned>(
        &self,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: Option<&str>,
    ) -> anyhow::Result<Answered<T>> {
        let key = new_key()?;
        loop {
            let answer =
                self.send(method, path, token, body, &key).with_context(|| format!("{method} {path}"))?;
            match answer.status {
                200..=299 => {
                    let success: Success<T> = serde_json::from_str(&answer.body)
                        .with_context(|| format!("{method} {path}: {}", answer.body))?;
                    return Ok(Ok(success.data));
                }
                429 => thread::sleep(Duration::from_secs(answer.retry_after.clamp(1, LONGEST_WAIT))),
                400..=499 => {
                    let refusal = serde_json::from_str(&answer.body);
                    return refusal.map(Err).with_context(|| format!("{method} {path}: {}", answer.body));
                }
                status => bail!("{method} {path}: {status} {}", answer.body),
            }
        }
    }

    fn send(
        &self,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: Option<&str>,
        key: &str,
    ) -> anyhow::Result<Answer> {
        let mut call = Request::builder().method(method).uri(format!("{}{path}", self.base));
        if let Some(token) = token {
            call = call.header("Authorization", format!("Bearer {token}"));
        }
        let mut answer: Response<_> = if let Some(body) = body {
            let call = call.header("Content-Type", "application/json").header("Idempotency-Key", key);
            self.agent.run(call.body(body.to_owned())?)?
        } else {
            self.agent.run(call.body(())?)?
        };
        let waits =
            answer.headers().get("Retry-After").and_then(|seconds| seconds.to_str().ok()?.parse().ok());
        Ok(Answer {
            status: answer.status().as_u16(),
            retry_after: waits.unwrap_or_default(),
            body: answer.body_mut().read_to_string()?,
        })
    }
}

/// A person with a session.
pub(crate) struct Caller {
    api: Api,
    session: Session,
}

impl Caller {
    /// Creates an account by this operation.
    pub(crate) fn create(api: &Api, path: &str, body: &impl Serialize) -> anyhow::Result<Self> {
        Ok(Self { session: api.session(path, body)?, api: api.clone() })
    }

    pub(crate) fn id(&self) -> u64 {
        self.session.user.id
    }

    /// Makes a call whose refusal is an answer, too.
    pub(crate) fn try_call<T: DeserializeOwned>(
        &mut self,
        method: &str,
        path: &str,
        body: &impl Serialize,
    ) -> anyhow::Result<Answered<T>> {
        self.answered(method, path, Some(&serde_json::to_string(body)?))
    }

    /// Makes a call that must succeed.
    pub(crate) fn call<T: DeserializeOwned>(
        &mut self,
        method: &str,
        path: &str,
        body: &impl Serialize,
    ) -> anyhow::Result<T> {
        self.try_call(method, path, body)?.map_err(|refusal| unexpected(path, &refusal))
    }

    /// Reads.
    pub(crate) fn get<T: DeserializeOwned>(&mut self, path: &str) -> anyhow::Result<T> {
        self.answered("GET", path, None)?.map_err(|refusal| unexpected(path, &refusal))
    }

    /// Makes a call, again with a refreshed session if the access token has expired.
    fn answered<T: DeserializeOwned>(
        &mut self,
        method: &str,
        path: &str,
        body: Option<&str>,
    ) -> anyhow::Result<Answered<T>> {
        let call =
            |caller: &Self| caller.api.answered(method, path, Some(&caller.session.access_token), body);
        match call(self)? {
            Err(refusal) if refusal.code == "token_expired" => {
                let token = json!({"refresh_token": self.session.refresh_token});
                self.session = self.api.session("/auth/refresh", &token)?;
                call(self)
            }
            answered => Ok(answered),
        }
    }

    /// Claims the guest account: the session continues with other tokens.
    pub(crate) fn claim(&mut self, email: &str, password: &str) -> anyhow::Result<()> {
        self.session = self.call("POST", "/auth/claim", &json!({"email": email, "password": password}))?;
        Ok(())
    }
}

/// Returns 128 random bits as text. Whoever knows the key of a guest account's creation can get its session.
pub(crate) fn new_key() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn unexpected(path: &str, refusal: &Refusal) -> anyhow::Error {
    anyhow::anyhow!("{path} was refused: {}: {}", refusal.code, refusal.message)
}
