//! Users of a server, and their usual first steps.

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use super::{Answer, Call, Client, Server, Store};

/// The keys of the specified user object, sorted.
pub(crate) const PERSONAL_INFO: [&str; 20] = [
    "city",
    "country",
    "email",
    "email_verified",
    "fee_popular_song",
    "fee_upcoming_artist",
    "id",
    "is_dj",
    "latitude",
    "longitude",
    "name",
    "online",
    "phone",
    "phone_verified",
    "played",
    "radius",
    "rating",
    "rating_count",
    "state",
    "wallet_balance",
];

/// The keys of the specified request object, sorted.
pub(crate) const REQUEST: [&str; 11] = [
    "artist_name",
    "artist_type",
    "created_at",
    "dj_id",
    "fee",
    "id",
    "music_url",
    "song_title",
    "status",
    "updated_at",
    "user_id",
];

/// The keys of the specified withdrawal object, sorted.
pub(crate) const WITHDRAWAL: [&str; 8] =
    ["amount", "created_at", "currency", "id", "network", "updated_at", "user_id", "wallet_address"];

/// The keys of a DJ as users see one, in alphabetical order.
pub(crate) const DJ: [&str; 11] = [
    "city",
    "country",
    "fee_popular_song",
    "fee_upcoming_artist",
    "id",
    "name",
    "online",
    "played",
    "rating",
    "rating_count",
    "state",
];

/// The keys that show to staff what a withdrawal depends on at present.
pub(crate) const WITHDRAWAL_FACTS: [&str; 7] =
    ["approval_names", "approvals_needed", "login_changed_at", "owed", "sum_24h", "user_name", "waiting_for"];

/// The URL of a webhook endpoint that is accepted, and whose address is refused when it is called.
pub(crate) const WEBHOOK_URL: &str = "https://localhost/hook";

/// The password of every user.
pub(crate) const PASSWORD: &str = "correct horse";

/// The address of the first operator.
const OPERATOR: &str = "operator@example.com";

/// The configuration by which a server creates this operator at startup.
pub(crate) fn operator_keys(email: &str) -> [(&str, &str); 2] {
    [("bootstrap.operator_email", email), ("bootstrap.operator_password", PASSWORD)]
}

/// A logged-in user.
#[derive(Clone)]
pub(crate) struct Person {
    pub(super) client: Client,
    pub(crate) id: i64,
    pub(crate) email: String,
    pub(crate) token: String,
    pub(crate) refresh_token: String,
}

impl Client {
    /// Registers a new user.
    pub(crate) fn person(&self, is_dj: bool) -> Person {
        static COUNT: AtomicU32 = AtomicU32::new(1);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let email = format!("person-{number}@example.com");
        let body = json!({"name": "Ada", "email": email, "password": PASSWORD, "is_dj": is_dj});
        let data = self.post("/auth/register", &body).data(201);
        Person::signed_in(self, &data)
    }

    /// Creates a guest account.
    pub(crate) fn guest_account(&self) -> Person {
        Person::signed_in(self, &self.post("/auth/guest", &json!({"name": "Mia"})).data(201))
    }

    /// Logs a user in again.
    pub(crate) fn login(&self, email: &str) -> Person {
        let data = self.post("/auth/login", &json!({"email": email, "password": PASSWORD})).data(200);
        Person::signed_in(self, &data)
    }
}

impl Server {
    /// A server on a fresh store with this configuration, and the operator created at startup.
    pub(crate) fn with_operator(store: Store, keys: &[(&str, &str)]) -> (Self, Person) {
        let operator = operator_keys(OPERATOR);
        let server = Self::configured(store, &[&operator, keys].concat());
        let operator = server.client().login(OPERATOR);
        (server, operator)
    }

    pub(crate) fn guest(&self) -> Person {
        self.client().person(false)
    }

    /// A guest account.
    pub(crate) fn guest_account(&self) -> Person {
        self.client().guest_account()
    }

    /// A guest with a balance.
    pub(crate) fn payer(&self, amount: &str) -> Person {
        let guest = self.guest();
        guest.topup(amount);
        guest
    }

    /// A DJ who accepts requests at 5.00 for an upcoming artist and 10.00 for a popular song.
    pub(crate) fn dj(&self) -> Person {
        self.dj_at("5.00", "10.00")
    }

