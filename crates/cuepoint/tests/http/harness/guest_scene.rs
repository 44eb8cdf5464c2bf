//! The page of a gig, and the request of a guest who scanned its code.

use serde_json::{Value, json};

use super::{Answer, Browser, Call, Person, Server, field, gig_scene};

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

    /// The requests that the DJ sees, newest first.
    pub(crate) fn requests(&self) -> Vec<Value> {
        self.dj.get("/music/dj/requests?per_page=100").data(200)["data"].as_array().unwrap().clone()
    }
}

/// The form of a page of a gig, with this song.
pub(crate) fn filled_on(page: &Answer, song: &str) -> Vec<(String, String)> {
    let shown = ["key", "fee_popular_song", "fee_upcoming_artist"].map(|name| (name, field(page, name)));
    let typed = [("song_title", song), ("artist_name", "New Order"), ("kind", "popular"), ("offer", "price")];
    let typed = typed.map(|(name, text)| (name, text.to_owned()));
    let name = [("name", "Mia".to_owned())];
    shown.into_iter().chain(typed).chain(name).map(|(name, text)| (name.to_owned(), text)).collect()
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
