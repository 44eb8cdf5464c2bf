//! The calls that commit: guests request songs, whose titles carry the numbers of the calls.

use anyhow::Context;
use cuepoint_domain::ids::UserId;
use fastrand::Rng;

use crate::context::Bench;
use crate::load::decoder::position_of;
use crate::load::record::Concerned;
use crate::load::requests::write_request;
use crate::single_calls::song;

/// The path of a caller's own events.
pub(super) const EVENTS: &str = "/api/v1/events/stream";
/// The beginning of the title of each song, as it is in an event.
const TITLE: &[u8] = br#""song_title":"Call "#;

/// An endless sequence of calls of some users, the same in every run.
pub(super) struct Calls {
    users: Vec<UserId>,
    tokens: Vec<String>,
    guests: Vec<usize>,
    djs: Vec<usize>,
    rng: Rng,
}

impl Calls {
    /// The calls of these users.
    ///
    /// # Errors
    /// If there is no guest or no DJ among them.
    pub(super) fn new(bench: &Bench, users: Vec<UserId>) -> anyhow::Result<Self> {
        let tokens = bench.tokens.of(&users)?;
        let is_dj = |place: &usize| users.get(*place).is_some_and(|user| bench.population.is_dj(*user));
        let (djs, guests): (Vec<usize>, Vec<usize>) = (0..users.len()).partition(is_dj);
        anyhow::ensure!(!djs.is_empty() && !guests.is_empty(), "the calls need a guest and a DJ");
        Ok(Self { users, tokens, guests, djs, rng: Rng::with_seed(3) })
    }

    /// The tokens of the users.
    pub(super) fn tokens(&self) -> &[String] {
        &self.tokens
    }

    /// Writes the call of this number into a buffer, and returns its involved users.
    pub(super) fn write(&mut self, number: u32, into: &mut Vec<u8>) -> anyhow::Result<Option<Concerned>> {
        let guest = *self.rng.choice(&self.guests).context("no guest")?;
        let dj = *self.rng.choice(&self.djs).context("no DJ")?;
        let id = self.users.get(dj).context("no DJ")?;
        let body = song(*id, &format!("Call {number}"), "popular", "");
        let token = self.tokens.get(guest).map(String::as_str);
        write_request(into, "POST", "/api/v1/music/requests", token, Some(&body));
        Ok(Some(Concerned { guest, dj }))
    }
}

/// Returns the number of the call that an event is about; `None` for other events and for comments.
pub(super) fn number_in(block: &[u8]) -> Option<u32> {
    let after = position_of(TITLE, block)?.checked_add(TITLE.len())?;
    let rest = block.get(after..)?;
    let length = rest.iter().position(|byte| *byte == b'"')?;
    std::str::from_utf8(rest.get(..length)?).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_song_title_identifies_the_call_of_an_event() {
        let event = |title: &str| {
            format!(
                "id: 7\nevent: music_request.created\ndata: {{\"position\":7,\"data\":{{\"music_request\":\
                 {{\"id\":3,\"song_title\":\"{title}\",\"artist_name\":\"New Order\"}}}}}}"
            )
        };
        for (title, number) in
            [("Call 0", Some(0)), ("Call 4711", Some(4_711)), ("Call me", None), ("Blue Monday", None)]
        {
            assert_eq!(number_in(event(title).as_bytes()), number, "{title}");
        }
        assert_eq!(number_in(b"retry: 2617"), None);
        assert_eq!(number_in(b":"), None);
    }
}
