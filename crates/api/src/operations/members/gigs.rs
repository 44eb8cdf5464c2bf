//! Gigs of the caller.

use cuepoint_domain::application::commands::{ChangeGig, EndGig, OpenGig};
use cuepoint_domain::application::queries::ShownGig;
use cuepoint_domain::application::{Done, FailedRejections};
use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_domain::gig::{GigChange, GigRecord, GuestLimit, NewGig, QueueOrder};
use cuepoint_domain::ids::GigId;
use cuepoint_domain::money::Money;
use cuepoint_domain::text::{GigTitle, Line, ShortMessage};
use cuepoint_domain::user::guest_account::RecentMinutes;
use cuepoint_domain::user::{DjChange, Field, Locate};

use serde::Serialize;
use utoipa::ToSchema;

use crate::call::{self, ApiCall};
use crate::command_call::CommandCall;
use crate::declaration::{accepted, created, json, object, ok, operations, optional_json, page};
use crate::endpoint::{authenticated, command};
use crate::wire::body::body;
use crate::wire::envelope::ApiResponse;
use crate::wire::error::{ApiError, Code};
use crate::wire::kinds;
use cuepoint_transport::rate_limits::Class;
use cuepoint_views::Empty;
use cuepoint_views::gig::{GigData, GigView, QueueData};
use cuepoint_views::gig_report::{GigReportData, GigReportView};

operations! {
    /// Open a gig
    ///
    /// Opens an evening of the caller, a DJ. The DJ is online then, with the given prices. Requests that guests make
    /// from then on belong to the gig. By default, a request in a gig expires if it is not accepted within 30
    /// minutes, or not played within three hours after that.
    ///
    /// The code belongs to the DJ and stays the same from gig to gig, so printed posters remain valid. `new_code` replaces
    /// it permanently.
    ///
    /// - 409 `gig_open`: another gig of the caller has not ended. `gig` is its id.
    POST "/api/v1/gigs" "openGig" {
        tag: Gigs,
        run: command(open),
        answers: created::<GigData>("The gig.").located("/api/v1/gigs"),
        class: Class::Gigs,
        body: object::<NewGigBody>(),
        fails: &[Code::DjOnly, Code::GigOpen],
    }

    /// List the caller's gigs
    ///
    /// The gigs of the caller, a DJ, newest first. Returns 403 `dj_only` to a caller who is not a DJ.
    GET "/api/v1/gigs" "listGigs" {
        tag: Gigs,
        run: authenticated(Action::ReadGig, list),
        answers: page::<GigView>("A page of the caller's gigs, newest first."),
        fails: &[Code::DjOnly, Code::ValidationFailed],
    }

    /// Show a gig
    ///
    /// Only the DJ of the gig can see it. Others get 404 `not_found`.
    GET "/api/v1/gigs/{id}" "getGig" {
        tag: Gigs,
        run: authenticated(Action::ReadGig, show),
        answers: ok::<GigData>("The gig."),
    }

    /// Change a gig
    ///
    /// Fields that are missing keep their values. `accepting` pauses and continues the gig: it sets `online` of the
    /// DJ. An ended gig returns 409 `invalid_transition`.
    PATCH "/api/v1/gigs/{id}" "updateGig" {
        tag: Gigs,
        run: command(change),
        answers: ok::<GigData>("The changed gig."),
        body: object::<GigUpdateBody>(),
        fails: &[Code::InvalidTransition],
    }

    /// End a gig
    ///
    /// Ends a gig of the caller, who is offline then. The service rejects all its open requests within seconds, and
    /// releases their fees in full. To play accepted songs last, pause the gig first, and end it later. Ending an
    /// ended gig changes nothing.
    POST "/api/v1/gigs/{id}/end" "endGig" {
        tag: Gigs,
        run: command(end),
        answers: ok::<GigData>("The ended gig.").showing(&[("status", "ended")]),
        body: optional_json::<Empty>(),
    }

    /// Reject requests of guests
    ///
    /// Begins to reject the pending requests in a gig of the caller that count as guests' and were made within the given
    /// time, and returns their number: those of guest accounts, and of members who at that time had neither a verified
    /// address or phone nor a confirmed top-up or charged fee. The fees are released in full. Accepted requests and those
    /// of other members stay. If the server fails meanwhile, repeat the request; it takes no Idempotency-Key.
    POST "/api/v1/gigs/{id}/reject-guests" "rejectGuestAccounts" {
        tag: Gigs,
        run: authenticated(Action::RunGig, reject_guests),
        answers: accepted::<GuestRejectionView>("The requests will be rejected."),
        body: json::<GuestRejectionBody>(),
        fails: &[Code::DjOnly],
    }

    /// Show the queue of a gig
    ///
    /// The open requests of a gig in the order in which the DJ is advised to play them. `QueueOrder` describes the order.
    /// The DJ may play any request at any time.
    ///
    /// Open requests to the DJ from before the gig are in the queue. They do not belong to the gig. Once played, they
    /// count neither in the rounds nor in the report.
    GET "/api/v1/gigs/{id}/queue" "getGigQueue" {
        tag: Gigs,
        run: authenticated(Action::ReadGig, queue),
        answers: ok::<QueueData<'_>>("The queue."),
    }

    /// Show the report on a gig
    ///
    /// What happened at a gig, in numbers. It can be read during the gig too.
    ///
    /// - 503 `unavailable` with `Retry-After`: other reports are computed, one at a time for a DJ and two for a server.
    GET "/api/v1/gigs/{id}/report" "getGigReport" {
        tag: Gigs,
        run: authenticated(Action::ReadGig, report),
        answers: ok::<GigReportData<'_>>("The report."),
    }
}

