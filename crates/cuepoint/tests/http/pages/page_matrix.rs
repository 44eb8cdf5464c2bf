//! The authorization matrix at the pages: every page and every form, by every kind of reader.

use std::cell::Cell;

use cuepoint_domain::authorization::{Action, Ownership, Principal};
use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::user::Role;
use cuepoint_transport::rate_limits::Class;
use cuepoint_web::handlers;
use cuepoint_web::route::{PageAccess, PageRoute};
use serde_json::json;

use crate::harness::guest_scene::Evening;
use crate::harness::{Answer, Browser, PASSWORD, Person, Server, Store, leads_to};

on_one_store!(every_page_matches_the_authorization_matrix, requests_of_others_are_not_found_at_any_page);

/// The reader of a page.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Reader {
    Nobody,
    GuestAccount,
    Member,
    Dj,
    Operator,
    Auditor,
    Suspended,
}

impl Reader {
    const ALL: [Self; 7] = [
        Self::Nobody,
        Self::GuestAccount,
        Self::Member,
        Self::Dj,
        Self::Operator,
        Self::Auditor,
        Self::Suspended,
    ];

    /// The reader in the domain; `None` without a session that counts.
    fn principal(self) -> Option<Principal> {
        let role = match self {
            Self::Nobody | Self::Suspended => return None,
            Self::GuestAccount => Role::Guest,
            Self::Member | Self::Dj => Role::Member,
            Self::Operator => Role::Operator,
            Self::Auditor => Role::Auditor,
        };
        let (user, session) = (UserId::new(1).unwrap(), SessionId::new(1).unwrap());
        Some(Principal { user, role, is_dj: self == Self::Dj, session })
    }
}

/// The step that decided a request.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Outcome {
    /// Shown, or decided by the use case.
    Through,
    /// Led to the login.
    Login,
    /// Led to the claim of the guest account.
    Claim,
    NotAllowed,
}

#[track_caller]
fn outcome_of(answer: &Answer) -> Outcome {
    match answer.status {
        200 | 204 | 400 | 404 | 409 | 422 => Outcome::Through,
        403 => Outcome::NotAllowed,
        303 => match leads_to(answer) {
            place if place.starts_with("/login") => Outcome::Login,
            place if place.starts_with("/claim") => Outcome::Claim,
            place => {
                assert!(place.starts_with('/') && !place.starts_with("//"), "{answer}");
                Outcome::Through
            }
        },
        _ => panic!("{answer}"),
    }
}

/// The outcomes that the access of a route allows this reader.
fn expected(route: &PageRoute, reader: Reader) -> Vec<Outcome> {
    let ends_session = route.path == "/logout" || route.path.starts_with("/account/sessions");
    if reader == Reader::GuestAccount && ends_session {
        // No login leads back to a guest account, so that one with money is led to its claim.
        return vec![Outcome::Through, Outcome::Claim];
    }
    match route.access {
        PageAccess::Public => vec![Outcome::Through],
        // A suspended user makes no request, as with a new guest account.
        PageAccess::Anyone
            if reader == Reader::Suspended && route.class == Class::Requests && route.changes() =>
        {
            vec![Outcome::NotAllowed]
        }
        // Forgotten passwords lead to the login.
        PageAccess::Anyone => vec![Outcome::Through],
        PageAccess::User(action) => match reader.principal() {
            None if reader == Reader::Suspended => vec![Outcome::NotAllowed],
            None => vec![Outcome::Login],
            Some(principal) => of_principal(&principal, action),
        },
    }
}

fn of_principal(principal: &Principal, action: Action) -> Vec<Outcome> {
    if principal.may(action, Ownership::Own).is_ok() {
        vec![Outcome::Through]
    } else if principal.is_guest_account() && action.is_for_members() && !action.is_for_staff() {
        vec![Outcome::Claim]
    } else if principal.has_role_for(action).is_err() {
        vec![Outcome::NotAllowed]
    } else {
        // The entity decides: the page says so, or leads to where the reader finds it.
        vec![Outcome::NotAllowed, Outcome::Through]
    }
}

/// A server with an open gig and an operator.
struct Scene {
    server: Server,
    operator: Person,
    evening: Evening,
    /// The number of requested songs: a page asks before a song of tonight is requested again.
    songs: Cell<u32>,
}

impl Scene {
    fn new(store: Store) -> Self {
        let (server, operator) = Server::with_operator(store, &[]);
        let evening = Evening::new(&server);
        Self { server, operator, evening, songs: Cell::new(0) }
    }

