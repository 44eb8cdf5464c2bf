//! What a guest does: arrives, pays in, requests songs, watches their places, rates and tips.

use anyhow::{Context, ensure};
use fastrand::Rng;
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::json;

use crate::amount::Amount;
use crate::answers::{Board, Mine, One, Place, Request, Topup, Wallet};
use crate::api::{Api, Caller};
use crate::cast::{ArtistType, SONGS, Song};

/// The password of every member.
pub(crate) const PASSWORD: &str = "an evening of songs";
/// What a guest may pay above the DJ's price for a better place.
const MORE: u32 = 7;

/// A guest of the evening.
pub(crate) struct Guest {
    pub(crate) name: &'static str,
    caller: Caller,
    /// The code on the poster.
    code: String,
    /// What the guest has paid in.
    paid_in: Vec<Amount>,
    /// The e-mail address of a member.
    pub(crate) email: Option<String>,
}

#[derive(Serialize)]
struct NewRequest<'a> {
    dj_id: u64,
    song_title: &'a str,
    artist_name: &'a str,
    artist_type: &'a str,
    fee: &'a Amount,
    message: Option<&'a str>,
}

impl Guest {
    /// Arrives: scans the code, and gets a guest account or registers.
    pub(crate) fn arrive(api: &Api, name: &'static str, code: &str, registers: bool) -> anyhow::Result<Self> {
        let email = registers.then(|| new_address(name)).transpose()?;
        let caller = if let Some(email) = &email {
            let body = json!({"name": name, "email": email, "password": PASSWORD});
            Caller::create(api, "/auth/register", &body)?
        } else {
            Caller::create(api, "/auth/guest", &json!({"name": name}))?
        };
        Ok(Self { name, caller, code: code.to_owned(), paid_in: Vec::new(), email })
    }

    /// Pays in, and returns what happened.
    pub(crate) fn pay_in(&mut self, units: u32) -> anyhow::Result<String> {
        let amount = Amount::from(units);
        let paid: One<Topup> = self.caller.call("POST", "/wallet/topups", &json!({"amount": units}))?;
        ensure!(
            paid.object.status == "confirmed",
            "top-ups of this service wait for a payment system: set topups.provider to sandbox"
        );
        let line = format!("{} pays in {amount}", self.name);
        self.paid_in.push(amount);
        Ok(line)
    }

    /// Requests a song for the displayed price, or for more if this gives a better place.
    pub(crate) fn request(&mut self, rng: &mut Rng, message: Option<&str>) -> anyhow::Result<String> {
        let board = self.caller.get::<One<Board>>(&format!("/boards/{}", self.code))?.object;
        let song = rng.choice(SONGS).context("there is no song")?;
        let fee = self.fee(&board, song)?;
        let name = self.name;
        let (song_title, artist_name, kind) = song;
        let artist_type = kind.name();
        let dj_id = board.dj.id;
        let body = NewRequest { dj_id, song_title, artist_name, artist_type, fee: &fee, message };
        let request: Request = match self.caller.try_call("POST", "/music/requests", &body)? {
            Ok(request) => request,
            Err(refusal) => return Ok(format!("{name} cannot request {song_title}: {}", refusal.message)),
        };
        let mine = self.mine()?;
        let place = mine.requests.iter().find(|own| own.request.id == request.id);
        let place = place.and_then(|own| own.place.as_ref()).map_or_else(String::new, |place| {
            format!(", place {}, about {} minutes", place.position, place.wait_minutes)
        });
        Ok(format!("{name} requests {song_title} for {fee}{place}"))
    }

