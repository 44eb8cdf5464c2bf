//! Where the domain's errors become failures that a client sees; those of accounts are in [`accounts`].

mod accounts;

use cuepoint_domain::access::Denied;
use cuepoint_domain::address::{AddressError, DestinationRefusal};
use cuepoint_domain::money::Currency;
use cuepoint_domain::people::ProfileRefusal;
use cuepoint_domain::ports::Unavailable;
use cuepoint_domain::service::{
    AdjustError, BlockError, CancelWithdrawalError, ChangeProfileError, ChangeStandingError, FindError,
    JudgeError, MoveRequestError, Obstacle, OpenRequestError, OpenWithdrawalError, OperatorMoveError,
    ReplayError, ResolveMessageError, ReverseTopupError, SettleSuspenseError, TellError, TopupError,
};
use cuepoint_domain::topup::ReversalRefusal;
use cuepoint_domain::withdrawal::Limit;

use crate::adapters::topups::NoTopups;
use crate::http::wire::error::{ApiError, Code, Transition};
use crate::http::wire::messages::{self, Errors};

/// What an error of the domain is to a client.
///
/// Sums of money are printed in `currency`.
pub trait IntoApiError {
    /// The failure that a client sees.
    fn into_api_error(self, currency: &Currency) -> ApiError;
}

/// Why an operator who adjusted a wallet may not judge its withdrawals.
const RECENT_ADJUSTMENT: &str = "You adjusted this balance within the last 30 days.";

impl From<Unavailable> for ApiError {
    fn from(Unavailable(cause): Unavailable) -> Self {
        Self::caused(Code::Unavailable, cause)
    }
}

impl From<Obstacle> for ApiError {
    fn from(obstacle: Obstacle) -> Self {
        match obstacle {
            Obstacle::Denied => Code::Forbidden.into(),
            Obstacle::RecentAdjustment => Self::saying(Code::Forbidden, RECENT_ADJUSTMENT),
            Obstacle::KeyReused => Code::IdempotencyKeyReused.into(),
            Obstacle::Conflict => Code::Conflict.into(),
            Obstacle::UnknownCaller => Code::InvalidToken.into(),
            Obstacle::OutOfRange => Self::saying(Code::LimitExceeded, Self::BALANCE_TOO_LARGE),
            Obstacle::Broken(what) => Self::internal(what),
            Obstacle::Unavailable(unavailable) => unavailable.into(),
        }
    }
}

impl From<ReplayError> for ApiError {
    fn from(error: ReplayError) -> Self {
        match error {
            ReplayError::KeyReused => Code::IdempotencyKeyReused.into(),
            ReplayError::Unavailable(unavailable) => unavailable.into(),
        }
    }
}

impl From<FindError> for ApiError {
    fn from(error: FindError) -> Self {
        match error {
            FindError::NotFound => Code::NotFound.into(),
            FindError::Denied => Code::Forbidden.into(),
            FindError::Unavailable(unavailable) => unavailable.into(),
        }
    }
}

impl From<Denied> for ApiError {
    fn from(Denied: Denied) -> Self {
        Code::Forbidden.into()
    }
}

impl From<BlockError> for ApiError {
    fn from(error: BlockError) -> Self {
        match error {
            BlockError::Oneself => Self::invalid(Errors::one("id", messages::selected("id"))),
            BlockError::Find(error) => error.into(),
        }
    }
}

impl From<ChangeStandingError> for ApiError {
    fn from(error: ChangeStandingError) -> Self {
        match error {
            ChangeStandingError::LastOperator => Self::saying(Code::Conflict, Self::LAST_OPERATOR),
            ChangeStandingError::Obstacle(obstacle) => obstacle.into(),
        }
    }
}

