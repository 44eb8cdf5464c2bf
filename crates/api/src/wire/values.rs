//! Readers of single field values from JSON text, and their validation messages.

use std::collections::BTreeSet;

use cuepoint_domain::application::commands::DjAnswer;
use cuepoint_domain::event::EventType;
use cuepoint_domain::gig::{GuestLimit, QueueOrder};
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::adjustment::Correction;
use cuepoint_domain::money::{self, Amount, Currency, Money, MoneyError};
use cuepoint_domain::operation::Position;
use cuepoint_domain::provider_message::Excerpt;
use cuepoint_domain::provider_reference::ProviderReference;
use cuepoint_domain::text::{Email, GigTitle, Line, MusicUrl, Password, Phone, ShortMessage, TextError};
use cuepoint_domain::topup::{PaidAmount, PaidCurrency};
use cuepoint_domain::user::guest_account::RecentMinutes;
use cuepoint_domain::user::personal_token::{PersonalToken, TokenDays, TokenScope};
use cuepoint_domain::user::{ArtistType, Kilometres, Role};
use cuepoint_domain::webhook::EndpointUrl;
use cuepoint_domain::withdrawal::WithdrawalAmount;
use serde_json::value::RawValue;

use crate::wire::validation_texts::{self, FieldProblem};
use cuepoint_views::wire::json::Object;
use cuepoint_views::wire::names;

/// The maximum amount of one field, in major units.
pub const MAX_NUMBER: i64 = money::MAX_WHOLE_UNITS;

/// The reason for rejecting a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InvalidValue {
    /// Empty, and treated as missing.
    Empty,
    /// Invalid for these reasons.
    Problems(Vec<FieldProblem>),
}

impl From<FieldProblem> for InvalidValue {
    fn from(problem: FieldProblem) -> Self {
        Self::Problems(vec![problem])
    }
}

/// The result of reading a value.
pub type Read<T> = Result<T, InvalidValue>;

fn string(field: &str, raw: &RawValue) -> Read<String> {
    serde_json::from_str(raw.get()).map_err(|_| validation_texts::string(field).into())
}

fn is_number(raw: &RawValue) -> bool {
    raw.get().bytes().next().is_some_and(|first| first == b'-' || first.is_ascii_digit())
}

/// The rejection of a text; `malformed` is the message for an invalid format.
fn refused(field: &str, error: TextError, malformed: fn(&str) -> FieldProblem) -> InvalidValue {
    match error {
        TextError::Empty => InvalidValue::Empty,
        TextError::TooLong(most) => validation_texts::at_most_characters(field, &most.to_string()).into(),
        TextError::TooShort(least) => validation_texts::at_least_characters(field, &least.to_string()).into(),
        TextError::ControlCharacter => validation_texts::format(field).into(),
        TextError::Malformed => malformed(field).into(),
    }
}

/// One line of text.
pub fn line(field: &str, raw: &RawValue) -> Read<Line> {
    Line::new(&string(field, raw)?).map_err(|error| refused(field, error, validation_texts::format))
}

/// The title of a gig.
pub fn gig_title(field: &str, raw: &RawValue) -> Read<GigTitle> {
    GigTitle::new(&string(field, raw)?).map_err(|error| refused(field, error, validation_texts::format))
}

/// A short message.
pub fn short_message(field: &str, raw: &RawValue) -> Read<ShortMessage> {
    ShortMessage::new(&string(field, raw)?).map_err(|error| refused(field, error, validation_texts::format))
}

/// The order of a queue.
pub fn queue_order(field: &str, raw: &RawValue) -> Read<QueueOrder> {
    match string(field, raw)?.trim() {
        "" => Err(InvalidValue::Empty),
        name => QueueOrder::named(name)
            .ok_or_else(|| validation_texts::one_of(field, QueueOrder::all().map(QueueOrder::name)).into()),
    }
}

