//! Links with which a guest account whose phone is lost moves to another browser.

use cuepoint_domain::application::{AccountUse, IssuedLink};
use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_domain::ids::UserId;
use cuepoint_domain::provider_reference::ProviderReference;
use cuepoint_domain::text::Line;

use crate::call::ApiCall;
use crate::declaration::{created, json, ok, operations};
use crate::endpoint::authenticated;
use crate::operations::staff::people::UserSummaryView;
use crate::wire::body::body;
use crate::wire::envelope::ApiResponse;
use crate::wire::error::{ApiError, Code};
use crate::wire::kinds;
use cuepoint_views::view;
use cuepoint_views::wire::time::WireTimestamp;

/// The path of the page that a link opens, up to its secret. The secret is in the query, which no log shows.
const PAGE: &str = "/wallet-link?link=";

operations! {
    /// Show the last use of an account
    ///
    /// For operators and auditors. To be read before `issueWalletLink`: a phone that is in use is not lost.
    GET "/api/v1/operator/users/{id}/wallet-link" "getAccountUse" {
        tag: OperatorUsers,
        run: authenticated(Action::ReadPeople, show),
        answers: ok::<AccountUseView>("The user and the last use."),
    }

    /// Issue a wallet link
    ///
    /// For operators. For the guest of a guest account who lost the phone, or whose app lost its refresh token. Compare
    /// a confirmed top-up of the account with the statement of its payer, and read `getAccountUse` first.
    ///
    /// Send `url` to the guest. Its page shows the wallet. The button of the page moves the account to that browser, and
    /// ends its other sessions, which are told the reason. A link works once within an hour, and a new one replaces it.
    /// Only this answer contains it.
    ///
    /// - 409 `conflict`: the user is no guest account.
    /// - 422 for `reference`: no confirmed top-up of this account has it.
    /// - 429 `rate_limited`: five links were issued within an hour.
    /// - 501 `not_configured`: the deployment has no pages.
    POST "/api/v1/operator/users/{id}/wallet-link" "issueWalletLink" {
        tag: OperatorUsers,
        run: authenticated(Action::IssueWalletLink, issue),
        answers: created::<WalletLinkView>("The link."),
        body: json::<WalletLinkBody>(),
        fails: &[Code::Conflict, Code::NotConfigured],
    }
}

body! {
    /// A wallet link to issue.
    pub struct WalletLinkBody as "NewWalletLink", example: {
        "reference": "019aa6e0-5c1f-7d3a-9b1e-3f2a6c8d4e10",
        "reason": "Lost phone. The bank statement shows the payment."
    } {
        /// Reference of a confirmed top-up of the account, which its payer's statement shows.
        reference: ProviderReference = required(kinds::PROVIDER_REFERENCE),
        /// Reason, stored with the operator and the time.
        reason: Line = required(kinds::LINE),
    }
}

view! {
    /// The last use of an account.
    pub struct AccountUseView as AccountUse of (account: &AccountUse) {
        /// The user.
        user: UserSummaryView = UserSummaryView::new(&account.user),
        /// Newest recorded use of a session that has not ended; null without such a session. A browser's use is recorded
        /// once an hour, an app's with each new refresh token.
        #[timestamp_or_null(example = "2026-01-31T20:15:00.000000Z")]
        last_used_at: Option<WireTimestamp> = account.last_used_at.map(WireTimestamp),
    }
}

view! {
    /// A wallet link.
    pub struct WalletLinkView as WalletLink of (issued: &IssuedLink, origin: &str) {
        /// The account, and its last use before.
        #[serde(flatten)]
        account: AccountUseView = AccountUseView::new(&issued.account),
        /// Address of the page for the guest. It contains the secret.
        #[schema(example = "https://music.example.com/wallet-link?link=bntE_GS4RCx0KV37F1UrUO")]
        url: String = format!("{origin}{PAGE}{}", issued.secret.0),
        /// Time from which the link is refused.
        #[timestamp(example = "2026-01-31T21:15:00.000000Z")]
        expires_at: WireTimestamp = WireTimestamp(issued.expires_at),
    }
}

async fn show(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let account = call.use_cases().wallet_links.last_use(&principal, call.id(UserId::new)?).await?;
    ApiResponse::new("Last use.", AccountUseView::new(&account))
}

async fn issue(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    if !call.settings().has_pages {
        return Err(Code::NotConfigured.into());
    }
    let id = call.id(UserId::new)?;
    let WalletLinkBody { reference, reason } = call.body()?;
    let context = call.context(&principal);
    let issued = call.use_cases().wallet_links.issue(&context, id, (reference, reason)).await?;
    ApiResponse::new("Wallet link issued.", WalletLinkView::new(&issued, &call.settings().public_url))
}