    /// A DJ who accepts requests at these prices.
    pub(crate) fn dj_at(&self, upcoming: &str, popular: &str) -> Person {
        let dj = self.client().person(true);
        let body =
            format!(r#"{{"online": 1, "fee_upcoming_artist": {upcoming}, "fee_popular_song": {popular}}}"#);
        dj.call("PATCH", "/user/personal-info").text(&body).send().data(200);
        dj
    }
}

impl Person {
    pub(crate) fn signed_in(client: &Client, data: &Value) -> Self {
        let text = |key: &str| data[key].as_str().unwrap().to_owned();
        Self {
            client: client.clone(),
            id: data["user"]["id"].as_i64().unwrap(),
            email: data["user"]["email"].as_str().unwrap().to_owned(),
            token: text("access_token"),
            refresh_token: text("refresh_token"),
        }
    }

    /// The same user on another server.
    pub(crate) fn at(&self, client: &Client) -> Self {
        client.login(&self.email)
    }

    /// The same session at another address of the server.
    pub(crate) fn moved_to(&self, client: &Client) -> Self {
        Self { client: client.clone(), ..self.clone() }
    }

    /// The id of the current session.
    pub(crate) fn session(&self) -> i64 {
        let page = self.get("/auth/sessions").data(200);
        let rows = page["data"].as_array().unwrap();
        rows.iter().find(|row| row["current"] == true).unwrap()["id"].as_i64().unwrap()
    }

    pub(crate) fn delete(&self, path: &str) -> Answer {
        self.call("DELETE", path).send()
    }

    pub(crate) fn call(&self, method: &str, path: &str) -> Call {
        self.client.call(method, path).bearer(&self.token)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.call("GET", path).send()
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.call("POST", path).json(body).send()
    }

    pub(crate) fn patch(&self, path: &str, body: &Value) -> Answer {
        self.call("PATCH", path).json(body).send()
    }

