//! The declaration of an operation: its route, its body, its answers and its documentation, written once.
//!
//! Each file of [`operations`](crate::operations) declares its operations beside their handlers:
//!
//! ```text
//! operations! {
//!     /// Create a withdrawal
//!     ///
//!     /// The amount is held at once.
//!     POST "/api/v1/withdrawal/crypto" "createWithdrawal" {
//!         tag: Withdrawals,
//!         run: command(open),
//!         answers: created_bare::<CreatedWithdrawalData>("The withdrawal.").located("/api/v1/withdrawals"),
//!         class: Class::Withdrawals,
//!         body: json::<WithdrawalBody>(),
//!         fails: &[Code::LimitExceeded, Code::InsufficientFunds],
//!     }
//! }
//! ```
//!
//! The first paragraph is the summary, the others are the description. `tag`, `run` and `answers` are required
//! and come first; any other field of [`Declaration`] may follow. The authorization is that of the command
//! that the handler runs; the other constructors of an [`Endpoint`] take theirs.

use std::rc::Rc;

use actix_web::http::{Method, StatusCode};
use cuepoint_domain::authorization::Action;
use serde_json::Value;
use utoipa::ToSchema;

use crate::endpoint::{Body, Endpoint, Exposure};
use crate::wire::envelope::{BareSuccess, Success};
use crate::wire::error::Code;
use crate::wire::filters::Filter;
use crate::wire::page::{PAGE_PARAMETERS, Page};
use crate::wire::read_only::{self, ReadOnlyFields};
use crate::wire::server_sent_events;
use cuepoint_transport::rate_limits::Class;
use cuepoint_views::wire::schema::{Described, text_of};

/// The media type of all bodies but a few of the service itself.
pub const JSON: &str = "application/json";

/// An operation.
pub struct Declaration {
    /// Its method; a GET also answers HEAD.
    pub method: Method,
    /// Its path, with `{id}` in place of an id, or `{code}` in place of the code of a DJ.
    pub path: &'static str,
    /// Earlier paths on which it is still served, beside the documented one.
    pub aliases: &'static [&'static str],
    /// Its name for generated clients.
    pub id: &'static str,
    /// The lines of its doc comment.
    pub documentation: &'static [&'static str],
    /// Its tag in the document.
    pub tag: Tag,
    /// The networks from which it is reachable.
    pub exposure: Exposure,
    /// The rate limit that its calls count against; operations outside the base address have none.
    pub class: Class,
    /// Its request body.
    pub body: Input,
    /// Its query parameters, except those of pagination.
    pub filters: &'static [Filter],
    pub answers: SuccessResponse,
    /// The failures that the other fields do not imply.
    pub fails: &'static [Code],
    /// Whether existing clients depend on its exact form: its query is parsed as PHP does, and what it does not
    /// know is ignored.
    pub is_fixed: bool,
    /// Its handler, with the authorization that it requires.
    pub run: Endpoint,
    /// Derived once from the body and the answer.
    pub read_only: ReadOnlyFields,
}

impl Declaration {
    /// The operation with the defaults of all optional fields: no body, no parameters and no failures of its
    /// own. Operations for staff are reachable from the networks of operators.
    #[must_use]
    pub fn new(
        method: Method,
        path: &'static str,
        id: &'static str,
        documentation: &'static [&'static str],
        run: Endpoint,
        answers: SuccessResponse,
    ) -> Self {
        let is_for_staff = run.action().is_some_and(Action::is_for_staff);
        Self {
            method,
            path,
            aliases: &[],
            id,
            documentation,
            tag: Tag::Service,
            exposure: if is_for_staff { Exposure::Operators } else { Exposure::Everywhere },
            class: Class::Other,
            body: Input::NONE,
            filters: &[],
            answers,
            fails: &[],
            is_fixed: false,
            run,
            read_only: ReadOnlyFields::default(),
        }
    }

    /// Whether query parameters and fields that it does not know are refused. The messages of providers are not the
    /// service's to define.
    #[must_use]
    pub const fn is_strict(&self) -> bool {
        !self.is_fixed && !self.run.is_plain() && !self.run.is_signed()
    }

    /// Whether it has a query parameter of this name.
    #[must_use]
    pub fn has_parameter(&self, name: &str) -> bool {
        (self.answers.is_page && PAGE_PARAMETERS.contains(&name))
            || self.filters.iter().any(|filter| filter.name == name)
    }

    /// The fields of the object in the answer that the body cannot set; none if the body has the arguments of an
    /// action.
    #[must_use]
    pub fn read_only_fields(&self) -> Rc<[String]> {
        self.read_only.get_or_derive(|| match (&self.body.schema, &self.answers.content) {
            (Some(body), Some((_, answer))) if self.body.is_object && self.is_strict() => {
                read_only::derived(body, answer)
            }
            _ => Vec::new(),
        })
    }

    /// The first paragraph of the documentation, without a full stop.
    #[must_use]
    pub fn summary(&self) -> String {
        let text = text_of(self.documentation);
        text.split("\n\n").next().unwrap_or_default().to_owned()
    }

    /// The remaining paragraphs, if any.
    #[must_use]
    pub fn description(&self) -> Option<String> {
        text_of(self.documentation).split_once("\n\n").map(|(_, description)| description.to_owned())
    }
}

