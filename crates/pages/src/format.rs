//! Amounts, times and the texts of users, as pages show them.

use std::fmt;

use askama::filters::{Html, HtmlSafe, escape};
use cuepoint_domain::money::{Currency, Money};
use cuepoint_domain::timestamp::Timestamp;
use time::Duration;

use crate::language::Language;
use crate::texts::{Text, Texts};

/// The space between an amount and its currency, where no line breaks.
const NO_BREAK_SPACE: char = '\u{a0}';

/// The amount with the code of its currency, such as `12.50 EUR`.
#[must_use]
pub fn amount(money: Money, currency: &Currency, language: Language) -> String {
    format!("{}{NO_BREAK_SPACE}{}", number(money, currency, language), currency.code())
}

/// The amount without its currency, such as `12.50`, as fields show it.
#[must_use]
pub fn number(money: Money, currency: &Currency, language: Language) -> String {
    let text = currency.text(money);
    match language.decimal_separator() {
        '.' => text.as_str().to_owned(),
        separator => text.as_str().chars().map(|c| if c == '.' { separator } else { c }).collect(),
    }
}

/// The text of a user, which is isolated from the text around it, and not translated.
#[derive(Clone, Copy, Debug)]
pub struct UserText<'a>(pub &'a str);

impl fmt::Display for UserText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ok(escaped) = escape(self.0, Html);
        write!(f, "<bdi dir=\"auto\" translate=\"no\">{escaped}</bdi>")
    }
}

impl HtmlSafe for UserText<'_> {}

/// The characters of an address in groups of four, so that two persons can compare them.
pub(crate) fn groups_of_four(address: &str) -> Vec<String> {
    let characters: Vec<char> = address.chars().collect();
    characters.chunks(4).map(|group| group.iter().collect()).collect()
}

/// A text in an attribute.
pub(crate) struct Escaped<'a>(pub(crate) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ok(escaped) = escape(self.0, Html);
        escaped.fmt(f)
    }
}

/// The host of a URL, as a link shows it.
pub(crate) fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#', '\\']).next().unwrap_or_default()
}

/// The element of a time: relative within an hour, otherwise in UTC. The script shows the local time.
#[derive(Clone, Copy)]
pub struct Time<'a> {
    pub(crate) at: Timestamp,
    pub(crate) now: Timestamp,
    pub(crate) texts: &'a dyn Texts,
}

impl Time<'_> {
    fn text(&self) -> Text {
        let passed = self.now.since(self.at);
        let minutes = passed.whole_minutes().unsigned_abs();
        if passed.abs() >= Duration::HOUR {
            return self.absolute().into();
        }
        match (minutes, passed.is_negative()) {
            (0, _) => self.texts.this_minute(),
            (_, false) => self.texts.minutes_ago(minutes),
            (_, true) => self.texts.in_minutes(minutes),
        }
    }

    /// The time of the day in UTC, with the date unless it is today, and the year unless it is this year.
    fn absolute(&self) -> String {
        let (at, today) = (self.at.to_utc(), self.now.to_utc());
        let time = format!("{:02}:{:02} UTC", at.hour(), at.minute());
        if at.date() == today.date() {
            return time;
        }
        let day = day(self.at, self.texts);
        let year = if at.year() == today.year() { String::new() } else { format!(" {}", at.year()) };
        format!("{day}{year}, {time}")
    }
}

/// The day in UTC, such as `14 Mar`.
fn day(at: Timestamp, texts: &dyn Texts) -> Text {
    let at = at.to_utc();
    texts.day_of_month(at.day(), &texts.month(at.month().into()))
}

/// The date in UTC, such as `14 Mar 2026`.
pub(crate) fn date(at: Timestamp, texts: &dyn Texts) -> String {
    format!("{} {}", day(at, texts), at.to_utc().year())
}

impl fmt::Display for Time<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<time datetime=\"{}\">{}</time>", Rfc3339(self.at), self.text())
    }
}

