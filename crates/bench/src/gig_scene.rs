//! Open gigs, and a gig with a long queue.

use anyhow::ensure;
use cuepoint_domain::ids::UserId;

use crate::context::Bench;
use crate::service::Service;
use crate::single_calls::{fetch, field, song};

/// The number of open requests in a gig with a long queue, each of another guest.
pub(crate) const QUEUE: usize = 300;
/// The number of accepted ones, which the board shows.
pub(crate) const SHOWN: usize = 20;
/// The number of different songs among them: some guests request the same one.
const SONGS: usize = 240;
/// One request in this number has a dedication.
const DEDICATED: usize = 3;
/// The artists of songs that are paid.
pub(crate) const POPULAR: &str = "popular";

/// An open gig.
pub(crate) struct Gig {
    pub(crate) id: u64,
    pub(crate) code: String,
    pub(crate) dj: UserId,
    /// The token of its DJ.
    pub(crate) token: String,
}

impl Gig {
    /// Changes what its board shows.
    pub(crate) fn change(&self, server: &Service) -> anyhow::Result<()> {
        let path = format!("/api/v1/gigs/{}", self.id);
        fetch(server.address(), "PATCH", &path, &self.token, r#"{"message":"Last hour"}"#).map(drop)
    }
}

/// Opens a gig for each of these DJs.
pub(crate) fn open_gigs(bench: &Bench, server: &Service, djs: &[UserId]) -> anyhow::Result<Vec<Gig>> {
    let tokens = bench.tokens.of(djs)?;
    let open = |(dj, token): (UserId, String)| {
        // Guest accounts without money request songs of upcoming artists.
        let body = r#"{"title":"Friday","max_open_per_guest":100,"fee_upcoming_artist":0}"#;
        let answer = fetch(server.address(), "POST", "/api/v1/gigs", &token, body)?;
        Ok(Gig { id: field(&answer, "id")?.parse()?, code: field(&answer, "code")?, dj, token })
    };
    djs.iter().copied().zip(tokens).map(open).collect()
}

/// The guests of a long queue, in the order of their requests.
pub(crate) fn guests(bench: &Bench) -> anyhow::Result<Vec<UserId>> {
    let population = &bench.population;
    let guests: Vec<UserId> =
        population.users().filter(|user| !population.is_dj(*user)).take(QUEUE).collect();
    ensure!(guests.len() == QUEUE, "there are fewer than {QUEUE} guests: use a larger scale");
    Ok(guests)
}

/// Adds requests of different guests to a gig, and accepts the first of them.
pub(crate) fn fill(bench: &Bench, server: &Service, gig: &Gig) -> anyhow::Result<()> {
    for (number, token) in bench.tokens.of(&guests(bench)?)?.into_iter().enumerate() {
        let title = format!("Blue Monday {}", number.rem_euclid(SONGS));
        let dedication = r#","message":"For Grace, who dances in the first row""#;
        let further = if number.is_multiple_of(DEDICATED) { dedication } else { "" };
        let song = song(gig.dj, &title, POPULAR, further);
        let asked = fetch(server.address(), "POST", "/api/v1/music/requests", &token, &song)?;
        if number < SHOWN {
            let path = format!("/api/v1/music/requests-update/{}", field(&asked, "id")?);
            fetch(server.address(), "PATCH", &path, &gig.token, r#"{"status":"accepted"}"#)?;
        }
    }
    Ok(())
}
