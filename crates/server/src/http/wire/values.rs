//! Readers of single field values from JSON text, and their validation messages.

use cuepoint_domain::account::{ArtistType, Kilometres, Role};
use cuepoint_domain::application::commands::DjAnswer;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::adjustment::Correction;
use cuepoint_domain::money::{self, Amount, Currency, Money, MoneyError};
use cuepoint_domain::provider_reference::ProviderReference;
use cuepoint_domain::text::{Email, Line, MusicUrl, Password, Phone, TextError};
use cuepoint_domain::topup::{PaidAmount, PaidCurrency};
use cuepoint_domain::withdrawal::WithdrawalAmount;
use serde_json::value::RawValue;

use crate::http::wire::json::Object;
use crate::http::wire::messages;

/// The maximum amount of one field, in major units.
pub const MAX_NUMBER: i64 = money::MAX_WHOLE_UNITS;

/// The reason for rejecting a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InvalidValue {
    /// Empty, and treated as missing.
    Empty,
    /// Invalid, with these validation messages.
    Messages(Vec<String>),
}

impl From<String> for InvalidValue {
    fn from(message: String) -> Self {
        Self::Messages(vec![message])
    }
}

/// The result of reading a value.
pub type Read<T> = Result<T, InvalidValue>;

fn string(field: &str, raw: &RawValue) -> Read<String> {
    serde_json::from_str(raw.get()).map_err(|_| messages::string(field).into())
}

fn is_number(raw: &RawValue) -> bool {
    raw.get().bytes().next().is_some_and(|first| first == b'-' || first.is_ascii_digit())
}

/// The rejection of a text; `malformed` is the message for an invalid format.
fn refused(field: &str, error: TextError, malformed: fn(&str) -> String) -> InvalidValue {
    match error {
        TextError::Empty => InvalidValue::Empty,
        TextError::TooLong(most) => messages::at_most_characters(field, &most.to_string()).into(),
        TextError::TooShort(least) => messages::at_least_characters(field, &least.to_string()).into(),
        TextError::ControlCharacter => messages::format(field).into(),
        TextError::Malformed => malformed(field).into(),
    }
}

/// One line of text.
pub fn line(field: &str, raw: &RawValue) -> Read<Line> {
    Line::new(&string(field, raw)?).map_err(|error| refused(field, error, messages::format))
}

/// An e-mail address.
pub fn email(field: &str, raw: &RawValue) -> Read<Email> {
    Email::new(&string(field, raw)?).map_err(|error| refused(field, error, messages::email))
}

/// A new phone number.
pub fn phone(field: &str, raw: &RawValue) -> Read<Phone> {
    Phone::new(&string(field, raw)?).map_err(|error| refused(field, error, messages::phone))
}

/// A web address of music.
pub fn music_url(field: &str, raw: &RawValue) -> Read<MusicUrl> {
    MusicUrl::new(&string(field, raw)?).map_err(|error| refused(field, error, messages::url))
}

/// A new password.
pub fn password(field: &str, raw: &RawValue) -> Read<Password> {
    Password::new(&string(field, raw)?).map_err(|error| refused(field, error, messages::format))
}

/// Any text that is not empty, to be compared with a stored value.
pub fn presented(field: &str, raw: &RawValue) -> Read<String> {
    let text = string(field, raw)?;
    if text.is_empty() { Err(InvalidValue::Empty) } else { Ok(text) }
}

/// A boolean, also written 1 or 0.
pub fn boolean(field: &str, raw: &RawValue) -> Read<bool> {
    yes_or_no(raw.get()).ok_or_else(|| messages::boolean(field).into())
}

/// 1 or 0, also written true or false.
pub fn flag(field: &str, raw: &RawValue) -> Read<bool> {
    yes_or_no(raw.get()).ok_or_else(|| messages::flag(field).into())
}

/// The boolean of `1`, `true`, `0` or `false`.
#[must_use]
pub fn yes_or_no(text: &str) -> Option<bool> {
    match text {
        "1" | "true" => Some(true),
        "0" | "false" => Some(false),
        _ => None,
    }
}

/// A 64-bit integer.
pub fn integer(field: &str, raw: &RawValue) -> Read<i64> {
    serde_json::from_str(raw.get()).map_err(|_| messages::integer(field).into())
}

/// An object in the body.
pub fn object(field: &str, raw: &RawValue) -> Read<Object> {
    Object::parse(raw.get().as_bytes()).map_err(|_| messages::object(field).into())
}

