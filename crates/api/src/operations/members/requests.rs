//! Music requests.

use cuepoint_domain::application::Done;
use cuepoint_domain::application::commands::{AnswerRequest, CancelRequest, DjAnswer, OpenRequest};
use cuepoint_domain::application::queries::OwnRequestFilter;
use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_domain::ids::{RequestId, UserId};
use cuepoint_domain::money::Money;
use cuepoint_domain::music_request::{self, Agreement, NewRequest, RequestStatus};
use cuepoint_domain::text::{Line, MusicUrl, ShortMessage};
use cuepoint_domain::user::ArtistType;

use crate::call::{self, ApiCall};
use crate::command_call::CommandCall;
use crate::declaration::{created, json, object, ok, operations, optional_json, page};
use crate::endpoint::{authenticated, command};
use crate::wire::body::body;
use crate::wire::envelope::ApiResponse;
use crate::wire::error::{ApiError, Code};
use crate::wire::filters::{self, QueryFilters as _, filters};
use crate::wire::kinds;
use cuepoint_transport::rate_limits::Class;
use cuepoint_views::Empty;
use cuepoint_views::request::MusicRequestView;

operations! {
    /// Create a music request
    ///
    /// Requests a song from a DJ, and holds the fee. The DJ has to be online. By default, the request expires if it
    /// is not accepted within 15 minutes, or not played within 60 minutes after that (`getSettings` shows both
    /// times of requests without a gig). The fee is then released in full.
    ///
    /// While the DJ has an open gig, the request belongs to it. By default, the DJ then has 30 minutes to answer and three
    /// hours to play. The request is rejected when the gig ends. Send the `fee` that the client displayed. If the DJ has raised
    /// the price since, the request returns 422 `validation_failed` for `fee`.
    ///
    /// - 403 `blocked`: the DJ blocks the caller.
    /// - 403 `claim_required`: the gig is for members, and the caller is a guest account.
    /// - 409 `dj_offline`: the DJ does not accept requests now.
    /// - 409 `wallet_owes`: the caller owes money, and the fee is above 0. `owed` is the debt.
    /// - 422 `validation_failed`: the DJ is unknown or the caller (`dj_id`), or the offer is below the DJ's price
    ///   (`fee`), or there is a dedication and no open gig (`message`).
    /// - 422 `limit_exceeded`: `requests.max_open_per_dj` requests of the caller to this DJ are open, or
    ///   `max_open_per_guest` of the gig, or `gigs.max_open` requests are open in the gig, or `gigs.max_requests` were
    ///   made in it and not cancelled. Requests that count as guests' can have two thirds of the open ones, and all but the last tenth of
    ///   the others. In a full queue, a request with a fee takes the place of a pending one without, if there is one.
    /// - 422 `insufficient_funds`: the fee is more than the available balance.
    POST "/api/v1/music/requests" "createMusicRequest" {
        tag: Requests,
        run: command(open),
        answers: created::<MusicRequestView<'_>>("The request with its fee held.").located("/api/v1/music/requests"),
        class: Class::Requests,
        body: object::<MusicRequestBody>(),
        fails: &[
            Code::Blocked,
            Code::ClaimRequired,
            Code::DjOffline,
            Code::WalletOwes,
            Code::LimitExceeded,
            Code::InsufficientFunds,
        ],
    }

    /// Show a music request
    ///
    /// Only the guest and the DJ of the request can see it. Others get 404 `not_found`.
    GET "/api/v1/music/requests/{id}" "getMusicRequest" {
        tag: Requests,
        run: authenticated(Action::ReadRequest, show),
        answers: ok::<MusicRequestView<'_>>("The request."),
    }

    /// Cancel a music request
    ///
    /// Cancels a pending request of the caller, and releases its fee in full. For the DJ of the request, it returns
    /// 403 `not_your_request`, and for an accepted request 409 `invalid_transition`. Cancelling a cancelled request
    /// changes nothing.
    POST "/api/v1/music/requests/{id}/cancel" "cancelMusicRequest" {
        tag: Requests,
        run: command(cancel),
        answers: ok::<MusicRequestView<'_>>("The cancelled request.")
            .showing(&[("status", "cancelled")]),
        body: optional_json::<Empty>(),
        fails: &[Code::NotYourRequest, Code::InvalidTransition],
    }

    /// Update the status of a music request
    ///
    /// The DJ accepts, rejects or plays a request. A played request pays its fee to the DJ, less the platform's
    /// commission. A rejected request releases its fee in full. Setting the current status again changes nothing.
    /// Any other transition returns 409 `invalid_transition`, as does accepting or playing a request of an ended gig.
    /// The guest of the request is refused with 403 `not_your_request`, and any other caller with 404 `not_found`.
    ///
    /// The commission is `commission_bps` of the fee, rounded half to even. The DJ gets the exact remainder.
    ///
    /// Existing clients depend on the exact form of this operation. It never gains or loses a key, and ignores
    /// unknown fields.
    PATCH "/api/v1/music/requests-update/{id}" "updateMusicRequestStatus" {
        tag: Requests,
        run: command(answer),
        answers: ok::<MusicRequestView<'_>>("The request with its new status.")
            .showing(&[("status", "accepted")]),
        body: json::<MusicRequestStatusUpdateBody>(),
        fails: &[Code::NotYourRequest, Code::InvalidTransition],
        is_fixed: true,
    }

    /// List the caller's music requests
    ///
    /// The requests that the caller made, newest first. Existing clients depend on the exact form of this
    /// operation. It never gains or loses a key. It ignores unknown parameters and empty filters, and uses the last
    /// value of a repeated filter.
    GET "/api/v1/music/user/requests" "listSentMusicRequests" {
        tag: Requests,
        run: authenticated(Action::ReadRequest, made),
        answers: page::<MusicRequestView<'_>>("A page of the caller's requests, newest first."),
        filters: OwnRequestFilters::DECLARED,
        fails: &[Code::ValidationFailed],
        is_fixed: true,
    }

    /// List music requests to the caller
    ///
    /// The requests that the caller, a DJ, received, newest first. Returns 403 `dj_only` to a caller who is not a
    /// DJ.
    GET "/api/v1/music/dj/requests" "listReceivedMusicRequests" {
        tag: Requests,
        run: authenticated(Action::AnswerRequest, addressed),
        answers: page::<MusicRequestView<'_>>("A page of requests to the caller, newest first."),
        filters: AddressedRequestFilters::DECLARED,
        fails: &[Code::DjOnly, Code::ValidationFailed],
    }
}