/// The maximum number of open requests of a guest.
pub fn guest_limit(field: &str, raw: &RawValue) -> Read<GuestLimit> {
    let number = u8::try_from(integer(field, raw)?).ok();
    let (least, most) = (GuestLimit::MIN.to_string(), GuestLimit::MAX.to_string());
    number.and_then(GuestLimit::new).ok_or_else(|| validation_texts::between(field, &least, &most).into())
}

/// A recent time in minutes.
pub fn recent_minutes(field: &str, raw: &RawValue) -> Read<RecentMinutes> {
    let minutes = RecentMinutes::new(integer(field, raw)?);
    minutes.ok_or_else(|| validation_texts::between(field, "1", &RecentMinutes::MAX.to_string()).into())
}

/// An e-mail address.
pub fn email(field: &str, raw: &RawValue) -> Read<Email> {
    Email::to_own(&string(field, raw)?).map_err(|error| refused(field, error, validation_texts::email))
}

/// A new phone number.
pub fn phone(field: &str, raw: &RawValue) -> Read<Phone> {
    Phone::new(&string(field, raw)?).map_err(|error| refused(field, error, validation_texts::phone))
}

/// A web address of music.
pub fn music_url(field: &str, raw: &RawValue) -> Read<MusicUrl> {
    MusicUrl::new(&string(field, raw)?).map_err(|error| refused(field, error, validation_texts::url))
}

/// The URL of a webhook endpoint.
pub fn endpoint_url(field: &str, raw: &RawValue) -> Read<EndpointUrl> {
    EndpointUrl::new(string(field, raw)?.trim())
        .map_err(|error| refused(field, error, validation_texts::endpoint_url))
}

/// A new password.
pub fn password(field: &str, raw: &RawValue) -> Read<Password> {
    Password::new(&string(field, raw)?).map_err(|error| refused(field, error, validation_texts::format))
}

/// Any text that is not empty, to be compared with a stored value.
pub fn presented(field: &str, raw: &RawValue) -> Read<String> {
    let text = string(field, raw)?;
    if text.is_empty() { Err(InvalidValue::Empty) } else { Ok(text) }
}

/// A boolean, also written 1 or 0.
pub fn boolean(field: &str, raw: &RawValue) -> Read<bool> {
    yes_or_no(raw.get()).ok_or_else(|| validation_texts::boolean(field).into())
}

/// 1 or 0, also written true or false.
pub fn flag(field: &str, raw: &RawValue) -> Read<bool> {
    yes_or_no(raw.get()).ok_or_else(|| validation_texts::flag(field).into())
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
    serde_json::from_str(raw.get()).map_err(|_| validation_texts::integer(field).into())
}

/// An object in the body.
pub fn object(field: &str, raw: &RawValue) -> Read<Object> {
    Object::parse(raw.get().as_bytes()).map_err(|_| validation_texts::object(field).into())
}

/// A position in the order of events, or 0.
pub fn position(field: &str, raw: &RawValue) -> Read<Position> {
    Position::new(integer(field, raw)?).ok_or_else(|| validation_texts::at_least(field, "0").into())
}

/// Types of events, of which a list has at least one; repeated ones count once.
pub fn event_types(field: &str, raw: &RawValue) -> Read<BTreeSet<EventType>> {
    named_items(field, raw, EventType::named, unknown_event_type)
}

/// The scopes of a personal access token.
pub fn token_scopes(field: &str, raw: &RawValue) -> Read<BTreeSet<TokenScope>> {
    named_items(field, raw, TokenScope::named, |field, name| {
        unknown_item(field, name, TokenScope::all().map(TokenScope::name))
    })
}

