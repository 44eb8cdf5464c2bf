//! The display on a wall, the overlay of streaming software, and the poster.
//!
//! - [`DisplayPage`], [`DisplayPart`]: `/g/{code}/display` and `/g/{code}/overlay`, and their live part;
//! - [`Poster`], at `/booth/qr`;
//! - [`terminal_code`]: the code that `cuepoint serve` prints.

mod page;
mod poster;
mod qr;

pub use page::{DisplayKind, DisplayPage, DisplayPart};
pub use poster::{Poster, PosterSize};
pub use qr::terminal_code;

/// The address without its scheme, as people read it: up to the last slash, where a line may break, and the rest.
pub(crate) fn readable(url: &str) -> (&str, &str) {
    let address = url.split_once("://").map_or(url, |(_, rest)| rest);
    let end = address.rfind('/').and_then(|slash| slash.checked_add(1)).unwrap_or_default();
    address.split_at_checked(end).unwrap_or((address, ""))
}
