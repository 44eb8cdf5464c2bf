//! The authorization matrix: every operation of the document, by every kind of principal, on own and foreign
//! objects.

use cuepoint_domain::authorization::{Action, Capacity, Ownership, Principal};
use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::user::Role;
use serde_json::{Map, Value, json};

use crate::harness::{
    Answer, Call, Client, Message, NEW, PASSWORD, Person, Server, Store, TOPUPS, WEBHOOK_URL, object_of,
};

on_one_store!(every_route_matches_the_authorization_matrix);

/// The principal of a call.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Who {
    GuestAccount,
    Guest,
    Dj,
    Operator,
    Auditor,
}

impl Who {
    const ALL: [Self; 5] = [Self::GuestAccount, Self::Guest, Self::Dj, Self::Operator, Self::Auditor];

    const fn role(self) -> Role {
        match self {
            Self::GuestAccount => Role::Guest,
            Self::Guest | Self::Dj => Role::Member,
            Self::Operator => Role::Operator,
            Self::Auditor => Role::Auditor,
        }
    }
}

/// The step that decided a call.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Outcome {
    /// Admitted to the use case, which executed it or refused it for another reason.
    Through,
    Unauthenticated,
    WrongRole,
    ClaimRequired,
    WrongParty,
    NotFound,
}

fn outcome_of(answer: &Answer) -> Outcome {
    let code = if answer.status < 400 { Value::Null } else { answer.json()["code"].clone() };
    match (answer.status, code.as_str()) {
        (200..=299 | 409 | 410 | 422, _) => Outcome::Through,
        (401, Some("unauthenticated")) => Outcome::Unauthenticated,
        (403, Some("insufficient_scope")) => Outcome::WrongRole,
        (403, Some("claim_required")) => Outcome::ClaimRequired,
        (403, Some("dj_only" | "not_your_request" | "own_account")) => Outcome::WrongParty,
        (404, Some("not_found")) => Outcome::NotFound,
        _ => panic!("{answer}"),
    }
}

/// The result that the matrix predicts.
fn expected(action: Action, caller: &Principal, whose: Ownership) -> Outcome {
    if caller.may(action, whose).is_ok() {
        Outcome::Through
    } else if action.is_for_staff() && caller.could(action).is_err() {
        Outcome::WrongRole
    } else if caller.is_guest_account() && action.is_for_members() {
        Outcome::ClaimRequired
    } else if action.is_for_staff() || whose == Ownership::Own {
        Outcome::WrongParty
    } else {
        Outcome::NotFound
    }
}

/// An operation of the document.
struct Operation {
    method: String,
    path: String,
    access: Value,
    /// A valid body, if the operation takes one.
    body: Option<Value>,
}

fn operations(client: &Client) -> Vec<Operation> {
    let document = client.outside("GET", "/openapi.json").send().json();
    let described = document["paths"].as_object().unwrap().iter().flat_map(|(path, item)| {
        item.as_object().unwrap().iter().map(move |(method, operation)| (path, method, operation))
    });
    let operations = described.map(|(path, method, operation)| Operation {
        method: method.to_uppercase(),
        path: path.clone(),
        access: operation["x-access"].clone(),
        body: body(&document, operation),
    });
    operations.collect()
}

/// The example of the operation's body.
fn body(document: &Value, operation: &Value) -> Option<Value> {
    let content = operation.get("requestBody")?["content"].as_object().unwrap();
    let reference = content.values().next().unwrap()["schema"]["$ref"].as_str().unwrap();
    let schema = document.pointer(reference.trim_start_matches('#')).unwrap();
    Some(schema.get("example").cloned().unwrap_or_else(|| json!({})))
}

impl Operation {
    /// Its action; the document shows the same row of the matrix as the domain.
    fn action(&self) -> Action {
        let name = format!("{} {}", self.method, self.path);
        let rule = &self.access["action"];
        let action = Action::ALL.into_iter().find(|action| *rule == action.rule().name);
        let action = action.unwrap_or_else(|| panic!("{name} has no action: {}", self.access));
        let reach: Map<String, Value> = Capacity::ALL
            .iter()
            .map(|role| (role.name().to_owned(), json!(action.rule().scope(*role).name())))
            .collect();
        assert_eq!(self.access["reach"], Value::Object(reach), "{name}");
        action
    }

