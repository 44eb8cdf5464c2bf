//! The report on a gig, and past evenings compared.
//!
//! - [`PastGigsPage`], at `/booth/gigs`;
//! - [`ReportPage`], at `/booth/gigs/{id}`;
//! - [`csv_head`] and [`csv_rows`], at `/booth/gigs/{id}/report.csv`.

mod bars;
mod csv;
mod past;
mod report_page;

pub use csv::{csv_head, csv_rows};
pub use past::PastGigsPage;
pub use report_page::ReportPage;

use cuepoint_domain::user::Rating;

use crate::frame::Frame;

/// The mean of the ratings, such as `4.70`; `None` without a rating.
fn mean_stars(rating: Rating, frame: &Frame<'_>) -> Option<String> {
    let hundredths = rating.mean_hundredths();
    let (whole, rest) = (hundredths.div_euclid(100), hundredths.rem_euclid(100));
    let separator = frame.language.decimal_separator();
    (rating.count > 0).then(|| format!("{whole}{separator}{rest:02}"))
}