impl From<ChangeProfileError> for ApiError {
    fn from(error: ChangeProfileError) -> Self {
        let refusal = match error {
            ChangeProfileError::Refused(refusal) => refusal,
            ChangeProfileError::Obstacle(obstacle) => return obstacle.into(),
        };
        let errors = match refusal {
            ProfileRefusal::NotADj => return Code::Forbidden.into(),
            ProfileRefusal::Phone => Errors::one("phone", messages::phone("phone")),
            ProfileRefusal::LatitudeMissing => {
                Errors::one("latitude", messages::required_with("latitude", "longitude"))
            }
            ProfileRefusal::LongitudeMissing => {
                Errors::one("longitude", messages::required_with("longitude", "latitude"))
            }
            ProfileRefusal::OffTheMap => Errors::one("latitude", messages::between("latitude", "-90", "90")),
        };
        Self::invalid(errors)
    }
}

impl IntoApiError for OpenRequestError {
    fn into_api_error(self, currency: &Currency) -> ApiError {
        match self {
            Self::NoSuchDj => ApiError::invalid(Errors::one("dj_id", messages::selected("dj_id"))),
            Self::FeeBelowPrice(price) => {
                let sentence = messages::at_least("fee", &currency.print(price));
                ApiError::invalid(Errors::one("fee", sentence))
            }
            Self::Blocked => ApiError::saying(Code::Forbidden, "This DJ takes no requests from you."),
            Self::DjOffline => Code::DjOffline.into(),
            Self::TooManyOpen(most) => {
                ApiError::of_field(Code::LimitExceeded, "dj_id", messages::too_many_open(most))
            }
            Self::InsufficientFunds => {
                ApiError::of_field(Code::InsufficientFunds, "fee", messages::funds("fee"))
            }
            Self::Obstacle(obstacle) => obstacle.into(),
        }
    }
}

impl From<MoveRequestError> for ApiError {
    fn from(error: MoveRequestError) -> Self {
        match error {
            MoveRequestError::InvalidTransition { current, allowed } => {
                let allowed = allowed.into_iter().map(|status| status.name()).collect();
                Self::invalid_transition(Transition { current: current.name(), allowed })
            }
            MoveRequestError::Obstacle(obstacle) => obstacle.into(),
        }
    }
}

impl From<DestinationRefusal> for ApiError {
    fn from(refusal: DestinationRefusal) -> Self {
        let address = "wallet_address";
        Self::invalid(match refusal {
            DestinationRefusal::Currency => Errors::one("currency", messages::selected("currency")),
            DestinationRefusal::Network => Errors::one("network", messages::selected("network")),
            DestinationRefusal::Address(error) => {
                let sentence = match error {
                    AddressError::Malformed => messages::format(address),
                    AddressError::OtherNetwork => messages::other_network(address),
                    AddressError::TestNetwork => messages::test_network(address),
                    AddressError::Ownerless => messages::ownerless(address),
                    AddressError::AnyoneCanSpend => messages::anyone_can_spend(address),
                };
                Errors::one(address, sentence)
            }
        })
    }
}

impl IntoApiError for OpenWithdrawalError {
    fn into_api_error(self, currency: &Currency) -> ApiError {
        match self {
            Self::Destination(refusal) => refusal.into(),
            Self::LimitExceeded(limit) => {
                let sentence = match limit {
                    Limit::Single(most) => messages::at_most("amount", &currency.print(most.money())),
                    Limit::Rolling(window) => format!(
                        "No more than {} can be withdrawn within {} hours.",
                        currency.print(window.most.money()),
                        window.length.whole_hours()
                    ),
                };
                ApiError::of_field(Code::LimitExceeded, "amount", sentence)
            }
            Self::InsufficientFunds => {
                ApiError::of_field(Code::InsufficientFunds, "amount", messages::funds("amount"))
            }
            Self::Obstacle(obstacle) => obstacle.into(),
        }
    }
}

