//! Kinds of field values: how each is read from JSON and described in the document.

use std::collections::BTreeSet;

use cuepoint_domain::application::commands::DjAnswer;
use cuepoint_domain::event::EventType;
use cuepoint_domain::gig::{GuestLimit, QueueOrder};
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::adjustment::Correction;
use cuepoint_domain::money::{Amount, Currency, Money};
use cuepoint_domain::operation::Position;
use cuepoint_domain::ports::Token;
use cuepoint_domain::provider_reference::ProviderReference;
use cuepoint_domain::text::{Email, GigTitle, Line, MAX_CHARACTERS, MusicUrl, Password, Phone, ShortMessage};
use cuepoint_domain::topup::{PaidAmount, PaidCurrency};
use cuepoint_domain::user::guest_account::RecentMinutes;
use cuepoint_domain::user::personal_token::{PersonalToken, TokenDays, TokenScope};
use cuepoint_domain::user::{ArtistType, Kilometres, Role};
use cuepoint_domain::webhook::EndpointUrl;
use cuepoint_domain::withdrawal::WithdrawalAmount;
use serde_json::json;
use serde_json::value::RawValue;
use utoipa::ToSchema;
use utoipa::openapi::schema::{ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{RefOr, Schema};

use crate::wire::values::{self, MAX_NUMBER, Read};
use cuepoint_views::wire::json::Object;
use cuepoint_views::wire::names;
use cuepoint_views::wire::schema::Described;

/// The largest latitude, in degrees.
const MAX_LATITUDE: i16 = 90;
/// The largest longitude, in degrees.
const MAX_LONGITUDE: i16 = 180;
/// Visible ASCII characters.
const URL_PATTERN: &str = "^https?://[!-~]+$";

/// A kind of value.
pub struct Kind<T> {
    /// Reads the value of the field of this name; amounts are in the given currency.
    pub read: fn(&str, &RawValue, &Currency) -> Read<T>,
    pub schema: Described,
}

impl<T> Kind<T> {
    const fn new(schema: fn() -> RefOr<Schema>, read: fn(&str, &RawValue, &Currency) -> Read<T>) -> Self {
        Self { read, schema: Described::inline(schema) }
    }

    const fn named<S: ToSchema>(read: fn(&str, &RawValue, &Currency) -> Read<T>) -> Self {
        Self { read, schema: Described::named::<S>() }
    }

    /// The reader of a field, for amounts in this currency.
    pub fn reader(&self, currency: &Currency) -> impl Fn(&str, &RawValue) -> Read<T> {
        move |field, raw| (self.read)(field, raw, currency)
    }

    /// The kind, described by another schema.
    #[must_use]
    pub const fn described<S: ToSchema>(self) -> Self {
        Self { read: self.read, schema: Described::named::<S>() }
    }
}

/// One line of text. The document describes it once, for all texts: a pattern would be longer than the rest.
pub const LINE: Kind<Line> =
    Kind::new(|| filled().max_length(Some(MAX_CHARACTERS)).into(), |field, raw, _| values::line(field, raw));

/// The title of a gig.
pub const GIG_TITLE: Kind<GigTitle> = Kind::new(
    || filled().max_length(Some(GigTitle::MAX_CHARACTERS)).into(),
    |field, raw, _| values::gig_title(field, raw),
);

/// A short message.
pub const SHORT_MESSAGE: Kind<ShortMessage> = Kind::new(
    || filled().max_length(Some(ShortMessage::MAX_CHARACTERS)).into(),
    |field, raw, _| values::short_message(field, raw),
);

/// The order of a queue.
pub const QUEUE_ORDER: Kind<QueueOrder> =
    Kind::named::<names::QueueOrder>(|field, raw, _| values::queue_order(field, raw));

/// The maximum number of open requests of a guest.
pub const GUEST_LIMIT: Kind<GuestLimit> = Kind::new(
    || whole_number_of(32).minimum(Some(GuestLimit::MIN)).maximum(Some(GuestLimit::MAX)).into(),
    |field, raw, _| values::guest_limit(field, raw),
);

/// A recent time in minutes.
pub const RECENT_MINUTES: Kind<RecentMinutes> = Kind::new(
    || whole_number_of(32).minimum(Some(1)).maximum(Some(RecentMinutes::MAX)).into(),
    |field, raw, _| values::recent_minutes(field, raw),
);

/// An e-mail address.
pub const EMAIL: Kind<Email> = Kind::new(
    || of_format("email").max_length(Some(MAX_CHARACTERS)).into(),
    |field, raw, _| values::email(field, raw),
);

/// A new password.
pub const PASSWORD: Kind<Password> = Kind::new(
    || {
        let password = of_format("password").min_length(Some(Password::MIN_CHARACTERS));
        password.max_length(Some(MAX_CHARACTERS)).into()
    },
    |field, raw, _| values::password(field, raw),
);

/// A password to compare with the stored one.
pub const PRESENTED_PASSWORD: Kind<Password> = Kind::new(
    || of_format("password").min_length(Some(1)).into(),
    |field, raw, _| values::presented(field, raw).map(|text| Password::presented(&text)),
);

/// A token or code to compare with the stored one.
pub const TOKEN: Kind<Token> =
    Kind::new(|| filled().into(), |field, raw, _| values::presented(field, raw).map(Token));

/// Text that is not empty.
pub const PRESENTED: Kind<String> =
    Kind::new(|| filled().into(), |field, raw, _| values::presented(field, raw));

/// A phone number in E.164 format.
pub const PHONE: Kind<Phone> = Kind::new(phone, |field, raw, _| values::phone(field, raw));

/// A phone number; the stored one is accepted in any form.
pub const PHONE_OR_STORED: Kind<Line> = Kind::new(phone, |field, raw, _| values::line(field, raw));

/// The address of music on the web.
pub const MUSIC_URL: Kind<MusicUrl> = Kind::new(
    || of_format("uri").max_length(Some(MusicUrl::MAX_CHARACTERS)).into(),
    |field, raw, _| values::music_url(field, raw),
);

/// The URL of a webhook endpoint.
pub const ENDPOINT_URL: Kind<EndpointUrl> = Kind::new(
    || of_format("uri").max_length(Some(EndpointUrl::MAX_CHARACTERS)).pattern(Some(URL_PATTERN)).into(),
    |field, raw, _| values::endpoint_url(field, raw),
);

/// A list of types of events.
pub const EVENT_TYPES: Kind<BTreeSet<EventType>> = Kind {
    read: |field, raw, _| values::event_types(field, raw),
    schema: Described::list::<names::EventType>(),
};

/// The scopes of a personal access token.
pub const TOKEN_SCOPES: Kind<BTreeSet<TokenScope>> = Kind {
    read: |field, raw, _| values::token_scopes(field, raw),
    schema: Described::list::<names::TokenScope>(),
};

/// The lifetime of a personal access token, in days.
pub const TOKEN_DAYS: Kind<TokenDays> = Kind::new(
    || {
        let days = whole_number_of(32).minimum(Some(PersonalToken::MIN_DAYS));
        days.maximum(Some(PersonalToken::MAX_DAYS)).into()
    },
    |field, raw, _| values::token_days(field, raw),
);

/// `true` or `false`, also written 1 or 0.
pub const BOOLEAN: Kind<bool> =
    Kind::new(|| of_type(Type::Boolean).into(), |field, raw, _| values::boolean(field, raw));

/// 1 or 0, also written `true` or `false`.
pub const FLAG: Kind<bool> = Kind::new(flag, |field, raw, _| values::flag(field, raw));

/// The id of a user.
pub const USER_ID: Kind<UserId> = Kind::new(id, |field, raw, _| values::user_id(field, raw));

/// A position in the order of events, or 0.
pub const POSITION: Kind<Position> = Kind::new(position, |field, raw, _| values::position(field, raw));

/// The popularity of an artist.
pub const ARTIST_TYPE: Kind<ArtistType> =
    Kind::named::<names::ArtistType>(|field, raw, _| values::artist_type(field, raw));

/// The answer of a DJ to a request.
pub const DJ_ANSWER: Kind<DjAnswer> =
    Kind::named::<names::DjDecision>(|field, raw, _| values::dj_answer(field, raw));

/// A role that an operator can assign.
pub const ROLE: Kind<Role> = Kind::named::<names::AssignableRole>(|field, raw, _| values::role(field, raw));

/// Degrees north.
pub const LATITUDE: Kind<f64> =
    Kind::new(|| degrees(MAX_LATITUDE), |field, raw, _| values::degrees(MAX_LATITUDE)(field, raw));

/// Degrees east.
pub const LONGITUDE: Kind<f64> =
    Kind::new(|| degrees(MAX_LONGITUDE), |field, raw, _| values::degrees(MAX_LONGITUDE)(field, raw));

/// A distance in kilometres.
pub const KILOMETRES: Kind<Kilometres> = Kind::new(
    || measured().minimum(Some(0)).maximum(Some(Kilometres::MAX)).into(),
    |field, raw, _| values::kilometres(field, raw),
);

/// A price: an amount of money, or 0.
pub const PRICE: Kind<Money> = Kind::new(
    || decimal().minimum(Some(0)).maximum(Some(MAX_NUMBER)).into(),
    |field, raw, currency| values::money(currency, Money::ZERO)(field, raw),
);

/// An amount of money.
pub const AMOUNT: Kind<Amount> = Kind::new(
    || decimal().exclusive_minimum(Some(0)).maximum(Some(MAX_NUMBER)).into(),
    |field, raw, currency| values::amount(currency, Money::from_minor(1))(field, raw),
);

/// The amount of a withdrawal, at least 1 in major units.
pub const WITHDRAWAL_AMOUNT: Kind<WithdrawalAmount> = Kind::new(
    || decimal().minimum(Some(WithdrawalAmount::MIN_WHOLE_UNITS)).maximum(Some(MAX_NUMBER)).into(),
    |field, raw, currency| values::withdrawal_amount(currency)(field, raw),
);

/// A correction of a balance, up or down.
pub const CORRECTION: Kind<Correction> = Kind::new(
    || decimal().minimum(Some(MAX_NUMBER.saturating_neg())).maximum(Some(MAX_NUMBER)).into(),
    |field, raw, currency| values::correction(currency)(field, raw),
);

/// The amount in a provider's message: any number, since one that is not an amount of the currency counts as
/// a different amount.
pub const PAID_AMOUNT: Kind<PaidAmount> =
    Kind::new(|| decimal().into(), |field, raw, currency| values::paid_amount(currency)(field, raw));

/// The currency in a provider's message.
pub const PAID_CURRENCY: Kind<PaidCurrency> =
    Kind::new(|| text().into(), |field, raw, currency| values::paid_currency(currency)(field, raw));

/// The reference of a top-up or withdrawal at its provider.
pub const PROVIDER_REFERENCE: Kind<ProviderReference> =
    Kind::named::<names::ProviderReferenceText>(|field, raw, _| values::provider_reference(field, raw));

/// A 64-bit integer that the document describes as an id.
pub const STATED_ID: Kind<i64> = Kind::new(id, |field, raw, _| values::integer(field, raw));

/// Text that the service interprets itself.
pub const ANY_TEXT: Kind<String> = Kind::new(|| text().into(), |field, raw, _| values::presented(field, raw));

/// An object.
pub const OBJECT: Kind<Object> =
    Kind::new(|| of_type(Type::Object).into(), |field, raw, _| values::object(field, raw));

/// An id, as a filter or in a provider's message.
#[must_use]
pub fn id() -> RefOr<Schema> {
    whole_number().minimum(Some(1)).into()
}

/// A position in the order of events, or 0.
#[must_use]
pub fn position() -> RefOr<Schema> {
    whole_number().minimum(Some(0)).into()
}

/// A 64-bit integer.
#[must_use]
pub fn whole_number() -> ObjectBuilder {
    whole_number_of(64)
}

/// An integer of this many bits.
#[must_use]
pub fn whole_number_of(bits: u8) -> ObjectBuilder {
    of_type(Type::Integer).format(Some(SchemaFormat::Custom(format!("int{bits}"))))
}

/// 1 or 0.
#[must_use]
pub fn flag() -> RefOr<Schema> {
    whole_number_of(32).minimum(Some(0)).maximum(Some(1)).into()
}

/// A timestamp in the format of RFC 3339.
#[must_use]
pub fn timestamp() -> RefOr<Schema> {
    of_format("date-time").into()
}

/// A number with an exact decimal value.
#[must_use]
pub fn decimal() -> ObjectBuilder {
    of_type(Type::Number).format(Some(SchemaFormat::Custom("decimal".to_owned())))
}

/// Any text.
#[must_use]
pub fn text() -> ObjectBuilder {
    of_type(Type::String)
}

fn of_type(schema_type: Type) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(schema_type)
}

fn of_format(format: &str) -> ObjectBuilder {
    text().format(Some(SchemaFormat::Custom(format.to_owned())))
}

fn filled() -> ObjectBuilder {
    text().min_length(Some(1))
}

fn measured() -> ObjectBuilder {
    of_type(Type::Number).format(Some(SchemaFormat::Custom("double".to_owned())))
}

fn degrees(most: i16) -> RefOr<Schema> {
    measured().minimum(Some(i32::from(most).saturating_neg())).maximum(Some(i32::from(most))).into()
}

fn phone() -> RefOr<Schema> {
    let mut phone = text().pattern(Some("^\\+[1-9][0-9]{6,14}$")).build();
    phone.example = Some(json!("+4930123456"));
    Schema::from(phone).into()
}