/// Declares the operations of a file.
macro_rules! operations {
    ($(
        $(#[doc = $doc:literal])+
        $method:ident $path:literal $id:literal {
            tag: $tag:ident,
            run: $run:expr,
            answers: $answers:expr
            $(, $key:ident: $value:expr)*
            $(,)?
        }
    )+) => {
        /// The operations of this file.
        pub(in crate::operations) fn operations() -> Vec<$crate::declaration::Declaration> {
            use $crate::declaration::{Declaration, Tag};
            vec![$(Declaration {
                tag: Tag::$tag,
                $($key: $value,)*
                ..Declaration::new(
                    actix_web::http::Method::$method,
                    $path,
                    $id,
                    &[$($doc),+],
                    $run,
                    $answers,
                )
            }),+]
        }
    };
}

pub(crate) use operations;

/// The request body of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// Whether a body is read.
    pub takes: Body,
    /// Its schema, if a body is read.
    pub schema: Option<Described>,
    /// Whether its fields are fields of the object in the answer, rather than arguments of an action.
    pub is_object: bool,
}

impl Input {
    /// No body.
    pub const NONE: Self = Self { takes: Body::None, schema: None, is_object: false };
}

/// A JSON object with the arguments of an action.
#[must_use]
pub const fn json<T: ToSchema>() -> Input {
    Input { takes: Body::Json, schema: Some(Described::named::<T>()), is_object: false }
}

/// A JSON object with fields of the object in the answer: its other fields are refused, unless they have their
/// current value.
#[must_use]
pub const fn object<T: ToSchema>() -> Input {
    Input { is_object: true, ..json::<T>() }
}

/// A JSON object, or no body.
#[must_use]
pub const fn optional_json<T: ToSchema>() -> Input {
    Input { takes: Body::Optional, ..json::<T>() }
}

/// The success response of an operation.
#[derive(Clone, Debug)]
pub struct SuccessResponse {
    pub status: StatusCode,
    pub description: &'static str,
    /// Its media type and schema, if it has a body.
    pub content: Option<(&'static str, Described)>,
    /// The description of the 204 without a body that the operation may return instead.
    pub or_no_content: Option<&'static str>,
    /// Whether it is a page, selected by the parameters `page` and `per_page`.
    pub is_page: bool,
    /// The path below which `Location` is the address of the created object.
    pub location: Option<&'static str>,
    /// A header specific to this operation, with its description.
    pub header: Option<(&'static str, &'static str)>,
    /// Names and values of fields in its example that differ from the examples of their schemas.
    pub shown: &'static [(&'static str, &'static str)],
    /// The events that it streams.
    pub streamed: Option<Streamed>,
}

/// The events of a stream.
#[derive(Clone, Copy, Debug)]
pub struct Streamed {
    /// The schema of their data.
    pub data: Described,
    /// The stream with an event that has these data.
    pub example: fn(&Value) -> String,
}

impl SuccessResponse {
    const fn new(status: StatusCode, description: &'static str) -> Self {
        Self {
            status,
            description,
            content: None,
            or_no_content: None,
            is_page: false,
            location: None,
            header: None,
            shown: &[],
            streamed: None,
        }
    }

    /// The media type of its body, or that of failures if it has none.
    #[must_use]
    pub fn media_type(&self) -> &'static str {
        self.content.as_ref().map_or(JSON, |(media_type, _)| media_type)
    }

    /// Adds the address of the created object, below this path, in `Location`.
    #[must_use]
    pub fn located(self, path: &'static str) -> Self {
        Self { location: Some(path), ..self }
    }

    /// Adds a 204 without a body, which the operation may return instead.
    #[must_use]
    pub fn or_no_content(self, description: &'static str) -> Self {
        Self { or_no_content: Some(description), ..self }
    }

