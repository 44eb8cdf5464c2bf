//! A browser: it keeps cookies, sends forms as a page of the service does, and follows no redirect.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use url::form_urlencoded;

use super::{Answer, Call, Client, PASSWORD, Person};

/// What every page says about itself to the browser.
const PAGE_HEADERS: [(&str, &str); 4] = [
    ("referrer-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("permissions-policy", "geolocation=(self), camera=(), microphone=()"),
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'; trusted-types cuepoint; \
         require-trusted-types-for 'script'",
    ),
];

/// The cookie of the session, over plain http.
pub(crate) const SESSION: &str = "cuepoint";
/// The cookie of the guest wallet beside it.
pub(crate) const GUEST: &str = "cuepoint-guest";
/// The cookie of the request that waits for its payment.
pub(crate) const DRAFT: &str = "cuepoint-draft";

/// A browser at a server; clones share their cookies.
#[derive(Clone)]
pub(crate) struct Browser {
    client: Client,
    cookies: Arc<Mutex<BTreeMap<String, String>>>,
    language: &'static str,
}

impl Browser {
    /// A browser without cookies.
    pub(crate) fn new(client: &Client) -> Self {
        Self { client: client.clone(), cookies: Arc::default(), language: "en" }
    }

    /// A browser in which this person has logged in.
    pub(crate) fn logged_in(client: &Client, person: &Person) -> Self {
        let browser = Self::new(client);
        leads_to(&browser.log_in(&person.email, PASSWORD));
        browser
    }

    /// The same browser at another server.
    pub(crate) fn at(&self, client: &Client) -> Self {
        Self { client: client.clone(), ..self.clone() }
    }

    /// The same browser with this preferred language.
    pub(crate) fn speaking(&self, language: &'static str) -> Self {
        Self { language, ..self.clone() }
    }

    /// A cookie of the browser.
    pub(crate) fn cookie(&self, name: &str) -> Option<String> {
        self.cookies.lock().unwrap().get(name).cloned()
    }

    /// Gives the browser a cookie, such as a stolen one.
    pub(crate) fn set_cookie(&self, name: &str, value: &str) {
        self.cookies.lock().unwrap().insert(name.to_owned(), value.to_owned());
    }

    /// A request as the browser sends it.
    pub(crate) fn call(&self, method: &str, path: &str) -> Call {
        let cookies = self.cookies.lock().unwrap();
        let pairs: Vec<String> = cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let call = self.client.outside(method, path).header("accept-language", self.language);
        if pairs.is_empty() { call } else { call.header("cookie", &pairs.join("; ")) }
    }

    /// A form of a page of the service.
    pub(crate) fn form(&self, path: &str, fields: &[(&str, &str)]) -> Call {
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        self.call("POST", path)
            .bytes(body.as_bytes())
            .header("content-type", "application/x-www-form-urlencoded")
            .header("sec-fetch-site", "same-origin")
    }

    /// Reads a page.
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send(self.call("GET", path))
    }

    /// Sends a form.
    pub(crate) fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        self.send(self.form(path, fields))
    }

    /// Sends a request, checks what holds for every answer of a page, and keeps its cookies.
    pub(crate) fn send(&self, call: Call) -> Answer {
        let answer = call.send();
        is_page(&answer);
        self.keep(&answer);
        answer
    }

    /// Keeps the cookies of an answer.
    pub(crate) fn keep(&self, answer: &Answer) {
        let mut cookies = self.cookies.lock().unwrap();
        for (name, value, attributes) in set_cookies(answer) {
            if attributes.contains("Max-Age=0") {
                cookies.remove(&name);
            } else {
                cookies.insert(name, value);
            }
        }
    }

    /// Logs a user in by the form.
    pub(crate) fn log_in(&self, email: &str, password: &str) -> Answer {
        self.post("/login", &[("email", email), ("password", password)])
    }

    /// Whether the browser has a live session, by a page that needs one.
    pub(crate) fn is_logged_in(&self) -> bool {
        let answer = self.call("GET", "/verify").send();
        match answer.status {
            200 => true,
            // A guest account is led to its claim.
            303 if answer.header("location").unwrap().starts_with("/claim") => true,
            303 if answer.header("location").unwrap().starts_with("/login") => false,
            403 => false,
            _ => panic!("{answer}"),
        }
    }
}

/// The cookies that an answer sets: name, value, and attributes.
pub(crate) fn set_cookies(answer: &Answer) -> Vec<(String, String, String)> {
    let all = answer.headers.get_all("set-cookie").into_iter().map(|value| value.to_str().unwrap());
    let parse = |text: &str| {
        let (pair, attributes) = text.split_once("; ").unwrap_or((text, ""));
        let (name, value) = pair.split_once('=').unwrap();
        (name.to_owned(), value.to_owned(), attributes.to_owned())
    };
    all.map(parse).collect()
}

/// Checks the headers that every page has.
#[track_caller]
pub(crate) fn is_page(answer: &Answer) {
    for (name, value) in PAGE_HEADERS {
        assert_eq!(answer.header(name), Some(value), "{answer}");
    }
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{answer}");
    assert_eq!(answer.header("cache-control"), Some("no-store"), "{answer}");
    let varies = answer.header("vary").unwrap_or_default().to_lowercase();
    assert!(varies.contains("accept-language") && varies.contains("cookie"), "{answer}");
    assert!(["en", "de"].contains(&answer.header("content-language").unwrap_or_default()), "{answer}");
    for (name, _, attributes) in set_cookies(answer) {
        let known = [SESSION, GUEST, DRAFT, "cuepoint-password", "cuepoint-browser"];
        let plain = name.strip_prefix("__Host-");
        assert!(known.contains(&plain.unwrap_or(&name)), "{answer}");
        assert_eq!(attributes.contains("Secure"), plain.is_some(), "{answer}");
        for attribute in ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age="] {
            assert!(attributes.contains(attribute), "{answer}");
        }
        assert!(!attributes.contains("Domain"), "{answer}");
    }
    if answer.status >= 400 {
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"), "{answer}");
    }
}

/// The place to which an answer leads, by GET.
#[track_caller]
pub(crate) fn leads_to(answer: &Answer) -> &str {
    assert_eq!(answer.status, 303, "{answer}");
    answer.header("location").unwrap_or_else(|| panic!("no place: {answer}"))
}

/// The value of the first field with this name on a page.
#[track_caller]
pub(crate) fn field(answer: &Answer, name: &str) -> String {
    let mark = format!("name=\"{name}\" value=\"");
    let (_, after) = answer.text.split_once(&mark).unwrap_or_else(|| panic!("no field {name}: {answer}"));
    after.split_once('"').unwrap().0.to_owned()
}

/// The text as a page shows it.
pub(crate) fn escaped(text: &str) -> String {
    let mut shown = String::new();
    for character in text.chars() {
        match character {
            '&' | '<' | '>' | '"' | '\'' => shown.push_str(&format!("&#{};", u32::from(character))),
            plain => shown.push(plain),
        }
    }
    shown
}
