//! What a guest sees of a gig: the board, the guest's requests, and what a request would cost.

use std::collections::BTreeSet;
use std::iter;
use std::sync::Arc;

use futures_util::future::try_join;

use crate::application::error::Failure;
use crate::application::executor::Authorized;
use crate::application::queries::boards::ReadBoard;
use crate::application::queries::{BoardQueries, OwnRequests, addressee};
use crate::authorization::{Principal, permission};
use crate::gig::offers::offers;
use crate::gig::song::SongKey;
use crate::gig::song_tonight::SongTonight;
use crate::gig::{Board, DjCode, Song};
use crate::money::Currency;
use crate::timestamp::Timestamp;

/// What a guest sees of a gig.
#[derive(Clone, PartialEq, Debug)]
pub struct GuestView {
    pub board: Arc<Board>,
    /// The guest's requests, with the places of the proposed offers.
    pub own: OwnRequests,
    /// The time at which the DJ's newest gig ended, if it is recent.
    pub ended_at: Option<Timestamp>,
    /// Whether the DJ of an open gig takes no requests of the guest.
    pub is_blocked: bool,
    /// The songs that the DJ of an open gig played most; they may be ten minutes old.
    pub most_played: Arc<[Song]>,
}

impl GuestView {
    /// Whether the guest has an open request for this song here, in any spelling.
    #[must_use]
    pub fn has_open(&self, song: SongKey) -> bool {
        let requests = self.own.requests.iter().map(|own| &own.request);
        let mut open = requests.filter(|request| request.state.status().holds_fee());
        open.any(|request| SongKey::of(&request.song_title, &request.artist_name) == song)
    }
}

impl BoardQueries {
    /// What this guest, or a new one, sees of the gig of a code. It may be a second old.
    ///
    /// # Errors
    /// [`Failure::NotFound`] if the code is unknown or replaced, or its DJ was erased.
    pub async fn guest_view(
        &self,
        principal: Option<&Principal>,
        code: DjCode,
        currency: &Currency,
    ) -> Result<GuestView, Failure> {
        let ReadBoard { board, queue, .. } = self.recent(code).await?;
        let (popular, upcoming) = board.prices();
        let prices = iter::once(popular).chain(upcoming);
        let fees: BTreeSet<_> = prices.flat_map(|price| offers(price, currency)).collect();
        let fees: Vec<_> = fees.into_iter().collect();
        let gig = self.newest_gig(&board).await?;
        let own = async {
            Ok(match (principal, &gig) {
                (Some(principal), Some(gig)) => {
                    let guest = *Authorized::<_, permission::ReadRequest>::own(principal)?;
                    self.own_in(gig, queue, guest, &fees).await?
                }
                (None, _) | (_, None) => {
                    let places = queue.map(|queue| queue.offers(None, &fees)).unwrap_or_default();
                    OwnRequests { requests: Vec::new(), offers: places }
                }
            })
        };
        let is_blocked = async {
            Ok::<_, Failure>(match (principal, &board.gig) {
                (Some(guest), Some(_)) => self.env.blocks.is_blocked(board.dj.id, guest.user).await?,
                _ => false,
            })
        };
        let (own, is_blocked) = try_join(own, is_blocked).await?;
        let most_played = self.most_played(&board).await?;
        Ok(GuestView { board, own, ended_at: gig.and_then(|gig| gig.ended_at), is_blocked, most_played })
    }

    /// The view with the prices of the DJ, and with the question for the kind of song, as they are now. A board may be a
    /// second old.
    ///
    /// # Errors
    /// [`Failure::Unavailable`].
    pub async fn with_prices_now(&self, view: GuestView) -> Result<GuestView, Failure> {
        let (gig, dj) = addressee(&self.env, view.board.dj.id).await?;
        let mut board = Board::clone(&view.board);
        if let Some(dj) = dj {
            board.dj = dj;
        }
        if let (Some(shown), Some(gig)) = (&mut board.gig, gig) {
            shown.gig.details.asks_kind = gig.details.asks_kind;
        }
        Ok(GuestView { board: Arc::new(board), ..view })
    }

    /// What the open gig of a code already did with a song.
    ///
    /// # Errors
    /// As [`Self::guest_view`].
    pub async fn song_tonight(&self, code: DjCode, song: SongKey) -> Result<SongTonight, Failure> {
        let ReadBoard { queue, .. } = self.recent(code).await?;
        Ok(queue.map(|queue| queue.song_tonight(song)).unwrap_or_default())
    }
}
