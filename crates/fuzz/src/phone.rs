//! Phone numbers: an accepted number equals the trimmed text.

use cuepoint_domain::text::Phone;

/// The input is the text of a phone number.
pub(crate) fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let Ok(number) = Phone::new(text) else { return };
    assert_eq!(number.as_str(), text.trim(), "{text:?} is stored differently");
    assert_eq!(
        Phone::new(number.as_str()).as_ref(),
        Ok(&number),
        "{text:?} is refused when it is sent again"
    );
    let digits = number.as_str().trim_start_matches('+');
    assert!(digits.parse::<u64>().is_ok_and(|digits| (1_000_000..1_000_000_000_000_000).contains(&digits)));
}