/// The id of an account, existing or not.
pub fn user_id(field: &str, raw: &RawValue) -> Read<UserId> {
    UserId::new(integer(field, raw)?).ok_or_else(|| messages::selected(field).into())
}

/// The reference of a withdrawal or top-up at its provider.
pub fn provider_reference(field: &str, raw: &RawValue) -> Read<ProviderReference> {
    match string(field, raw)?.trim() {
        "" => Err(InvalidValue::Empty),
        text => text.parse().map_err(|_| messages::format(field).into()),
    }
}

/// The artist type, by either of its names.
pub fn artist_type(field: &str, raw: &RawValue) -> Read<ArtistType> {
    match string(field, raw)?.trim().to_ascii_lowercase().as_str() {
        "" => Err(InvalidValue::Empty),
        "upcoming" | "upcoming_artist" => Ok(ArtistType::Upcoming),
        "popular" | "popular_song" => Ok(ArtistType::Popular),
        _ => Err(messages::selected(field).into()),
    }
}

/// A role.
pub fn role(field: &str, raw: &RawValue) -> Read<Role> {
    match string(field, raw)?.trim() {
        "" => Err(InvalidValue::Empty),
        name => Role::named(name).ok_or_else(|| messages::selected(field).into()),
    }
}

/// The answer of a DJ to a request.
pub fn dj_answer(field: &str, raw: &RawValue) -> Read<DjAnswer> {
    match string(field, raw)?.trim() {
        "" => Err(InvalidValue::Empty),
        "accepted" => Ok(DjAnswer::Accept),
        "rejected" => Ok(DjAnswer::Reject),
        "played" => Ok(DjAnswer::Play),
        _ => Err(messages::selected(field).into()),
    }
}

/// A number of degrees between −`most` and `most`.
pub fn degrees(most: i16) -> impl Fn(&str, &RawValue) -> Read<f64> {
    move |field, raw| {
        let most = f64::from(most);
        float(field, raw)?
            .filter(|degrees| (-most..=most).contains(degrees))
            .ok_or_else(|| messages::between(field, &format!("-{most}"), &most.to_string()).into())
    }
}

/// A distance in kilometres.
pub fn kilometres(field: &str, raw: &RawValue) -> Read<Kilometres> {
    float(field, raw)?
        .and_then(Kilometres::new)
        .ok_or_else(|| messages::between(field, "0", &Kilometres::MAX.to_string()).into())
}

/// A JSON number as a float; `None` if it is out of range.
fn float(field: &str, raw: &RawValue) -> Read<Option<f64>> {
    if !is_number(raw) {
        return Err(messages::number(field).into());
    }
    // Adding zero normalizes a negative zero.
    Ok(serde_json::from_str::<f64>(raw.get()).ok().map(|number| number + 0.0))
}

/// An amount of money of at least `least`.
pub fn money(currency: &Currency, least: Money) -> impl Fn(&str, &RawValue) -> Read<Money> {
    move |field, raw| {
        let too_small = || messages::at_least(field, &exact(currency, least));
        match currency.parse(raw.get()) {
            Ok(money) if money < least => Err(too_small().into()),
            Ok(money) => Ok(money),
            Err(MoneyError::NotANumber) => Err(messages::number(field).into()),
            Err(MoneyError::TooLarge) if raw.get().starts_with('-') => Err(too_small().into()),
            Err(MoneyError::TooLarge) => Err(messages::at_most(field, &MAX_NUMBER.to_string()).into()),
            Err(MoneyError::TooManyDecimals(scale)) => {
                let small = is_below(currency, raw.get(), least).then(too_small);
                Err(InvalidValue::Messages(
                    std::iter::once(too_many_decimals(field, scale)).chain(small).collect(),
                ))
            }
        }
    }
}

/// An amount of money of either sign, but not zero.
pub fn correction(currency: &Currency) -> impl Fn(&str, &RawValue) -> Read<Correction> {
    move |field, raw| match currency.parse(raw.get()) {
        Ok(money) => Correction::signed(money).ok_or_else(|| messages::not_zero(field).into()),
        Err(MoneyError::NotANumber) => Err(messages::number(field).into()),
        Err(MoneyError::TooLarge) => {
            Err(messages::between(field, &format!("-{MAX_NUMBER}"), &MAX_NUMBER.to_string()).into())
        }
        Err(MoneyError::TooManyDecimals(scale)) => Err(too_many_decimals(field, scale).into()),
    }
}