body! {
    /// The requests of guests to reject.
    pub struct GuestRejectionBody as "GuestRejection", example: {"younger_than_minutes": 15} {
        /// Age of the oldest request to reject, in minutes: 1 to 720.
        younger_than_minutes: RecentMinutes = required(kinds::RECENT_MINUTES),
    }
}

/// The number of requests of guests that will be rejected.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = GuestRejectionResult)]
pub struct GuestRejectionView {
    /// Number of requests that will be rejected.
    #[schema(minimum = 0, example = 12)]
    pub matching: usize,
}

body! {
    /// A gig to open.
    pub struct NewGigBody as "NewGig", example: {
        "title": "Friday at the Blue Room", "venue": "Blue Room", "city": "Berlin", "fee_popular_song": 10.00
    } {
        /// Title, at most 80 characters.
        title: GigTitle = required(kinds::GIG_TITLE),
        /// Venue, such as a club.
        venue: Option<Line> = optional(kinds::LINE),
        /// City.
        city: Option<Line> = optional(kinds::LINE),
        /// Latitude in degrees north, to be set together with `longitude`.
        latitude: Option<f64> = optional(kinds::LATITUDE),
        /// Longitude in degrees east, to be set together with `latitude`.
        longitude: Option<f64> = optional(kinds::LONGITUDE),
        /// Message to the guests, at most 140 characters.
        message: Option<ShortMessage> = optional(kinds::SHORT_MESSAGE),
        /// Order of the queue; by default `rounds`.
        queue_order: Option<QueueOrder> = optional(kinds::QUEUE_ORDER),
        /// Largest number of open requests of one guest, 1 to 100; by default 3.
        max_open_per_guest: Option<GuestLimit> = optional(kinds::GUEST_LIMIT),
        /// 1 if guest accounts cannot make requests; by default 0.
        members_only: Option<bool> = optional(kinds::FLAG),
        /// 1 if the pages ask guests for the `artist_type` of their song. By default 0: the price of a popular song.
        asks_kind: Option<bool> = optional(kinds::FLAG),
        /// Price of a song by an upcoming artist, in major units; by default unchanged.
        fee_upcoming_artist: Option<Money> = optional(kinds::PRICE),
        /// Price of a popular song, in major units; by default unchanged.
        fee_popular_song: Option<Money> = optional(kinds::PRICE),
        /// 1 replaces the code of the DJ; by default 0.
        new_code: Option<bool> = optional(kinds::FLAG),
    }
}

body! {
    /// A change of a gig. Omitted fields keep their values; `null` clears a nullable field.
    pub struct GigUpdateBody as "GigUpdate", example: {"message": "Last hour", "accepting": 0} {
        /// Title, at most 80 characters.
        title: Field<GigTitle> = change(kinds::GIG_TITLE),
        /// Venue, such as a club.
        venue: Field<Option<Line>> = change_or_clear(kinds::LINE),
        /// City.
        city: Field<Option<Line>> = change_or_clear(kinds::LINE),
        /// Latitude in degrees north, to be set together with `longitude`.
        latitude: Field<Option<f64>> = change_or_clear(kinds::LATITUDE),
        /// Longitude in degrees east, to be set together with `latitude`.
        longitude: Field<Option<f64>> = change_or_clear(kinds::LONGITUDE),
        /// Message to the guests, at most 140 characters.
        message: Field<Option<ShortMessage>> = change_or_clear(kinds::SHORT_MESSAGE),
        /// Order of the queue.
        queue_order: Field<QueueOrder> = change(kinds::QUEUE_ORDER),
        /// Largest number of open requests of one guest, 1 to 100.
        max_open_per_guest: Field<GuestLimit> = change(kinds::GUEST_LIMIT),
        /// 1 if guest accounts cannot make requests, otherwise 0. It has no effect as long as there are no guest accounts.
        members_only: Field<bool> = change(kinds::FLAG),
        /// 1 if the pages ask guests for the kind of their song, otherwise 0.
        asks_kind: Field<bool> = change(kinds::FLAG),
        /// Price of a song by an upcoming artist, in major units.
        fee_upcoming_artist: Field<Money> = change(kinds::PRICE),
        /// Price of a popular song, in major units.
        fee_popular_song: Field<Money> = change(kinds::PRICE),
        /// 0 pauses the gig, 1 continues it.
        accepting: Field<bool> = change(kinds::FLAG),
    }
}

