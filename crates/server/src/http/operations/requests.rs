//! Music requests.

use cuepoint_domain::ids::RequestId;
use cuepoint_domain::ledger::{Outcome, Receipt};
use cuepoint_domain::money::Money;
use cuepoint_domain::music_request::{NewRequest, RequestStatus};
use cuepoint_domain::ports::Applied;
use cuepoint_domain::service::ListFilter;

use crate::app::App;
use crate::http::call::{self, Call};
use crate::http::mapping::IntoApiError as _;
use crate::http::openapi::bodies::{DjAnswer, NewMusicRequest, PageQuery};
use crate::http::operations::views::{MusicRequest, Nothing};
use crate::http::wire::envelope::{Answer, Success};
use crate::http::wire::error::ApiError;
use crate::http::wire::names;
use crate::http::wire::page::Page;
use crate::http::wire::query::Filters;
use crate::http::wire::{messages, values};
use cuepoint_domain::access::{Action, Caller, Whose};

/// Asks a DJ for a song and holds its fee.
///
/// A request that nobody answers expires after 15 minutes, and an accepted one that is not played after 60, unless
/// configured otherwise. Its fee then comes back in full.
#[utoipa::path(
    post,
    path = "/api/v1/music/requests",
    operation_id = "openRequest",
    tag = "Requests",
    request_body = NewMusicRequest,
    responses((
        status = 201,
        description = "The request is made and its fee held.",
        body = Success<MusicRequest>,
    )),
)]
pub async fn open(call: Call, caller: Caller) -> Result<Applied, ApiError> {
    let mut fields = call.fields();
    let dj = fields.required("dj_id", values::user_id);
    let song_title = fields.required("song_title", values::line);
    let artist_name = fields.required("artist_name", values::line);
    let artist_type = fields.required("artist_type", values::artist_type);
    let music_url = fields.required("music_url", values::music_url);
    let fee = fields.optional("fee", values::money(call.currency(), Money::ZERO));
    let new = fields.complete(|| {
        Some(NewRequest {
            dj: dj?,
            song_title: song_title?,
            artist_name: artist_name?,
            artist_type: artist_type?,
            music_url: music_url?,
            fee,
        })
    })?;
    let opened = call.app.services.requests.open(&call.command(&caller), new).await;
    opened.map_err(|error| error.into_api_error(call.currency()))
}

/// What a new request is shown as.
pub fn opened(app: &App, receipt: &Receipt) -> Result<Answer, ApiError> {
    let view = view(app, receipt)?;
    let location = format!("{}/api/v1/music/requests/{}", app.settings.public_url, view.id());
    Ok(Answer::created("Request sent.", view)?.at(location))
}

/// Shows a request to either party.
#[utoipa::path(
    get,
    path = "/api/v1/music/requests/{id}",
    operation_id = "showRequest",
    tag = "Requests",
    responses((status = 200, description = "The request.", body = Success<MusicRequest>)),
)]
pub async fn show(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    let request = call.app.services.requests.visible(&caller, call.id(RequestId::new)?).await?;
    Answer::ok("Request.", MusicRequest::new(&request, call.currency()))
}

/// Takes back a pending request; its fee is released.
///
/// Only who made it may; its DJ gets 403. A second time changes nothing.
#[utoipa::path(
    post,
    path = "/api/v1/music/requests/{id}/cancel",
    operation_id = "cancelRequest",
    tag = "Requests",
    request_body = Nothing,
    responses((
        status = 200,
        description = "The request is cancelled and its fee released.",
        body = Success<MusicRequest>,
    )),
)]
pub async fn cancel(call: Call, caller: Caller) -> Result<Applied, ApiError> {
    let requests = &call.app.services.requests;
    let request = requests.own(&caller, call.id(RequestId::new)?).await?;
    Ok(requests.cancel(&call.command(&caller), request).await?)
}

/// Accepts, rejects or plays a request: the DJ's answer.
///
/// Only the DJ whom it is addressed to may; who made it gets 403. When it is played, the fee goes to the DJ, less the
/// house's commission; when it is rejected, it goes back. The same status again changes nothing.
#[utoipa::path(
    patch,
    path = "/api/v1/music/requests-update/{id}",
    operation_id = "answerRequest",
    tag = "Requests",
    request_body = DjAnswer,
    responses((
        status = 200,
        description = "The request stands there now, and the money moved with it.",
        body = Success<MusicRequest>,
    )),
)]
pub async fn answer(call: Call, caller: Caller) -> Result<Applied, ApiError> {
    let requests = &call.app.services.requests;
    let request = requests.addressed(&caller, call.id(RequestId::new)?).await?;
    let mut fields = call.fields();
    let status = fields.required("status", values::dj_answer);
    let answer = fields.complete(|| status)?;
    Ok(requests.answer(&call.command(&caller), request, answer).await?)
}

/// What a request is shown as that was moved.
pub fn moved(app: &App, receipt: &Receipt) -> Result<Answer, ApiError> {
    Answer::ok("Request updated.", view(app, receipt)?)
}

/// Lists the requests that the caller made.
#[utoipa::path(
    get,
    path = "/api/v1/music/user/requests",
    operation_id = "listOwnRequests",
    tag = "Requests",
    params(
        PageQuery,
        ("status" = Option<names::RequestStatus>, Query, description = "Only those with this status."),
        ("dj_id" = Option<i64>, Query, minimum = 1, description = "Only those addressed to this DJ."),
    ),
    responses((
        status = 200,
        description = "A page of the requests that the caller made, newest first.",
        body = Success<Page<MusicRequest>>,
    )),
)]
pub async fn made(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    let mut filters = Filters::of(&call.query);
    let status = filters.read("status", RequestStatus::named, messages::selected);
    let dj = filters.user("dj_id");
    filters.complete()?;
    let paging = call.paging(&["status", "dj_id"]);
    let filter = ListFilter { status, dj };
    let rows = call.app.services.requests.made_by(&caller, filter, paging.request()).await?;
    call::page("Requests.", &paging, &rows, |request| MusicRequest::new(request, call.currency()))
}

/// Lists the requests addressed to the caller, who is a DJ.
#[utoipa::path(
    get,
    path = "/api/v1/music/dj/requests",
    operation_id = "listAddressedRequests",
    tag = "Requests",
    params(
        PageQuery,
        ("status" = Option<names::RequestStatus>, Query, description = "Only those with this status."),
    ),
    responses((
        status = 200,
        description = "A page of the requests addressed to the caller, newest first.",
        body = Success<Page<MusicRequest>>,
    )),
)]
pub async fn addressed(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    // What is asked of the caller comes before what is wrong with their filters.
    caller.may(Action::AnswerRequest, Whose::Own)?;
    let mut filters = Filters::of(&call.query);
    let status = filters.read("status", RequestStatus::named, messages::selected);
    filters.complete()?;
    let paging = call.paging(&["status"]);
    let rows = call.app.services.requests.addressed_to(&caller, status, paging.request()).await?;
    call::page("Requests.", &paging, &rows, |request| MusicRequest::new(request, call.currency()))
}

fn view<'r>(app: &App, receipt: &'r Receipt) -> Result<MusicRequest<'r>, ApiError> {
    match &receipt.outcome {
        Outcome::Request(request) => Ok(MusicRequest::new(request, &app.settings.currency)),
        Outcome::Withdrawal(..)
        | Outcome::Topup(_)
        | Outcome::Profile(..)
        | Outcome::Adjustment(..)
        | Outcome::Message(_) => Err(ApiError::internal("a command about a request came to something else")),
    }
}
