//! Objects of the API, with the texts of their fields for a terminal.

use anyhow::anyhow;
use cuepoint_views::wire::json::Object;
use serde_json::value::RawValue;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The text of a null.
const NONE: &str = "-";

/// An object of the API as it was received, so that amounts keep their decimals.
pub(super) struct ApiObject {
    raw: Box<RawValue>,
    fields: Object,
}

impl ApiObject {
    /// Reads an object.
    ///
    /// # Errors
    /// When it is another value.
    pub(super) fn new(raw: Box<RawValue>) -> anyhow::Result<Self> {
        let fields = Object::parse(raw.get().as_bytes()).map_err(|_| {
            anyhow!("the service answers with another form of JSON than this version expects")
        })?;
        Ok(Self { raw, fields })
    }

    /// The object as received, except that invisible characters are escaped.
    pub(super) fn json(&self) -> String {
        escaped(self.raw.get(), |letter| match letter {
            // They stand only between tokens.
            '\n' | '\r' | '\t' => " ".to_owned(),
            letter => letter.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
        })
    }

    /// The value of a field; `None` if it is missing or of another type.
    pub(super) fn value<'a, T: serde::Deserialize<'a>>(&'a self, key: &str) -> Option<T> {
        serde_json::from_str(self.fields.get(key)?.get()).ok()
    }

    /// A field as a text; `None` if it is missing.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        self.fields.get(key).map(text)
    }

    /// A time as a text, in UTC and whole seconds; `None` if it is missing.
    pub(super) fn time(&self, key: &str) -> Option<String> {
        let written: Option<String> = self.value(key);
        let at = written.and_then(|written| OffsetDateTime::parse(&written, &Rfc3339).ok());
        let whole = at.and_then(|at| at.to_utc().replace_nanosecond(0).ok()?.format(&Rfc3339).ok());
        whole.or_else(|| self.text(key))
    }

    /// An amount in the currency of the wallet; `None` if it is missing.
    pub(super) fn money(&self, key: &str) -> Option<String> {
        Some(format!("{} {}", self.text(key)?, self.text("amount_currency")?))
    }
}

fn text(raw: &RawValue) -> String {
    let json = raw.get();
    if let Ok(list) = serde_json::from_str::<Vec<&RawValue>>(json) {
        let items: Vec<String> = list.into_iter().map(text).collect();
        return if items.is_empty() { NONE.to_owned() } else { items.join(", ") };
    }
    if let Ok(written) = serde_json::from_str::<String>(json) {
        return visible(&written);
    }
    match json {
        "null" => NONE.to_owned(),
        "true" => "yes".to_owned(),
        "false" => "no".to_owned(),
        other => visible(other),
    }
}

/// A text of a user or of the service in which characters that could control a terminal, or change the order of its
/// text, are escaped.
pub(super) fn visible(text: &str) -> String {
    escaped(text, |letter| letter.escape_unicode().collect())
}

fn escaped(text: &str, escape: impl Fn(char) -> String) -> String {
    let mut shown = String::new();
    for letter in text.chars() {
        if is_invisible(letter) {
            shown.push_str(&escape(letter));
        } else {
            shown.push(letter);
        }
    }
    shown
}

/// Control characters, separators of lines, and marks of formats. Joiners are shown, because scripts and emoji need
/// them.
fn is_invisible(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(json: &str) -> ApiObject {
        ApiObject::new(RawValue::from_string(json.to_owned()).unwrap()).unwrap()
    }

    #[test]
    fn fields_are_shown_as_text_with_amounts_as_sent() {
        let shown = object(
            r#"{"a":25.00,"amount_currency":"USD","n":null,"y":true,"l":[3,null],"e":[],"t":"2026-01-31T20:15:00.123456Z"}"#,
        );
        let texts = ["a", "n", "y", "l", "e", "missing"].map(|key| shown.text(key));
        let expected = [Some("25.00"), Some("-"), Some("yes"), Some("3, -"), Some("-"), None];
        assert_eq!(texts.each_ref().map(Option::as_deref), expected);
        assert_eq!(shown.money("a").as_deref(), Some("25.00 USD"));
        assert_eq!(
            (shown.time("t"), shown.time("n")),
            (Some("2026-01-31T20:15:00Z".into()), Some("-".into()))
        );
    }

    #[test]
    fn spaced_json_stays_json() {
        let printed = object("{\n\t\"id\": 1\r\n}").json();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&printed).unwrap()["id"], 1);
    }

    #[test]
    fn texts_of_users_cannot_control_a_terminal() {
        // An escape sequence, its short form, an override of the direction, and a tag.
        let name = "A\u{1b}[2J \u{9b}2J \u{202e}b \u{e0041}Zo\u{eb} \u{1f469}\u{200d}\u{1f680}";
        let json = serde_json::json!({"name": name}).to_string();
        let shown = object(&json);
        let text = shown.text("name").unwrap();
        assert_eq!(text, "A\\u{1b}[2J \\u{9b}2J \\u{202e}b \\u{e0041}Zo\u{eb} \u{1f469}\u{200d}\u{1f680}");
        let printed = shown.json();
        assert!(!printed.chars().any(is_invisible), "{printed}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&printed).unwrap()["name"], name);
    }
}
