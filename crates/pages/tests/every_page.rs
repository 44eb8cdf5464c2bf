//! What holds for every page in every state, in both languages.

#![allow(clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "tests")]

#[path = "../examples/gallery/samples/mod.rs"]
mod samples;

use std::io::Write as _;

use cuepoint_pages::assets::{ASSETS, Asset, BOOTH_STYLE, DISPLAY_STYLE, SCRIPT, STYLE};
use cuepoint_pages::language::Language;
use flate2::Compression;
use flate2::write::GzEncoder;
use samples::Sample;

/// Runs a check on every page.
fn on_every_page(check: impl Fn(&Sample, Language)) {
    for language in Language::ALL {
        let pages = samples::all(language);
        assert!(!pages.is_empty());
        pages.iter().for_each(|sample| check(sample, language));
    }
}

fn compressed(text: &str) -> usize {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap().len()
}

#[test]
fn every_page_is_a_document_with_a_title_a_heading_and_its_language() {
    on_every_page(|Sample { name, html }, language| {
        assert!(html.starts_with("<!doctype html>"), "{name}");
        assert!(html.contains(&format!("<html lang=\"{}\"", language.tag())), "{name}");
        assert!(html.trim_end().ends_with("</html>"), "{name}");
        assert_eq!(html.matches("<h1").count(), 1, "{name}: one main heading");
        assert!(!html.contains("<title> ·"), "{name}: a title");
    });
}

#[test]
fn no_page_has_what_the_content_security_policy_refuses() {
    on_every_page(|Sample { name, html }, _| {
        for refused in [" style=", "<style", "javascript:", "<iframe", "<object", "<base", "<img src=\"http"]
        {
            assert!(!html.contains(refused), "{name}: {refused}");
        }
        for tag in html.split('<').filter_map(|rest| rest.split('>').next()) {
            // Every second piece is the value of an attribute.
            let names: String = tag.split('"').step_by(2).collect();
            let handler = names.split(' ').find(|attribute| attribute.starts_with("on"));
            assert_eq!(handler, None, "{name}: {tag}");
            assert!(!tag.starts_with("script") || tag.contains(" src=\"/assets/"), "{name}: {tag}");
        }
    });
}

#[test]
fn every_label_names_an_existing_field_and_no_id_occurs_twice() {
    on_every_page(|Sample { name, html }, _| {
        let values = |attribute: &str| -> Vec<String> {
            let beginning = format!(" {attribute}=\"");
            let parts = html.split(&beginning).skip(1);
            parts.filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect()
        };
        let mut ids = values("id");
        for attribute in ["for", "aria-describedby", "aria-labelledby", "list"] {
            for id in values(attribute).iter().flat_map(|ids| ids.split(' ')) {
                assert!(ids.iter().any(|known| known == id), "{name}: {attribute} names {id}");
            }
        }
        ids.sort();
        let all = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), all, "{name}: an id twice");
    });
}

#[test]
fn texts_of_users_stay_texts() {
    on_every_page(|Sample { name, html }, _| {
        let tags = html.split('<').skip(1).filter_map(|rest| rest.split('>').next());
        let scripts = tags.filter(|tag| tag.starts_with("script")).count();
        assert_eq!(scripts, 1, "{name}: the only script is the asset");
        assert!(!html.contains("alert(1)<"), "{name}");
        if name.starts_with("hostile-") {
            assert!(html.contains("&#60;script&#62;alert(1)&#60;/script&#62;"), "{name}");
        }
    });
}

