//! Texts restricted to a few names, as listed in the document; derived from the code, so that none is
//! missing.

use std::borrow::Cow;

use cuepoint_domain::{
    address, entity_ref, event, ledger, music_request, operation, privacy::personal_data, provider_message,
    security_log, topup, user, user::challenge, webhook, withdrawal,
};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::wire::entry_kinds;

/// The statuses: before the first completed audit, without a contradiction, and with one.
pub const AUDIT_STATUSES: [&str; 3] = ["pending", "consistent", "broken"];
/// The answers of a DJ.
pub const DJ_DECISIONS: [&str; 3] = ["accepted", "rejected", "played"];
/// The types of messages about top-ups.
const TOPUP_EVENTS: [&str; 3] = ["topup.confirmed", "topup.failed", "topup.reversed"];
/// The types of messages about payouts.
const PAYOUT_EVENTS: [&str; 3] = ["payout.broadcast", "payout.completed", "payout.failed"];

/// The outcome of a message that an operator will review.
pub const STORED_FOR_REVIEW: &str = "stored_for_review";
/// The outcome of a message that only the log has.
pub const LOGGED_FOR_REVIEW: &str = "logged_for_review";
/// The outcomes of messages that contradict the ledger, with their meanings.
const MESSAGE_OUTCOMES: [(&str, &str); 2] = [
    (STORED_FOR_REVIEW, "The message changed nothing. It is stored for an operator."),
    (LOGGED_FOR_REVIEW, "The message changed nothing. It is only logged, because too many are unresolved."),
];

/// The type of a test of a webhook endpoint.
pub const WEBHOOK_TEST: &str = "webhook.test";
/// The type of an event that only a newer version knows.
pub const UNKNOWN_TYPE: &str = "unknown";

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident = $names:expr;)+) => {$(
        $(#[$doc])*
        pub struct $name;

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                let names = ObjectBuilder::new().schema_type(Type::String).enum_values(Some($names));
                RefOr::T(names.build().into())
            }
        }

        impl ToSchema for $name {}
    )+};
}

/// Declares strings with a fixed set of values, each explained in the OpenAPI document.
#[macro_export]
macro_rules! explained_names {
    ($(#[doc = $doc:literal] $name:ident = $names:expr;)+) => {$(
        #[doc = $doc]
        pub struct $name;

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                let (names, lines): (Vec<String>, Vec<String>) = $names
                    .map(|(name, meaning): (&str, String)| (name.to_owned(), format!("- `{name}`: {meaning}")))
                    .unzip();
                let description = format!("{}\n\n{}", $doc.trim(), lines.join("\n"));
                let names = utoipa::openapi::ObjectBuilder::new()
                    .schema_type(utoipa::openapi::Type::String).enum_values(Some(names));
                utoipa::openapi::RefOr::T(names.description(Some(description)).build().into())
            }
        }

        impl utoipa::ToSchema for $name {}
    )+};
}

explained_names! {
    /// Kind of a wallet entry:
    EntryKind = ledger::EntryKind::all()
        .map(|kind| (entry_kinds::name(kind), entry_kinds::meaning(kind).to_owned()));
    /// Outcome of a provider's message that contradicts the ledger:
    ProviderMessageOutcome = MESSAGE_OUTCOMES.iter().map(|(name, meaning)| (*name, (*meaning).to_owned()));
}

/// Reference of a top-up or withdrawal at its provider: a UUID or a decimal id.
pub struct ProviderReferenceText;

impl PartialSchema for ProviderReferenceText {
    fn schema() -> RefOr<Schema> {
        let form = "^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[1-9][0-9]{0,17})$";
        RefOr::T(ObjectBuilder::new().schema_type(Type::String).pattern(Some(form)).build().into())
    }
}

impl ToSchema for ProviderReferenceText {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("ProviderReference")
    }
}

names! {
    /// Status of a request.
    MusicRequestStatus = music_request::RequestStatus::all().map(music_request::RequestStatus::name);
    /// Status of a withdrawal.
    WithdrawalStatus = withdrawal::WithdrawalStatus::all().map(withdrawal::WithdrawalStatus::name);
    /// What has to happen before a withdrawal can go on.
    WaitingFor = withdrawal::WaitingFor::all().map(withdrawal::WaitingFor::name);
    /// Role of an account.
    Role = user::Role::all().map(user::Role::name);
    /// Type of an event.
    EventType = event::EventType::all().map(event::EventType::name);
    /// Kind of a security log event.
    SecurityEventKind = security_log::SecurityEventKind::all().map(|kind| kind.name());
    /// Policy for checking withdrawal addresses.
    AddressPolicy = address::AddressPolicy::all().map(address::AddressPolicy::name);
    /// Network of a payout.
    PayoutNetwork = address::Network::all().map(|network| network.name());
    /// Purpose of a code or token.
    ChallengePurpose = challenge::Purpose::all().map(challenge::Purpose::name);
    /// Kind of an operation.
    OperationKind = operation::PlanKind::all().map(operation::PlanKind::name);
    /// Actor of an operation on an account: its user, an operator, or the service.
    ActedBy = personal_data::ActedBy::all().map(personal_data::ActedBy::name);
    /// Status of a top-up.
    TopupStatus = topup::TopupStatus::all().map(topup::TopupStatus::name);
    /// Result of a ledger audit.
    AuditStatus = AUDIT_STATUSES;
    /// Popularity of an artist.
    ArtistType = user::ArtistType::all().map(user::ArtistType::name);
    /// Kind of the object of a wallet entry.
    ReferenceType = entity_ref::EntityKind::posted().map(entity_ref::EntityKind::name);
    /// Answer of a DJ.
    DjDecision = DJ_DECISIONS;
    /// Type of a message about a top-up.
    TopupMessageType = TOPUP_EVENTS;
    /// Type of a message about a payout.
    PayoutMessageType = PAYOUT_EVENTS;
    /// Provider of a message.
    ProviderMessageSource = provider_message::MessageSource::all().map(provider_message::MessageSource::name);
    /// Type of a stored provider message.
    ProviderMessageType = TOPUP_EVENTS.into_iter().chain(PAYOUT_EVENTS);
    /// Kind of a contradiction between a message and the ledger.
    ProviderMessageReason = provider_message::Contradiction::all().map(provider_message::Contradiction::name);
    /// Events that a webhook endpoint receives: those about its owner, or all.
    EventFeed = event::Feed::all().map(event::Feed::name);
    /// Status of a webhook endpoint.
    WebhookEndpointStatus = webhook::EndpointState::NAMES;
    /// Reason for which the service disabled a webhook endpoint.
    WebhookDisabledReason = webhook::DisabledReason::all().map(webhook::DisabledReason::name);
    /// Type of what was sent to a webhook endpoint: that of an event, `webhook.test`, or `unknown` for an event of a
    /// newer version.
    WebhookType = event::EventType::all().map(event::EventType::name).chain([WEBHOOK_TEST, UNKNOWN_TYPE]);
    /// Reason for which a webhook endpoint gave no answer.
    WebhookAttemptError = webhook::AttemptError::all().map(webhook::AttemptError::name);
    /// Status of a success.
    SuccessStatus = ["ok"];
    /// Status of a failure.
    FailureStatus = ["error"];
    /// Scheme of an access token.
    TokenType = ["Bearer"];
    /// Type of a public key.
    JwkKeyType = ["EC"];
    /// Curve of a public key.
    JwkCurve = ["P-256"];
    /// Algorithm of a public key.
    JwkAlgorithm = ["ES256"];
    /// Use of a public key.
    JwkUse = ["sig"];
}