filters! {
    /// The filters of the caller's requests.
    struct OwnRequestFilters {
        /// Only requests with this status.
        status: RequestStatus = filters::REQUEST_STATUS,
        /// Only requests to the DJ with this id.
        dj_id: UserId = filters::USER_ID,
    }
}

filters! {
    /// The filters of requests to the caller.
    struct AddressedRequestFilters {
        /// Only requests with this status.
        status: RequestStatus = filters::REQUEST_STATUS,
    }
}

body! {
    /// A music request to create.
    pub struct MusicRequestBody as "NewMusicRequest", example: {
        "dj_id": 7, "song_title": "Blue Monday", "artist_name": "New Order", "artist_type": "popular",
        "music_url": "https://example.com/blue-monday"
    } {
        /// Id of the DJ, who has to be online and another user.
        dj_id: UserId = required(kinds::USER_ID),
        /// Title of the song.
        song_title: Line = required(kinds::LINE),
        /// Name of the artist.
        artist_name: Line = required(kinds::LINE),
        /// Popularity of the artist, in any letter case. It selects the DJ's price. `upcoming_artist` and
        /// `popular_song` are accepted, too.
        artist_type: ArtistType = required(kinds::ARTIST_TYPE),
        /// Address of the song: http or https, at most 2048 characters. The service never fetches it. The default is
        /// the address of a search for the song (`requests.song_url`).
        music_url: Option<MusicUrl> = optional(kinds::MUSIC_URL),
        /// Fee in major units, at least the DJ's price, which is the default. A price of 0 is allowed. Such a request
        /// makes no entries in the wallets.
        fee: Option<Money> = optional(kinds::PRICE),
        /// Dedication to the DJ, at most 140 characters, deleted after 30 days. Returns 422 without an open gig.
        message: Option<ShortMessage> = optional(kinds::SHORT_MESSAGE),
    }
}

