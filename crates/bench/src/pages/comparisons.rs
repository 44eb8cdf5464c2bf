//! The pages that are measured, and the API calls with the same data.

use anyhow::Context;
use cuepoint_domain::ids::UserId;

use super::log_in::log_in;
use crate::context::Bench;
use crate::gig_scene::{Gig, QUEUE, guests};
use crate::load::requests::{read_with, request};
use crate::service::Service;

/// The number of guests who read their pages, evenly among those in the queue.
const READERS: usize = 30;
/// The API call for the places of the offers that a page of a gig shows.
const OFFERS: &str = "mine?offers=10.00,15.00,20.00";
/// The API calls with the contents of a wallet.
const WALLET: [&str; 9] = [
    "/api/v1/user/personal-info",
    "/api/v1/wallet",
    "/api/v1/wallet/entries?per_page=10",
    "/api/v1/wallet/topups?per_page=10",
    "/api/v1/withdrawals?per_page=10",
    "/api/v1/music/user/requests?status=pending&per_page=100",
    "/api/v1/music/user/requests?status=accepted&per_page=100",
    "/api/v1/tips?direction=given&per_page=10",
    "/api/v1/tips?direction=received&per_page=10",
];
const PROFILE: &str = "/api/v1/user/personal-info";

/// A page, and the calls with the same data, each with a request of every reader.
pub(super) struct Comparison {
    pub(super) name: &'static str,
    pub(super) calls: Vec<Vec<Vec<u8>>>,
    /// The page as it is.
    pub(super) plain: Vec<Vec<u8>>,
    /// The page for a browser that takes gzip, as all do.
    pub(super) compressed: Vec<Vec<u8>>,
}

/// A reader: the cookie of the browser, and the token of the app.
struct Reader {
    cookie: String,
    token: String,
}

/// The readers of the pages of a gig.
pub(super) struct Readers {
    code: String,
    gig: u64,
    guests: Vec<Reader>,
    dj: Vec<Reader>,
}

/// Who reads a page.
#[derive(Clone, Copy)]
enum By {
    Guests,
    Dj,
    /// A screen without a session.
    Nobody,
}

impl Readers {
    /// Logs in some guests of the queue, and the DJ.
    pub(super) fn log_in(bench: &Bench, server: &Service, gig: &Gig) -> anyhow::Result<Self> {
        let every = QUEUE.checked_div(READERS).context("there are no readers")?;
        let guests: Vec<UserId> = guests(bench)?.into_iter().step_by(every).collect();
        let readers = |users: &[UserId]| -> anyhow::Result<Vec<Reader>> {
            let tokens = bench.tokens.of(users)?.into_iter();
            let read = |(user, token): (&UserId, String)| {
                Ok(Reader { cookie: log_in(server.address(), *user)?, token })
            };
            users.iter().zip(tokens).map(read).collect()
        };
        Ok(Self { code: gig.code.clone(), gig: gig.id, guests: readers(&guests)?, dj: readers(&[gig.dj])? })
    }

    /// The comparisons, in the order of the table.
    pub(super) fn comparisons(&self) -> Vec<Comparison> {
        let code = &self.code;
        let (board, own) = (format!("/api/v1/boards/{code}"), format!("/api/v1/boards/{code}/{OFFERS}"));
        let own_alone = format!("/api/v1/boards/{code}/mine");
        let queue = format!("/api/v1/gigs/{}/queue", self.gig);
        let page = format!("/g/{code}");
        vec![
            self.compared("guest page", By::Guests, &page, &[&board, &own, PROFILE]),
            self.compared(
                "part of the guest page",
                By::Guests,
                &format!("{page}/live"),
                &[&board, &own_alone],
            ),
            self.compared("booth", By::Dj, "/booth", &[&queue, PROFILE]),
            self.compared("part of the booth", By::Dj, "/booth/live", &[&queue]),
            self.compared("wallet", By::Guests, "/wallet", &WALLET),
            self.compared("display", By::Nobody, &format!("{page}/display"), &[&board]),
        ]
    }

    fn compared(&self, name: &'static str, by: By, path: &str, calls: &[&str]) -> Comparison {
        let readers: &[Reader] = match by {
            By::Guests => &self.guests,
            By::Dj => &self.dj,
            By::Nobody => &[],
        };
        let call = |path: &&str| match readers {
            [] => vec![request("GET", path, None, None)],
            _ => readers.iter().map(|reader| request("GET", path, Some(&reader.token), None)).collect(),
        };
        let page = |encoding| match readers {
            [] => vec![read_page(path, encoding, None)],
            _ => readers.iter().map(|reader| read_page(path, encoding, Some(&reader.cookie))).collect(),
        };
        let calls = calls.iter().map(call).collect();
        Comparison { name, calls, plain: page("identity"), compressed: page("gzip") }
    }
}

/// The request with which a browser reads a page, or the script a part of one.
fn read_page(path: &str, encoding: &str, cookie: Option<&str>) -> Vec<u8> {
    let mut headers = vec![("Accept", "text/html"), ("Accept-Encoding", encoding), ("Accept-Language", "en")];
    headers.extend(cookie.map(|cookie| ("Cookie", cookie)));
    if path.ends_with("/live") {
        headers.push(("X-Cuepoint-Part", "1"));
    }
    read_with(path, &headers)
}