    /// The kinds of ownership for which it can be tested.
    fn sides(&self, action: Action) -> Vec<Ownership> {
        let names_somebody = self.body.as_ref().is_some_and(|body| body.get("user_id").is_some());
        if self.path == "/api/v1/music/dj/blocks/{id}" {
            // The list belongs to the caller, regardless of the blocked guest.
            vec![Ownership::Own]
        } else if self.path.contains("{id}") || names_somebody {
            vec![Ownership::Own, Ownership::Others]
        } else if action.is_for_staff() {
            vec![Ownership::Others]
        } else {
            vec![Ownership::Own]
        }
    }

    fn call(&self, client: &Client, scene: &Scene, target: &Target) -> Call {
        let call = client.outside(
            &self.method,
            &self.path.replace("{id}", &target.id.to_string()).replace("{code}", &scene.code),
        );
        let Some(mut body) = self.body.clone() else { return call };
        // The fields other than the name, and those that only DJs set, have rows of their own, which no operation
        // represents.
        if let Some(body) = body.as_object_mut() {
            let is_profile = self.path == "/api/v1/user/personal-info";
            body.retain(|key, _| {
                key != "online" && !key.starts_with("fee_") && !(is_profile && key != "name")
            });
        }
        if body.get("url").is_some() {
            body["url"] = json!(WEBHOOK_URL);
        }
        for (key, id) in [("dj_id", scene.dj.id), ("user_id", target.user)] {
            if body.get(key).is_some() {
                body[key] = json!(id);
            }
        }
        call.json(&body)
    }
}

/// The object of a call.
struct Target {
    id: i64,
    user: i64,
}

/// The calling principals, and the owners of the called objects.
struct Scene {
    callers: [(Who, Person); 5],
    dj: Person,
    /// The code of the DJ, who has an open gig.
    code: String,
    stranger: Person,
    /// Another operator than the one that calls.
    operator: Person,
    /// A stored provider message, which has no owner.
    message: i64,
}

impl Scene {
    fn new(server: &Server, operator: &Person) -> Self {
        let paid = |person: &Person, amount: &str| {
            let topup = person.topup(amount);
            Message::topup_of(amount, "topup.confirmed", &person.topup_reference(topup)).accepted_by(server);
        };
        let callers = Who::ALL.map(|who| {
            let person = match who {
                Who::GuestAccount => server.guest_account(),
                Who::Dj => server.dj(),
                Who::Guest | Who::Operator | Who::Auditor => server.guest(),
            };
            paid(&person, "1000");
            match who {
                Who::GuestAccount | Who::Guest | Who::Dj => {}
                Who::Operator => operator.give_role(&person, "operator"),
                Who::Auditor => operator.give_role(&person, "auditor"),
            }
            (who, person)
        });
        let stranger = server.guest();
        paid(&stranger, "1000");
        let unknown = "00000000-0000-0000-0000-000000000001";
        Message::payout("payout.failed", unknown).send(server).refused(404, "not_found");
        let message = operator.ids("/operator/provider-messages", "id")[0];
        let dj = server.dj();
        let gig = dj.post("/gigs", &json!({"title": "Friday", "max_open_per_guest": 100})).data(201);
        let code = gig["gig"]["code"].as_str().unwrap().to_owned();
        Self { callers, dj, code, stranger, operator: operator.clone(), message }
    }