impl From<CancelWithdrawalError> for ApiError {
    fn from(error: CancelWithdrawalError) -> Self {
        match error {
            CancelWithdrawalError::InvalidTransition { current, allowed } => {
                let allowed = allowed.into_iter().map(|status| status.name()).collect();
                Self::invalid_transition(Transition { current: current.name(), allowed })
            }
            CancelWithdrawalError::Obstacle(obstacle) => obstacle.into(),
        }
    }
}

impl From<OperatorMoveError> for ApiError {
    fn from(error: OperatorMoveError) -> Self {
        match error {
            OperatorMoveError::TxidMissing => Self::invalid(Errors::one("txid", messages::required("txid"))),
            OperatorMoveError::InvalidTransition { current, allowed } => {
                let allowed = allowed.into_iter().map(|status| status.name()).collect();
                Self::invalid_transition(Transition { current: current.name(), allowed })
            }
            OperatorMoveError::Obstacle(obstacle) => obstacle.into(),
        }
    }
}

impl From<ReverseTopupError> for ApiError {
    fn from(error: ReverseTopupError) -> Self {
        match error {
            ReverseTopupError::InvalidTransition(ReversalRefusal { current, allowed }) => {
                let allowed = allowed.into_iter().map(|status| status.name()).collect();
                Self::invalid_transition(Transition { current: current.name(), allowed })
            }
            ReverseTopupError::Obstacle(obstacle) => obstacle.into(),
        }
    }
}

impl From<SettleSuspenseError> for ApiError {
    fn from(error: SettleSuspenseError) -> Self {
        match error {
            SettleSuspenseError::AlreadySettled => {
                Self::saying(Code::Conflict, "This money was settled already.")
            }
            SettleSuspenseError::Obstacle(obstacle) => obstacle.into(),
        }
    }
}

impl From<JudgeError> for ApiError {
    fn from(error: JudgeError) -> Self {
        match error {
            JudgeError::RecentAdjustment => Self::saying(Code::Forbidden, RECENT_ADJUSTMENT),
            JudgeError::Find(error) => error.into(),
        }
    }
}

impl IntoApiError for AdjustError {
    fn into_api_error(self, currency: &Currency) -> ApiError {
        match self {
            Self::NoSuchUser => ApiError::invalid(Errors::one("user_id", messages::selected("user_id"))),
            Self::AboveLimit(most) => {
                let most = currency.print(most.money());
                let sentence = format!("No more than {most} can be adjusted at once.");
                ApiError::of_field(Code::LimitExceeded, "amount", sentence)
            }
            Self::InsufficientFunds => {
                ApiError::of_field(Code::InsufficientFunds, "amount", messages::funds("amount"))
            }
            Self::Obstacle(obstacle) => obstacle.into(),
        }
    }
}

impl From<TellError> for ApiError {
    fn from(error: TellError) -> Self {
        match error {
            TellError::ReferenceRequired => {
                Self::invalid(Errors::one("reference", messages::required("reference")))
            }
            TellError::PaymentRequired { amount, currency } => {
                let mut errors = Errors::default();
                for (field, _) in
                    [("amount", amount), ("currency", currency)].into_iter().filter(|(_, missing)| *missing)
                {
                    errors.add(field, messages::required(field));
                }
                Self::invalid(errors)
            }
            TellError::Obstacle(obstacle) => obstacle.into(),
        }
    }
}

impl From<ResolveMessageError> for ApiError {
    fn from(error: ResolveMessageError) -> Self {
        match error {
            ResolveMessageError::AlreadyResolved => {
                Self::saying(Code::Conflict, "This message is resolved already.")
            }
            ResolveMessageError::Obstacle(obstacle) => obstacle.into(),
        }
    }
}

impl From<TopupError> for ApiError {
    fn from(error: TopupError) -> Self {
        match error {
            TopupError::Obstacle(Obstacle::Unavailable(Unavailable(cause))) if cause.is::<NoTopups>() => {
                Self::not_here("Top-ups are not available here.")
            }
            TopupError::Obstacle(obstacle) => obstacle.into(),
        }
    }
}
