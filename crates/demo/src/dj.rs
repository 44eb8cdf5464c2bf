//! What the DJ does: opens the gig, accepts, rejects and plays, pauses, and ends it.

use serde::de::IgnoredAny;
use serde_json::json;

use crate::amount::Amount;
use crate::answers::{Gig, One, Place, Queue, Report, Wallet};
use crate::api::{Api, Caller};
use crate::cast;
use crate::guest::{PASSWORD, new_address};

/// The DJ of the evening.
pub(crate) struct Dj {
    caller: Caller,
    gig: Gig,
    /// The e-mail address, for a look at the gig afterwards.
    pub(crate) email: String,
}

impl Dj {
    /// Registers, and opens the gig with these prices.
    pub(crate) fn open(api: &Api, upcoming: u32, popular: u32) -> anyhow::Result<Self> {
        let email = new_address(cast::DJ)?;
        let body = json!({"name": cast::DJ, "email": email, "password": PASSWORD, "is_dj": true});
        let mut caller = Caller::create(api, "/auth/register", &body)?;
        let body = json!({"title": "Friday at the Blue Room", "venue": "Blue Room", "city": "Berlin",
            "latitude": 52.52, "longitude": 13.4, "message": "Requests until the last train",
            "fee_upcoming_artist": upcoming, "fee_popular_song": popular});
        let opened: One<Gig> = caller.call("POST", "/gigs", &body)?;
        Ok(Self { caller, gig: opened.object, email })
    }

    /// The code on the poster.
    pub(crate) fn code(&self) -> &str {
        &self.gig.code
    }

    pub(crate) fn id(&self) -> u64 {
        self.caller.id()
    }

    /// Accepts the pending requests among the first three of the queue.
    pub(crate) fn accept_next(&mut self) -> anyhow::Result<Vec<String>> {
        let queue = self.queue()?;
        let next = queue.iter().take(3).filter(|place| place.request.status == "pending");
        next.map(|place| self.move_to(place, "accepted")).collect()
    }

    /// Plays the accepted song at this place among the accepted ones, or the last of them.
    pub(crate) fn play(&mut self, place: usize) -> anyhow::Result<Option<String>> {
        let mut accepted = self.queue()?;
        accepted.retain(|place| place.request.status == "accepted");
        let song = accepted.get(place).or(accepted.last());
        song.map(|song| self.move_to(song, "played")).transpose()
    }

    /// Rejects the last pending request.
    pub(crate) fn reject_last(&mut self) -> anyhow::Result<Option<String>> {
        let queue = self.queue()?;
        let last = queue.iter().rev().find(|place| place.request.status == "pending");
        last.map(|place| self.move_to(place, "rejected")).transpose()
    }

    /// Changes fields of the gig.
    pub(crate) fn change(&mut self, fields: &serde_json::Value) -> anyhow::Result<()> {
        let path = format!("/gigs/{}", self.gig.id);
        self.caller.call::<IgnoredAny>("PATCH", &path, fields).map(drop)
    }

    /// Ends the gig.
    pub(crate) fn end(&mut self) -> anyhow::Result<()> {
        let path = format!("/gigs/{}/end", self.gig.id);
        self.caller.call::<IgnoredAny>("POST", &path, &json!({})).map(drop)
    }

    pub(crate) fn report(&mut self) -> anyhow::Result<Report> {
        let report: One<Report> = self.caller.get(&format!("/gigs/{}/report", self.gig.id))?;
        Ok(report.object)
    }

    /// What the DJ can withdraw or spend.
    pub(crate) fn available(&mut self) -> anyhow::Result<Amount> {
        Ok(self.caller.get::<One<Wallet>>("/wallet")?.object.available)
    }

    fn queue(&mut self) -> anyhow::Result<Vec<Place>> {
        let queue: Queue = self.caller.get(&format!("/gigs/{}/queue", self.gig.id))?;
        Ok(queue.queue)
    }

    /// Moves a request. The guest may have cancelled it meanwhile.
    fn move_to(&mut self, place: &Place, status: &str) -> anyhow::Result<String> {
        let title = &place.request.song_title;
        let path = format!("/music/requests-update/{}", place.request.id);
        let moved = self.caller.try_call::<IgnoredAny>("PATCH", &path, &json!({"status": status}))?;
        Ok(match moved {
            Ok(_) => format!("{} {} {title} for {}", cast::DJ, verb(status), place.request.fee),
            Err(refusal) => format!("{} cannot change {title}: {}", cast::DJ, refusal.message),
        })
    }
}

fn verb(status: &str) -> &str {
    match status {
        "accepted" => "accepts",
        "played" => "plays",
        _ => "rejects",
    }
}
