//! Texts restricted to a few names, as listed in the document; derived from the code, so that none is
//! missing.

use std::borrow::Cow;

use cuepoint_domain::{
    address, entity_ref, event, gig, ledger, music_request, operation, privacy::personal_data,
    provider_message, security_log, tip, topup, user, user::challenge, user::personal_token, webhook,
    withdrawal,
};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::wire::entry_kinds;
use crate::wire::schema::text_of;

/// The statuses of the ledger audit: before the first completed audit, without a contradiction, and with one.
pub const AUDIT_STATUSES: [(&str, &str); 3] = [
    ("pending", "No audit has been completed yet."),
    ("consistent", "The last completed audit found no contradiction."),
    ("broken", "The last completed audit found a contradiction, which `finding` shows."),
];

/// The decisions of a DJ about a request.
pub const DJ_DECISIONS: [(&str, &str); 3] = [
    ("accepted", "The DJ wants to play the song."),
    ("rejected", "The DJ does not want to play the song. The fee is released."),
    ("played", "The DJ has played the song. The fee is paid to the DJ, less the commission."),
];

/// The types of messages about top-ups.
const TOPUP_MESSAGES: [(&str, &str); 3] = [
    ("topup.confirmed", "The payment arrived."),
    ("topup.failed", "The payment was refused or abandoned. No money will arrive."),
    ("topup.reversed", "The payer charged the payment back."),
];
/// The types of messages about payouts.
const PAYOUT_MESSAGES: [(&str, &str); 3] = [
    ("payout.broadcast", "The transaction was broadcast to the network."),
    ("payout.completed", "The network confirmed the transaction."),
    (
        "payout.failed",
        "Nothing was sent, and nothing will be. If the order was sent more than once, an operator has to review the \
         withdrawal.",
    ),
];

/// The statuses in the answer to a payment request.
const PAYMENT_REQUEST_STATUSES: [(&str, &str); 2] = [
    ("accepted", "The payment system has the request, and will report the payment in messages."),
    ("refused", "The payment will never be made. It counts only with a status of 2xx or 4xx."),
];
/// The statuses in the answer to a payout order.
const PAYOUT_STATUSES: [(&str, &str); 4] = [
    ("accepted", "The payout system will send the payout, and report it in messages."),
    ("broadcast", "The transaction `txid` was broadcast to the network."),
    ("completed", "The network confirmed the transaction `txid`."),
    ("refused", "Nothing was sent, and nothing will be. It counts only with a status of 2xx or 4xx."),
];

/// The outcome of a message that an operator will review.
pub const STORED_FOR_REVIEW: &str = "stored_for_review";
/// The outcome of a message that only the log has.
pub const LOGGED_FOR_REVIEW: &str = "logged_for_review";
/// The outcomes of messages that contradict the ledger.
const MESSAGE_OUTCOMES: [(&str, &str); 2] = [
    (STORED_FOR_REVIEW, "The message changed nothing. It is stored for an operator."),
    (LOGGED_FOR_REVIEW, "The message changed nothing. It is only logged, because too many are unresolved."),
];

/// The type of a test of a webhook endpoint.
pub const WEBHOOK_TEST: &str = "webhook.test";
/// The type of an event that only a newer version knows.
pub const UNKNOWN_TYPE: &str = "unknown";
const WEBHOOK_TEST_TYPE: (&str, &str) = (WEBHOOK_TEST, "A test that its owner requested.");
/// The types of what is sent to webhook endpoints, beside the types of events.
const OTHER_WEBHOOK_TYPES: [(&str, &str); 2] =
    [WEBHOOK_TEST_TYPE, (UNKNOWN_TYPE, "An event of a newer version of the service.")];

/// The statuses of webhook endpoints.
const ENDPOINT_STATUSES: [(&str, &str); 3] = {
    let [active, paused, disabled] = webhook::EndpointState::NAMES;
    [
        (active, "Events are delivered."),
        (paused, "The owner paused the endpoint."),
        (disabled, "The service disabled the endpoint."),
    ]
};

