//! Reports on gigs, and the requests of a gig as a file. Both are long work, in the turn of the DJ.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::stream::{self, Stream, StreamExt as _};

use crate::application::environment::Environment;
use crate::application::error::Failure;
use crate::application::queries::gigs::{GigQueries, ShownGig};
use crate::application::queries::kept_reports::{GigNumbers, KeptReports};
use crate::application::queries::long_reads::{PART, each_request, in_turn_of};
use crate::application::queries::tips::tips_in;
use crate::authorization::Principal;
use crate::gig::Gig;
use crate::gig::quarters::{QuarterHour, Quarters};
use crate::gig::report::{CountedSong, GigReport, ReportTally};
use crate::ids::{GigId, RequestId, UserId};
use crate::music_request::{self, MusicRequest, RequestStatus};
use crate::operation::Position;
use crate::page::{PageRequest, Rows};
use crate::ports::Unavailable;

/// A gig with its numbers.
#[derive(Clone, PartialEq, Debug)]
pub struct ReportedGig {
    pub gig: ShownGig,
    pub report: GigReport,
    /// The same by quarter of an hour.
    pub quarters: Vec<QuarterHour>,
}

impl GigQueries {
    /// The numbers of a gig, for its DJ.
    ///
    /// # Errors
    /// [`Failure::NotFound`] for everybody except the DJ, and [`Failure::Busy`].
    pub async fn report(&self, principal: &Principal, id: GigId) -> Result<ReportedGig, Failure> {
        let gig = self.own(principal, id).await?;
        let mut counted = self.counted(gig.gig.dj, [&gig.gig]).await?;
        let counted = counted.remove(&id).ok_or(Failure::Broken("a gig was not counted"))?;
        self.reported(gig, &counted).await
    }

    /// A page of the principal's gigs with their numbers, newest first.
    ///
    /// # Errors
    /// [`Failure::Denied`] for guests, and [`Failure::Busy`].
    pub async fn reports(
        &self,
        principal: &Principal,
        page: PageRequest,
    ) -> Result<Rows<ReportedGig>, Failure> {
        let Rows { rows, total } = self.list(principal, page).await?;
        let counted = self.counted(principal.user, rows.iter().map(|shown| &shown.gig)).await?;
        let mut reported = Vec::with_capacity(rows.len());
        for gig in rows {
            let counted = counted.get(&gig.gig.id).ok_or(Failure::Broken("a gig was not counted"))?;
            reported.push(self.reported(gig, counted).await?);
        }
        Ok(Rows { rows: reported, total })
    }

    /// The requests of a gig that were not cancelled, for its DJ, as a file in parts of a few hundred requests. The first
    /// part is complete on return. The others are computed as the stream is read.
    ///
    /// # Errors
    /// As [`Self::report`]; a part fails for the same reasons.
    pub async fn requests_in_parts<W>(
        &self,
        principal: &Principal,
        id: GigId,
        write: W,
    ) -> Result<(ShownGig, impl Stream<Item = Result<String, Failure>> + use<W>), Failure>
    where
        W: Fn(&[MusicRequest]) -> String + Clone + Send + 'static,
    {
        let gig = self.own(principal, id).await?;
        let ids = self.env.gigs.ids_in_gig(id).await?.ids;
        let (env, dj) = (Arc::clone(&self.env), gig.gig.dj);
        let parts: Vec<Vec<RequestId>> = ids.chunks(PART).map(<[RequestId]>::to_vec).collect();
        let mut parts = parts.into_iter();
        let first = part(Arc::clone(&env), dj, parts.next().unwrap_or_default(), write.clone()).await?;
        let others = stream::iter(parts).then(move |ids| part(Arc::clone(&env), dj, ids, write.clone()));
        Ok((gig, stream::once(async { Ok(first) }).chain(others)))
    }

    /// The numbers of these gigs of a DJ, either kept or counted in the turn of the DJ.
    async fn counted<'g>(
        &self,
        dj: UserId,
        gigs: impl IntoIterator<Item = &'g Gig>,
    ) -> Result<BTreeMap<GigId, Arc<GigNumbers>>, Failure> {
        let (mut counted, mut missing) = (BTreeMap::new(), Vec::new());
        for gig in gigs {
            match self.kept.of(&self.env, gig).await? {
                Some(kept) => drop(counted.insert(gig.id, kept)),
                None => missing.push(gig.clone()),
            }
        }
        if missing.is_empty() {
            return Ok(counted);
        }
        let (env, kept) = (Arc::clone(&self.env), Arc::clone(&self.kept));
        in_turn_of(&self.env, dj, async move {
            for gig in missing {
                counted.insert(gig.id, count(&env, &kept, &gig).await?);
            }
            Ok(counted)
        })
        .await
    }

    /// A gig with its counted numbers, and with its current tips.
    async fn reported(&self, gig: ShownGig, counted: &GigNumbers) -> Result<ReportedGig, Failure> {
        let id = gig.gig.id;
        let tips = tips_in(&self.env, id).await?;
        let GigNumbers { report, quarters } = counted.clone();
        Ok(ReportedGig { gig, report: GigReport { tips, ..report }, quarters })
    }
}

/// Counts the requests of a gig, and keeps their numbers once all requests are closed.
async fn count(env: &Arc<Environment>, kept: &KeptReports, gig: &Gig) -> Result<Arc<GigNumbers>, Failure> {
    // Read before the requests, so that a later operation makes what is kept outdated.
    let newest = match gig.settled {
        true => Some(env.operations.operations(None, Position::START, 0).await?.newest),
        false => None,
    };
    let (mut tally, mut quarters) = (ReportTally::default(), Quarters::of(gig, env.now()));
    let cancelled = each_request(env, gig.id, |request| {
        tally.count(&request)?;
        quarters.count(&request)
    })
    .await?;
    tally.count_cancelled(cancelled);
    let songs = tally.top_songs();
    let firsts: Vec<RequestId> = songs.iter().map(|song| song.first).collect();
    let firsts = env.gigs.requests_of(&firsts).await?;
    let spelled = |song: &CountedSong| Some(song.of(firsts.iter().find(|first| first.id == song.first)?));
    let songs = songs.iter().filter_map(spelled).collect();
    let ratings = env.gigs.ratings_in_gig(gig.id).await?;
    let rating = music_request::counted(ratings.iter().map(|(voice, rating)| (*voice, rating)));
    let report = GigReport { rating, ..tally.report(songs).ok_or(Failure::OutOfRange)? };
    let counted = Arc::new(GigNumbers { report, quarters: quarters.counted() });
    if let Some(newest) = newest {
        kept.keep(gig.id, &counted, newest);
    }
    Ok(counted)
}

/// A part of the file, written in the turn of the DJ.
async fn part(
    env: Arc<Environment>,
    dj: UserId,
    ids: Vec<RequestId>,
    write: impl Fn(&[MusicRequest]) -> String + Send + 'static,
) -> Result<String, Failure> {
    let in_turn = Arc::clone(&env);
    let work = async move {
        let now = in_turn.now();
        let requests: Result<Vec<MusicRequest>, Unavailable> = in_turn.gigs.requests_of(&ids).await;
        let requests = requests?.into_iter().map(|request| request.seen_at(now));
        let shown = requests.filter(|request| request.state.status() != RequestStatus::Cancelled);
        Ok(write(&shown.collect::<Vec<_>>()))
    };
    in_turn_of(&env, dj, work).await
}
