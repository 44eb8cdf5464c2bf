//! Messages between the service and its providers, signed in both directions.

use std::sync::atomic::{AtomicU64, Ordering};

use cuepoint_adapters::clock::SystemClock;
use cuepoint_adapters::signed_messages::{SignedMessage, SigningSecrets};
use cuepoint_domain::ports::Clock;
use serde_json::{Value, json};

use super::{Answer, Call, Client, Provider, ReceivedRequest, Server};

/// A secret that a server verifies with, but does not sign with.
pub(crate) const OLD: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
/// The secret that a server signs with.
pub(crate) const NEW: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
/// A secret unknown to all servers.
pub(crate) const STRANGE: &str = "whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=";

/// The configuration of a server whose top-ups are confirmed by signed messages.
pub(crate) const TOPUPS: [(&str, &str); 2] = [
    ("topups.provider", "webhook"),
    (
        "topups.webhook_secrets",
        "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=, whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    ),
];

/// The configuration of a server that sends payouts to this provider, each approved by the rule for small
/// amounts.
pub(crate) fn payout_keys<'a>(provider: &'a Provider, attempts: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("withdrawals.auto_approve_below", "100"),
        ("payouts.provider", "webhook"),
        ("payouts.webhook_url", &provider.url),
        ("payouts.webhook_secrets", NEW),
        ("payouts.poll_interval_seconds", "1"),
        ("payouts.retry_seconds", "1"),
        ("payouts.max_attempts", attempts),
    ]
}

/// The data of a message with the paid amount.
pub(crate) fn paid(amount: &str, mut data: Value) -> Value {
    data["amount"] = serde_json::from_str(amount).unwrap();
    data["currency"] = json!("USD");
    data
}

fn now() -> i64 {
    SystemClock.now().to_utc().unix_timestamp()
}

/// A provider message.
#[derive(Clone)]
pub(crate) struct Message<'a> {
    /// Its id, unchanged when it is resent.
    pub(crate) id: String,
    pub(crate) path: &'static str,
    pub(crate) secret: &'a str,
    pub(crate) sent_at: i64,
    pub(crate) body: String,
}

impl<'a> Message<'a> {
    pub(crate) fn new(path: &'static str, body: &Value) -> Self {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        let id = format!("msg_{}", NUMBERS.fetch_add(1, Ordering::Relaxed));
        Self { id, path, secret: NEW, sent_at: now(), body: body.to_string() }
    }

    /// A message about the top-up of 5 with this reference.
    pub(crate) fn topup(kind: &str, reference: &str) -> Self {
        Self::topup_of("5.00", kind, reference)
    }

    /// A message about the top-up of this amount with this reference.
    pub(crate) fn topup_of(amount: &str, kind: &str, reference: &str) -> Self {
        Self::about_topup(kind, paid(amount, json!({"reference": reference})))
    }

    /// A message about the top-up that these fields name.
    pub(crate) fn about_topup(kind: &str, data: Value) -> Self {
        Self::new("/providers/topups", &json!({"type": kind, "data": data}))
    }

    /// A message about the payout with this reference.
    pub(crate) fn payout(kind: &str, reference: &str) -> Self {
        Self::about_payout(kind, json!({"reference": reference}))
    }

    /// A message about the payout with this reference, sent or completed in this transaction.
    pub(crate) fn payout_as(kind: &str, reference: &str, txid: &str) -> Self {
        Self::new(
            "/providers/payouts",
            &json!({"type": kind, "data": {"reference": reference, "txid": txid}}),
        )
    }

    /// A message about the payout that these fields name.
    pub(crate) fn about_payout(kind: &str, mut data: Value) -> Self {
        data["txid"] = json!("f00d");
        data["reason"] = json!("as it is");
        Self::new("/providers/payouts", &json!({"type": kind, "timestamp": "2026-01-01", "data": data}))
    }

    pub(crate) fn by(self, secret: &'a str) -> Self {
        Self { secret, ..self }
    }

    pub(crate) fn late(self, seconds: i64) -> Self {
        Self { sent_at: self.sent_at - seconds, ..self }
    }

    pub(crate) fn signature(&self) -> String {
        let secrets = SigningSecrets::parse([self.secret]).unwrap();
        secrets.sign(&self.id, &self.sent_at.to_string(), self.body.as_bytes()).unwrap()
    }

    pub(crate) fn call(&self, client: &Client) -> Call {
        client
            .call("POST", self.path)
            .text(&self.body)
            .header("webhook-id", &self.id)
            .header("webhook-timestamp", &self.sent_at.to_string())
            .header("webhook-signature", &self.signature())
    }

    pub(crate) fn send(&self, server: &Server) -> Answer {
        self.call(&server.client()).send()
    }

    /// Sends a message that contradicts the ledger.
    #[track_caller]
    pub(crate) fn contradicts(&self, server: &Server) {
        is_stored_for_review(&self.send(server));
    }

    /// Sends a message that the server accepts.
    #[track_caller]
    pub(crate) fn accepted_by(&self, server: &Server) {
        let answer = self.send(server);
        assert_eq!((answer.status, answer.text.as_str()), (204, ""), "{answer}");
        assert!(answer.header("x-request-id").is_some() && answer.header("content-type").is_none());
    }
}

/// Checks the answer to a message that contradicts the ledger.
#[track_caller]
pub(crate) fn is_stored_for_review(answer: &Answer) {
    assert_eq!(answer.data(200), json!({"outcome": "stored_for_review"}), "{answer}");
}

/// Checks that a call was signed with the first secret over exactly its content, under this reference.
#[track_caller]
pub(crate) fn is_signed(received: &ReceivedRequest, reference: &str) {
    let header = |name: &str| received.headers[name].as_str();
    let message = SignedMessage {
        id: header("webhook-id"),
        timestamp: header("webhook-timestamp"),
        signatures: header("webhook-signature"),
        body: received.body.as_bytes(),
    };
    assert!(SigningSecrets::parse([NEW]).unwrap().verify(message, SystemClock.now()), "{received:?}");
    assert_eq!((header("webhook-id"), header("idempotency-key")), (reference, reference));
    assert_eq!(header("content-type"), "application/json");
}
