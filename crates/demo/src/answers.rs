//! The parts of answers that the demonstration reads.

use serde::Deserialize;

use crate::amount::Amount;

/// The envelope of a success.
#[derive(Deserialize)]
pub(crate) struct Success<T> {
    pub(crate) data: T,
}

/// The data of a success that is one object under the name of its kind.
#[derive(Deserialize)]
pub(crate) struct One<T> {
    #[serde(
        alias = "board",
        alias = "gig",
        alias = "report",
        alias = "settings",
        alias = "topup",
        alias = "wallet"
    )]
    pub(crate) object: T,
}

/// The envelope of a refusal.
#[derive(Deserialize)]
pub(crate) struct Refusal {
    pub(crate) code: String,
    pub(crate) message: String,
}

/// The settings of the deployment. A service that does not show its environment is older than this program.
#[derive(Deserialize)]
pub(crate) struct Settings {
    pub(crate) environment: Option<String>,
    pub(crate) clock_rate: Option<u32>,
    pub(crate) commission_bps: u32,
    pub(crate) configured: Configured,
}

#[derive(Deserialize)]
pub(crate) struct Configured {
    pub(crate) topups: bool,
}

#[derive(Deserialize)]
pub(crate) struct Session {
    pub(crate) access_token: String,
    pub(crate) refresh_token: String,
    pub(crate) user: User,
}

#[derive(Deserialize)]
pub(crate) struct User {
    pub(crate) id: u64,
}

#[derive(Deserialize)]
pub(crate) struct Wallet {
    pub(crate) available: Amount,
    pub(crate) held: Amount,
}

#[derive(Deserialize)]
pub(crate) struct Topup {
    pub(crate) status: String,
}

#[derive(Deserialize)]
pub(crate) struct Gig {
    pub(crate) id: u64,
    pub(crate) code: String,
}

#[derive(Deserialize)]
pub(crate) struct Request {
    pub(crate) id: u64,
    pub(crate) song_title: String,
    pub(crate) fee: Amount,
    pub(crate) status: String,
}

/// The DJ's view of the queue.
#[derive(Deserialize)]
pub(crate) struct Queue {
    pub(crate) queue: Vec<Place>,
}

/// An open request in a queue, of the DJ's view or of its guest's own.
#[derive(Deserialize)]
pub(crate) struct Place {
    pub(crate) request: Request,
    pub(crate) place: Option<Position>,
    #[serde(default)]
    pub(crate) stars: Option<u8>,
}

#[derive(Deserialize)]
pub(crate) struct Position {
    pub(crate) position: u32,
    pub(crate) wait_minutes: u32,
}

#[derive(Deserialize)]
pub(crate) struct Board {
    pub(crate) dj: User,
    pub(crate) fee_upcoming_artist: Amount,
    pub(crate) fee_popular_song: Amount,
}

/// The guest's own requests in a gig, and the places that other fees would give.
#[derive(Deserialize)]
pub(crate) struct Mine {
    pub(crate) requests: Vec<Place>,
    #[serde(default)]
    pub(crate) offers: Vec<Offer>,
}

#[derive(Deserialize)]
pub(crate) struct Offer {
    pub(crate) fee: Amount,
    pub(crate) place: Position,
}

#[derive(Deserialize)]
pub(crate) struct Report {
    pub(crate) gross: Amount,
    pub(crate) commission: Amount,
    pub(crate) net: Amount,
    pub(crate) tips: Amount,
    pub(crate) guests: u32,
    pub(crate) mean_wait_minutes: Option<u32>,
    pub(crate) requests: ByStatus,
    pub(crate) rating_count: u32,
}

#[derive(Deserialize)]
pub(crate) struct ByStatus {
    pub(crate) pending: u32,
    pub(crate) accepted: u32,
    pub(crate) played: u32,
    pub(crate) rejected: u32,
    pub(crate) cancelled: u32,
    pub(crate) expired: u32,
}