/// The schema of a text with a fixed set of values: its description explains each of them. The first value is the
/// example without another one.
#[must_use]
pub fn schema_of<M: AsRef<str>>(
    documentation: &[&str],
    names: impl Iterator<Item = (&'static str, M)>,
    example: Option<&str>,
) -> RefOr<Schema> {
    let (names, lines): (Vec<&str>, Vec<String>) = names
        .map(|(name, meaning)| {
            let lines: Vec<&str> = meaning.as_ref().lines().collect();
            (name, format!("- `{name}`: {}", text_of(&lines)))
        })
        .unzip();
    let description = format!("{}\n\n{}", text_of(documentation), lines.join("\n"));
    let names = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names));
    let mut names = names.description(Some(description)).build();
    names.example = example.map(|example| serde_json::json!(example));
    RefOr::T(names.into())
}

/// Declares texts with a fixed set of values, each explained in the OpenAPI document.
#[macro_export]
macro_rules! explained_names {
    ($($(#[doc = $doc:literal])+ $name:ident = $names:expr $(, example: $example:literal)?;)+) => {$(
        $(#[doc = $doc])+
        pub struct $name;

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                $crate::wire::names::schema_of(&[$($doc),+], $names, [$($example)?].first().copied())
            }
        }

        impl utoipa::ToSchema for $name {}
    )+};
}

