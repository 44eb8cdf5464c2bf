//! Mapping of refused commands and provider messages to API errors.

use cuepoint_domain::address::{AddressError, DestinationRefusal};
use cuepoint_domain::application::commands::{
    AdjustRefusal, MoveWithdrawalRefusal, OpenRequestRefusal, OpenTopupRefusal, OpenWithdrawalRefusal,
    TipDjRefusal,
};
use cuepoint_domain::application::{Failure, InvalidTransition, ProviderMessageRefusal};
use cuepoint_domain::gig::{GigRefusal, GigStatus};
use cuepoint_domain::ledger::adjustment::AdjustmentRefusal;
use cuepoint_domain::money::Currency;
use cuepoint_domain::provider_message::AlreadyResolved;
use cuepoint_domain::tip::TipRefusal;
use cuepoint_domain::topup::{GuestTopupLimit, SuspenseRefusal};
use cuepoint_domain::withdrawal::Limit;
use cuepoint_domain::{music_request, withdrawal};

use crate::mapping::IntoApiError;
use crate::wire::error::{ApiError, Code, Transition};
use crate::wire::validation_texts::{self, Errors, FieldProblem};
use cuepoint_views::wire::money::Number;

impl From<InvalidTransition> for ApiError {
    fn from(InvalidTransition { current, allowed }: InvalidTransition) -> Self {
        Self::invalid_transition(Transition { current, allowed })
    }
}

impl IntoApiError for OpenRequestRefusal {
    fn into_api_error(self, currency: &Currency) -> ApiError {
        match self {
            Self::Rule(music_request::OpenRefusal::Oneself) => ApiError::invalid(Errors::one(
                "dj_id",
                validation_texts::yourself("You cannot send a request to yourself."),
            )),
            Self::Rule(music_request::OpenRefusal::NoSuchDj) => {
                ApiError::invalid(Errors::one("dj_id", validation_texts::selected("dj_id")))
            }
            Self::Rule(music_request::OpenRefusal::FeeBelowPrice(price)) => {
                let sentence = validation_texts::at_least("fee", &currency.print(price));
                ApiError::invalid(Errors::one("fee", sentence))
            }
            Self::Rule(music_request::OpenRefusal::DedicationWithoutGig) => {
                ApiError::invalid(Errors::one("message", validation_texts::no_gig()))
            }
            Self::Rule(music_request::OpenRefusal::MembersOnly) => ApiError::saying(
                Code::ClaimRequired,
                "This gig takes requests of members alone. Claim your account first.",
            ),
            Self::NoRoom(refusal) => {
                ApiError::of_field(Code::LimitExceeded, "dj_id", validation_texts::no_room(refusal))
            }
            Self::Rule(music_request::OpenRefusal::Blocked) => Code::Blocked.into(),
            Self::Rule(music_request::OpenRefusal::DjOffline) => Code::DjOffline.into(),
            Self::WalletOwes(owed) => ApiError::wallet_owes(Number::money(currency, owed)),
            Self::TooManyOpen(most) => {
                ApiError::of_field(Code::LimitExceeded, "dj_id", validation_texts::too_many_open(most))
            }
            Self::InsufficientFunds => {
                ApiError::of_field(Code::InsufficientFunds, "fee", validation_texts::funds("fee"))
            }
        }
    }
}

impl IntoApiError for OpenWithdrawalRefusal {
    fn into_api_error(self, currency: &Currency) -> ApiError {
        match self {
            Self::Rule(withdrawal::OpenRefusal::Destination(refusal)) => refusal.into(),
            Self::WalletOwes(owed) => ApiError::wallet_owes(Number::money(currency, owed)),
            Self::EmailUnverified => Code::EmailUnverified.into(),
            Self::Rule(withdrawal::OpenRefusal::Limit(limit)) => {
                let problem = match limit {
                    Limit::Single(most) => validation_texts::at_most("amount", &currency.print(most.money())),
                    Limit::Rolling(window) => {
                        let (most, hours) =
                            (currency.print(window.most.money()), window.length.whole_hours());
                        let sentence = format!("No more than {most} can be withdrawn within {hours} hours.");
                        FieldProblem::limit(most, sentence)
                    }
                    Limit::Cleared(most) => {
                        let most = currency.print(most);
                        let sentence = format!(
                            "No more than {most} can be withdrawn now. The rest of the balance is too recent."
                        );
                        FieldProblem::limit(most, sentence)
                    }
                };
                ApiError::of_field(Code::LimitExceeded, "amount", problem)
            }
            Self::InsufficientFunds => {
                ApiError::of_field(Code::InsufficientFunds, "amount", validation_texts::funds("amount"))
            }
        }
    }
}

impl From<DestinationRefusal> for ApiError {
    fn from(refusal: DestinationRefusal) -> Self {
        let address = "wallet_address";
        Self::invalid(match refusal {
            DestinationRefusal::Currency => Errors::one("currency", validation_texts::selected("currency")),
            DestinationRefusal::Network => Errors::one("network", validation_texts::selected("network")),
            DestinationRefusal::Address(error) => {
                let sentence = match error {
                    AddressError::Malformed => validation_texts::format(address),
                    AddressError::OtherNetwork => validation_texts::other_network(address),
                    AddressError::TestNetwork => validation_texts::test_network(address),
                    AddressError::Ownerless => validation_texts::ownerless(),
                    AddressError::AnyoneCanSpend => validation_texts::anyone_can_spend(),
                };
                Errors::one(address, sentence)
            }
        })
    }
}

