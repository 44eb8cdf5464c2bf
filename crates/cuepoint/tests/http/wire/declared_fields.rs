//! Every declared field of an operation, against its own schema: other types and values outside its limits
//! are rejected, and all invalid fields are named at once.

use serde_json::{Map, Value, json};

use crate::harness::{
    Answer, Message, NEW, Person, ROUTES, Route, Server, Store, TOPUPS, UNKNOWN_CODE, object_of,
};
use crate::limits::long_work::GROWING;
use crate::wire::matrix::late_money;

on_one_store!(
    every_declared_field_is_validated_against_its_schema,
    letters_that_grow_are_accepted_or_refused_by_name_in_every_text_of_the_api,
);

/// Values outside the limits of a property.
fn outside(property: &Value) -> Vec<Value> {
    let mut values = vec![json!([]), json!({})];
    let of_type = property["type"].as_str().or(property["type"][0].as_str());
    match of_type {
        Some("string") => values.push(json!(5)),
        Some("number" | "integer" | "boolean") => values.push(json!("five")),
        // An enumeration.
        _ => values.push(json!("nonsense")),
    }
    if let Some(most) = property["maxLength"].as_u64() {
        values.push(json!("é".repeat(usize::try_from(most).unwrap() + 1)));
    }
    if let Some(least) = property["minLength"].as_u64() {
        values.push(json!("x".repeat(usize::try_from(least).unwrap() - 1)));
    }
    // Texts have no control characters, except for passwords and what is compared with a stored value.
    let is_line = property["maxLength"].is_u64() && property["format"] != "password";
    if is_line || property["pattern"].is_string() {
        values.push(json!("a\u{7}b"));
    }
    values.extend(property["maximum"].as_i64().map(|most| json!(most + 1)));
    values.extend(property["minimum"].as_i64().map(|least| json!(least - 1)));
    values.extend(property["exclusiveMinimum"].as_i64().map(|least| json!(least)));
    match property["format"].as_str() {
        Some("email") => values.push(json!("a b@example.com")),
        Some("uri") => values.push(json!("https://example.com/a b")),
        Some("decimal") => values.push(json!(1.005)),
        _ => {}
    }
    values
}

/// The callers, and a message of a provider that an operator can resolve.
struct Scene {
    server: Server,
    operator: Person,
    dj: Person,
    guest: Person,
    message: i64,
    /// The code of the DJ, who has an open gig.
    code: String,
}

impl Scene {
    fn new(store: Store) -> Self {
        let keys = [("topups.pending_days", "0"), ("payouts.webhook_secrets", NEW)];
        let (server, operator) = Server::with_operator(store, &[&TOPUPS[..], &keys].concat());
        let (dj, guest) = (server.dj(), server.guest());
        let reference = guest.topup_reference(guest.topup("1000"));
        Message::topup_of("1000", "topup.confirmed", &reference).accepted_by(&server);
        let unknown = "00000000-0000-0000-0000-000000000001";
        Message::payout("payout.failed", unknown).send(&server).refused(404, "not_found");
        let message = operator.ids("/operator/provider-messages", "id")[0];
        dj.gig();
        let code = dj.get("/gigs").data(200)["data"][0]["code"].as_str().unwrap().to_owned();
        Self { server, operator, dj, guest, message, code }
    }

    /// A call of the route on an existing object, which is looked up before the fields are read.
    fn call<'a>(&'a self, route: &'a Route) -> Target<'a> {
        let caller = match route.path {
            _ if route.is_operators() => &self.operator,
            path if path.starts_with("/gigs") => &self.dj,
            "/music/requests" | "/withdrawal/crypto" => &self.guest,
            path if path.starts_with("/boards") => &self.guest,
            path if route.has_id() && path != "/music/requests-update/{id}" => &self.guest,
            _ => &self.dj,
        };
        let id = match route.path {
            _ if !route.has_id() => 0,
            "/operator/suspense/{id}/settle" => late_money(&self.server),
            "/operator/provider-messages/{id}/resolve" => self.message,
            path if path.starts_with("/operator/users/{id}") => self.guest.id,
            path if path.starts_with("/operator/webhook-endpoints/{id}") => {
                self.operator.only_webhook_endpoint("/operator/webhook-endpoints")
            }
            path => object_of(&self.guest, &self.dj, path).unwrap_or_else(|| panic!("no object for {path}")),
        };
        let path = route.at(id).replace(UNKNOWN_CODE, &self.code);
        Target { route, caller, path }
    }

    /// The scene with another DJ and another guest, for what happened to these.
    fn with_others(self) -> Self {
        let (dj, guest) = (self.server.dj(), self.server.guest());
        let reference = guest.topup_reference(guest.topup("1000"));
        Message::topup_of("1000", "topup.confirmed", &reference).accepted_by(&self.server);
        dj.gig();
        let code = dj.get("/gigs").data(200)["data"][0]["code"].as_str().unwrap().to_owned();
        Self { dj, guest, code, ..self }
    }

