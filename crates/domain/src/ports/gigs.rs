//! Reads of gigs and codes, and the settlement of gigs.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use async_trait::async_trait;

use crate::gig::most_played::Play;
use crate::gig::{AssignedCode, DjCode, Gig};
use crate::ids::{GigId, RequestId, UserId};
use crate::music_request::{MusicRequest, RequestRating, RequestStatus, Voice};
use crate::page::{PageRequest, Rows};
use crate::ports::Unavailable;
use crate::text::ShortMessage;
use crate::timestamp::Timestamp;

/// The requests of a gig to read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GigRequests {
    /// Those that are stored as open.
    Open,
    /// Those that are stored as open or played: at most `most` with the gig, and at most `most_without_gig` without one.
    OpenAndPlayed { most: u32, most_without_gig: u32 },
    /// Those with the gig that are stored as open.
    OpenInGig,
}

/// All requests with a gig.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct IdsInGig {
    /// The ids of those that are not cancelled, in their order.
    pub ids: Vec<RequestId>,
    /// The number of cancelled ones.
    pub cancelled: u64,
}

impl GigRequests {
    /// Whether it includes requests that are stored with this status.
    #[must_use]
    pub fn includes(self, status: RequestStatus) -> bool {
        match self {
            Self::Open | Self::OpenInGig => status.holds_fee(),
            Self::OpenAndPlayed { .. } => status.holds_fee() || status == RequestStatus::Played,
        }
    }

    /// The maximum number of requests without a gig.
    #[must_use]
    pub const fn most_without_gig(self) -> u32 {
        match self {
            Self::Open => u32::MAX,
            Self::OpenAndPlayed { most_without_gig, .. } => most_without_gig,
            Self::OpenInGig => 0,
        }
    }

    /// The maximum number of requests with the gig.
    #[must_use]
    pub const fn most_with_gig(self) -> u32 {
        match self {
            Self::Open | Self::OpenInGig => u32::MAX,
            Self::OpenAndPlayed { most, .. } => most,
        }
    }
}

/// Reads gigs, the codes of DJs and the dedications of requests.
///
/// # Errors
/// Every method returns [`Unavailable`] when the storage cannot be reached.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Gigs: Send + Sync {
    /// The open gig of a DJ.
    async fn open_gig(&self, dj: UserId) -> Result<Option<Gig>, Unavailable>;
    /// A page of a DJ's gigs, by `opened_at`, then id, both descending.
    async fn gigs(&self, dj: UserId, page: PageRequest) -> Result<Rows<Gig>, Unavailable>;
    /// The newest code of a DJ.
    async fn code_of(&self, dj: UserId) -> Result<Option<AssignedCode>, Unavailable>;
    /// The assignment of a code, current or not.
    async fn assigned(&self, code: DjCode) -> Result<Option<AssignedCode>, Unavailable>;
    /// The requests of a gig by id. Unless only those with the gig are read, they include the open requests to its DJ that
    /// belong to no gig and were created after `oldest` and before its end. If the number of requests without a gig is
    /// limited, those with the lowest ids are returned. If the number of requests with the gig is limited, it is not
    /// specified which of them are left out.
    async fn gig_requests(
        &self,
        gig: &Gig,
        which: GigRequests,
        oldest: Timestamp,
    ) -> Result<Vec<MusicRequest>, Unavailable>;
    /// At most `limit` requests of a guest in a gig, newest first. They include open ones to its DJ that belong to no gig
    /// and were created after `oldest` and before its end.
    async fn requests_of_guest(
        &self,
        gig: &Gig,
        guest: UserId,
        oldest: Timestamp,
        limit: u32,
    ) -> Result<Vec<MusicRequest>, Unavailable>;
    /// The plays of at most `limit` requests to a DJ that were created after this time and are stored as played, newest
    /// request first.
    async fn plays(&self, dj: UserId, created_after: Timestamp, limit: u32)
    -> Result<Vec<Play>, Unavailable>;
    /// All requests with this gig.
    async fn ids_in_gig(&self, gig: GigId) -> Result<IdsInGig, Unavailable>;
    /// At most a thousand requests, by id; missing ones are left out.
    async fn requests_of(&self, ids: &[RequestId]) -> Result<Vec<MusicRequest>, Unavailable>;
    /// The ratings of all requests with this gig, with their voices, in any order.
    async fn ratings_in_gig(&self, gig: GigId) -> Result<Vec<(Voice, RequestRating)>, Unavailable>;
    /// The dedications of these requests.
    async fn dedications(
        &self,
        of: &BTreeSet<RequestId>,
    ) -> Result<HashMap<RequestId, ShortMessage>, Unavailable>;
    /// The ratings of these requests.
    async fn ratings(
        &self,
        of: &BTreeSet<RequestId>,
    ) -> Result<BTreeMap<RequestId, RequestRating>, Unavailable>;
    /// At most `limit` open gigs whose latitude is between these, from south to north, then by id.
    async fn open_gigs_between(&self, south: f64, north: f64, limit: u32) -> Result<Vec<Gig>, Unavailable>;
    /// The codes of at most `limit` open gigs, and of at most `limit` gigs that ended after this time.
    async fn recent_codes(&self, ended_after: Timestamp, limit: u32)
    -> Result<BTreeSet<DjCode>, Unavailable>;
    /// The open gigs above this id that were opened by this time, or whose DJ is suspended or erased, by id.
    async fn gigs_to_end(
        &self,
        opened_by: Timestamp,
        after: Option<GigId>,
        limit: u32,
    ) -> Result<Vec<Gig>, Unavailable>;
    /// The gigs above this id that have ended and are not settled, by id.
    async fn unsettled_gigs(&self, after: Option<GigId>, limit: u32) -> Result<Vec<Gig>, Unavailable>;
    /// Records that no request of an ended gig is open, unless one is.
    async fn settle_gig(&self, gig: GigId) -> Result<(), Unavailable>;
}