/// Declares the names of an enum of the domain as texts. The doc comments of the enum explain them.
macro_rules! names_of {
    ($($(#[doc = $doc:literal])+ $name:ident = $of:ty $(, example: $example:literal)?;)+) => {
        explained_names! {$(
            $(#[doc = $doc])+
            $name = <$of>::all().map(|value| (value.name(), value.meaning())) $(, example: $example)?;
        )+}
    };
}

names_of! {
    /// Status of a music request. This is its life cycle:
    ///
    /// | from | to | by | fee |
    /// |---|---|---|---|
    /// | (new) | `pending` | the guest | held |
    /// | `pending` | `accepted` | the DJ | stays held |
    /// | `pending`, `accepted` | `rejected` | the DJ, or the service after the end of the gig | released in full |
    /// | `pending` | `cancelled` | the guest | released in full |
    /// | `pending` | `expired` | time: `requests.pending_ttl_seconds` (15 minutes) | released in full |
    /// | `pending` in a gig | `expired` | time: `gigs.pending_ttl_seconds` (30 minutes) | released in full |
    /// | `accepted` | `expired` | time: `requests.accepted_ttl_seconds` (60 minutes) | released in full |
    /// | `accepted` in a gig | `expired` | time: `gigs.accepted_ttl_seconds` (3 hours) | released in full |
    /// | `pending`, `accepted` | `played` | the DJ | paid to the DJ, less the commission |
    /// | `played` | `refunded` | an operator who is neither the guest nor the DJ | reversed by new entries |
    ///
    /// Setting the current status again returns 200 and changes nothing. Every other transition returns 409
    /// `invalid_transition`.
    ///
    /// A request counts as expired from the end of its time, in every transition, list, filter and total. A
    /// background job releases its fee afterwards, or immediately if the guest needs the money for another
    /// operation.
    ///
    /// The values:
    MusicRequestStatus = music_request::RequestStatus;
    /// Status of a withdrawal. This is its life cycle:
    ///
    /// | from | to | by | amount |
    /// |---|---|---|---|
    /// | (new) | `pending` | the owner | held |
    /// | `pending` | `approved` | the service, an operator who is not the owner, or two such operators | stays held |
    /// | `pending`, `approved` | `rejected` | an operator who is not the owner | released |
    /// | `pending`, `approved` | `cancelled` | the owner | released |
    /// | `approved` | `processing` | the payout worker, or an operator | stays held |
    /// | `processing` | `broadcast`, `needs_review` | the payout provider, or an operator | stays held |
    /// | `processing` | `failed` | the payout provider | released |
    /// | `processing` | `failed` | an operator who is not the owner, if nothing was sent | released |
    /// | `broadcast` | `completed` | the payout provider, or an operator | paid out |
    /// | `broadcast` | `needs_review` | the payout provider, or an operator | stays held |
    /// | `needs_review` | `broadcast` | an operator | stays held |
    /// | `needs_review` | `completed` | an operator | paid out |
    /// | `needs_review` | `failed` | an operator who is not the owner | released |
    ///
    /// Setting the current status again returns 200 and changes nothing. Every other transition returns 409
    /// `invalid_transition`.
    ///
    /// - If the payout provider refuses a payout order that was sent more than once, the withdrawal becomes
    ///   `needs_review` instead of `failed`.
    /// - A broadcast or completion under another transaction than the recorded one returns 409
    ///   `invalid_transition`. In `needs_review`, an operator can name another transaction.
    /// - While the owner owes money, a withdrawal cannot be created, approved, or sent for the first time. A pending
    ///   or approved one waits for `debt`. Other transitions remain possible, and a payout order that was sent
    ///   continues. If the owner cancels the withdrawal, the released money pays the debt.
    ///
    /// The values:
    WithdrawalStatus = withdrawal::WithdrawalStatus;
    /// What a withdrawal waits for:
    WaitingFor = withdrawal::WaitingFor;
    /// Role of a user:
    Role = user::Role;
    /// Type of an event. Clients have to ignore types that they do not know.
    EventType = event::EventType;
    /// Kind of an event in the security log:
    SecurityEventKind = security_log::SecurityEventKind, example: "operator_action";
    /// Validation of the addresses of withdrawals:
    AddressPolicy = address::AddressPolicy;
    /// Network of a payout:
    PayoutNetwork = address::Network;
    /// Purpose of a code or token:
    ChallengePurpose = challenge::Purpose;
    /// Kind of an operation:
    OperationKind = operation::PlanKind, example: "adjust";
    /// Who carried out an operation:
    ActedBy = personal_data::ActedBy, example: "operator";
    /// Status of a top-up. This is its life cycle:
    ///
    /// | from | to | by | money |
    /// |---|---|---|---|
    /// | (new) | `pending` | the guest | not yet paid |
    /// | `pending` | `confirmed` | the payment provider | paid in |
    /// | `pending` | `failed` | the payment provider, or the erasure of the user | never paid |
    /// | `confirmed` | `reversed` | the payment provider, or an operator who is not the owner | taken back |
    ///
    /// A reversal takes the amount from the available balance, never from an amount that is held. The shortfall
    /// becomes a debt. DJs who were paid with the money keep it.
    ///
    /// The values:
    TopupStatus = topup::TopupStatus;
    /// Status of a gig. This is its life cycle:
    ///
    /// | from | to | by | money |
    /// |---|---|---|---|
    /// | (new) | `open` | the DJ | – |
    /// | `open` | `paused` | the DJ, by `accepting` or by `online` of the profile | – |
    /// | `paused` | `open` | the DJ, by `accepting` or by `online` of the profile | – |
    /// | `open`, `paused` | `ended` | the DJ | the fees of its open requests are released in full |
    /// | `open`, `paused` | `ended` | time: `gigs.max_hours` (12) after its opening | the same |
    /// | `open`, `paused` | `ended` | the service, if the DJ is suspended or erased | the same |
    ///
    /// An ended gig stays ended. Ending it again changes nothing.
    ///
    /// The values:
    GigStatus = gig::GigStatus;
    /// What a personal access token may read:
    TokenScope = personal_token::TokenScope;
    /// Order of a queue:
    QueueOrder = gig::QueueOrder;
    /// Side of the caller in a tip:
    TipDirection = tip::TipDirection;
    /// Popularity of an artist:
    ArtistType = user::ArtistType, example: "popular";
    /// Provider that sent a message:
    ProviderMessageSource = provider_message::MessageSource;
    /// Contradiction between a message and the ledger. After a `partial_reversal`, an operator can debit the part with
    /// `createAdjustment`.
    ProviderMessageReason = provider_message::Contradiction, example: "amount_mismatch";
    /// Events that a webhook endpoint receives:
    EventFeed = event::Feed;
    /// Reason why the service disabled a webhook endpoint. The reuse of a refresh token also disables the endpoints
    /// with a URL that its session has set, with the reason `security`. After `secret_lost`, the secret has to be
    /// rotated before the endpoint can be enabled.
    WebhookDisabledReason = webhook::DisabledReason;
    /// Reason why a webhook endpoint gave no complete answer:
    WebhookAttemptError = webhook::AttemptError;
}

explained_names! {
    /// Kind of a wallet entry:
    EntryKind = ledger::EntryKind::all().map(|kind| (entry_kinds::name(kind), entry_kinds::meaning(kind))),
        example: "hold";
    /// Kind of an object:
    ReferenceType = entity_ref::EntityKind::posted()
        .map(|kind| (kind.name(), format!("The {} with the given id.", kind.title())));
    /// Result of the ledger audit:
    AuditStatus = AUDIT_STATUSES.into_iter(), example: "consistent";
    /// Role of a user that an operator can assign:
    AssignableRole = user::Role::assignable().map(|role| (role.name(), role.meaning()));
    /// Decision of a DJ about a request:
    DjDecision = DJ_DECISIONS.into_iter();
    /// Type of a message about a top-up:
    TopupMessageType = TOPUP_MESSAGES.into_iter();
    /// Type of a message about a payout:
    PayoutMessageType = PAYOUT_MESSAGES.into_iter();
    /// Type of a message of a provider:
    ProviderMessageType = TOPUP_MESSAGES.into_iter().chain(PAYOUT_MESSAGES);
    /// Status of a payment request in its answer:
    PaymentRequestStatus = PAYMENT_REQUEST_STATUSES.into_iter();
    /// Status of a payout in the answer to its order:
    PayoutStatus = PAYOUT_STATUSES.into_iter(), example: "broadcast";
    /// Outcome of a provider's message that contradicts the ledger:
    ProviderMessageOutcome = MESSAGE_OUTCOMES.into_iter();
    /// Status of a webhook endpoint. While it is paused or disabled, events and failed deliveries wait. They are
    /// attempted once `paused` is set to `false`.
    WebhookEndpointStatus = ENDPOINT_STATUSES.into_iter();
    /// Type of a test of a webhook endpoint:
    WebhookTestType = [WEBHOOK_TEST_TYPE].into_iter();
    /// Type of what was sent to a webhook endpoint:
    WebhookType = event::EventType::all()
        .map(|kind| (kind.name(), kind.meaning()))
        .chain(OTHER_WEBHOOK_TYPES);
    /// Status of a success:
    SuccessStatus = [("ok", "The request succeeded.")].into_iter();
    /// Status of a failure:
    FailureStatus = [("error", "The request failed.")].into_iter();
    /// Scheme of an access token:
    TokenType = [("Bearer", "The token is sent in the header `Authorization: Bearer …`.")].into_iter();
    /// Type of a public key:
    JwkKeyType = [("EC", "A key on an elliptic curve.")].into_iter();
    /// Curve of a public key:
    JwkCurve = [("P-256", "The curve P-256 of NIST.")].into_iter();
    /// Algorithm of a public key:
    JwkAlgorithm = [("ES256", "ECDSA on P-256 with SHA-256.")].into_iter();
    /// Use of a public key:
    JwkUse = [("sig", "The key verifies signatures.")].into_iter();
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