impl HtmlSafe for Time<'_> {}

/// The element of a time of the day, in UTC. The script shows the local time.
#[derive(Clone, Copy, Debug)]
pub struct ClockTime(pub Timestamp);

impl ClockTime {
    /// The time of the day in UTC, without an element.
    pub(crate) fn text(self) -> String {
        let at = self.0.to_utc();
        format!("{:02}:{:02} UTC", at.hour(), at.minute())
    }
}

impl fmt::Display for ClockTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<time datetime=\"{}\" data-clock>{}</time>", Rfc3339(self.0), self.text())
    }
}

impl HtmlSafe for ClockTime {}

/// A time in UTC, in whole seconds, as RFC 3339 writes it.
pub(crate) struct Rfc3339(pub(crate) Timestamp);

impl fmt::Display for Rfc3339 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.0.to_utc();
        let (year, month, day) = (at.year(), u8::from(at.month()), at.day());
        let (hour, minute, second) = (at.hour(), at.minute(), at.second());
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_the_separator_of_the_language_and_the_code_of_the_currency() {
        let euro = Currency::new("EUR", 2).unwrap();
        let yen = Currency::new("JPY", 0).unwrap();
        for (money, currency, english, german) in [
            (1_250, &euro, "12.50\u{a0}EUR", "12,50\u{a0}EUR"),
            (-5, &euro, "-0.05\u{a0}EUR", "-0,05\u{a0}EUR"),
            (100, &yen, "100\u{a0}JPY", "100\u{a0}JPY"),
        ] {
            let money = Money::from_minor(money);
            assert_eq!(amount(money, currency, Language::English), english);
            assert_eq!(amount(money, currency, Language::German), german);
        }
    }

    #[test]
    fn a_text_of_a_user_stays_text() {
        let hostile = UserText("<b>\"'&\u{202e}");
        assert_eq!(
            hostile.to_string(),
            "<bdi dir=\"auto\" translate=\"no\">&#60;b&#62;&#34;&#39;&#38;\u{202e}</bdi>"
        );
    }

    #[test]
    fn an_address_is_shown_in_groups_of_four() {
        assert_eq!(groups_of_four("bc1qar0srrr7"), ["bc1q", "ar0s", "rrr7"]);
        assert_eq!(groups_of_four("äöüß1"), ["äöüß", "1"]);
    }

    #[test]
    fn a_link_shows_the_host_of_its_url() {
        for (url, shown) in [
            ("https://pay.example.com/1?a=b", "pay.example.com"),
            ("https://example.com", "example.com"),
            ("http://localhost:8080?x", "localhost:8080"),
            ("https://example.com\\@evil.example", "example.com"),
        ] {
            assert_eq!(host(url), shown);
        }
    }

    #[test]
    fn times_are_relative_within_an_hour() {
        // 2026-03-14T22:40:00Z.
        let at = Timestamp::from_unix_micros(1_773_528_000_000_000);
        let shown = |minutes, language: Language| {
            let now = at.plus(Duration::minutes(minutes));
            Time { at, now, texts: language.texts() }.to_string()
        };
        for (minutes, english, german) in [
            (0, "this minute", "in dieser Minute"),
            (5, "5 min ago", "vor 5 min"),
            (-59, "in 59 min", "in 59 min"),
            (60, "22:40 UTC", "22:40 UTC"),
            (-60, "22:40 UTC", "22:40 UTC"),
            (60 * 24, "14 Mar, 22:40 UTC", "14. März, 22:40 UTC"),
            (60 * 24 * 365, "14 Mar 2026, 22:40 UTC", "14. März 2026, 22:40 UTC"),
        ] {
            for (text, language) in [(english, Language::English), (german, Language::German)] {
                let expected = format!("<time datetime=\"2026-03-14T22:40:00Z\">{text}</time>");
                assert_eq!(shown(minutes, language), expected);
            }
        }
    }
}
