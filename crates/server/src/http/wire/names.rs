//! Texts that are one of a few names, as the document lists them: taken from the code, so that none is forgotten.

use std::borrow::Cow;

use cuepoint_domain::{
    account, account::challenge, account::personal_data, account::security_log, address, ledger,
    music_request, provider_message, topup, withdrawal,
};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::http::wire::error::Code;

/// The statuses: before the first completed audit, without a contradiction, and with one.
pub const AUDIT_STATUSES: [&str; 3] = ["pending", "consistent", "broken"];
/// The types of messages about top-ups.
const TOPUP_EVENTS: [&str; 3] = ["topup.confirmed", "topup.failed", "topup.reversed"];
/// The types of messages about payouts.
const PAYOUT_EVENTS: [&str; 3] = ["payout.broadcast", "payout.completed", "payout.failed"];

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

/// The reference of a top-up or withdrawal at its provider: a UUID or a decimal id.
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
    /// Where a request stands.
    RequestStatus = music_request::RequestStatus::all().map(music_request::RequestStatus::name);
    /// Where a withdrawal stands.
    WithdrawalStatus = withdrawal::WithdrawalStatus::all().map(withdrawal::WithdrawalStatus::name);
    /// What somebody may do beyond their own affairs.
    Role = account::Role::all().map(account::Role::name);
    /// What the security log has.
    EventKind = security_log::EventKind::all().map(|kind| kind.name());
    /// How closely a withdrawal's destination is looked at.
    AddressPolicy = address::AddressPolicy::all().map(address::AddressPolicy::name);
    /// What a withdrawal can be paid out on.
    Network = address::Network::all().map(|network| network.name());
    /// What a code or token is good for.
    ChallengePurpose = challenge::Purpose::all().map(challenge::Purpose::name);
    /// What an operation did.
    OperationKind = ledger::PlanKind::all().map(ledger::PlanKind::name);
    /// Who was behind an operation about a person: that person, an operator, or the service.
    ActedBy = personal_data::ActedBy::all().map(personal_data::ActedBy::name);
    /// Where a top-up stands.
    TopupStatus = topup::TopupStatus::all().map(topup::TopupStatus::name);
    /// How a self-check found the ledger.
    AuditStatus = AUDIT_STATUSES;
    /// How well known the artist is.
    ArtistType = account::ArtistType::all().map(account::ArtistType::name);
    /// Why a wallet changed.
    EntryKind = ledger::EntryKind::all().map(ledger::EntryKind::name);
    /// What an entry is about.
    ReferenceType = ledger::EntityKind::posted().map(ledger::EntityKind::name);
    /// What went wrong.
    ErrorCode = Code::ALL.iter().map(|code| code.name());
    /// What a DJ may say.
    Verdict = ["accepted", "rejected", "played"];
    /// What a provider says of a top-up.
    TopupEventType = TOPUP_EVENTS;
    /// What a provider says of a payout.
    PayoutEventType = PAYOUT_EVENTS;
    /// A provider.
    MessageSource = provider_message::MessageSource::all().map(provider_message::MessageSource::name);
    /// What a kept message of a provider says.
    ProviderMessageType = TOPUP_EVENTS.into_iter().chain(PAYOUT_EVENTS);
    /// How a message contradicts the ledger.
    MessageReasonCode = provider_message::Contradiction::all().map(provider_message::Contradiction::name);
    /// That it went well.
    SuccessStatus = ["ok"];
    /// That it did not.
    FailureStatus = ["error"];
    /// How an access token is presented.
    TokenType = ["Bearer"];
    /// What kind of key a public key is.
    JwkKeyType = ["EC"];
    /// The curve of a public key.
    JwkCurve = ["P-256"];
    /// What a public key is used with.
    JwkAlgorithm = ["ES256"];
    /// What a public key is for.
    JwkUse = ["sig"];
}
