//! QR codes.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use askama::filters::HtmlSafe;
use qrcode::render::unicode::Dense1x2;
use qrcode::{Color, EcLevel, QrCode};

/// The light modules around a code that readers need.
const QUIET_ZONE: usize = 4;

/// A code at level Q: a quarter of it may be dirty or torn.
fn encoded(url: &str) -> Option<QrCode> {
    QrCode::with_error_correction_level(url, EcLevel::Q).ok()
}

/// The QR code of an address, in half blocks for a terminal with light text on dark; `None` for an address that is
/// longer than a code can be.
#[must_use]
pub fn terminal_code(url: &str) -> Option<String> {
    let code = encoded(url)?;
    // A block is the light of the terminal, so that light modules are filled.
    let mut picture = code.render::<Dense1x2>();
    picture.dark_color(Dense1x2::Light).light_color(Dense1x2::Dark).quiet_zone(true);
    Some(picture.build())
}

/// The QR code of an address as an element `svg`, black on white, with a quiet zone of four modules.
pub(crate) struct Svg {
    modules: Arc<Modules>,
    /// What a screen reader says.
    label: String,
}

/// The dark and light squares of a code.
struct Modules {
    /// The width with the quiet zone, in modules.
    width: usize,
    /// The dark modules, as runs of rows.
    path: String,
}

/// The codes of the addresses that were shown last: to encode one takes ten times as long as the rest of a display.
static KEPT: LazyLock<Mutex<HashMap<String, Arc<Modules>>>> = LazyLock::new(Mutex::default);

/// The number of kept codes, about 10 kB each.
const MOST_KEPT: usize = 64;

impl Svg {
    /// The code of an address; `None` for an address that is longer than a code can be.
    pub(crate) fn new(url: &str, label: impl Into<String>) -> Option<Self> {
        let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept().get(url).cloned();
        let modules = match known {
            Some(modules) => modules,
            None => {
                let modules = Arc::new(Modules::of(url)?);
                let mut kept = kept();
                if kept.len() >= MOST_KEPT {
                    kept.clear();
                }
                kept.insert(url.to_owned(), Arc::clone(&modules));
                modules
            }
        };
        Some(Self { modules, label: label.into() })
    }
}

impl Modules {
    fn of(url: &str) -> Option<Self> {
        let code = encoded(url)?;
        let (modules, width) = (code.to_colors(), code.width());
        let mut path = String::new();
        for (y, row) in (QUIET_ZONE..).zip(modules.chunks(width)) {
            let mut x = QUIET_ZONE;
            for run in row.chunk_by(|one, next| one == next) {
                if run.first() == Some(&Color::Dark) {
                    // Writing into a string never fails.
                    let _ = write!(path, "M{x} {y}h{}v1h-{}z", run.len(), run.len());
                }
                x = x.saturating_add(run.len());
            }
        }
        let zones = QUIET_ZONE.saturating_mul(2);
        Some(Self { width: width.saturating_add(zones), path })
    }
}

impl std::fmt::Display for Svg {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { modules, label } = self;
        let Modules { width, path } = modules.as_ref();
        let Ok(label) = askama::filters::escape(label, askama::filters::Html);
        write!(
            f,
            "<svg class=\"qr\" viewBox=\"0 0 {width} {width}\" role=\"img\" aria-label=\"{label}\" \
             shape-rendering=\"crispEdges\"><path fill=\"#fff\" d=\"M0 0h{width}v{width}H0z\"/>\
             <path fill=\"#000\" d=\"{path}\"/></svg>"
        )
    }
}

impl HtmlSafe for Svg {}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://cuepoint.example/g/B2C3D4";

    #[test]
    fn a_code_has_a_quiet_zone_of_four_light_modules() {
        let svg = Modules::of(URL).unwrap();
        assert!(
            svg.path.starts_with("M4 4h7v1h-7z"),
            "the finder pattern begins after four modules: {}",
            svg.path
        );
        let edge = svg.width - 5;
        let most = svg.path.split('M').skip(1).map(|run| {
            let (x, rest) = run.split_once(' ').unwrap();
            let (y, rest) = rest.split_once('h').unwrap();
            let length: usize = rest.split_once('v').unwrap().0.parse().unwrap();
            (x.parse::<usize>().unwrap() + length - 1).max(y.parse().unwrap())
        });
        assert_eq!(most.max(), Some(edge));
    }

    #[test]
    fn a_terminal_shows_the_code_in_half_blocks() {
        let text = terminal_code(URL).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let width = lines[0].chars().count();
        assert!(lines.iter().all(|line| line.chars().count() == width), "{text}");
        assert_eq!(lines.len(), width.div_ceil(2), "two rows of modules in a line");
        assert!(lines[0].chars().all(|c| c == '█'), "the quiet zone is light");
        assert!(text.chars().all(|c| "█▀▄ \n".contains(c)));
    }

    #[test]
    fn codes_of_more_addresses_than_are_kept_stay_right() {
        let path = |url: &str| Svg::new(url, "").unwrap().modules.path.clone();
        for number in 0..MOST_KEPT + 2 {
            let url = format!("{URL}/{number}");
            let first = path(&url);
            assert_eq!((path(&url), Modules::of(&url).unwrap().path), (first.clone(), first));
        }
    }

    #[test]
    fn an_address_that_fits_no_code_has_none() {
        let long = "x".repeat(4_000);
        assert!(terminal_code(&long).is_none() && Svg::new(&long, "").is_none());
    }
}
