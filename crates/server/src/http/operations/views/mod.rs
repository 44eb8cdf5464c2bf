//! Views of the domain's entities for clients, each with exactly these keys and always all of them.

mod adjustment;
mod audit;
mod block;
mod event;
mod exported;
mod json_web_key;
mod message_received;
mod named;
mod operator_topup;
mod operator_withdrawal;
mod people;
mod personal_data;
mod provider_message;
mod rating;
mod request;
mod security_event;
mod session;
mod settings;
mod staff;
mod topup;
mod wallet;
mod webhook_attempt;
mod webhook_endpoint;
mod withdrawal;
mod withdrawal_options;

pub use adjustment::{AdjustedView, AdjustmentView};
pub use audit::{AuditData, AuditView};
pub use block::{BlockData, BlockView};
pub use event::{
    EventDataView, EventPageView, EventView, OperatorEventDataView, OperatorEventPageView, OperatorEventView,
};
pub use exported::{
    AccountView, BlockedByView, ChallengeView, ExportedEntryView, ExportedSessionView,
    ExportedWebhookEndpointView, ExportedWithdrawalView, OperationView,
};
pub use json_web_key::{JsonWebKeySetView, JsonWebKeyView};
pub use message_received::MessageReceivedView;
pub use named::{
    NamedProviderMessageView, NamedSecurityEventView, NamedSuspenseView, NamedTopupView, OperatorTopupData,
};
pub use operator_topup::{ChargedBackData, OperatorTopupView, SuspenseData, SuspenseView};
pub use operator_withdrawal::{OperatorWithdrawalView, ReviewedWithdrawalView};
pub use people::{DjData, DjView, UserData, UserView};
pub use personal_data::{PersonalDataView, row};
pub use provider_message::{ContradictingMessageView, ProviderMessageData, ProviderMessageView};
pub use rating::{RatingData, RatingView};
pub use request::MusicRequestView;
pub use security_event::SecurityEventView;
pub use session::{ActiveSessionView, Empty, LoginNetworkView, SessionView};
pub use settings::{SettingsData, SettingsView};
pub use staff::{PersonData, PersonView};
pub use topup::{TopupData, TopupView};
pub use wallet::{EntryData, EntryView, ReferenceView, WalletData, WalletView};
pub use webhook_attempt::{OperatorWebhookAttemptView, WebhookAttemptView};
pub use webhook_endpoint::{
    AllWebhooks, OperatorWebhookEndpointData, OperatorWebhookEndpointView, OperatorWebhookSecretData,
    OwnWebhooks, ReplayView, WebhookEndpointData, WebhookEndpointView, WebhookSecretData, WebhookViews,
};
pub use withdrawal::{CurrentWithdrawalView, WithdrawalRequestView, WithdrawalRequestedView, WithdrawalView};
pub use withdrawal_options::{WithdrawalOptionView, WithdrawalOptionsView};
