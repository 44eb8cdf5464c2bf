//! What happens in which minute of the evening.

use std::num::NonZeroU32;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use fastrand::Rng;
use serde_json::json;

use crate::answers::{One, Report, Settings};
use crate::api::Api;
use crate::cast::GUESTS;
use crate::dj::Dj;
use crate::guest::{Guest, PASSWORD};
use crate::{books, cast};

/// The start of every evening, so that two evenings differ only in what the service decides.
const SEED: u64 = 20;
/// The prices of the DJ, in units of the currency.
const UPCOMING: u32 = 2;
const POPULAR: u32 = 5;
/// The minute of the day at which the gig opens.
const OPENING: u32 = 20 * 60;
/// The minutes that a song lasts.
const SONG: u32 = 4;
/// A guest looks at the phone every so many minutes on average.
const LOOKS_EVERY: u32 = 8;

/// How long an evening is, and how long one of its minutes lasts here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// An hour and a half in two minutes of the real clock. Reports and waits are in real minutes, so that they are shorter than
    /// the printed times suggest.
    Fast,
    /// Four hours on the clock of the service, which has to run quicker than the real one.
    OfTheService,
    /// Without any wait, for tests.
    AtOnce,
}

impl Pace {
    const fn minutes(self) -> u32 {
        match self {
            Self::Fast | Self::AtOnce => 90,
            Self::OfTheService => 240,
        }
    }

    fn minute(self, clock_rate: NonZeroU32) -> Duration {
        match self {
            Self::Fast => Duration::from_millis(1_250),
            Self::OfTheService => Duration::from_secs(60).checked_div(clock_rate.get()).unwrap_or_default(),
            Self::AtOnce => Duration::ZERO,
        }
    }
}

/// Plays an evening against the service with this URL, such as `http://127.0.0.1:8080`. Each line says what happened.
///
/// # Errors
/// If the service is a production system, or has no sandbox for top-ups, or its clock does not fit the pace; if it
/// answers something unexpected, or a sum at the end is wrong.
pub fn play(url: &str, pace: Pace, print: &mut dyn FnMut(&str)) -> anyhow::Result<()> {
    let mut evening = Evening::open(url, pace, print)?;
    evening.pass(pace.minutes())?;
    evening.dj.end()?;
    evening.say(pace.minutes(), &format!("{} ends the gig", cast::DJ));
    let report = books::check(&mut evening.dj, &mut evening.guests, evening.settings.commission_bps)?;
    for line in summary(&report) {
        (evening.print)(&line);
    }
    let dj = &evening.dj;
    (evening.print)(&format!(
        "The gig belongs to user {}: {} with the password {PASSWORD:?}",
        dj.id(),
        dj.email
    ));
    Ok(())
}

/// An evening that goes on, and who can log in to look at it.
#[derive(Debug)]
pub struct Halfway {
    /// The code on the poster.
    pub code: String,
    /// The e-mail address of the DJ.
    pub dj: String,
    /// The e-mail address of the guest with the most open requests.
    pub guest: String,
    /// The password of both.
    pub password: &'static str,
}

/// Plays the first minutes of an evening, and leaves the gig open.
///
/// # Errors
/// As [`play`], and if no guest with an e-mail address has come yet.
pub fn play_first(
    minutes: u32,
    url: &str,
    pace: Pace,
    print: &mut dyn FnMut(&str),
) -> anyhow::Result<Halfway> {
    let mut evening = Evening::open(url, pace, print)?;
    evening.pass(minutes)?;
    let mut waiting = None;
    for guest in &mut evening.guests {
        let open = guest.open_requests()?;
        if let Some(email) = &guest.email {
            waiting = waiting.max(Some((open, email.clone())));
        }
    }
    let (_, guest) = waiting.context("no guest has an e-mail address")?;
    let dj = &evening.dj;
    Ok(Halfway { code: dj.code().to_owned(), dj: dj.email.clone(), guest, password: PASSWORD })
}

/// Returns the rate of the service's clock if an evening may be played there.
fn permitted(settings: &Settings, pace: Pace) -> anyhow::Result<NonZeroU32> {
    match settings.environment.as_deref() {
        None => bail!("this service does not show its environment: it is older than this program"),
        Some("production") => bail!("this is a production system, where each account and each cent is real"),
        Some(_) => {}
    }
    ensure!(settings.configured.topups, "this service takes no top-ups: set topups.provider to sandbox");
    let rate =
        settings.clock_rate.and_then(NonZeroU32::new).context("this service does not show its clock rate")?;
    ensure!(
        pace != Pace::OfTheService || rate > NonZeroU32::MIN,
        "the clock of this service runs in real time, so that the evening would take four hours. Start it with:\n\
         CUEPOINT_ENV=test CUEPOINT__SERVER__CLOCK_RATE=60 cargo run"
    );
    Ok(rate)
}

struct Evening<'a> {
    api: Api,
    settings: Settings,
    rng: Rng,
    dj: Dj,
    guests: Vec<Guest>,
    pace: Pace,
    /// How long a minute lasts here.
    minute: Duration,
    print: &'a mut dyn FnMut(&str),
}

impl<'a> Evening<'a> {
    /// Lets the DJ register and open a gig.
    fn open(url: &str, pace: Pace, print: &'a mut dyn FnMut(&str)) -> anyhow::Result<Self> {
        let api = Api::new(url);
        let One { object: settings } = api
            .get("/settings")
            .with_context(|| format!("the settings of the service at {url} cannot be read"))?;
        let minute = pace.minute(permitted(&settings, pace)?);
        let dj = Dj::open(&api, UPCOMING, POPULAR)?;
        let rng = Rng::with_seed(SEED);
        let mut evening = Self { api, settings, rng, dj, guests: Vec::new(), pace, minute, print };
        evening.say(0, &format!("{} opens a gig with the code {}", cast::DJ, evening.dj.code()));
        Ok(evening)
    }

