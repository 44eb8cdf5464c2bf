//! The pages over HTTP: sessions with cookies, forms, and their handlers.
//!
//! A neighbour of the HTTP API, on the same use cases. Reading order, along a request: [`router`] (the checks, in order)
//! with [`route`] (what a route declares), `cross_site`, `cookies`, `kept_secrets`, `session`, `guest_cookie` and `recent_password`, [`call`] (the handler's view of a
//! request), [`handlers`] (the pages by subject), `failure` (refusals as pages), `response`. What a page looks like is in
//! `cuepoint_pages`.

pub mod call;
pub mod cookies;
pub mod cross_site;
pub mod failure;
pub mod form;
mod guest_cookie;
pub mod handlers;
mod kept_secrets;
mod known_browser;
mod next_path;
mod recent_password;
pub mod response;
pub mod route;
pub mod router;
mod session;
pub mod state;
