//! Webhook endpoints after requests to change them.

use crate::ports::EndpointAct;
use crate::webhook::WebhookEndpoint;

/// An endpoint after a request to change it.
pub(super) struct Performed<T> {
    pub(super) endpoint: WebhookEndpoint,
    /// What else is returned.
    pub(super) value: T,
    /// Whether the request is recorded in the security log.
    pub(super) has_changed: bool,
    /// The act that is notified, if it is one.
    pub(super) act: Option<EndpointAct>,
    /// How the state, the host and the owner have changed, for the security log.
    pub(super) transitions: String,
}

impl<T> Performed<T> {
    pub(super) fn act(endpoint: WebhookEndpoint, act: EndpointAct, value: T) -> Self {
        Self { act: Some(act), ..Self::recorded(endpoint, value) }
    }

    pub(super) fn recorded(endpoint: WebhookEndpoint, value: T) -> Self {
        Self { has_changed: true, ..Self::unchanged(endpoint, value) }
    }

    pub(super) fn unchanged(endpoint: WebhookEndpoint, value: T) -> Self {
        Self { endpoint, value, has_changed: false, act: None, transitions: String::new() }
    }
}

impl Performed<()> {
    /// The endpoint after a change of its settings, which is recorded if it has an effect.
    pub(super) fn change(before: &WebhookEndpoint, after: WebhookEndpoint, act: Option<EndpointAct>) -> Self {
        let has_changed = after != *before;
        Self { has_changed, act, transitions: transitions(before, &after), ..Self::unchanged(after, ()) }
    }
}

fn transitions(before: &WebhookEndpoint, after: &WebhookEndpoint) -> String {
    let state = |endpoint: &WebhookEndpoint| endpoint.state.name().to_owned();
    let host = |endpoint: &WebhookEndpoint| endpoint.url.authority();
    let owner = |endpoint: &WebhookEndpoint| format!("owner {}", endpoint.owner);
    let values = [(state(before), state(after)), (host(before), host(after)), (owner(before), owner(after))];
    let changed = values.iter().filter(|(from, to)| from != to);
    changed.map(|(from, to)| format!(", {from} → {to}")).collect()
}
