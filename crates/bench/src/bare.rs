//! An empty handler, which measures the cost of HTTP alone.

use std::io::Write;
use std::net::TcpListener;

use actix_web::{App, HttpResponse, HttpServer, web};

/// The size of a `personal-info` response.
const BODY_BYTES: usize = 500;

/// Serves on a free port of 127.0.0.1 until killed, and prints the same line with its address as the service.
pub(crate) fn serve() -> anyhow::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let address = listener.local_addr()?;
    let beginning = r#"{"status":"ok","data":""#;
    let end = r#""}"#;
    let filling = BODY_BYTES.saturating_sub(beginning.len()).saturating_sub(end.len());
    let body: &'static str = format!("{beginning}{}{end}", "x".repeat(filling)).leak();
    let answer = move || async move { HttpResponse::Ok().content_type("application/json").body(body) };
    let server = HttpServer::new(move || App::new().route("/", web::get().to(answer)));
    let server = server.tcp_nodelay(true).listen(listener)?.run();
    println!("listening on http://{address}");
    std::io::stdout().flush()?;
    actix_web::rt::System::new().block_on(server)?;
    Ok(())
}
