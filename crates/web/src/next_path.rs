//! The page to which a login returns.

/// The page to return to, if the text is a path of this service. Anything that a browser could take for another host is
/// refused.
#[must_use]
pub(crate) fn local(next: &str) -> Option<&str> {
    let is_plain = next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    (is_plain && next.starts_with('/') && !next.starts_with("//") && next.len() <= 512).then_some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            &long,
        ] {
            assert_eq!(local(foreign), None, "{foreign:?}");
        }
    }
}
