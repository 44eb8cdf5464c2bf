//! Amounts as text.

use cuepoint_domain::money::{Currency, Money};
use divan::{Bencher, black_box};

fn usd() -> Currency {
    Currency::new("USD", 2).unwrap()
}

#[divan::bench(args = ["20", "12.50", "1250e-2", "1000000000000.00"])]
fn parse(bencher: Bencher<'_, '_>, text: &str) {
    let usd = usd();
    bencher.bench(|| usd.parse(black_box(text)));
}

#[divan::bench(args = [0, 1_250, 100_000_000_000_000])]
fn print(bencher: Bencher<'_, '_>, cents: i64) {
    let (usd, sum) = (usd(), Money::from_minor(cents.into()));
    bencher.bench(|| usd.print(black_box(sum)));
}