    /// The browser of a new reader.
    fn browser(&self, reader: Reader) -> Browser {
        let browser = Browser::new(&self.server.client());
        let person = match reader {
            Reader::Nobody => return browser,
            Reader::GuestAccount => {
                self.request(&browser);
                return browser;
            }
            Reader::Dj => self.server.dj(),
            Reader::Member | Reader::Operator | Reader::Auditor | Reader::Suspended => self.server.guest(),
        };
        match reader {
            Reader::Operator => self.operator.give_role(&person, "operator"),
            Reader::Auditor => self.operator.give_role(&person, "auditor"),
            _ => {}
        }
        leads_to(&browser.log_in(&person.email, PASSWORD));
        if reader == Reader::Suspended {
            let path = format!("/operator/users/{}/suspend", person.id);
            self.operator.post(&path, &json!({"reason": "as agreed"})).data(200);
        }
        browser
    }

    /// Requests a song that nobody has requested.
    fn request(&self, browser: &Browser) {
        self.songs.set(self.songs.get() + 1);
        leads_to(&self.evening.request(browser, &format!("Song {}", self.songs.get())));
    }

    /// The path of a route, with an own request if the reader can have one.
    fn path(&self, route: &PageRoute, reader: Reader, browser: &Browser) -> String {
        let mut id = "1".to_owned();
        if route.path.contains("{id}") && !matches!(reader, Reader::Nobody | Reader::Suspended) {
            if reader != Reader::GuestAccount {
                self.request(browser);
            }
            let request = self.evening.requests()[0]["id"].as_i64().unwrap();
            if route.path.ends_with("/rating") {
                self.evening.dj.answer(request, "played").data(200);
            }
            id = request.to_string();
        }
        let reference = "00000000-0000-0000-0000-000000000001";
        let path = route.path.replace("{code}", &self.evening.code).replace("{id}", &id);
        path.replace("{reference}", reference).replace("{name}", "nothing.css")
    }
}

/// The fields of every form, each valid for its own.
const FIELDS: [(&str, &str); 10] = [
    ("key", "0123456789012345678901"),
    ("amount", "5"),
    ("stars", "4"),
    ("latitude", "52.5"),
    ("longitude", "13.4"),
    ("song_title", "Regret"),
    ("artist_name", "New Order"),
    ("fee_popular_song", "10"),
    ("name", "Mia"),
    ("email", "no address"),
];

/// Attack API1: reading every page and sending every form without a session and in each role.
fn every_page_matches_the_authorization_matrix(store: Store) {
    let scene = Scene::new(store);
    let routes = handlers::all();
    assert!(routes.len() >= 30, "{}", routes.len());
    for reader in Reader::ALL {
        let mut browser = scene.browser(reader);
        for route in &routes {
            let path = scene.path(route, reader, &browser);
            let answer = if route.changes() {
                // Each form has its own key.
                let key = format!("0123456789012345678901-{}", route.path.replace(['/', '{', '}'], "-"));
                let fields: Vec<_> = FIELDS
                    .iter()
                    .map(|(name, value)| (*name, if *name == "key" { &key } else { *value }))
                    .collect();
                browser.form(&path, &fields).send()
            } else {
                browser.call("GET", &path).send()
            };
            let expected = expected(route, reader);
            assert!(expected.contains(&outcome_of(&answer)), "{reader:?}, expected {expected:?}: {answer}");
            browser.keep(&answer);
            if reader == Reader::Suspended && route.path == "/login" {
                // The login forgets the cookie.
                browser = scene.browser(reader);
            }
            if route.changes()
                && (route.path == "/logout"
                    || route.path.starts_with("/account/sessions")
                    || reader == Reader::Nobody)
            {
                browser = scene.browser(reader);
            }
            if reader == Reader::GuestAccount && route.path.ends_with("/cancel") {
                browser = scene.browser(reader);
            }
        }
    }
}

/// Attack API1: sending the forms of another guest's requests.
fn requests_of_others_are_not_found_at_any_page(store: Store) {
    let scene = Scene::new(store);
    scene.browser(Reader::GuestAccount);
    let request = scene.evening.requests()[0]["id"].clone();
    for reader in [Reader::GuestAccount, Reader::Member, Reader::Dj, Reader::Operator, Reader::Auditor] {
        let browser = scene.browser(reader);
        for action in ["cancel", "rating"] {
            let path = format!("/requests/{request}/{action}");
            let fields = [("key", "0123456789012345678901"), ("stars", "1")];
            assert_eq!(browser.post(&path, &fields).status, 404, "{reader:?} {action}");
        }
    }
    let unchanged = scene.evening.requests().into_iter().find(|row| row["id"] == request).unwrap();
    assert_eq!(unchanged["status"], "pending");
}
