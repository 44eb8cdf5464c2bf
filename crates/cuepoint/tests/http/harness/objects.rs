//! Objects for the paths of operations.

use super::Person;

/// The maximum number of webhook endpoints of a user.
const MOST_ENDPOINTS: usize = 5;

/// Creates an object of this user for a path below the base address; requests are those to the given DJ. `None` if the
/// path names no object that users own.
pub(crate) fn object_of(owner: &Person, dj: &Person, path: &str) -> Option<i64> {
    Some(match path {
        "/music/requests/{id}" | "/music/requests/{id}/cancel" | "/music/requests-update/{id}" => {
            owner.request_song(dj)
        }
        "/music/requests/{id}/rating" | "/operator/music/requests/{id}/refund" => {
            let request = owner.request_song(dj);
            dj.answer(request, "played").data(200);
            request
        }
        "/wallet/entries/{id}" => {
            owner.topup("1");
            owner.ids("/wallet/entries", "id")[0]
        }
        "/wallet/topups/{id}" | "/operator/topups/{id}" | "/operator/topups/{id}/chargeback" => {
            owner.topup("1")
        }
        "/withdrawals/{id}" | "/withdrawals/{id}/cancel" => owner.withdrawal("1"),
        "/gigs/{id}"
        | "/gigs/{id}/end"
        | "/gigs/{id}/reject-guests"
        | "/gigs/{id}/queue"
        | "/gigs/{id}/report" => dj.gig(),
        "/auth/sessions/{id}" => owner.ids("/auth/sessions", "id")[0],
        "/auth/tokens/{id}" => {
            let tokens = owner.get("/auth/tokens").data(200)["tokens"].clone();
            tokens[0]["id"].as_i64().unwrap_or_else(|| owner.personal_token(&["gigs:read"]).0)
        }
        _ if path.starts_with("/webhook-endpoints/{id}") => {
            let list = "/webhook-endpoints";
            let endpoints = owner.ids(list, "id");
            if let Some(oldest) = endpoints.get(MOST_ENDPOINTS - 1) {
                owner.delete(&format!("{list}/{oldest}")).data(200);
            }
            owner.webhook_endpoint(list)
        }
        _ if path.starts_with("/operator/withdrawals/{id}") => owner.withdrawal("1"),
        _ => return None,
    })
}
