//! Pictures with bars.

use std::fmt;

use askama::filters::{Html, HtmlSafe, escape};

/// The height of the picture in its own units. Its width is ten units for each bar, and it is stretched.
const HEIGHT: i128 = 1_000;

/// A picture with a bar for each value, from left to right, that the table beside it repeats.
pub(super) struct Bars {
    label: String,
    /// The heights of the bars.
    heights: Vec<i128>,
}

impl Bars {
    /// The picture of these values, of which the greatest has the full height.
    pub(super) fn new(label: impl Into<String>, values: impl IntoIterator<Item = i128>) -> Self {
        let values: Vec<i128> = values.into_iter().map(|value| value.max(0)).collect();
        let most = values.iter().copied().max().unwrap_or(0);
        let height = |value: i128| value.saturating_mul(HEIGHT).checked_div(most).unwrap_or(0);
        Self { label: label.into(), heights: values.into_iter().map(height).collect() }
    }
}

impl fmt::Display for Bars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ok(label) = escape(&self.label, Html);
        let width = self.heights.len().saturating_mul(10);
        write!(
            f,
            "<svg class=\"bars\" viewBox=\"0 0 {width} {HEIGHT}\" preserveAspectRatio=\"none\" role=\"img\" \
             aria-label=\"{label}\">"
        )?;
        for (place, height) in self.heights.iter().enumerate() {
            let x = place.saturating_mul(10).saturating_add(1);
            let y = HEIGHT.saturating_sub(*height);
            write!(f, "<rect x=\"{x}\" y=\"{y}\" width=\"8\" height=\"{height}\"/>")?;
        }
        f.write_str("</svg>")
    }
}

impl HtmlSafe for Bars {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_value_has_the_full_height() {
        assert_eq!(Bars::new("", [0, 5, 10]).heights, [0, 500, 1_000]);
        assert_eq!(Bars::new("", [0, 0]).heights, [0, 0], "nothing happened");
        assert_eq!(Bars::new("", []).heights, []);
        let text = Bars::new("\"<b>", [1]).to_string();
        assert!(text.contains("aria-label=\"&#34;&#60;b&#62;\""), "{text}");
    }
}
