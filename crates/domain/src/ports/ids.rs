//! New ids, allocated before a change is decided.

use async_trait::async_trait;
use strum::{EnumIter, EnumString, IntoStaticStr};

use crate::ids::{
    AdjustmentId, GigId, OperationId, RequestId, SessionId, TipId, TopupId, UserId, WebhookEndpointId,
    WithdrawalId,
};
use crate::names::named_enum;
use crate::ports::Unavailable;

/// The kinds of allocated ids, by the names of their counters in stores.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, IntoStaticStr, EnumString, EnumIter)]
#[strum(serialize_all = "snake_case")]
pub enum IdKind {
    Users,
    MusicRequests,
    Withdrawals,
    Topups,
    Adjustments,
    Sessions,
    WebhookEndpoints,
    Gigs,
    Tips,
}

named_enum!(IdKind);

/// Allocates unique ids; gaps are allowed.
///
/// A number is unique within one epoch of the data; after a restore, numbers that were assigned after the
/// backup may be assigned again. Providers therefore identify a row by its
/// [`ProviderReference`](crate::provider_reference::ProviderReference), which is unique across epochs.
///
/// # Errors
/// Every method returns [`Unavailable`] when no id can be allocated.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Ids: Send + Sync {
    /// An id for an operation, generated without I/O.
    fn operation(&self) -> OperationId;

    /// The number of a new id of this kind from the store's memory; `None` if it has none there, or if another
    /// caller is fetching some.
    fn number_at_hand(&self, _kind: IdKind) -> Option<i64> {
        None
    }

    /// The number of a new id of this kind. Stores implement this method; use cases call the typed methods below.
    async fn next_number(&self, kind: IdKind) -> Result<i64, Unavailable>;

    /// An id for a user.
    async fn next_user(&self) -> Result<UserId, Unavailable> {
        valid(UserId::new, number(self, IdKind::Users).await?)
    }

    /// An id for a music request.
    async fn next_request(&self) -> Result<RequestId, Unavailable> {
        valid(RequestId::new, number(self, IdKind::MusicRequests).await?)
    }

    /// An id for a withdrawal.
    async fn next_withdrawal(&self) -> Result<WithdrawalId, Unavailable> {
        valid(WithdrawalId::new, number(self, IdKind::Withdrawals).await?)
    }

    /// An id for a top-up.
    async fn next_topup(&self) -> Result<TopupId, Unavailable> {
        valid(TopupId::new, number(self, IdKind::Topups).await?)
    }

    /// An id for an adjustment.
    async fn next_adjustment(&self) -> Result<AdjustmentId, Unavailable> {
        valid(AdjustmentId::new, number(self, IdKind::Adjustments).await?)
    }

    /// An id for a session.
    async fn next_session(&self) -> Result<SessionId, Unavailable> {
        valid(SessionId::new, number(self, IdKind::Sessions).await?)
    }

    /// An id for a webhook endpoint, with which its secret is encrypted before it is added.
    async fn next_webhook_endpoint(&self) -> Result<WebhookEndpointId, Unavailable> {
        valid(WebhookEndpointId::new, number(self, IdKind::WebhookEndpoints).await?)
    }

    /// An id for a gig.
    async fn next_gig(&self) -> Result<GigId, Unavailable> {
        valid(GigId::new, number(self, IdKind::Gigs).await?)
    }

    /// An id for a tip.
    async fn next_tip(&self) -> Result<TipId, Unavailable> {
        valid(TipId::new, number(self, IdKind::Tips).await?)
    }
}

/// The number of a new id. One at hand is taken first: the future of [`Ids::next_number`] is large.
async fn number(ids: &(impl Ids + ?Sized), kind: IdKind) -> Result<i64, Unavailable> {
    match ids.number_at_hand(kind) {
        Some(number) => Ok(number),
        None => ids.next_number(kind).await,
    }
}

fn valid<Id>(id: fn(i64) -> Option<Id>, number: i64) -> Result<Id, Unavailable> {
    id(number).ok_or_else(|| Unavailable::new("the store allocated an invalid id"))
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    /// Ids whose number tells their kind.
    struct Kinds;

    #[async_trait]
    impl Ids for Kinds {
        fn operation(&self) -> OperationId {
            OperationId(0)
        }

        async fn next_number(&self, kind: IdKind) -> Result<i64, Unavailable> {
            Ok(IdKind::all().zip(1..).find(|(one, _)| *one == kind).unwrap().1)
        }
    }

    /// Ids with a number at hand, and without a store to fetch others from.
    struct AtHand;

    #[async_trait]
    impl Ids for AtHand {
        fn operation(&self) -> OperationId {
            OperationId(0)
        }

        fn number_at_hand(&self, _: IdKind) -> Option<i64> {
            Some(8)
        }

        async fn next_number(&self, _: IdKind) -> Result<i64, Unavailable> {
            Err(Unavailable::new("the store is absent"))
        }
    }

    #[test]
    fn an_id_at_hand_is_not_fetched() {
        assert_eq!(AtHand.next_withdrawal().now_or_never().unwrap().unwrap().get(), 8);
    }

    #[test]
    fn each_id_method_allocates_an_id_of_its_own_kind() {
        let allocated = async {
            [
                Kinds.next_user().await.unwrap().get(),
                Kinds.next_request().await.unwrap().get(),
                Kinds.next_withdrawal().await.unwrap().get(),
                Kinds.next_topup().await.unwrap().get(),
                Kinds.next_adjustment().await.unwrap().get(),
                Kinds.next_session().await.unwrap().get(),
                Kinds.next_webhook_endpoint().await.unwrap().get(),
                Kinds.next_gig().await.unwrap().get(),
                Kinds.next_tip().await.unwrap().get(),
            ]
        };
        assert_eq!(allocated.now_or_never().unwrap(), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }
}
