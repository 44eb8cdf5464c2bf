//! Views of events: for the users whom they concern, and for staff.

use cuepoint_domain::application::queries::EventPage;
use cuepoint_domain::event::{Event, Feed};
use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::Entity;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::adjustment::AdjustmentView;
use super::gig::GigRecordView;
use super::operator_tip::OperatorTipView;
use super::operator_topup::OperatorTopupView;
use super::operator_withdrawal::OperatorWithdrawalView;
use super::request::MusicRequestView;
use super::tip::TipView;
use super::topup::TopupView;
use super::withdrawal::WithdrawalView;
use crate::wire::names;
use crate::wire::time::WireTimestamp;

/// Defines the views of a feed: its page, its events, and their objects as its readers see them. `titles` name the kinds
/// of `data` in generated clients.
macro_rules! event_views {
    ($page:ident as $page_name:ident, $event:ident as $event_name:ident, $data:ident as $data_name:ident,
        topup: $topup:ident, withdrawal: $withdrawal:ident, tip: $tip:ident,
        titles: [$request_title:literal, $topup_title:literal, $withdrawal_title:literal, $adjustment_title:literal,
            $gig_title:literal, $tip_title:literal]) => {
        /// A page of events.
        #[derive(Clone, Debug, Serialize, ToSchema)]
        #[schema(as = $page_name)]
        pub struct $page<'e> {
            /// The events, oldest first: at most `limit`, and possibly none although more follow.
            events: Vec<$event<'e>>,
            /// The `after` of the next call.
            #[schema(minimum = 0, example = 1234)]
            next: i64,
            /// The newest position. If it is lower than the position that you have reached, events were lost. Reload
            /// your state, and continue at `head`.
            #[schema(minimum = 0, example = 1234)]
            head: i64,
            /// Whether more events may follow after `next`. Once it is `false`, the feed is read completely.
            #[schema(example = false)]
            has_more: bool,
        }

        /// Something that happened to a music request, a gig, a tip, a top-up, a withdrawal or a balance.
        #[derive(Clone, Debug, Serialize, ToSchema)]
        #[schema(as = $event_name)]
        pub struct $event<'e> {
            /// Place in the order of all events, greater than the positions of all earlier ones. Each reader sees
            /// gaps.
            #[schema(minimum = 1, example = 1234)]
            position: i64,
            /// Id of the event, the same for all its readers. A delivery to a webhook endpoint has it as `webhook-id`.
            #[schema(value_type = String, format = "uuid", example = "019aa6e0-5c1f-7d3a-9b1e-3f2a6c8d4e10")]
            id: Uuid,
            /// Type of the event. Ignore types that you do not know.
            #[schema(value_type = names::EventType, example = "music_request.accepted")]
            r#type: &'static str,
            /// Time of the decision. It can be a little earlier than the time of the event before.
            #[schema(value_type = String, format = DateTime, example = "2026-01-31T20:15:00.000000Z")]
            created_at: WireTimestamp,
            /// The object of the event, in its state right after the event.
            data: $data<'e>,
        }

        /// The object of an event, under one key.
        #[derive(Clone, Debug, Serialize, ToSchema)]
        #[serde(rename_all = "snake_case")]
        #[schema(as = $data_name)]
        pub enum $data<'e> {
            /// A music request.
            #[schema(title = $request_title)]
            MusicRequest(MusicRequestView<'e>),
            /// A top-up.
            #[schema(title = $topup_title)]
            Topup($topup),
            /// A withdrawal.
            #[schema(title = $withdrawal_title)]
            Withdrawal($withdrawal),
            /// An adjustment.
            #[schema(title = $adjustment_title)]
            Adjustment(AdjustmentView),
            /// A gig.
            #[schema(title = $gig_title)]
            Gig(GigRecordView),
            /// A tip.
            #[schema(title = $tip_title)]
            Tip($tip),
        }

        impl<'e> $page<'e> {
            /// The view of a page.
            #[must_use]
            pub fn new(page: &'e EventPage, currency: &Currency) -> Self {
                Self {
                    events: page.events.iter().filter_map(|event| $event::new(event, currency)).collect(),
                    next: page.next.get(),
                    head: page.head.get(),
                    has_more: page.next < page.head,
                }
            }
        }

        impl<'e> $event<'e> {
            /// The view of an event, if it has an object.
            #[must_use]
            pub fn new(event: &'e Event, currency: &Currency) -> Option<Self> {
                let data = match &event.outcome.entity {
                    Entity::MusicRequest(request) => {
                        $data::MusicRequest(MusicRequestView::new(request, currency))
                    }
                    Entity::Topup(topup) => $data::Topup($topup::new(topup, currency)),
                    Entity::Withdrawal(withdrawal) => {
                        $data::Withdrawal($withdrawal::new(withdrawal, currency))
                    }
                    Entity::Adjustment(adjustment) => {
                        $data::Adjustment(AdjustmentView::new(adjustment, event.created_at, currency))
                    }
                    Entity::GigRecord(record) => $data::Gig(GigRecordView::new(record)),
                    Entity::Tip(tip) => $data::Tip($tip::new(tip, currency)),
                    // No event has one of these objects.
                    Entity::User(_) | Entity::ProviderMessage(_) | Entity::Rating(_) | Entity::Gig(_) => {
                        return None;
                    }
                };
                Some(Self {
                    position: event.position.get(),
                    id: Uuid::from_u128(event.id.0),
                    r#type: event.event_type.name(),
                    created_at: WireTimestamp(event.created_at),
                    data,
                })
            }
        }
    };
}

event_views!(EventPageView as EventPage, EventView as Event, EventDataView as EventData,
topup: TopupView, withdrawal: WithdrawalView, tip: TipView,
titles: [
    "MusicRequestEventData", "TopupEventData", "WithdrawalEventData", "AdjustmentEventData", "GigEventData",
    "TipEventData"
]);
event_views!(OperatorEventPageView as OperatorEventPage, OperatorEventView as OperatorEvent,
OperatorEventDataView as OperatorEventData,
topup: OperatorTopupView, withdrawal: OperatorWithdrawalView, tip: OperatorTipView,
titles: [
    "OperatorMusicRequestEventData", "OperatorTopupEventData", "OperatorWithdrawalEventData",
    "OperatorAdjustmentEventData", "OperatorGigEventData", "OperatorTipEventData"
]);

/// An event as the readers of a feed see it.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum FeedEventView<'e> {
    /// For the involved users.
    Own(EventView<'e>),
    /// For staff.
    All(OperatorEventView<'e>),
}

impl<'e> FeedEventView<'e> {
    /// The view of an event, if it has an object.
    #[must_use]
    pub fn new(feed: Feed, event: &'e Event, currency: &Currency) -> Option<Self> {
        match feed {
            Feed::Own => EventView::new(event, currency).map(Self::Own),
            Feed::All => OperatorEventView::new(event, currency).map(Self::All),
        }
    }
}