    pub(crate) fn topup(&self, amount: &str) -> i64 {
        let body = format!(r#"{{"amount": {amount}}}"#);
        let data = self.call("POST", "/wallet/topups").text(&body).send().data(201);
        data["topup"]["id"].as_i64().unwrap()
    }

    /// The reference of a top-up at the payment provider.
    pub(crate) fn topup_reference(&self, id: i64) -> String {
        let topup = &self.get(&format!("/wallet/topups/{id}")).data(200)["topup"];
        topup["reference"].as_str().unwrap().to_owned()
    }

    /// Requests a song of an upcoming artist from a DJ.
    pub(crate) fn request_song(&self, dj: &Person) -> i64 {
        self.post("/music/requests", &song(dj.id)).data(201)["id"].as_i64().unwrap()
    }

    /// A gig of this DJ with a long queue: the open one, or a new one.
    pub(crate) fn gig(&self) -> i64 {
        let answer = self.post("/gigs", &json!({"title": "Friday", "max_open_per_guest": 100})).json();
        answer["data"]["gig"]["id"].as_i64().or_else(|| answer["gig"].as_i64()).unwrap()
    }

    /// Creates a personal access token with these scopes, and returns its id and its secret.
    pub(crate) fn personal_token(&self, scopes: &[&str]) -> (i64, String) {
        let body = json!({"name": "Display", "scopes": scopes, "password": PASSWORD});
        let created = self.post("/auth/tokens", &body).data(201);
        (created["token"]["id"].as_i64().unwrap(), created["secret"].as_str().unwrap().to_owned())
    }

    /// Answers a request, as its DJ.
    pub(crate) fn answer(&self, request: i64, status: &str) -> Answer {
        self.patch(&format!("/music/requests-update/{request}"), &json!({"status": status}))
    }

    /// Cancels a request, as its guest.
    pub(crate) fn cancel(&self, request: i64) -> Answer {
        self.call("POST", &format!("/music/requests/{request}/cancel")).send()
    }

    pub(crate) fn withdraw(&self, amount: &str) -> Answer {
        let body = format!(
            r#"{{"amount": {amount}, "wallet_address": "bc1q", "currency": "BTC", "network": "bitcoin"}}"#
        );
        self.call("POST", "/withdrawal/crypto").text(&body).send()
    }

    /// Opens a withdrawal of this amount, and returns its id.
    pub(crate) fn withdrawal(&self, amount: &str) -> i64 {
        let answer = self.withdraw(amount);
        assert_eq!(answer.status, 201, "{answer}");
        answer.json()["data"]["withdrawal_request"]["id"].as_i64().unwrap()
    }

    /// The available and held amounts, as the texts sent.
    pub(crate) fn wallet(&self) -> (String, String) {
        let answer = self.get("/wallet");
        answer.data(200);
        (answer.raw("/data/wallet/available"), answer.raw("/data/wallet/held"))
    }

    /// The statement, oldest first, of a wallet that does not change meanwhile.
    pub(crate) fn entries(&self) -> Vec<Value> {
        let page = |page: i64| self.get(&format!("/wallet/entries?per_page=100&page={page}")).data(200);
        let first = page(1);
        let pages = first["last_page"].as_i64().unwrap();
        let all = [first.clone()].into_iter().chain((2..=pages).map(page));
        let mut rows: Vec<Value> = all.flat_map(|data| data["data"].as_array().unwrap().clone()).collect();
        assert_eq!(first["total"], rows.len(), "{first}");
        rows.reverse();
        rows
    }

    /// The number of entries of the wallet.
    pub(crate) fn entry_count(&self) -> usize {
        let total = self.get("/wallet/entries?per_page=1").data(200)["total"].as_u64();
        usize::try_from(total.unwrap()).unwrap()
    }

    /// Creates a webhook endpoint in this list, and returns its id.
    pub(crate) fn webhook_endpoint(&self, list: &str) -> i64 {
        let data = self.post(list, &json!({"url": WEBHOOK_URL, "password": PASSWORD})).data(201);
        data["webhook_endpoint"]["id"].as_i64().unwrap()
    }

    /// Creates a webhook endpoint, and removes all others from this list.
    pub(crate) fn only_webhook_endpoint(&self, list: &str) -> i64 {
        for id in self.ids(list, "id") {
            self.delete(&format!("{list}/{id}")).data(200);
        }
        self.webhook_endpoint(list)
    }

    /// Assigns a role, as an operator.
    pub(crate) fn give_role(&self, to: &Person, role: &str) {
        let path = format!("/operator/users/{}/role", to.id);
        let data = self.post(&path, &json!({"role": role, "reason": "as agreed"})).data(200);
        assert_eq!(data["user"]["role"], role);
    }

    /// Registers a user, makes them an operator, and logs them in.
    pub(crate) fn new_operator(&self, server: &Server) -> Self {
        let person = server.guest();
        self.give_role(&person, "operator");
        server.client().login(&person.email)
    }

    /// The ids of a page's rows, in order.
    pub(crate) fn ids(&self, path: &str, key: &str) -> Vec<i64> {
        let page = self.get(path).data(200);
        page["data"].as_array().unwrap().iter().map(|row| row[key].as_i64().unwrap()).collect()
    }

    /// All state that a refused request must leave unchanged.
    pub(crate) fn snapshot(&self) -> Vec<Value> {
        [
            "/user/personal-info",
            "/wallet",
            "/wallet/entries",
            "/wallet/topups",
            "/withdrawals",
            "/music/user/requests",
        ]
        .map(|path| self.get(path).data(200))
        .to_vec()
    }
}

/// A ledger entry: kind, amount, the available and held amounts after it, and its object.
pub(crate) fn line(entry: &Value) -> String {
    let sum = |key: &str| entry[key].as_f64().unwrap();
    format!(
        "{} {:.2} {:.2} {:.2} {} {}",
        entry["kind"].as_str().unwrap(),
        sum("amount"),
        sum("available_after"),
        sum("held_after"),
        entry["reference"]["type"].as_str().unwrap(),
        entry["reference"]["id"]
    )
}

/// The body of a song request to this DJ.
pub(crate) fn song(dj: i64) -> Value {
    json!({
        "dj_id": dj,
        "song_title": "Blue Monday",
        "artist_name": "New Order",
        "artist_type": "upcoming",
        "music_url": "https://example.com/blue-monday"
    })
}

/// An amount's text in cents.
#[track_caller]
pub(crate) fn cents(text: &str) -> i64 {
    let (whole, cents) = text.split_once('.').unwrap_or_else(|| panic!("no decimals: {text}"));
    assert_eq!(cents.len(), 2, "{text}");
    format!("{whole}{cents}").parse().unwrap()
}