impl IntoApiError for MoveWithdrawalRefusal {
    fn into_api_error(self, currency: &Currency) -> ApiError {
        match self {
            Self::TxidMissing => ApiError::invalid(Errors::one("txid", validation_texts::required("txid"))),
            Self::WalletOwes(owed) => ApiError::wallet_owes(Number::money(currency, owed)),
            Self::InvalidTransition(refusal) => refusal.into(),
        }
    }
}

impl IntoApiError for AdjustRefusal {
    fn into_api_error(self, currency: &Currency) -> ApiError {
        match self {
            Self::NoSuchUser => {
                ApiError::invalid(Errors::one("user_id", validation_texts::selected("user_id")))
            }
            Self::Rule(AdjustmentRefusal::AboveLimit(most)) => {
                let most = currency.print(most.money());
                let sentence = format!("An adjustment cannot exceed {most}.");
                ApiError::of_field(Code::LimitExceeded, "amount", FieldProblem::limit(most, sentence))
            }
            Self::InsufficientFunds => {
                ApiError::of_field(Code::InsufficientFunds, "amount", validation_texts::funds("amount"))
            }
        }
    }
}

impl IntoApiError for TipDjRefusal {
    fn into_api_error(self, currency: &Currency) -> ApiError {
        match self {
            Self::Rule(TipRefusal::Oneself) => {
                ApiError::saying(Code::OwnAccount, "You cannot give a tip to yourself.")
            }
            Self::Rule(TipRefusal::Blocked) => {
                ApiError::saying(Code::Blocked, "This DJ isn't accepting your tips.")
            }
            Self::Rule(TipRefusal::TooSmall(least)) => {
                let sentence = validation_texts::at_least("amount", &currency.print(least.money()));
                ApiError::invalid(Errors::one("amount", sentence))
            }
            Self::Rule(TipRefusal::AboveLimit(most)) => {
                let most = currency.print(most.money());
                let sentence = format!("A tip cannot exceed {most}.");
                ApiError::of_field(Code::LimitExceeded, "amount", FieldProblem::limit(most, sentence))
            }
            Self::Rule(TipRefusal::OutOfRange) => Failure::OutOfRange.into(),
            Self::WalletOwes(owed) => ApiError::wallet_owes(Number::money(currency, owed)),
            Self::InsufficientFunds => {
                ApiError::of_field(Code::InsufficientFunds, "amount", validation_texts::funds("amount"))
            }
        }
    }
}

impl IntoApiError for OpenTopupRefusal {
    fn into_api_error(self, currency: &Currency) -> ApiError {
        match self {
            Self::NotOffered => {
                ApiError::saying(Code::NotConfigured, "This deployment does not accept top-ups.")
            }
            Self::TooSmall(least) => {
                let sentence = validation_texts::at_least("amount", &currency.print(least.money()));
                ApiError::invalid(Errors::one("amount", sentence))
            }
            Self::GuestLimit(limit) => {
                let (most, sentence) = match limit {
                    GuestTopupLimit::InWallet(most) => {
                        let most = currency.print(most.money());
                        let sentence =
                            format!("A guest account can have at most {most}. Claim it to have more.");
                        (most, sentence)
                    }
                    GuestTopupLimit::Per24h(most) => {
                        let most = currency.print(most.money());
                        let sentence = format!(
                            "A guest account can pay in at most {most} within 24 hours. Claim it to pay more."
                        );
                        (most, sentence)
                    }
                };
                ApiError::of_field(Code::LimitExceeded, "amount", FieldProblem::limit(most, sentence))
            }
            Self::RefusedByProvider => Code::TopupRefused.into(),
        }
    }
}

impl From<GigRefusal> for ApiError {
    fn from(refusal: GigRefusal) -> Self {
        match refusal {
            GigRefusal::AnotherIsOpen(gig) => Self::gig_open(gig.get()),
            GigRefusal::Ended => {
                Self::invalid_transition(Transition { current: GigStatus::Ended.name(), allowed: Vec::new() })
            }
            GigRefusal::Place(refusal) => refusal.into(),
        }
    }
}

impl From<SuspenseRefusal> for ApiError {
    fn from(refusal: SuspenseRefusal) -> Self {
        match refusal {
            // Not reached: for the command, this is a broken invariant.
            SuspenseRefusal::NothingThere => Code::NotFound.into(),
            SuspenseRefusal::AlreadySettled => {
                Self::saying(Code::AlreadySettled, "This money has already been settled.")
            }
        }
    }
}

impl From<AlreadyResolved> for ApiError {
    fn from(AlreadyResolved: AlreadyResolved) -> Self {
        Self::saying(Code::AlreadySettled, "This message has already been resolved.")
    }
}

impl From<ProviderMessageRefusal> for ApiError {
    fn from(refusal: ProviderMessageRefusal) -> Self {
        match refusal {
            ProviderMessageRefusal::ReferenceRequired => {
                Self::invalid(Errors::one("reference", validation_texts::required("reference")))
            }
            ProviderMessageRefusal::PaymentRequired { amount, currency } => {
                let mut errors = Errors::default();
                for (field, _) in
                    [("amount", amount), ("currency", currency)].into_iter().filter(|(_, missing)| *missing)
                {
                    errors.add(field, validation_texts::required(field));
                }
                Self::invalid(errors)
            }
        }
    }
}