#[test]
fn every_form_that_moves_money_carries_a_key_that_cannot_be_guessed() {
    const MOVES_MONEY: [&str; 6] =
        ["/requests\"", "/cancel\"", "/tips\"", "\"/topups\"", "/confirm\"", "/draft\""];
    on_every_page(|Sample { name, html }, _| {
        for form in html.split("<form").skip(1).filter_map(|rest| rest.split("</form>").next()) {
            let opening = form.split('>').next().unwrap_or_default();
            let moves = MOVES_MONEY.iter().any(|path| opening.contains(path));
            // A draft has its key in the cookie, and confirming oneself or an address moves no money.
            let is_exempt = ["/draft\"", "/account/"].iter().any(|path| opening.contains(path));
            if moves && !is_exempt {
                let key = form.split("name=\"key\" value=\"").nth(1).and_then(|rest| rest.split('"').next());
                assert!(key.is_some_and(|key| key.len() >= 22), "{name}: {opening}");
            }
        }
    });
}

#[test]
fn a_guest_page_says_that_a_gig_has_ended_only_if_there_was_one() {
    on_every_page(|Sample { name, html }, _| {
        let is_said = html.contains("<p class=\"chip ended\">");
        match name.as_str() {
            "guest-ended" => assert!(is_said, "{html}"),
            "guest-offline" => assert!(!is_said, "{html}"),
            _ => {}
        }
    });
}

#[test]
fn a_shared_link_has_a_title_and_a_description() {
    on_every_page(|Sample { name, html }, _| {
        for property in ["og:title", "og:description"] {
            let beginning = format!("<meta property=\"{property}\" content=\"");
            let content = html.split(&beginning).nth(1).and_then(|rest| rest.split('"').next());
            assert!(content.is_some_and(|content| !content.is_empty()), "{name}: {property}");
        }
    });
}

#[test]
fn the_bar_of_the_browser_has_the_colour_of_the_page() {
    let style = String::from_utf8(STYLE.bytes.to_vec()).unwrap();
    let grounds: Vec<&str> =
        style.split("--ground:").skip(1).filter_map(|rest| rest.split(';').next()).collect();
    let [light, dark, always_dark] = grounds[..] else { panic!("{grounds:?}") };
    assert_eq!(dark, always_dark);
    on_every_page(|Sample { name, html }, _| {
        let bars = html.split("<meta name=\"theme-color\" content=\"").skip(1);
        let bars: Vec<&str> = bars.filter_map(|rest| rest.split('>').next()).collect();
        let of_scheme = format!("{dark}\" media=\"(prefers-color-scheme: dark)\"");
        let is_dark = html.split('>').nth(1).is_some_and(|root| root.contains(" class=\"dark "));
        match is_dark {
            true => assert_eq!(bars, [format!("{dark}\"")], "{name}"),
            false => assert_eq!(bars, [of_scheme, format!("{light}\"")], "{name}"),
        }
    });
}

#[test]
fn style_and_script_together_have_at_most_16_kilobytes_compressed() {
    let weight: usize =
        [STYLE, BOOTH_STYLE, DISPLAY_STYLE, SCRIPT].iter().map(|asset: &Asset| asset.gzip.len()).sum();
    assert!(weight <= 16_384, "{weight}");
}

#[test]
fn a_guest_page_has_at_most_11_kilobytes_of_style_sheets_and_script_compressed() {
    let weight = compressed(samples::site().accent.css()) + STYLE.gzip.len() + SCRIPT.gzip.len();
    assert!(weight <= 11_264, "{weight}");
}

#[test]
fn no_page_has_more_than_30_kilobytes_compressed_with_its_assets() {
    let assets: usize = ASSETS.iter().map(|asset| asset.gzip.len()).sum();
    on_every_page(|Sample { name, html }, _| {
        let weight = compressed(html) + assets;
        assert!(weight <= 30_720, "{name}: {weight}");
    });
}

#[test]
fn a_guest_page_with_its_style_sheet_fits_the_first_window_of_a_connection() {
    for language in Language::ALL {
        for Sample { name, html } in samples::all(language) {
            if name.starts_with("guest-") {
                let weight = compressed(&html) + STYLE.gzip.len();
                assert!(weight <= 14_336, "{name}: {weight}");
            }
        }
    }
}