/// A field that is set if a value was given.
fn given<T>(value: Option<T>) -> Field<T> {
    value.map_or(Field::Keep, Field::Set)
}

impl From<NewGigBody> for NewGig {
    fn from(body: NewGigBody) -> Self {
        Self {
            title: body.title,
            venue: body.venue,
            city: body.city,
            place: Locate { latitude: Field::Set(body.latitude), longitude: Field::Set(body.longitude) },
            message: body.message,
            queue_order: body.queue_order.unwrap_or_default(),
            max_open_per_guest: body.max_open_per_guest.unwrap_or_default(),
            members_only: body.members_only.unwrap_or_default(),
            asks_kind: body.asks_kind.unwrap_or_default(),
            prices: DjChange {
                online: Field::Keep,
                fee_upcoming_artist: given(body.fee_upcoming_artist),
                fee_popular_song: given(body.fee_popular_song),
            },
            new_code: body.new_code.unwrap_or_default(),
        }
    }
}

impl From<GigUpdateBody> for GigChange {
    fn from(body: GigUpdateBody) -> Self {
        Self {
            title: body.title,
            venue: body.venue,
            city: body.city,
            place: Locate { latitude: body.latitude, longitude: body.longitude },
            message: body.message,
            queue_order: body.queue_order,
            max_open_per_guest: body.max_open_per_guest,
            members_only: body.members_only,
            asks_kind: body.asks_kind,
            dj: DjChange {
                online: body.accepting,
                fee_upcoming_artist: body.fee_upcoming_artist,
                fee_popular_song: body.fee_popular_song,
            },
        }
    }
}

async fn open(call: CommandCall<OpenGig>) -> Result<Done<ApiResponse>, ApiError> {
    let done = call.run(OpenGig, || call.body::<NewGigBody>().map(NewGig::from)).await?;
    let id = done.value.id.gig();
    let shown = shown_now(&call, call.principal(), "Gig opened.", done).await?;
    shown.try_map(|response| Ok(response.at(id)))
}

async fn change(call: CommandCall<ChangeGig>) -> Result<Done<ApiResponse>, ApiError> {
    let id = call.id(GigId::new)?;
    let present = match call.has_read_only_field() {
        true => Some(data(&call.use_cases().gigs.own(call.principal(), id).await?)),
        false => None,
    };
    let read = || call.change_of::<GigUpdateBody>(&present).map(GigChange::from);
    let done = call.run(ChangeGig { id }, read).await?;
    shown_now(&call, call.principal(), "Gig changed.", done).await
}

async fn end(call: CommandCall<EndGig>) -> Result<Done<ApiResponse>, ApiError> {
    let done = call.run(EndGig { id: call.id(GigId::new)? }, call::no_input).await?;
    shown_now(&call, call.principal(), "Gig ended.", done).await
}

/// The answer with the gig as it is now, also to a repeated command: its receipt has none of its texts.
async fn shown_now(
    call: &ApiCall,
    principal: &Principal,
    message: &'static str,
    done: Done<GigRecord>,
) -> Result<Done<ApiResponse>, ApiError> {
    let shown = call.use_cases().gigs.own(principal, done.value.id.gig()).await?;
    done.try_map(|_| ApiResponse::new(message, data(&shown)))
}

fn data(shown: &ShownGig) -> GigData {
    GigData { gig: GigView::new(shown) }
}

async fn show(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let shown = call.use_cases().gigs.own(&principal, call.id(GigId::new)?).await?;
    ApiResponse::new("Gig.", data(&shown))
}

async fn list(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let paging = call.paging();
    let rows = call.use_cases().gigs.list(&principal, paging.request()).await?;
    call::page("Gigs.", &paging, &rows, GigView::new)
}

async fn reject_guests(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let gig = call.id(GigId::new)?;
    let GuestRejectionBody { younger_than_minutes: within } = call.body()?;
    let report = |FailedRejections { gig, requests, first }| {
        tracing::warn!(gig = gig.get(), requests, failure = %first, "requests of guests were not rejected");
    };
    let rejections = &call.use_cases().guest_rejections;
    let matching = rejections.reject(&call.context(&principal), gig, within, report).await?;
    ApiResponse::new("Rejecting.", GuestRejectionView { matching })
}

async fn queue(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let queue = call.use_cases().gigs.queue(&principal, call.id(GigId::new)?).await?;
    ApiResponse::new("Queue.", QueueData::new(&queue, call.currency()))
}

async fn report(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let reported = call.use_cases().gigs.report(&principal, call.id(GigId::new)?).await?;
    let report = GigReportView::new(&reported, call.currency());
    ApiResponse::new("Report.", GigReportData { report })
}