impl From<MusicRequestBody> for NewRequest {
    fn from(body: MusicRequestBody) -> Self {
        let MusicRequestBody { dj_id, song_title, artist_name, artist_type, music_url, fee, message } = body;
        let fee = fee.map(Agreement::Exactly);
        Self { dj: dj_id, song_title, artist_name, artist_type, music_url, fee, message }
    }
}

body! {
    /// A new status, set by the DJ.
    pub struct MusicRequestStatusUpdateBody as "MusicRequestStatusUpdate", example: {"status": "accepted"} {
        /// New status of the request.
        status: DjAnswer = required(kinds::DJ_ANSWER),
    }
}

async fn open(call: CommandCall<OpenRequest>) -> Result<Done<ApiResponse>, ApiError> {
    let mut read = call.body::<MusicRequestBody>();
    let mut counted = None;
    if let Ok(MusicRequestBody { dj_id, .. }) = &read {
        let profiles = &call.use_cases().profiles;
        match call.limits().count_guest_request(profiles, call.principal(), *dj_id).await {
            Ok(admitted) => counted = admitted,
            Err(refusal) => read = Err(refusal.into()),
        }
    }
    let done = call.run(OpenRequest, || read.map(NewRequest::from)).await;
    if done.as_ref().map_or(true, |done| done.replayed) {
        call.limits().give_back(counted);
    }
    done?.try_map(|request| {
        let view = MusicRequestView::new(&request, call.currency());
        Ok(ApiResponse::view("Request sent.", view).at(request.id))
    })
}

async fn show(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let request = call.use_cases().music_requests.visible(&principal, call.id(RequestId::new)?).await?;
    Ok(ApiResponse::view("Request.", MusicRequestView::new(&request, call.currency())))
}

async fn cancel(call: CommandCall<CancelRequest>) -> Result<Done<ApiResponse>, ApiError> {
    let command = CancelRequest { id: call.id(RequestId::new)? };
    updated(&call, call.run(command, call::no_input).await?)
}

async fn answer(call: CommandCall<AnswerRequest>) -> Result<Done<ApiResponse>, ApiError> {
    let command = AnswerRequest { id: call.id(RequestId::new)? };
    let read_input = || call.body().map(|MusicRequestStatusUpdateBody { status }| status);
    updated(&call, call.run(command, read_input).await?)
}

/// The answer to a change of a request's status.
pub(in crate::operations) fn updated(
    call: &ApiCall,
    done: Done<music_request::MusicRequest>,
) -> Result<Done<ApiResponse>, ApiError> {
    done.try_map(|request| {
        Ok(ApiResponse::view("Request updated.", MusicRequestView::new(&request, call.currency())))
    })
}

async fn made(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let OwnRequestFilters { status, dj_id: dj } = call.filters()?;
    let paging = call.paging();
    let filter = OwnRequestFilter { status, dj };
    let rows = call.use_cases().music_requests.made_by(&principal, filter, paging.request()).await?;
    call::page("Requests.", &paging, &rows, |request| MusicRequestView::new(request, call.currency()))
}

async fn addressed(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let paging = call.paging();
    let read_filter = || call.filters().map(|AddressedRequestFilters { status }| (status, paging.request()));
    let rows = call.use_cases().music_requests.addressed_to(&principal, read_filter).await?;
    call::page("Requests.", &paging, &rows, |request| MusicRequestView::new(request, call.currency()))
}
