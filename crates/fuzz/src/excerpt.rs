//! Excerpts of provider messages: bounded, without control characters, and complete if the text fits.

use cuepoint_domain::provider_message::{Excerpt, WebhookId};

/// The maximum length of an excerpt in bytes.
const MAX: usize = 64;

/// The input is the text of a message.
pub(crate) fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let excerpt = Excerpt::<MAX>::of(text);
    let kept = excerpt.as_str();
    assert!(kept.len() <= MAX, "{kept:?} of {text:?}");
    assert!(!kept.contains(char::is_control), "{kept:?} of {text:?}");
    let clean = text.replace(char::is_control, "\u{fffd}");
    match kept.strip_suffix('…').filter(|_| clean != kept) {
        Some(beginning) => {
            assert!(clean.len() > MAX && clean.starts_with(beginning), "{kept:?} of {text:?}");
            assert!(
                kept.len() > MAX.saturating_sub(6),
                "no more than a character and the mark are left out: {kept:?} of {text:?}"
            );
        }
        None => assert_eq!(kept, clean, "a text that fits is kept unchanged"),
    }
    assert_eq!(Excerpt::<MAX>::of(kept).as_str(), kept, "{text:?}");
    let is_id = (1..=255).contains(&text.len()) && text.bytes().all(|byte| (b'!'..=b'~').contains(&byte));
    assert_eq!(
        WebhookId::new(text).map(|id| id.as_str().to_owned()),
        is_id.then(|| text.to_owned()),
        "{text:?}"
    );
}
