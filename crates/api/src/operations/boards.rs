//! Boards: what everybody can see of a gig, by the code of its DJ.

mod stream;

use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_domain::gig::{Board, DjCode};
use cuepoint_domain::money::Money;
use cuepoint_domain::user::{Coordinates, Kilometres};
use cuepoint_transport::rate_limits::Class;
use cuepoint_views::board::{
    BoardChangeView, BoardData, BoardView, NearbyBoardView, NearbyBoardsData, OwnRequestsData,
};
use serde_json::value::RawValue;
use std::sync::Arc;

use crate::call::ApiCall;
use crate::declaration::{ok, operations, signal_stream};
use crate::endpoint::{anonymous, authenticated};
use crate::wire::envelope::ApiResponse;
use crate::wire::error::{ApiError, Code};
use crate::wire::filters::{self, QueryFilters as _, filters};
use crate::wire::kinds;
use crate::wire::validation_texts::{self, Errors};
use crate::wire::values::InvalidValue;

operations! {
    /// Show a board
    ///
    /// The public view of a DJ's open gig. No token is needed. It names no guest, and shows only the titles of accepted
    /// and played requests. Without an open gig, `status` is `ended`, `queue_length` is 0, `up_next` is empty, and the
    /// other fields of the gig are null.
    ///
    /// A server may show a board that is a second old. An unknown or replaced code returns 404 `not_found`. After 60 of
    /// them in a minute, further ones from the same client address return 429 `rate_limited`. Boards of gigs that are
    /// open, or ended within 24 hours, can still be read then.
    GET "/api/v1/boards/{code}" "getBoard" {
        tag: Boards,
        run: anonymous(show),
        answers: ok::<BoardData<'_>>("The board."),
        class: Class::Boards,
    }

    /// Stream the changes of a board
    ///
    /// Server-sent events of the type `changed`. Each has the version of the board. No token is needed. If it differs
    /// from the version of the board that the client shows, the client reads the board again.
    ///
    /// The first event has the present version. Others follow after changes, at most one in 3 seconds. The service
    /// repeats the version after about 15 seconds without a change. Changes of the profile, such as prices or `online`,
    /// appear within about 15 seconds.
    ///
    /// A stream can end at any time. Reconnect after `retry`. A 404 then means that the code was replaced. Beyond 1500
    /// streams of boards and guest accounts at a client address, or four fifths of `events.max_streams`, a server returns
    /// 503 `unavailable` with `Retry-After`.
    GET "/api/v1/boards/{code}/stream" "streamBoard" {
        tag: Boards,
        run: anonymous(stream::open),
        answers: signal_stream::<BoardChangeView>("Server-sent events, each with a `BoardChange` as `data`."),
        class: Class::Boards,
    }

    /// List the caller's requests in a gig
    ///
    /// The requests of the caller in the DJ's open gig, or in the last gig until 24 hours after its end.
    ///
    /// `offers` asks for the places that another request of the caller would have now at these fees. Places can be a
    /// second old.
    GET "/api/v1/boards/{code}/mine" "listOwnGigRequests" {
        tag: Boards,
        run: authenticated(Action::ReadRequest, own),
        answers: ok::<OwnRequestsData<'_>>("The requests, newest first, and the places of the offers."),
        filters: OfferFilters::DECLARED,
    }

    /// List the open gigs near a location
    ///
    /// The open gigs with coordinates, nearest first. No token is needed. The location in the query is neither stored
    /// nor logged.
    GET "/api/v1/boards" "listNearbyBoards" {
        tag: Boards,
        run: anonymous(nearby),
        answers: ok::<NearbyBoardsData<'_>>("The gigs, nearest first."),
        class: Class::Nearby,
        filters: NearbyFilters::DECLARED,
    }
}

filters! {
    /// A location and its surroundings.
    struct NearbyFilters {
        required {
            /// Latitude and longitude in degrees, separated by a comma.
            near: Coordinates = filters::COORDINATES,
        }
        /// Largest distance in kilometres, from 1 to 200; 25 by default.
        within: Kilometres = filters::NEARBY_KILOMETRES,
    }
}

filters! {
    /// Offers.
    struct OfferFilters {
        /// Fees in major units, separated by commas; at most four.
        offers: Vec<Box<RawValue>> = filters::FEES,
    }
}

/// The distance without the parameter `within`, in kilometres.
const DEFAULT_WITHIN: f64 = 25.0;

async fn show(call: ApiCall) -> Result<ApiResponse, ApiError> {
    let board = board(&call).await?;
    ApiResponse::new("Board.", BoardData { board: BoardView::new(&board, call.currency()) })
}

/// The board of the code in the path.
async fn board(call: &ApiCall) -> Result<Arc<Board>, ApiError> {
    let boards = &call.use_cases().boards;
    counted(call, None, async |code| boards.board(code).await).await
}

/// What is found under the code in the path, as [`RequestLimits::look_up_code`](cuepoint_transport::request_limits::RequestLimits::look_up_code).
pub(super) async fn counted<T, E: Into<ApiError>>(
    call: &ApiCall,
    principal: Option<&Principal>,
    find: impl AsyncFnOnce(DjCode) -> Result<T, E>,
) -> Result<T, ApiError> {
    let (limits, boards) = (call.limits(), &call.use_cases().boards);
    let find = async |code| find(code).await.map_err(Into::into);
    let is_unknown = |error: &ApiError| error.code == Code::NotFound;
    Ok(limits.look_up_code(boards, call.path_parameter(), principal, find, is_unknown).await?)
}

async fn own(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let offers = offers(&call)?;
    let boards = &call.use_cases().boards;
    let find = async |code| boards.own_requests(&principal, code, &offers).await;
    let own = counted(&call, Some(&principal), find).await?;
    ApiResponse::new("Requests.", OwnRequestsData::new(&own, call.currency()))
}

/// The fees in the query.
fn offers(call: &ApiCall) -> Result<Vec<Money>, ApiError> {
    const NAME: &str = "offers";
    let OfferFilters { offers } = call.filters()?;
    let read = |fee: Box<RawValue>| {
        (kinds::PRICE.read)(NAME, &fee, call.currency()).map_err(|invalid| {
            let mut errors = Errors::default();
            match invalid {
                InvalidValue::Empty => errors.add(NAME, validation_texts::format(NAME)),
                InvalidValue::Problems(problems) => {
                    problems.into_iter().for_each(|problem| errors.add(NAME, problem))
                }
            }
            ApiError::invalid(errors)
        })
    };
    offers.unwrap_or_default().into_iter().map(read).collect()
}

async fn nearby(call: ApiCall) -> Result<ApiResponse, ApiError> {
    let NearbyFilters { near, within } = call.filters()?;
    call.count_valid()?;
    let within = within.or_else(|| Kilometres::new(DEFAULT_WITHIN)).ok_or(Code::Internal)?;
    let boards = call.use_cases().boards.nearby(near, within).await?;
    let boards = boards.iter().map(|nearby| NearbyBoardView::new(nearby, call.currency())).collect();
    ApiResponse::new("Boards.", NearbyBoardsData { boards })
}
