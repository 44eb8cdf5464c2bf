//! The accent colour of a deployment, with shades that are readable on the backgrounds of the pages.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// A colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Colour {
    red: u8,
    green: u8,
    blue: u8,
}

const WHITE: Colour = Colour::new(255, 255, 255);
const BLACK: Colour = Colour::new(0, 0, 0);
/// The darkest background of the light theme.
const LIGHT_GROUND: Colour = Colour::new(0xec, 0xea, 0xe5);
/// The lightest background of the dark theme.
const DARK_GROUND: Colour = Colour::new(0x2a, 0x28, 0x2f);
/// The contrast of text that WCAG 2.2 demands at level AA.
const READABLE: f64 = 4.5;
/// The number of steps from a colour to black or white.
const STEPS: u16 = 64;

impl Colour {
    /// The colour without configuration.
    pub const DEFAULT: Self = Self::new(0xff, 0x5a, 0x1f);

    /// The colour of these parts.
    #[must_use]
    pub const fn new(red: u8, green: u8, blue: u8) -> Self {
        Self { red, green, blue }
    }

    /// The colour in the form `#ff5a1f`; `None` for another text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6)?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        let number = u32::from_str_radix(digits, 16).ok()?;
        let [_, red, green, blue] = number.to_be_bytes();
        Some(Self { red, green, blue })
    }

    /// The relative luminance, as WCAG defines it.
    fn luminance(self) -> f64 {
        let linear = |part: u8| {
            let part = f64::from(part) / 255.0;
            if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(self.red) + 0.7152 * linear(self.green) + 0.0722 * linear(self.blue)
    }

    /// The contrast of two colours, from 1 to 21, as WCAG defines it.
    #[must_use]
    pub fn contrast(self, other: Self) -> f64 {
        let (a, b) = (self.luminance(), other.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// The colour of text on this one: black or white, of which at least one has a contrast of 4.5.
    #[must_use]
    pub fn text(self) -> Self {
        if self.contrast(WHITE) >= READABLE { WHITE } else { BLACK }
    }

    /// The nearest shade towards black or white that is readable as text on this ground.
    fn readable_on(self, ground: Self) -> Self {
        let towards = if ground.luminance() > 0.5 { BLACK } else { WHITE };
        let shades = (0..=STEPS).map(|step| self.mixed(towards, step));
        shades.into_iter().find(|shade| shade.contrast(ground) >= READABLE).unwrap_or(towards)
    }

    /// The colour after so many steps to another one.
    fn mixed(self, other: Self, step: u16) -> Self {
        let rest = STEPS.saturating_sub(step);
        let part = |from: u8, to: u8| {
            let sum = u16::from(from).saturating_mul(rest).saturating_add(u16::from(to).saturating_mul(step));
            u8::try_from(sum.div_euclid(STEPS)).unwrap_or(u8::MAX)
        };
        Self {
            red: part(self.red, other.red),
            green: part(self.green, other.green),
            blue: part(self.blue, other.blue),
        }
    }

    fn css(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.red, self.green, self.blue)
    }
}

/// The style sheet of an accent colour.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccentSheet {
    name: String,
    css: String,
}

impl AccentSheet {
    /// The style sheet of a colour. Text on the colour and text in the colour have a contrast of 4.5 in both themes.
    #[must_use]
    pub fn new(accent: Colour) -> Self {
        let (fill, text) = (accent.css(), accent.text().css());
        let light = accent.readable_on(LIGHT_GROUND).css();
        let dark = accent.readable_on(DARK_GROUND).css();
        let css = format!(
            ":root{{--accent:{fill};--on-accent:{text};--accent-text:{light}}}\
             @media (prefers-color-scheme:dark){{:root{{--accent-text:{dark}}}}}\
             :root.dark{{--accent-text:{dark}}}"
        );
        let digest = Sha256::digest(css.as_bytes());
        let digest = digest.iter().take(6).fold(String::new(), |mut text, byte| {
            // Writing into a string never fails.
            let _ = write!(text, "{byte:02x}");
            text
        });
        Self { name: format!("accent-{digest}.css"), css }
    }

    /// The name of the file, with a digest of its content.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The path under which pages name it.
    #[must_use]
    pub fn path(&self) -> String {
        format!("/assets/{}", self.name)
    }

    /// The content, as `text/css`.
    #[must_use]
    pub fn css(&self) -> &str {
        &self.css
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_accent_is_readable_in_both_themes() {
        for red in (0..=255).step_by(17) {
            for green in (0..=255).step_by(17) {
                for blue in (0..=255).step_by(17) {
                    let accent = Colour::new(red, green, blue);
                    assert!(accent.contrast(accent.text()) >= READABLE, "{accent:?}");
                    for ground in [LIGHT_GROUND, DARK_GROUND] {
                        assert!(accent.readable_on(ground).contrast(ground) >= READABLE, "{accent:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_readable_accent_keeps_its_colour() {
        let accent = Colour::new(0x8a, 0x1f, 0x00);
        assert_eq!(accent.readable_on(LIGHT_GROUND), accent);
    }

    #[test]
    fn colours_have_six_hexadecimal_digits() {
        assert_eq!(Colour::parse("#ff5A1f"), Some(Colour::DEFAULT));
        for other in ["", "#", "ff5a1f", "#ff5a1", "#ff5a1g", "#+f5a1f", "red", "#ffé1f"] {
            assert_eq!(Colour::parse(other), None, "{other}");
        }
    }

    #[test]
    fn another_colour_has_another_name() {
        let [one, other] = [Colour::DEFAULT, Colour::new(0, 0, 255)].map(AccentSheet::new);
        assert_ne!(one.name(), other.name());
        assert!(one.css().contains("--accent:#ff5a1f"), "{}", one.css());
    }
}
