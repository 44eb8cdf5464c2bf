//! The money that a request has moved on its way to its current state.

use crate::ledger::Transfer;
use crate::music_request::moves::{capture, release, reverse};
use crate::music_request::open::hold;
use crate::music_request::{MusicRequest, RequestState};

/// The transfers of each operation that moved its money, in order; `None` if its amounts contradict each
/// other.
pub(crate) fn history(request: &MusicRequest) -> Option<Vec<Vec<Transfer>>> {
    let mut operations = vec![hold(request)];
    match request.state {
        RequestState::Pending { .. } | RequestState::Accepted { .. } => {}
        // Only a newer version knows its transfers.
        RequestState::Unknown { .. } => return None,
        RequestState::Rejected { .. } | RequestState::Cancelled { .. } | RequestState::Expired { .. } => {
            operations.push(release(request));
        }
        RequestState::Played { commission, .. } => operations.push(capture(request, commission).ok()?),
        RequestState::Refunded { commission, .. } => {
            operations.push(capture(request, commission).ok()?);
            operations.push(reverse(request, commission).ok()?);
        }
    }
    operations.retain(|transfers| !transfers.is_empty());
    Some(operations)
}