/// A list of at least one name.
fn named_items<T: Ord>(
    field: &str,
    raw: &RawValue,
    named: fn(&str) -> Option<T>,
    unknown: fn(&str, &str) -> FieldProblem,
) -> Read<BTreeSet<T>> {
    let items: Vec<&RawValue> = serde_json::from_str(raw.get()).map_err(|_| validation_texts::list(field))?;
    if items.is_empty() {
        return Err(validation_texts::at_least_items(field, "1").into());
    }
    let item = |item: &RawValue| {
        let text = serde_json::from_str::<String>(item.get());
        let name = text.as_deref().unwrap_or(item.get());
        named(name).ok_or_else(|| unknown(field, name).into())
    };
    items.into_iter().map(item).collect()
}

/// The lifetime of a personal access token.
pub fn token_days(field: &str, raw: &RawValue) -> Read<TokenDays> {
    let days = u16::try_from(integer(field, raw)?).ok().and_then(TokenDays::new);
    let (least, most) = (PersonalToken::MIN_DAYS.to_string(), PersonalToken::MAX_DAYS.to_string());
    days.ok_or_else(|| validation_texts::between(field, &least, &most).into())
}

/// The problem of a list of types with this name, which no type has.
#[must_use]
pub fn unknown_event_type(field: &str, name: &str) -> FieldProblem {
    unknown_item(field, name, EventType::all().map(EventType::name))
}

/// The problem of a list with a name that is none of these.
fn unknown_item(field: &str, name: &str, known: impl Iterator<Item = &'static str>) -> FieldProblem {
    validation_texts::unknown_name(field, Excerpt::<64>::of(name).as_str(), known)
}

/// The id of a user, existing or not.
pub fn user_id(field: &str, raw: &RawValue) -> Read<UserId> {
    UserId::new(integer(field, raw)?).ok_or_else(|| validation_texts::selected(field).into())
}

/// The reference of a withdrawal or top-up at its provider.
pub fn provider_reference(field: &str, raw: &RawValue) -> Read<ProviderReference> {
    match string(field, raw)?.trim() {
        "" => Err(InvalidValue::Empty),
        text => text.parse().map_err(|_| validation_texts::format(field).into()),
    }
}

/// The artist type, by either of its names.
pub fn artist_type(field: &str, raw: &RawValue) -> Read<ArtistType> {
    match string(field, raw)?.trim().to_ascii_lowercase().as_str() {
        "" => Err(InvalidValue::Empty),
        "upcoming" | "upcoming_artist" => Ok(ArtistType::Upcoming),
        "popular" | "popular_song" => Ok(ArtistType::Popular),
        _ => Err(validation_texts::one_of(field, ArtistType::all().map(ArtistType::name)).into()),
    }
}

/// A role that an operator can assign.
pub fn role(field: &str, raw: &RawValue) -> Read<Role> {
    match string(field, raw)?.trim() {
        "" => Err(InvalidValue::Empty),
        name => Role::assignable()
            .find(|role| role.name() == name)
            .ok_or_else(|| validation_texts::one_of(field, Role::assignable().map(Role::name)).into()),
    }
}

/// The answer of a DJ to a request.
pub fn dj_answer(field: &str, raw: &RawValue) -> Read<DjAnswer> {
    match string(field, raw)?.trim() {
        "" => Err(InvalidValue::Empty),
        "accepted" => Ok(DjAnswer::Accept),
        "rejected" => Ok(DjAnswer::Reject),
        "played" => Ok(DjAnswer::Play),
        _ => Err(validation_texts::one_of(field, names::DJ_DECISIONS.map(|(name, _)| name)).into()),
    }
}

/// A number of degrees between −`most` and `most`.
pub fn degrees(most: i16) -> impl Fn(&str, &RawValue) -> Read<f64> {
    move |field, raw| {
        let most = f64::from(most);
        float(field, raw)?
            .filter(|degrees| (-most..=most).contains(degrees))
            .ok_or_else(|| validation_texts::between(field, &format!("-{most}"), &most.to_string()).into())
    }
}

/// A distance in kilometres.
pub fn kilometres(field: &str, raw: &RawValue) -> Read<Kilometres> {
    float(field, raw)?
        .and_then(Kilometres::new)
        .ok_or_else(|| validation_texts::between(field, "0", &Kilometres::MAX.to_string()).into())
}