    /// Lets the minutes before this one pass.
    fn pass(&mut self, end: u32) -> anyhow::Result<()> {
        let began = Instant::now();
        for now in 0..end {
            thread::sleep(self.minute.saturating_mul(now).saturating_sub(began.elapsed()));
            self.welcome(now)?;
            if let Some(line) = self.change(now)? {
                self.say(now, &line);
            }
            if now % SONG == 0 {
                for line in self.next_song(now / SONG)? {
                    self.say(now, &line);
                }
            }
            for line in self.look()? {
                self.say(now, &line);
            }
        }
        Ok(())
    }

    /// Lets the guests of this minute arrive: all of them in the first half of the evening.
    fn welcome(&mut self, now: u32) -> anyhow::Result<()> {
        let half = self.pace.minutes() / 2;
        let guests = u32::try_from(GUESTS.len())?;
        for (number, name) in (0..guests).zip(GUESTS) {
            if number.saturating_mul(half).checked_div(guests) == Some(now) {
                let mut guest = Guest::arrive(&self.api, name, self.dj.code(), number % 5 == 4)?;
                let paid = guest.pay_in(self.rng.choice([20, 30, 50]).unwrap_or(20))?;
                let asked = guest.request(&mut self.rng, None)?;
                self.guests.push(guest);
                self.say(now, &paid);
                self.say(now, &asked);
            }
        }
        Ok(())
    }

    /// What the DJ changes at fixed times.
    fn change(&mut self, now: u32) -> anyhow::Result<Option<String>> {
        let percent = |part: u32| self.pace.minutes().saturating_mul(part) / 100;
        let changes = [
            (55, json!({"accepting": 0}), "pauses the gig"),
            (60, json!({"accepting": 1}), "takes requests again"),
            (70, json!({"queue_order": "arrival"}), "plays in the order of arrival"),
            (80, json!({"queue_order": "rounds"}), "plays in rounds again"),
            (95, json!({"accepting": 0, "message": "Last songs"}), "takes no further requests"),
        ];
        let due = changes.into_iter().find(|(part, ..)| now == percent(*part));
        let Some((_, fields, what)) = due else { return Ok(None) };
        self.dj.change(&fields)?;
        Ok(Some(format!("{} {what}", cast::DJ)))
    }

    /// Accepts what comes next, and plays the next song; sometimes one out of order, sometimes a rejection.
    fn next_song(&mut self, number: u32) -> anyhow::Result<Vec<String>> {
        let mut lines = self.dj.accept_next()?;
        lines.extend(self.dj.play(if number % 7 == 5 { 2 } else { 0 })?);
        if number % 6 == 4 {
            lines.extend(self.dj.reject_last()?);
        }
        Ok(lines)
    }

    /// Lets some guests look at their phones.
    fn look(&mut self) -> anyhow::Result<Vec<String>> {
        let mut lines = Vec::new();
        for guest in &mut self.guests {
            if self.rng.u32(..LOOKS_EVERY) != 0 {
                continue;
            }
            let (stars, tip) = (self.rng.u8(3..=5), self.rng.choice([0, 0, 1, 2]).unwrap_or(0));
            lines.extend(guest.thank(stars, tip)?);
            match self.rng.u32(..12) {
                0 => lines.extend(guest.cancel()?),
                1 => lines.extend(guest.claim()?),
                // Most guests wait for their song before they request another one.
                _ if guest.open_requests()? <= usize::from(self.rng.u8(..4) == 0) => {
                    if guest.is_short(POPULAR)? {
                        lines.push(guest.pay_in(20)?);
                    }
                    let message = (self.rng.u32(..5) == 0).then_some("For everyone at our table");
                    lines.push(guest.request(&mut self.rng, message)?);
                }
                _ => {}
            }
        }
        Ok(lines)
    }

    fn say(&mut self, now: u32, line: &str) {
        let (hour, minute) = (now.saturating_add(OPENING) / 60 % 24, now % 60);
        (self.print)(&format!("{hour:02}:{minute:02}  {line}"));
    }
}

/// The report in words.
fn summary(report: &Report) -> [String; 3] {
    let requests = &report.requests;
    let wait = report.mean_wait_minutes.unwrap_or_default();
    [
        format!(
            "{} guests: {} songs played, {} rejected, {} cancelled, {} expired; {wait} minutes of waiting on average",
            report.guests, requests.played, requests.rejected, requests.cancelled, requests.expired
        ),
        format!(
            "{} for songs, less {} commission: {}; {} in tips; {} ratings",
            report.gross, report.commission, report.net, report.tips, report.rating_count
        ),
        "Nothing is held any more, and the sums of guests, DJ and report agree".to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answers::Configured;

    fn settings(environment: Option<&str>, clock_rate: Option<u32>) -> Settings {
        Settings {
            environment: environment.map(str::to_owned),
            clock_rate,
            commission_bps: 0,
            configured: Configured { topups: true },
        }
    }

    #[test]
    fn an_evening_is_refused_on_production_and_unknown_systems() {
        for (environment, pace, refused) in [
            (Some("production"), Pace::Fast, true),
            (Some("production"), Pace::AtOnce, true),
            (None, Pace::Fast, true),
            (Some("development"), Pace::Fast, false),
            (Some("development"), Pace::OfTheService, true),
        ] {
            let permitted = permitted(&settings(environment, Some(1)), pace);
            assert_eq!(permitted.is_err(), refused, "{environment:?} {pace:?}");
        }
        assert_eq!(permitted(&settings(Some("test"), Some(60)), Pace::OfTheService).unwrap().get(), 60);
    }
}