/// An amount of at least `least`, which is above zero.
pub fn amount(currency: &Currency, least: Money) -> impl Fn(&str, &RawValue) -> Read<Amount> {
    let money = money(currency, least);
    let least = exact(currency, least);
    move |field, raw| Amount::new(money(field, raw)?).ok_or_else(|| messages::at_least(field, &least).into())
}

/// The amount of a new withdrawal.
pub fn withdrawal_amount(currency: &Currency) -> impl Fn(&str, &RawValue) -> Read<WithdrawalAmount> {
    let least = WithdrawalAmount::minimum(currency);
    let (money, least) = (money(currency, least), exact(currency, least));
    move |field, raw| {
        let amount =
            Amount::new(money(field, raw)?).and_then(|amount| WithdrawalAmount::new(amount, currency));
        amount.ok_or_else(|| messages::at_least(field, &least).into())
    }
}

/// The amount that a provider reports as paid: any number, since one that is not an amount of the currency
/// counts as a different amount.
pub fn paid_amount(currency: &Currency) -> impl Fn(&str, &RawValue) -> Read<PaidAmount> {
    move |field, raw| match is_number(raw) {
        true => Ok(PaidAmount::read(raw.get(), currency)),
        false => Err(messages::number(field).into()),
    }
}

/// The currency of the reported payment.
pub fn paid_currency(currency: &Currency) -> impl Fn(&str, &RawValue) -> Read<PaidCurrency> {
    move |field, raw| match string(field, raw)?.trim() {
        "" => Err(InvalidValue::Empty),
        code => Ok(PaidCurrency::read(code, currency)),
    }
}

fn too_many_decimals(field: &str, scale: u8) -> String {
    let places = if scale == 0 { "0".to_owned() } else { format!("0-{scale}") };
    messages::decimals(field, &places)
}

/// Whether a number with too many decimals, written without an exponent, is below the amount.
fn is_below(currency: &Currency, number: &str, sum: Money) -> bool {
    let Some((whole, fraction)) = number.split_once('.') else { return false };
    let kept: String = fraction.chars().take(usize::from(currency.scale())).collect();
    let cut = if kept.is_empty() { whole.to_owned() } else { format!("{whole}.{kept}") };
    number.starts_with('-') || currency.parse(&cut).is_ok_and(|cut| cut < sum)
}