/// A JSON number as a float; `None` if it is out of range.
fn float(field: &str, raw: &RawValue) -> Read<Option<f64>> {
    if !is_number(raw) {
        return Err(validation_texts::number(field).into());
    }
    // Adding zero normalizes a negative zero.
    Ok(serde_json::from_str::<f64>(raw.get()).ok().map(|number| number + 0.0))
}

/// An amount of money of at least `least`.
pub fn money(currency: &Currency, least: Money) -> impl Fn(&str, &RawValue) -> Read<Money> {
    move |field, raw| {
        let too_small = || validation_texts::at_least(field, &exact(currency, least));
        match currency.parse(raw.get()) {
            Ok(money) if money < least => Err(too_small().into()),
            Ok(money) => Ok(money),
            Err(MoneyError::NotANumber) => Err(validation_texts::number(field).into()),
            Err(MoneyError::TooLarge) if raw.get().starts_with('-') => Err(too_small().into()),
            Err(MoneyError::TooLarge) => {
                Err(validation_texts::at_most(field, &MAX_NUMBER.to_string()).into())
            }
            Err(MoneyError::TooManyDecimals(scale)) => {
                let small = is_below(currency, raw.get(), least).then(too_small);
                let decimals = validation_texts::decimals(field, scale);
                Err(InvalidValue::Problems(std::iter::once(decimals).chain(small).collect()))
            }
        }
    }
}

/// An amount of money of either sign, but not zero.
pub fn correction(currency: &Currency) -> impl Fn(&str, &RawValue) -> Read<Correction> {
    move |field, raw| match currency.parse(raw.get()) {
        Ok(money) => Correction::signed(money).ok_or_else(|| validation_texts::not_zero(field).into()),
        Err(MoneyError::NotANumber) => Err(validation_texts::number(field).into()),
        Err(MoneyError::TooLarge) => {
            Err(validation_texts::between(field, &format!("-{MAX_NUMBER}"), &MAX_NUMBER.to_string()).into())
        }
        Err(MoneyError::TooManyDecimals(scale)) => Err(validation_texts::decimals(field, scale).into()),
    }
}

/// An amount of at least `least`, which is above zero.
pub fn amount(currency: &Currency, least: Money) -> impl Fn(&str, &RawValue) -> Read<Amount> {
    let money = money(currency, least);
    let least = exact(currency, least);
    move |field, raw| {
        Amount::new(money(field, raw)?).ok_or_else(|| validation_texts::at_least(field, &least).into())
    }
}

/// The amount of a new withdrawal.
pub fn withdrawal_amount(currency: &Currency) -> impl Fn(&str, &RawValue) -> Read<WithdrawalAmount> {
    let least = WithdrawalAmount::minimum(currency);
    let (money, least) = (money(currency, least), exact(currency, least));
    move |field, raw| {
        let amount =
            Amount::new(money(field, raw)?).and_then(|amount| WithdrawalAmount::new(amount, currency));
        amount.ok_or_else(|| validation_texts::at_least(field, &least).into())
    }
}

/// The amount that a provider reports as paid: any number, since one that is not an amount of the currency
/// counts as a different amount.
pub fn paid_amount(currency: &Currency) -> impl Fn(&str, &RawValue) -> Read<PaidAmount> {
    move |field, raw| match is_number(raw) {
        true => Ok(PaidAmount::read(raw.get(), currency)),
        false => Err(validation_texts::number(field).into()),
    }
}

/// The currency of the reported payment.
pub fn paid_currency(currency: &Currency) -> impl Fn(&str, &RawValue) -> Read<PaidCurrency> {
    move |field, raw| match string(field, raw)?.trim() {
        "" => Err(InvalidValue::Empty),
        code => Ok(PaidCurrency::read(code, currency)),
    }
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
mod tests;