    /// The object of a path, the caller's own or the stranger's.
    fn target(&self, server: &Server, path: &str, who: Who, caller: &Person, whose: Ownership) -> Target {
        let owner = if whose == Ownership::Own { caller } else { &self.stranger };
        let path = path.strip_prefix("/api/v1").unwrap_or(path);
        let id = match path {
            "/music/requests-update/{id}" if whose == Ownership::Own && who == Who::Dj => {
                self.stranger.request_song(caller)
            }
            _ if path.starts_with("/gigs/{id}") && whose == Ownership::Own => caller.gig(),
            "/djs/{id}" if whose == Ownership::Own && who == Who::Dj => caller.id,
            "/djs/{id}" => self.dj.id,
            "/music/dj/blocks/{id}" if who == Who::Dj => {
                self.stranger.request_song(caller);
                self.stranger.id
            }
            "/music/dj/blocks/{id}" => self.stranger.id,
            // The entries of each wallet are numbered from 1: no wallet has this one.
            "/wallet/entries/{id}" if whose == Ownership::Others => 1_000_000,
            "/operator/suspense/{id}/settle" => late_money(server),
            _ if path.starts_with("/operator/webhook-endpoints/{id}") => {
                let is_own = who == Who::Operator && whose == Ownership::Own;
                let owner = if is_own { caller } else { &self.operator };
                owner.only_webhook_endpoint("/operator/webhook-endpoints")
            }
            "/operator/provider-messages/{id}/resolve" => self.message,
            _ if path.starts_with("/operator/users/{id}") => owner.id,
            _ => match object_of(owner, &self.dj, path) {
                Some(id) => id,
                None if path.contains("{id}") => panic!("no test creates an object for {path}"),
                None => 0,
            },
        };
        Target { id, user: owner.id }
    }
}

/// Money received after the erasure of its owner.
pub(crate) fn late_money(server: &Server) -> i64 {
    let guest = server.guest();
    let topup = guest.topup("5");
    let reference = guest.topup_reference(topup);
    guest.call("DELETE", "/user").json(&json!({"password": PASSWORD})).send().data(200);
    Message::topup("topup.confirmed", &reference).accepted_by(server);
    topup
}

fn as_domain(who: Who, person: &Person) -> Principal {
    Principal {
        user: UserId::new(person.id).unwrap(),
        role: who.role(),
        is_dj: who == Who::Dj,
        session: SessionId::new(1).unwrap(),
    }
}

/// Attack API1: calling every operation without a login and in each role, on own objects and on objects of others.
fn every_route_matches_the_authorization_matrix(store: Store) {
    let keys = [("topups.pending_days", "0"), ("payouts.webhook_secrets", NEW)];
    let (server, operator) = Server::with_operator(store, &[&TOPUPS[..], &keys].concat());
    let client = server.client();
    let operations = operations(&client);
    assert!(operations.len() > 50, "{}", operations.len());
    let mut scene = Scene::new(&server, &operator);
    for operation in operations {
        let nothing = Target { id: 1, user: 1 };
        let without_token = operation.call(&client, &scene, &nothing).send();
        match operation.access["who"].as_str() {
            Some("anybody") => {
                let refused =
                    without_token.status >= 400 && without_token.json()["code"] == "unauthenticated";
                assert!(!refused && without_token.status != 403, "{without_token}");
                continue;
            }
            // A token does not replace a signature.
            Some("provider") => {
                let call = operation.call(&client, &scene, &nothing).bearer(&operator.token);
                assert_eq!(
                    (outcome_of(&without_token), outcome_of(&call.send())),
                    (Outcome::Unauthenticated, Outcome::Unauthenticated)
                );
                continue;
            }
            Some("caller") => {
                assert_eq!(outcome_of(&without_token), Outcome::Unauthenticated, "{without_token}")
            }
            _ => panic!("{} {} does not say who may call it", operation.method, operation.path),
        }
        let action = operation.action();
        for whose in operation.sides(action) {
            for (who, caller) in &scene.callers {
                // Guests have no gigs.
                let is_of_a_dj = operation.path.starts_with("/api/v1/gigs/{id}");
                // Guest accounts own nothing that only members create.
                let owns_none = *who == Who::GuestAccount && action.is_for_members();
                let is_foreign = owns_none || is_of_a_dj && *who != Who::Dj;
                let whose = if is_foreign { Ownership::Others } else { whose };
                let target = scene.target(&server, &operation.path, *who, caller, whose);
                let answer = operation.call(&client, &scene, &target).bearer(&caller.token).send();
                let expected = expected(action, &as_domain(*who, caller), whose);
                assert_eq!(outcome_of(&answer), expected, "{who:?}, {whose:?}: {answer}");
            }
            // These operations change the users for good.
            if matches!(
                action,
                Action::UseSessions
                    | Action::UseCredentials
                    | Action::ClaimAccount
                    | Action::UsePersonalData
                    | Action::BlockGuest
                    | Action::ManagePeople
            ) {
                scene = Scene::new(&server, &operator);
            }
        }
    }
}
