//! The caller's balance and its entries.

use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_domain::ledger::EntryKind;
use cuepoint_domain::timestamp::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::call::{self, ApiCall};
use crate::declaration::{ok, operations, page};
use crate::endpoint::authenticated;
use crate::wire::envelope::ApiResponse;
use crate::wire::error::{ApiError, Code};
use crate::wire::filters::{self, QueryFilters as _, filters};
use cuepoint_views::json_members;
use cuepoint_views::wallet::{WalletEntryView, WalletView};

operations! {
    /// Show the caller's balance
    ///
    /// The available, held, owed and clearing amounts, now or at the time `at`.
    GET "/api/v1/wallet" "getWallet" {
        tag: Wallet,
        run: authenticated(Action::UseWallet, show),
        answers: ok::<WalletData>("The caller's balance."),
        filters: BalanceFilters::DECLARED,
        fails: &[Code::ValidationFailed],
    }

    /// List the caller's wallet entries
    ///
    /// The statement of the wallet: every change of the balance, newest first.
    GET "/api/v1/wallet/entries" "listWalletEntries" {
        tag: Wallet,
        run: authenticated(Action::UseWallet, entries),
        answers: page::<WalletEntryView>("A page of the caller's entries, newest first."),
        filters: EntryFilters::DECLARED,
    }

    /// Show a wallet entry
    ///
    /// Entries are numbered per wallet, and the id is the number in the caller's wallet.
    GET "/api/v1/wallet/entries/{id}" "getWalletEntry" {
        tag: Wallet,
        run: authenticated(Action::UseWallet, entry),
        answers: ok::<WalletEntryData>("The entry."),
    }
}

filters! {
    /// The filters of the balance.
    struct BalanceFilters {
        /// Time of the balance; now by default. The balance is the one after the last entry up to this time, and 0
        /// before the first entry.
        at: Timestamp = filters::TIMESTAMP,
    }
}

filters! {
    /// The filters of the entries.
    struct EntryFilters {
        /// Only entries of this kind.
        kind: EntryKind = filters::ENTRY_KIND,
    }
}

/// A balance in an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct WalletData {
    /// The balance.
    pub wallet: WalletView,
}

json_members!([] WalletData { wallet [] });

/// A wallet entry in an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct WalletEntryData {
    /// The entry.
    pub entry: WalletEntryView,
}

async fn show(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let BalanceFilters { at } = call.filters()?;
    let (balance, clearing) = call.use_cases().wallet.balance(&principal, at).await?;
    let wallet = WalletView::new(balance, clearing, call.currency());
    Ok(ApiResponse::view("Wallet.", WalletData { wallet }))
}

async fn entries(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let EntryFilters { kind } = call.filters()?;
    let paging = call.paging();
    let rows = call.use_cases().wallet.entries(&principal, kind, paging.request()).await?;
    call::page("Wallet entries.", &paging, &rows, |entry| WalletEntryView::new(entry, call.currency()))
}

async fn entry(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let entry = call.use_cases().wallet.entry(&principal, call.id(Some)?).await?;
    ApiResponse::new(
        "Wallet entry.",
        WalletEntryData { entry: WalletEntryView::new(&entry, call.currency()) },
    )
}
