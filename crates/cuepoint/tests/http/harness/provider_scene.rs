//! A server whose payment and payout providers send messages.

use serde_json::Value;

use super::{Message, Person, Provider, Reply, Server, Store, TOPUPS, eventually, payout_keys};

/// A server whose providers send messages, its operator, and a guest with 50.
pub(crate) struct ProviderScene {
    pub(crate) server: Server,
    pub(crate) operator: Person,
    pub(crate) guest: Person,
    pub(crate) provider: Provider,
}

impl ProviderScene {
    /// A scene whose payout provider accepts each order and reports later.
    pub(crate) fn new(store: Store) -> Self {
        Self::answering(store, Reply::Says(202, String::new()))
    }

    /// A scene whose payout provider answers each order like this.
    pub(crate) fn answering(store: Store, reply: Reply) -> Self {
        let provider = Provider::new(reply);
        let keys = [&payout_keys(&provider, "1000"), &TOPUPS[..]].concat();
        let (server, operator) = Server::with_operator(store, &keys);
        let guest = server.guest();
        let topup = guest.topup("50");
        Message::topup_of("50", "topup.confirmed", &guest.topup_reference(topup)).accepted_by(&server);
        Self { server, operator, guest, provider }
    }

    /// A withdrawal of 5 ordered at the provider, and its reference.
    pub(crate) fn ordered(&self) -> (i64, String) {
        let id = self.guest.withdrawal("5");
        eventually("it is sent", || {
            self.provider.received().iter().any(|order| order.json()["id"] == id).then_some(())
        });
        (id, self.provider.reference_of(id))
    }

    /// The withdrawal, as shown to the guest.
    pub(crate) fn withdrawal(&self, id: i64) -> Value {
        self.guest.get(&format!("/withdrawals/{id}")).data(200)
    }

    /// Waits until the withdrawal has this status.
    pub(crate) fn reaches(&self, id: i64, status: &str) {
        eventually(status, || (self.withdrawal(id)["status"] == status).then_some(()));
    }

    /// Checks the number of contradictions of this kind in the metrics.
    pub(crate) fn is_measured(&self, source: &str, reason: &str, outcome: &str, count: u32) {
        let shown = self.server.client().outside("GET", "/metrics").send().text;
        let series = "cuepoint_provider_contradictions_total";
        let line = format!(r#"{series}{{source="{source}",reason="{reason}",outcome="{outcome}"}} {count}"#);
        assert!(shown.lines().any(|shown| shown == line), "{line} is not in\n{shown}");
    }

    /// The stored messages, as shown to the operator.
    pub(crate) fn messages(&self) -> Vec<Value> {
        let page = self.operator.get("/operator/provider-messages?per_page=100").data(200);
        page["data"].as_array().unwrap().clone()
    }

    /// Checks that one line of the log contains all of these.
    pub(crate) fn is_logged(&self, parts: &[&str]) {
        eventually("the log says so", || {
            let log = self.server.log();
            log.lines().any(|line| parts.iter().all(|part| line.contains(part))).then_some(())
        });
    }
}
