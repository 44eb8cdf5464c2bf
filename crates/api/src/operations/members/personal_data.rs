//! Export and erasure of the caller's personal data.

use cuepoint_adapters::personal_data_export;
use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_domain::text::Password;
use futures_util::stream::{self, StreamExt as _};

use crate::call::ApiCall;
use crate::declaration::{ok, operations, optional_json};
use crate::endpoint::authenticated;
use crate::wire::body::body;
use crate::wire::envelope::ApiResponse;
use crate::wire::error::{ApiError, Code};
use crate::wire::kinds;
use cuepoint_transport::rate_limits::Class;
use cuepoint_views::Empty;
use cuepoint_views::personal_data::PersonalDataExportView;

operations! {
    /// Export personal data
    ///
    /// All data that is stored about the caller. The body is streamed. If the connection closes before the document
    /// is complete, the export is incomplete.
    ///
    /// Each list is complete, newest first. A record that exists during the whole export appears once. A record
    /// that is added during the export may be missing.
    GET "/api/v1/user/export" "exportPersonalData" {
        tag: Profile,
        run: authenticated(Action::UsePersonalData, export),
        answers: ok::<PersonalDataExportView>("All data stored about the caller."),
        class: Class::Guess,
    }

    /// Erase personal data
    ///
    /// Erases the caller's personal data, deletes the webhook endpoints, and ends all sessions. Entries of the
    /// ledger remain, without a name. The e-mail address can be registered again. A missing or wrong password
    /// returns 422 for `password`; a guest account needs none. The request also fails in these cases:
    ///
    /// - 409 `wallet_not_empty`: a balance is available, held or owed. A guest account can spend it, be claimed and
    ///   withdraw it, or ask an operator.
    /// - 409 `topup_pending`: a top-up of the last `topups.pending_days` (7) days is pending.
    /// - 409 `email_restorable`: the previous e-mail address can still be restored.
    /// - 409 `last_operator`: the caller is the last active operator.
    /// - 409 `conflict`: the account was claimed, or its password changed, at the same time.
    ///
    /// Older pending top-ups fail.
    DELETE "/api/v1/user" "erasePersonalData" {
        tag: Profile,
        run: authenticated(Action::UsePersonalData, erase),
        answers: ok::<Empty>("The personal data are erased."),
        class: Class::Guess,
        body: optional_json::<ErasureBody>(),
        fails: &[
            Code::Conflict,
            Code::WalletNotEmpty,
            Code::TopupPending,
            Code::EmailRestorable,
            Code::LastOperator,
        ],
    }
}

body! {
    /// The confirmation of an erasure.
    pub struct ErasureBody as "Erasure", example: {"password": "correct horse"} {
        /// Password of the caller; a guest account has none.
        password: Option<Password> = optional(kinds::PRESENTED_PASSWORD),
    }
}

async fn export(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    // An unknown parameter is refused before the export is recorded.
    call.judged(Ok(()))?;
    if call.is_head() {
        return Ok(ApiResponse::streamed(stream::empty().boxed_local()));
    }
    let (use_cases, currency) = (call.use_cases(), call.currency());
    let document = personal_data_export::document(use_cases, &call.context(&principal), currency).await?;
    Ok(ApiResponse::streamed(document.boxed_local()))
}

async fn erase(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let ErasureBody { password } = call.body()?;
    let erased = call.use_cases().personal_data.erase(&call.context(&principal), password.as_ref()).await;
    call.limits().refund_unhashed(&erased);
    erased?;
    ApiResponse::new("Erased.", Empty {})
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use actix_web::web::Bytes;
    use actix_web::{App, HttpServer, web};
    use cuepoint_adapters::personal_data_export::{BodyChunk, list_chunks, until_failure};
    use cuepoint_domain::ids::UserId;
    use cuepoint_domain::ports::Unavailable;
    use cuepoint_domain::privacy::personal_data::ExportRecord;
    use cuepoint_domain::text::Line;
    use cuepoint_domain::timestamp::Timestamp;
    use cuepoint_domain::user::Block;

    use futures_util::Stream;

    use super::*;

    fn block(number: i64) -> ExportRecord {
        let guest = UserId::new(number).unwrap();
        ExportRecord::Block(Block { guest, name: Line::new("Ada").unwrap(), at: Timestamp::EPOCH })
    }

    /// A list of these pages; a `None` at the end stands for a failed read.
    fn stream(pages: Vec<Option<Vec<ExportRecord>>>) -> impl Stream<Item = BodyChunk> {
        let pages = pages.into_iter().map(|page| page.ok_or_else(|| Unavailable::new("away")));
        let write = |record: &ExportRecord| match record {
            ExportRecord::Block(block) => serde_json::to_vec(&block.guest.get()),
            other => panic!("{other:?}"),
        };
        until_failure(list_chunks("blocks", stream::iter(pages), write))
    }

    #[actix_web::test]
    async fn an_exported_list_is_one_array_over_all_pages() {
        for (pages, expected) in [
            (vec![Some(vec![])], r#","blocks":[]"#),
            (
                vec![Some(vec![block(3), block(2)]), Some(vec![]), Some(vec![block(1)])],
                r#","blocks":[3,2,1]"#,
            ),
        ] {
            let sent: Vec<BodyChunk> = stream(pages).collect().await;
            let sent: Vec<Bytes> = sent.into_iter().map(Result::unwrap).collect();
            assert_eq!(sent.concat(), expected.as_bytes());
            assert!(sent.iter().all(|chunk| !chunk.is_empty()));
        }
    }

    /// The bytes of a list that a client receives until the connection ends.
    async fn sent(pages: fn() -> Vec<Option<Vec<ExportRecord>>>) -> String {
        let answer = move || async move {
            let answer = ApiResponse::streamed(stream(pages()).boxed_local());
            answer.respond(actix_web::http::StatusCode::OK, None)
        };
        let server = HttpServer::new(move || App::new().default_service(web::to(answer)));
        let server = server.workers(1).disable_signals().bind(("127.0.0.1", 0)).unwrap();
        let address = *server.addrs().first().unwrap();
        let server = server.run();
        let handle = server.handle();
        actix_web::rt::spawn(server);
        let answer = web::block(move || {
            let mut stream = std::net::TcpStream::connect(address).unwrap();
            stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
            let mut answer = Vec::new();
            // A reset connection proves it as well as a closed one.
            let _ = stream.read_to_end(&mut answer);
            String::from_utf8(answer).unwrap()
        });
        let answer = answer.await.unwrap();
        handle.stop(false).await;
        answer
    }

    #[actix_web::test]
    async fn an_interrupted_export_does_not_look_complete() {
        // A chunked body ends with an empty chunk.
        let whole = sent(|| vec![Some(vec![block(1)]), Some(vec![])]).await;
        assert!(whole.starts_with("HTTP/1.1 200 ") && whole.ends_with("]\r\n0\r\n\r\n"), "{whole}");
        let broken = sent(|| vec![Some(vec![block(1)]), None]).await;
        assert!(!broken.ends_with("0\r\n\r\n") && !broken.contains(']'), "{broken}");
    }
}
