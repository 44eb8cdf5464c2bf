//! The payment pages that payers are shown.

use crate::text::PaymentUrl;
use crate::topup::Topup;

/// Which payment pages payers are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PaymentPages {
    /// All of them.
    All,
    /// Those by https: everybody in the network of a payer could replace another one.
    Encrypted,
}

impl PaymentPages {
    /// Whether payers are shown this page.
    #[must_use]
    pub fn include(self, page: &PaymentUrl) -> bool {
        let scheme = page.as_str().get(..6);
        self == Self::All || scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"))
    }

    /// The top-up as its payer is shown it: an earlier version may have stored any page.
    #[must_use]
    pub fn shown(self, topup: Topup) -> Topup {
        Topup { payment_url: topup.payment_url.filter(|page| self.include(page)), ..topup }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_by_http_is_not_shown_where_pages_are_encrypted() {
        for (url, is_encrypted) in [
            ("http://pay.example.com/1", false),
            ("HTTP://pay.example.com/1", false),
            ("http://127.0.0.1:9/1", false),
            ("https://pay.example.com/1", true),
            ("HTTPS://pay.example.com/1", true),
        ] {
            let page = PaymentUrl::new(url).unwrap();
            assert!(PaymentPages::All.include(&page), "{url}");
            assert_eq!(PaymentPages::Encrypted.include(&page), is_encrypted, "{url}");
        }
    }
}
