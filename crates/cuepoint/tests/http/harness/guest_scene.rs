//! The page of a gig, and the request of a guest who scanned its code.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cuepoint_web::route::PageRoute;
use serde_json::{Value, json};

use super::{Answer, Browser, Call, DRAFT, Person, Server, eventually, field, gig_scene, leads_to};

/// A path of this route, with an object that need not exist.
pub(crate) fn path_of(route: &PageRoute, code: &str) -> String {
    let reference = "00000000-0000-0000-0000-000000000001";
    route.path.replace("{code}", code).replace("{id}", "1").replace("{reference}", reference)
}

/// A DJ with an open gig at 5.00 for an upcoming artist and 10.00 for a popular song.
pub(crate) struct Evening {
    pub(crate) dj: Person,
    pub(crate) gig: Value,
    pub(crate) code: String,
}

impl Evening {
    /// A gig without limits that matter.
    pub(crate) fn new(server: &Server) -> Self {
        Self::with(server, &json!({"title": "Friday", "max_open_per_guest": 100}))
    }

    /// A gig with these details.
    pub(crate) fn with(server: &Server, details: &Value) -> Self {
        let dj = server.dj();
        let gig = gig_scene::open(&dj, details);
        let code = gig["code"].as_str().unwrap().to_owned();
        Self { dj, gig, code }
    }

    /// The path of its page.
    pub(crate) fn page(&self) -> String {
        format!("/g/{}", self.code)
    }

    /// The filled form of a request, as the page shows it to this browser.
    pub(crate) fn filled(&self, browser: &Browser, song: &str) -> Vec<(String, String)> {
        filled_on(&browser.get(&self.page()), song)
    }

    /// A filled form, ready to be sent.
    pub(crate) fn call(&self, browser: &Browser, fields: &[(String, String)]) -> Call {
        browser.form(&format!("{}/requests", self.page()), &borrowed(fields))
    }

    /// Sends a filled form.
    pub(crate) fn send(&self, browser: &Browser, fields: &[(String, String)]) -> Answer {
        browser.send(self.call(browser, fields))
    }

    /// Requests a song by the page.
    pub(crate) fn request(&self, browser: &Browser, song: &str) -> Answer {
        self.send(browser, &self.filled(browser, song))
    }

    /// Sends the draft that waits in this browser.
    pub(crate) fn send_draft(&self, browser: &Browser) -> Answer {
        let draft = browser.cookie(DRAFT).map(|draft| URL_SAFE_NO_PAD.decode(draft).unwrap());
        let lines = draft.map(|draft| String::from_utf8(draft).unwrap()).unwrap_or_default();
        self.send_draft_with(browser, lines.split('\n').nth(4).unwrap_or_default())
    }

    /// Sends a draft as a page that shows the one with this key.
    pub(crate) fn send_draft_with(&self, browser: &Browser, key: &str) -> Answer {
        browser.post(&format!("{}/draft", self.page()), &[("key", key)])
    }

    /// A browser with a guest account that has a request.
    pub(crate) fn guest(&self, server: &Server) -> Browser {
        let browser = Browser::new(&server.client());
        leads_to(&self.request(&browser, "Blue Monday"));
        browser
    }

    /// The id of the newest request.
    pub(crate) fn newest(&self) -> i64 {
        self.requests()[0]["id"].as_i64().unwrap()
    }

    /// The requests that the DJ sees, newest first.
    pub(crate) fn requests(&self) -> Vec<Value> {
        self.dj.get("/music/dj/requests?per_page=100").data(200)["data"].as_array().unwrap().clone()
    }
}

/// The form of a request on a page of a gig.
pub(crate) fn request_form(page: &Answer) -> &str {
    let (_, form) = page.text.split_once("id=\"request\"").unwrap_or_else(|| panic!("no form: {page}"));
    form.split_once("</form>").unwrap().0
}

/// The form of a page of a gig, with this song.
pub(crate) fn filled_on(page: &Answer, song: &str) -> Vec<(String, String)> {
    let form = Answer { text: request_form(page).to_owned(), ..page.clone() };
    let shown = ["key", "payer", "price_popular", "price_upcoming", "joins", "asked"]
        .into_iter()
        .filter(|name| form.text.contains(&format!("name=\"{name}\"")))
        .map(|name| (name, field(&form, name)));
    let typed = [("song_title", song), ("artist_name", "New Order"), ("kind", "popular"), ("offer", "price")];
    let typed = typed.map(|(name, text)| (name, text.to_owned()));
    let name = [("name", "Mia".to_owned())];
    shown.chain(typed).chain(name).map(|(name, text)| (name.to_owned(), text)).collect()
}

/// The form with another value of a field.
pub(crate) fn with(mut fields: Vec<(String, String)>, name: &str, value: &str) -> Vec<(String, String)> {
    fields.retain(|(known, _)| known != name);
    fields.push((name.to_owned(), value.to_owned()));
    fields
}

/// The fields as a browser sends them.
pub(crate) fn borrowed(fields: &[(String, String)]) -> Vec<(&str, &str)> {
    fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

/// A text in English and German.
pub(crate) type Words = [&'static str; 2];

/// The languages, as browsers name them.
pub(crate) const LANGUAGES: [&str; 2] = ["en-GB,en;q=0.9", "de-DE,de;q=0.9,en;q=0.8"];

/// Checks that a page contains these words in its language.
#[track_caller]
pub(crate) fn says(page: &Answer, language: usize, words: &[Words]) {
    for word in words {
        assert!(page.text.contains(word[language]), "{:?} is not on {page}", word[language]);
    }
}

/// What the page of a gig says of a request without an answer.
pub(crate) const WAITING: Words = ["Waiting for the DJ", "Wartet auf den DJ"];

/// The page once it contains these words: boards may be a second old.
pub(crate) fn shows(browser: &Browser, path: &str, words: &str) -> Answer {
    eventually(words, || {
        let page = browser.get(path);
        page.text.contains(words).then_some(page)
    })
}
