//! The document of an export of personal data, which the API and the pages send.

use std::error::Error;

use bytes::Bytes;
use cuepoint_domain::application::{Context, Failure, UseCases};
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::Unavailable;
use cuepoint_domain::privacy::personal_data::{ExportList, ExportRecord};
use cuepoint_views::people::UserView;
use cuepoint_views::personal_data::{AccountView, row};
use cuepoint_views::wallet::WalletView;
use futures_util::future;
use futures_util::stream::{self, Stream, StreamExt as _};

/// A chunk of the document, or the error that ends it.
pub type BodyChunk = Result<Bytes, Box<dyn Error>>;

/// Begins the export of the principal's data: an envelope with the profile, the wallet and each list.
///
/// # Errors
/// As [`PersonalData::export`](cuepoint_domain::application::PersonalData::export). A document that does not end was
/// interrupted.
pub async fn document(
    use_cases: &UseCases,
    context: &Context,
    currency: &Currency,
) -> Result<impl Stream<Item = BodyChunk> + use<>, Failure> {
    let (personal_data, principal) = (&use_cases.personal_data, context.principal);
    let profile = personal_data.export(context).await?;
    let clearing = use_cases.wallet.clearing(&principal, profile.balance).await?;
    let user = UserView::new(&profile.user, profile.balance.available, currency);
    let account = AccountView::new(&profile.user);
    let wallet = WalletView::new(profile.balance, clearing, currency);
    let head =
        head(&user, &account, &wallet).map_err(|error| Failure::Unavailable(Unavailable::new(error)))?;
    let mut stream = stream::once(future::ready(Ok(Bytes::from(head)))).boxed_local();
    for list in ExportList::all() {
        let (currency, rows) = (currency.clone(), personal_data.list(&principal, list)?);
        let write = move |record: &ExportRecord| row(record, principal.session, &currency);
        stream = stream.chain(list_chunks(list.name(), rows, write)).boxed_local();
    }
    let tail = stream::once(future::ready(Ok(Bytes::from_static(b"}}"))));
    Ok(until_failure(stream.chain(tail)))
}

/// The document up to the first list.
fn head(user: &UserView, account: &AccountView, wallet: &WalletView) -> serde_json::Result<String> {
    let user = serde_json::to_string(user)?;
    let account = serde_json::to_string(account)?;
    let wallet = serde_json::to_string(wallet)?;
    Ok(format!(
        r#"{{"status":"ok","message":"Personal data.","data":{{"user":{user},"account":{account},"wallet":{wallet}"#
    ))
}

/// A list as a further key of an object, in one chunk per page.
pub fn list_chunks(
    name: &'static str,
    pages: impl Stream<Item = Result<Vec<ExportRecord>, Unavailable>>,
    write: impl Fn(&ExportRecord) -> serde_json::Result<Vec<u8>>,
) -> impl Stream<Item = BodyChunk> {
    let mut is_first = true;
    let pages = pages.map(move |page| {
        let page = page.map_err(|Unavailable(cause)| -> Box<dyn Error> { cause })?;
        let mut chunk = Vec::new();
        for record in &page {
            if !std::mem::take(&mut is_first) {
                chunk.push(b',');
            }
            chunk.extend(write(record)?);
        }
        Ok(Bytes::from(chunk))
    });
    let begin = Ok(Bytes::from(format!(r#","{name}":["#)));
    stream::once(future::ready(begin))
        .chain(pages)
        .chain(stream::once(future::ready(Ok(Bytes::from_static(b"]")))))
}

/// The chunks up to the first failure, which is logged and aborts the connection. None is empty, since an
/// empty chunk ends a chunked body.
pub fn until_failure(stream: impl Stream<Item = BodyChunk>) -> impl Stream<Item = BodyChunk> {
    let stream = stream.filter(|chunk| future::ready(chunk.as_ref().map_or(true, |chunk| !chunk.is_empty())));
    stream.scan(false, |failed, chunk| {
        let go_on = !*failed;
        if let Err(error) = &chunk {
            tracing::warn!(error = error.as_ref(), "an answer was interrupted");
            *failed = true;
        }
        future::ready(go_on.then_some(chunk))
    })
}