/// The amount within a message, without decimals if they are zero.
fn exact(currency: &Currency, sum: Money) -> String {
    let text = currency.print(sum);
    match text.split_once('.') {
        Some((whole, decimals)) if decimals.bytes().all(|digit| digit == b'0') => whole.to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    fn messages_of<T: std::fmt::Debug>(read: Read<T>) -> Vec<String> {
        match read.unwrap_err() {
            InvalidValue::Empty => vec!["(empty)".to_owned()],
            InvalidValue::Messages(messages) => messages,
        }
    }

    #[test]
    fn amounts_are_validated() {
        let usd = Currency::new("USD", 2).unwrap();
        let read = |text: &str| withdrawal_amount(&usd)("amount", &raw(text)).map(WithdrawalAmount::get);
        for (text, minor) in [("1", 100), ("1.00", 100), ("1e0", 100), ("12.5", 1_250)] {
            assert_eq!(read(text).unwrap().money().minor(), minor, "{text}");
        }
        let (number, least) = ("The amount field must be a number.", "The amount field must be at least 1.");
        let decimals = "The amount field must have 0-2 decimal places.";
        let most = "The amount field must not be greater than 1000000000000.";
        for (text, messages) in [
            ("\"5\"", vec![number]),
            ("true", vec![number]),
            ("{}", vec![number]),
            ("-0", vec![number]),
            ("1e400", vec![number]),
            ("1e999999999", vec![number]),
            ("0", vec![least]),
            ("0.99", vec![least]),
            ("-5", vec![least]),
            ("-1e13", vec![least]),
            ("1.005", vec![decimals]),
            ("0.999999999999999999999", vec![decimals, least]),
            ("-0.001", vec![decimals, least]),
            ("1e13", vec![most]),
        ] {
            assert_eq!(messages_of(read(text)), messages, "{text}");
        }
    }

    #[test]
    fn adjustments_are_signed_and_not_zero() {
        let usd = Currency::new("USD", 2).unwrap();
        let read = |text: &str| correction(&usd)("amount", &raw(text));
        for (text, minor) in
            [("1", 100), ("-1", -100), ("-0.01", -1), ("-2.50000", -250), ("-1e12", -100_000_000_000_000)]
        {
            assert_eq!(read(text).unwrap().sum().minor(), minor, "{text}");
        }
        let number = "The amount field must be a number.";
        let bounds = "The amount field must be between -1000000000000 and 1000000000000.";
        for (text, message) in [
            ("0", "The amount field must not be 0."),
            ("0.00", "The amount field must not be 0."),
            ("-0", number),
            ("\"5\"", number),
            ("-0.001", "The amount field must have 0-2 decimal places."),
            ("1e13", bounds),
            ("-1e13", bounds),
        ] {
            assert_eq!(messages_of(read(text)), [message], "{text}");
        }
    }

    #[test]
    fn a_currency_without_decimals_allows_no_fraction() {
        let yen = Currency::new("JPY", 0).unwrap();
        let read = |text: &str| money(&yen, Money::ZERO)("fee", &raw(text));
        assert_eq!(read("0").unwrap(), Money::ZERO);
        assert_eq!(messages_of(read("0.5")), ["The fee field must have 0 decimal places."]);
        assert_eq!(messages_of(read("-1")), ["The fee field must be at least 0."]);
    }

    #[test]
    fn texts_are_validated() {
        assert_eq!(line("name", &raw("\" Ada \"")).unwrap().as_str(), "Ada");
        assert_eq!(line("name", &raw("\"  \"")), Err(InvalidValue::Empty));
        assert_eq!(messages_of(line("name", &raw("5"))), ["The name field must be a string."]);
        assert_eq!(messages_of(line("name", &raw("\"a\\u0000b\""))), ["The name field format is invalid."]);
        assert_eq!(
            messages_of(line("name", &raw(&format!("\"{}\"", "é".repeat(256))))),
            ["The name field must not be greater than 255 characters."]
        );
        assert_eq!(
            messages_of(email("email", &raw("\"ada\""))),
            ["The email field must be a valid email address."]
        );
        assert_eq!(
            messages_of(password("password", &raw("\"1234567\""))),
            ["The password field must be at least 8 characters."]
        );
        assert_eq!(
            messages_of(music_url("music_url", &raw("\"ftp://x/y\""))),
            ["The music url field must be a valid URL."]
        );
    }

    #[test]
    fn ids_are_whole_numbers() {
        assert_eq!(user_id("dj_id", &raw("7")).unwrap().get(), 7);
        for text in ["1.0", "1e0", "\"7\"", "9223372036854775808", "true"] {
            assert_eq!(
                messages_of(user_id("dj_id", &raw(text))),
                ["The dj id field must be an integer."],
                "{text}"
            );
        }
        for text in ["0", "-1"] {
            assert_eq!(
                messages_of(user_id("dj_id", &raw(text))),
                ["The selected dj id is invalid."],
                "{text}"
            );
        }
    }

    #[test]
    fn choices_and_flags_are_validated() {
        for text in ["\"upcoming\"", "\"Upcoming_Artist\"", "\" UPCOMING \""] {
            assert_eq!(artist_type("artist_type", &raw(text)), Ok(ArtistType::Upcoming), "{text}");
        }
        assert_eq!(artist_type("artist_type", &raw("\"popular_song\"")), Ok(ArtistType::Popular));
        assert_eq!(
            messages_of(artist_type("artist_type", &raw("\"old\""))),
            ["The selected artist type is invalid."]
        );
        assert_eq!(dj_answer("status", &raw("\"played\"")), Ok(DjAnswer::Play));
        assert_eq!(
            messages_of(dj_answer("status", &raw("\"pending\""))),
            ["The selected status is invalid."]
        );
        for (text, yes) in [("true", true), ("1", true), ("false", false), ("0", false)] {
            assert_eq!(flag("online", &raw(text)), Ok(yes), "{text}");
        }
        for text in ["2", "\"1\"", "1.0", "[]"] {
            assert_eq!(
                messages_of(flag("online", &raw(text))),
                ["The online field must be 0 or 1."],
                "{text}"
            );
            assert_eq!(messages_of(boolean("is_dj", &raw(text))), ["The is dj field must be true or false."]);
        }
    }

    #[test]
    fn degrees_are_bounded() {
        let read = |text: &str| degrees(90)("latitude", &raw(text));
        assert!(read("-90").is_ok() && read("52.5").is_ok() && read("9e1").is_ok());
        for text in ["90.1", "1e400", "-1e9"] {
            assert_eq!(messages_of(read(text)), ["The latitude field must be between -90 and 90."], "{text}");
        }
        assert_eq!(messages_of(read("\"5\"")), ["The latitude field must be a number."]);
        assert!(read("-0").unwrap().is_sign_positive());
    }
}
