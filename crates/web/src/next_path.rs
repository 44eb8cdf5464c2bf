//! The page to which a login returns.

use cuepoint_pages::done::DoneNotice;

/// The page to return to, if the text is a path of this service. Anything that a browser could take for another host is
/// refused, and a path with the notice of a form.
#[must_use]
pub(crate) fn local(next: &str) -> Option<&str> {
    let is_plain = next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let is_local = is_plain && next.starts_with('/') && !next.starts_with("//") && next.len() <= 512;
    (is_local && without_notice(next) == next).then_some(next)
}

/// A path of this service without the notice of the form that led there.
pub(crate) fn without_notice(path: &str) -> String {
    let Some((path, query)) = path.split_once('?') else { return path.to_owned() };
    let is_notice = |field: &&str| field.split('=').next() == Some(DoneNotice::PARAMETER);
    let kept: Vec<&str> = query.split('&').filter(|field| !is_notice(field)).collect();
    if kept.is_empty() { path.to_owned() } else { format!("{path}?{}", kept.join("&")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_returned_to_without_its_notice() {
        assert_eq!(without_notice("/wallet?done=erased"), "/wallet");
        assert_eq!(without_notice("/booth/qr?size=a4&done=saved"), "/booth/qr?size=a4");
        assert_eq!(without_notice("/g/K7TW3M?undone=1"), "/g/K7TW3M?undone=1");
    }

    /// Attack API8: a link to the login sends the victim on to another site.
    #[test]
    fn only_paths_of_this_service_are_returned_to() {
        for path in ["/", "/wallet", "/g/K7TW3M?a=b#c", "/booth/qr?size=a4"] {
            assert_eq!(local(path), Some(path));
        }
        let long = format!("/{}", "a".repeat(600));
        for foreign in [
            "",
            "wallet",
            "//evil.example",
            "///evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "https://evil.example",
            "javascript:alert(1)",
            "/\t/evil.example",
            "/\n/evil.example",
            " /wallet",
            "/wallet\r\nset-cookie: a=b",
            "/ä",
            "/wallet?done=erased",
            "/wallet?a=b&done=erased#c",
            &long,
        ] {
            assert_eq!(local(foreign), None, "{foreign:?}");
        }
    }
}
