//! Answers of a server, and the checks that hold for every answer.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;
use ureq::http::HeaderMap;

/// An answer as received.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// The request, for failure messages.
    pub(crate) request: String,
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    /// The text of a header; the first if it is repeated.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// What differs between two answers to a caller who looks for a difference: all but the time and the request's id.
    pub(crate) fn seen(&self) -> (u16, String, Vec<String>) {
        let mut headers: Vec<String> = self
            .headers
            .iter()
            .filter(|(name, _)| !["x-request-id", "date"].contains(&name.as_str()))
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .collect();
        headers.sort_unstable();
        (self.status, self.text.clone(), headers)
    }

    /// The message of the envelope.
    pub(crate) fn message(&self) -> String {
        self.json()["message"].as_str().unwrap().to_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self}"))
    }

    /// The text of the value at a JSON pointer, byte for byte as sent.
    pub(crate) fn raw(&self, pointer: &str) -> String {
        raw_at(&self.text, pointer)
    }

    /// The `data` of a success in the common envelope.
    #[track_caller]
    pub(crate) fn data(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self}");
        let body = self.json();
        assert_eq!(keys(&body), ["data", "message", "status"], "{self}");
        assert_eq!(body["status"], "ok", "{self}");
        assert!(body["message"].as_str().is_some_and(|message| !message.is_empty()), "{self}");
        self.common();
        body["data"].clone()
    }

    /// The body of a failure in the common envelope.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16, code: &str) -> Value {
        assert_eq!(self.status, status, "{self}");
        let body = self.json();
        assert_eq!(body["code"], code, "{self}");
        assert_eq!(body["status"], "error", "{self}");
        assert!(body["message"].as_str().is_some_and(|message| !message.is_empty()), "{self}");
        let mut expected = vec!["code", "message", "request_id", "status"];
        if code == "invalid_transition" {
            expected.extend(["allowed", "current"]);
        }
        if code == "events_expired" {
            expected.push("oldest");
        }
        if code == "wallet_owes" {
            expected.push("owed");
        }
        if code == "gig_open" {
            expected.push("gig");
        }
        if code == "events_lost" {
            expected.push("continue_after");
        }
        if body.get("errors").is_some() {
            expected.extend(["details", "errors"]);
        }
        expected.sort_unstable();
        assert_eq!(keys(&body), expected, "{self}");
        assert_eq!(body["request_id"].as_str(), self.header("x-request-id"), "{self}");
        self.common();
        self.headers_of_failure(code);
        body
    }

    /// Checks a 422 for exactly these fields, each with at least one message; returns the messages.
    #[track_caller]
    pub(crate) fn invalid(&self, fields: &[&str]) -> Value {
        let errors = self.refused(422, "validation_failed")["errors"].clone();
        let mut expected = fields.to_vec();
        expected.sort_unstable();
        assert!(errors.is_object(), "{self}");
        assert_eq!(keys(&errors), expected, "{self}");
        let details = self.json()["details"].as_array().cloned().unwrap_or_else(|| panic!("{self}"));
        let count: usize =
            errors.as_object().unwrap().values().map(|all| all.as_array().unwrap().len()).sum();
        assert_eq!(details.len(), count, "a detail for each message: {self}");
        assert!(details.iter().all(|detail| keys(detail) == ["field", "limit", "rule"]), "{self}");
        for field in fields {
            let of_field = || details.iter().filter(|detail| detail["field"] == *field);
            // Their messages name no field.
            let is_unnamed = of_field().any(|detail| {
                ["spendable", "not_yourself", "limit"].contains(&detail["rule"].as_str().unwrap())
            });
            let sentences = errors[field].as_array().unwrap_or_else(|| panic!("{field}: {self}"));
            assert!(!sentences.is_empty() && sentences.len() == of_field().count(), "{field}: {self}");
            for sentence in sentences {
                let sentence = sentence.as_str().unwrap_or_else(|| panic!("{field}: {self}"));
                let is_named = sentence.contains(&field.replace('_', " "));
                assert!((is_named || is_unnamed) && sentence.ends_with('.'), "{self}");
            }
        }
        errors
    }

    #[track_caller]
    fn common(&self) {
        let kind = self.header("content-type").unwrap_or_default();
        assert!(kind.starts_with("application/json"), "{kind}: {self}");
        let id = self.header("x-request-id").unwrap_or_default();
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        assert!((1..=128).contains(&id.len()) && id.chars().all(plain), "X-Request-Id {id:?}: {self}");
    }

    #[track_caller]
    fn headers_of_failure(&self, code: &str) {
        let challenge = self.header("www-authenticate");
        match self.status {
            401 => {
                let challenge = challenge.unwrap_or_else(|| panic!("no WWW-Authenticate: {self}"));
                assert!(challenge.starts_with("Bearer"), "{challenge}: {self}");
                let blames = challenge.contains("error=\"invalid_token\"");
                let is_about_token = ["invalid_token", "token_expired", "session_ended"].contains(&code);
                assert_eq!(blames, is_about_token, "{challenge}: {self}");
            }
            403 if code == "insufficient_scope" => {
                let challenge = challenge.unwrap_or_else(|| panic!("no WWW-Authenticate: {self}"));
                assert!(challenge.contains("error=\"insufficient_scope\""), "{challenge}: {self}");
            }
            405 => assert!(self.header("allow").is_some(), "no Allow: {self}"),
            429 | 503 => {
                let seconds: u32 = self.header("retry-after").unwrap_or("").parse().expect("Retry-After");
                assert!(seconds >= 1, "{self}");
            }
            501 => assert!(self.header("retry-after").is_none(), "{self}"),
            _ => assert!(challenge.is_none(), "{self}"),
        }
    }
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} -> {} {}", self.request, self.status, self.text)
    }
}

/// The keys of an object, sorted; panics with the value if it is not an object.
#[track_caller]
pub(crate) fn keys(value: &Value) -> Vec<&str> {
    let object = value.as_object().unwrap_or_else(|| panic!("no object: {value}"));
    let mut keys: Vec<&str> = object.keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// The text at a JSON pointer of a JSON text, byte for byte.
#[track_caller]
fn raw_at(json: &str, pointer: &str) -> String {
    let mut here = json;
    for step in pointer.split('/').skip(1) {
        here = match step.parse::<usize>() {
            Ok(index) if here.starts_with('[') => {
                serde_json::from_str::<Vec<&RawValue>>(here).unwrap()[index].get()
            }
            _ => {
                let object: BTreeMap<String, &RawValue> = serde_json::from_str(here).unwrap();
                object.get(step).unwrap_or_else(|| panic!("no {pointer} in {json}")).get()
            }
        };
    }
    here.to_owned()
}