    /// The price of a song, or a higher fee that gives a better place and that the guest can pay.
    fn fee(&mut self, board: &Board, (_, _, kind): Song) -> anyhow::Result<Amount> {
        let price = match kind {
            ArtistType::Popular => &board.fee_popular_song,
            ArtistType::Upcoming => &board.fee_upcoming_artist,
        };
        let available = self.wallet()?.available;
        let offers: Mine = self.caller.get(&format!("/boards/{}/mine?offers={price},{MORE}", self.code))?;
        let better = match offers.offers.as_slice() {
            [usual, more] if more.place.position < usual.place.position && more.fee <= available => &more.fee,
            _ => price,
        };
        Ok(better.clone())
    }

    /// Cancels the newest pending request, if there is one.
    pub(crate) fn cancel(&mut self) -> anyhow::Result<Option<String>> {
        let mine = self.mine()?;
        let Some(own) = mine.requests.iter().find(|own| own.request.status == "pending") else {
            return Ok(None);
        };
        let path = format!("/music/requests/{}/cancel", own.request.id);
        let _: IgnoredAny = self.caller.call("POST", &path, &json!({}))?;
        Ok(Some(format!("{} cancels {}", self.name, own.request.song_title)))
    }

    /// Rates a song that was played, and tips the DJ for it if `tip` is above zero.
    pub(crate) fn thank(&mut self, stars: u8, tip: u32) -> anyhow::Result<Option<String>> {
        let mine = self.mine()?;
        let is_unrated = |own: &&Place| own.request.status == "played" && own.stars.is_none();
        let Some(own) = mine.requests.iter().find(is_unrated) else { return Ok(None) };
        let path = format!("/music/requests/{}/rating", own.request.id);
        let _: IgnoredAny = self.caller.call("POST", &path, &json!({"stars": stars}))?;
        let mut line = format!("{} gives {} {stars} stars", self.name, own.request.song_title);
        if tip > 0 && self.wallet()?.available >= Amount::from(tip) {
            let path = format!("/boards/{}/tips", self.code);
            match self.caller.try_call::<IgnoredAny>("POST", &path, &json!({"amount": tip}))? {
                Ok(_) => line.push_str(&format!(", and tips {tip}")),
                Err(refusal) => line.push_str(&format!(", and cannot tip {tip}: {}", refusal.message)),
            }
        }
        Ok(Some(line))
    }

    /// Claims the guest account: from then on it has an e-mail address and a password.
    pub(crate) fn claim(&mut self) -> anyhow::Result<Option<String>> {
        if self.email.is_some() {
            return Ok(None);
        }
        let email = new_address(self.name)?;
        self.caller.claim(&email, PASSWORD)?;
        self.email = Some(email);
        Ok(Some(format!("{} claims the guest account", self.name)))
    }

    /// The number of open requests.
    pub(crate) fn open_requests(&mut self) -> anyhow::Result<usize> {
        Ok(self.mine()?.requests.iter().filter(|own| own.place.is_some()).count())
    }

    /// Whether the guest has less than this.
    pub(crate) fn is_short(&mut self, of: u32) -> anyhow::Result<bool> {
        Ok(self.wallet()?.available < Amount::from(of))
    }

    fn wallet(&mut self) -> anyhow::Result<Wallet> {
        Ok(self.caller.get::<One<Wallet>>("/wallet")?.object)
    }

    /// What the guest has spent, once nothing is held.
    pub(crate) fn spent(&mut self) -> anyhow::Result<Amount> {
        let wallet = self.wallet()?;
        ensure!(wallet.held == Amount::default(), "the wallet of {} still holds {}", self.name, wallet.held);
        Ok(self.paid_in.iter().sum::<Amount>().less(&wallet.available))
    }

    fn mine(&mut self) -> anyhow::Result<Mine> {
        self.caller.get(&format!("/boards/{}/mine", self.code))
    }
}

/// An address that no other run uses.
pub(crate) fn new_address(name: &str) -> anyhow::Result<String> {
    let key = crate::api::new_key()?;
    let id = key.get(..12).unwrap_or(&key);
    Ok(format!("{}-{id}@example.com", name.to_lowercase().replace(' ', "-")))
}