    /// Shows these values in its example, by the names of their fields, instead of the examples of their schemas.
    #[must_use]
    pub fn showing(self, shown: &'static [(&'static str, &'static str)]) -> Self {
        Self { shown, ..self }
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(self, name: &'static str, description: &'static str) -> Self {
        Self { header: Some((name, description)), ..self }
    }
}

/// 200 with this data.
#[must_use]
pub fn ok<T: ToSchema>(description: &'static str) -> SuccessResponse {
    of_type(JSON, Described::envelope::<Success<T>, T>(), description)
}

/// 200 with a page of these rows.
#[must_use]
pub fn page<T: ToSchema>(description: &'static str) -> SuccessResponse {
    let page = Described::page::<Success<Page<T>>, Page<T>, T>();
    SuccessResponse { is_page: true, ..of_type(JSON, page, description) }
}

/// 200 with server-sent events that have these data.
#[must_use]
pub fn event_stream<T: ToSchema>(description: &'static str) -> SuccessResponse {
    let stream = Described::inline(server_sent_events::schema::<T>);
    SuccessResponse {
        streamed: Some(Streamed { data: Described::named::<T>(), example: server_sent_events::example }),
        ..of_type(server_sent_events::MEDIA_TYPE, stream, description)
    }
}

/// 200 with server-sent events that have these data and no id.
#[must_use]
pub fn signal_stream<T: ToSchema>(description: &'static str) -> SuccessResponse {
    let stream = Described::inline(server_sent_events::schema_of_signals::<T>);
    SuccessResponse {
        streamed: Some(Streamed {
            data: Described::named::<T>(),
            example: server_sent_events::example_of_signal,
        }),
        ..of_type(server_sent_events::MEDIA_TYPE, stream, description)
    }
}

/// 201 with this data.
#[must_use]
pub fn created<T: ToSchema>(description: &'static str) -> SuccessResponse {
    SuccessResponse { status: StatusCode::CREATED, ..ok::<T>(description) }
}

/// 202 with this data.
#[must_use]
pub fn accepted<T: ToSchema>(description: &'static str) -> SuccessResponse {
    SuccessResponse { status: StatusCode::ACCEPTED, ..ok::<T>(description) }
}

/// 201 with this data and no message.
#[must_use]
pub fn created_bare<T: ToSchema>(description: &'static str) -> SuccessResponse {
    let envelope = Described::envelope::<BareSuccess<T>, T>();
    SuccessResponse { status: StatusCode::CREATED, ..of_type(JSON, envelope, description) }
}

/// 200 with a body outside the envelope.
#[must_use]
pub fn of_type(media_type: &'static str, schema: Described, description: &'static str) -> SuccessResponse {
    SuccessResponse {
        content: Some((media_type, schema)),
        ..SuccessResponse::new(StatusCode::OK, description)
    }
}

macro_rules! tags {
    ($($(#[doc = $doc:literal])+ $tag:ident = $name:literal;)+) => {
        /// A tag of the document.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Tag {
            $($(#[doc = $doc])+ $tag,)+
        }

        impl Tag {
            /// All tags, in the order of the document.
            pub const ALL: &[Self] = &[$(Self::$tag),+];

            /// Its name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$tag => $name,)+
                }
            }

            /// Its description.
            #[must_use]
            pub fn description(self) -> String {
                match self {
                    $(Self::$tag => text_of(&[$($doc),+]),)+
                }
            }
        }
    };
}

tags! {
    /// The caller's profile, and the export and erasure of personal data.
    Profile = "Profile";
    /// Registration, login and sessions. `refreshSession` keeps a session alive.
    SignIn = "Sign-in";
    /// Passwords, and verification and change of e-mail addresses and phone numbers.
    Passwords = "Passwords and verification";
    /// DJs and the guests blocked by them.
    Djs = "DJs";
    /// The evenings of a DJ, with their queues. `GigStatus` describes the life cycle.
    Gigs = "Gigs";
    /// What everybody can see of gigs, and the caller's requests in them.
    Boards = "Boards";
    /// Music requests and their fees. `MusicRequestStatus` describes the life cycle.
    Requests = "Music requests";
    /// The caller's balance, statement and top-ups. `TopupStatus` describes the life cycle of a top-up.
    Wallet = "Wallet";
    /// Withdrawals of the caller's balance. `WithdrawalStatus` describes the life cycle.
    Withdrawals = "Withdrawals";
    /// What happened to requests and money, in one order: `listEvents` as pages, `streamEvents` as it happens.
    Events = "Events";
    /// URLs to which the caller's events are sent. `receiveEvent` describes the deliveries.
    Webhooks = "Webhooks";
    /// Review and processing of withdrawals by operators.
    OperatorWithdrawals = "Operator: withdrawals";
    /// Top-ups, refunds, adjustments, suspense, and messages of providers that contradict the ledger.
    OperatorMoney = "Operator: money";
    /// Users, their roles and their suspension.
    OperatorUsers = "Operator: users";
    /// The ledger audit, the security log, and the events of all users.
    OperatorAudit = "Operator: audit and events";
    /// URLs to which the events of all users are sent.
    OperatorWebhooks = "Operator: webhooks";
    /// Messages of payment and payout providers, signed as Standard Webhooks specifies.
    Providers = "Providers";
    /// Health, metrics, public keys and this document.
    Service = "Service";
}