    fn snapshot(&self) -> [Vec<Value>; 3] {
        [&self.operator, &self.dj, &self.guest].map(Person::snapshot)
    }
}

struct Target<'a> {
    route: &'a Route,
    caller: &'a Person,
    path: String,
}

impl Target<'_> {
    fn send(&self, body: &str) -> Answer {
        self.caller.call(self.route.method, &self.path).text(body).send()
    }

    /// Sends the body with the field set to this value, or omitted.
    fn with(&self, body: &Map<String, Value>, field: &str, value: Option<Value>) {
        let mut body = body.clone();
        body.remove(field);
        body.extend(value.map(|value| (field.to_owned(), value)));
        self.send(&Value::Object(body).to_string()).invalid(&[field]);
    }
}

fn every_declared_field_is_validated_against_its_schema(store: Store) {
    let scene = Scene::new(store);
    let mut tried = 0;
    // The rules of a change of an endpoint depend on several of its fields.
    let routes = ROUTES.iter().filter(|route| !route.path.contains("webhook-endpoints/{id}"));
    for route in routes.filter(|route| route.wants_body() && !route.signed) {
        let target = scene.call(route);
        let before = scene.snapshot();
        let Some(Value::Object(body)) = route.body(scene.dj.id) else {
            panic!("{} has no example", route.path)
        };
        let schema = route.schema().unwrap();
        let properties = schema["properties"].as_object().unwrap();
        for (field, property) in properties {
            for value in outside(property) {
                target.with(&body, field, Some(value));
                tried += 1;
            }
        }
        let required = schema["required"].as_array().into_iter().flatten();
        let required: Vec<&str> = required.map(|field| field.as_str().unwrap()).collect();
        for field in &required {
            target.with(&body, field, None);
            target.with(&body, field, Some(Value::Null));
        }
        if !required.is_empty() {
            target.send("{}").invalid(&required);
        }
        let all: Map<String, Value> = properties.keys().map(|field| (field.clone(), json!([]))).collect();
        let fields: Vec<&str> = all.keys().map(String::as_str).collect();
        target.send(&Value::Object(all.clone()).to_string()).invalid(&fields);
        for no_object in ["[{}]", "\"x\"", "1", "null"] {
            target.send(no_object).refused(422, "validation_failed");
        }
        assert_eq!(scene.snapshot(), before, "{}", route.path);
    }
    assert!(tried > 150, "{tried}");
}

/// The texts of letters that grow for a property: as long as it accepts, and longer; whether each is too long.
fn growing(property: &Value) -> Vec<(String, bool)> {
    let most = property["maxLength"].as_u64().and_then(|most| usize::try_from(most).ok());
    let length = most.unwrap_or(255);
    let others: String = GROWING[1..].iter().flat_map(|letter| letter.chars()).cycle().take(length).collect();
    vec![
        (GROWING[0].repeat(length), false),
        (others, false),
        (GROWING[0].repeat(length + 1), most.is_some()),
        (GROWING[0].repeat(5_000), most.is_some()),
    ]
}

/// Attack API4: the letters that grow most, in names, reasons, messages, addresses and secrets.
fn letters_that_grow_are_accepted_or_refused_by_name_in_every_text_of_the_api(store: Store) {
    let mut scene = Scene::new(store);
    let (mut accepted, mut refused, mut wrong) = (0, 0, Vec::new());
    for route in ROUTES.iter().filter(|route| route.wants_body() && !route.signed) {
        let properties = route.schema().unwrap()["properties"].as_object().unwrap();
        for (field, property) in properties {
            let is_text = property["type"] == "string" || property["type"][0] == "string";
            if !is_text || property["enum"].is_array() {
                continue;
            }
            for (text, is_too_long) in growing(property) {
                let target = scene.call(route);
                let mut body = route.body(scene.dj.id).unwrap();
                if body.get("email").is_some() {
                    body["email"] = json!(format!("growing-{}@example.com", accepted + refused));
                }
                if body.get("user_id").is_some() {
                    body["user_id"] = json!(scene.guest.id);
                }
                body[field] = json!(text);
                let answer = target.send(&body.to_string());
                match answer.status {
                    422 if answer.json()["errors"].get(field).is_some() => refused += 1,
                    // The right text beside a token that is not.
                    422 if !is_too_long && answer.json()["errors"].get("token").is_some() => refused += 1,
                    // A text that is compared with a stored one, or the right text for an object that is not.
                    401 | 403 | 404 | 409 if !is_too_long => refused += 1,
                    200..=299 if !is_too_long => {
                        accepted += 1;
                        scene = scene.with_others();
                    }
                    status => wrong.push((route.method, route.path, field, text.len(), status, answer.text)),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(accepted > 20 && refused > 100, "{accepted} {refused}");
    for list in ["/operator/users", "/operator/security-log", "/operator/withdrawals"] {
        scene.operator.get(list).data(200);
    }
    assert!(!scene.server.log().contains("panicked"));
}
