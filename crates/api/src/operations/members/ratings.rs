//! Ratings of played requests.

use cuepoint_domain::application::Done;
use cuepoint_domain::application::commands::RateRequest;
use cuepoint_domain::ids::RequestId;
use cuepoint_domain::music_request::Stars;
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::command_call::CommandCall;
use crate::declaration::{json, ok, operations};
use crate::endpoint::command;
use crate::wire::body::body;
use crate::wire::envelope::ApiResponse;
use crate::wire::error::{ApiError, Code};
use crate::wire::kinds::{self, Kind};
use crate::wire::validation_texts;
use crate::wire::values::{self, Read};
use cuepoint_views::rating::RatingView;
use cuepoint_views::wire::schema::Described;

operations! {
    /// Rate a played music request
    ///
    /// The guest rates the DJ for a song with a fee, within seven days of the play. A request that was not played,
    /// or has no fee, or was played earlier, returns 409 `invalid_transition`. For the DJ of the request, it
    /// returns 403 `not_your_request`. Another rating replaces the first one.
    ///
    /// The rating changes `rating` and `rating_count` of the DJ. It remains after a refund, and after the erasure
    /// of the guest. A DJ with few rated requests can infer single ratings.
    POST "/api/v1/music/requests/{id}/rating" "rateMusicRequest" {
        tag: Requests,
        run: command(rate),
        answers: ok::<RatingData>("The rating."),
        body: json::<RatingBody>(),
        fails: &[Code::NotYourRequest, Code::InvalidTransition],
    }
}

/// A number of stars.
const STARS: Kind<Stars> = Kind {
    read: |field, raw, _| stars(field, raw),
    schema: Described::inline(|| {
        kinds::whole_number_of(32).minimum(Some(Stars::MIN)).maximum(Some(Stars::MAX)).into()
    }),
};

fn stars(field: &str, raw: &RawValue) -> Read<Stars> {
    let number = u8::try_from(values::integer(field, raw)?).ok();
    let (least, most) = (Stars::MIN.to_string(), Stars::MAX.to_string());
    number.and_then(Stars::new).ok_or_else(|| validation_texts::between(field, &least, &most).into())
}

body! {
    /// The rating of a request.
    pub struct RatingBody as "NewRating", example: {"stars": 5} {
        /// Number of stars, 1 to 5.
        stars: Stars = required(STARS),
    }
}

/// A rating in an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RatingData {
    /// The rating.
    pub rating: RatingView,
}

async fn rate(call: CommandCall<RateRequest>) -> Result<Done<ApiResponse>, ApiError> {
    let command = RateRequest { id: call.id(RequestId::new)? };
    let done = call.run(command, || call.body().map(|RatingBody { stars }| stars)).await?;
    done.try_map(|rating| ApiResponse::new("Request rated.", RatingData { rating: RatingView::new(&rating) }))
}
