//! A ring as it is with a new key: a function of text and time, so that it can be tried over time.

use cuepoint_domain::timestamp::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use time::{Duration, OffsetDateTime};

use super::key::{Algorithm, Key};
use super::{line, ring};
use crate::adapters::clock::TOLERANCE;
use crate::adapters::security::random::{RandomSecrets, random};

/// What is asked of a rotation.
#[derive(Clone, Copy, Debug)]
pub struct Rotation {
    /// The algorithm of the new key; that of the first listed one without, HS256 where there is none.
    pub algorithm: Option<Algorithm>,
    /// How long the servers have to learn of the new key before it signs.
    pub signs_in: Duration,
    /// How long an access token is valid.
    pub access_token_ttl: Duration,
    /// What becomes of the older keys.
    pub older: OlderKeys,
}

/// What a rotation does with the keys that there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OlderKeys {
    /// They verify until the last token that they may have signed has ended.
    Verify,
    /// They are removed, and the new key signs at once: nothing that they signed counts any more.
    Remove,
}

/// A ring after a rotation.
pub struct Rotated {
    /// The text of its keys.
    pub text: SecretString,
    /// What became of each key, one a line, without the keys themselves.
    pub report: String,
}

/// The ring of a text with a new key: first of all, to sign from a moment on. Each older key ends once the last token
/// that it may have signed has ended, and one that has ended is gone. Where no other key signs, the new one does at
/// once.
///
/// # Errors
/// When the text is no ring, or the operating system gives no randomness.
pub fn rotate(
    text: &SecretString,
    asked: Rotation,
    now: Timestamp,
    secrets: RandomSecrets,
) -> anyhow::Result<Rotated> {
    let lines = ring::lines(text.expose_secret())?;
    let newest = lines.iter().find_map(|(_, key)| key.as_ref());
    let algorithm = asked.algorithm.or(newest.map(Key::algorithm)).unwrap_or(Algorithm::Hs256);
    let keeps_older = asked.older == OlderKeys::Verify;
    let another_signs =
        keeps_older && lines.iter().filter_map(|(_, key)| key.as_ref()).any(|key| key.signs(now));
    let from = second(now).plus(if another_signs { asked.signs_in } else { Duration::ZERO });
    // Server clocks may be apart by the leeway, and who verifies grants it once more.
    let until = from.plus(asked.access_token_ttl).plus(TOLERANCE).plus(TOLERANCE);

    let (id, material) = (new_id(now, secrets), algorithm.generate(secrets)?);
    let signs_from = another_signs.then_some(from);
    let mut new = Some(line::new(&id, algorithm, material.expose_secret(), signs_from)?);
    let mut report = format!("{id} {} signs from {}\n", algorithm.name(), line::moment(from)?);
    let mut written = Vec::new();
    for (line, key) in &lines {
        match key {
            None => written.push((*line).to_owned()),
            Some(key) => {
                // Remarks above the first key stay above the ring.
                written.extend(new.take());
                let (kept, fate) =
                    if keeps_older { aged(line, key, until, now)? } else { (None, "is removed".to_owned()) };
                written.extend(kept);
                report.push_str(&format!("{} {} {fate}\n", key.id(), key.algorithm().name()));
            }
        }
    }
    written.extend(new);
    let text = SecretString::from(written.join("\n") + "\n");
    super::KeyRing::parse(&text)?;
    Ok(Rotated { text, report })
}

/// What is left of an older key's line, if anything is, and in words.
fn aged(line: &str, key: &Key, until: Timestamp, now: Timestamp) -> anyhow::Result<(Option<String>, String)> {
    if !key.verifies(now) {
        return Ok((None, "has ended and is removed".to_owned()));
    }
    let (kept, until) = match key.verifies_until {
        Some(until) => (line.to_owned(), until),
        None => (line::ending(line, until)?, until),
    };
    Ok((Some(kept), format!("verifies until {}", line::moment(until)?)))
}

/// The day, for people, and a random part, since a day may see several.
fn new_id(now: Timestamp, secrets: RandomSecrets) -> String {
    let random = u32::from_be_bytes(random(secrets));
    format!("{}-{random:08x}", now.to_utc().date())
}

/// The moment without what is below a second, which files do not show.
fn second(at: Timestamp) -> Timestamp {
    let seconds = at.to_utc().unix_timestamp();
    OffsetDateTime::from_unix_timestamp(seconds).map_or(at, Timestamp::new)
}

#[cfg(test)]
mod tests;
