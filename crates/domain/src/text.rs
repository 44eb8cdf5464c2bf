//! User input: trimmed text of bounded length, without control characters.

use thiserror::Error;

/// Why a text is rejected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum TextError {
    /// Empty after trimming.
    #[error("empty")]
    Empty,
    /// More characters than this.
    #[error("more than {0} characters")]
    TooLong(usize),
    /// Fewer characters than this.
    #[error("fewer than {0} characters")]
    TooShort(usize),
    #[error("a control character")]
    ControlCharacter,
    /// Not of the expected form.
    #[error("not of the expected form")]
    Malformed,
}

/// The maximum length of a name, title, city, address or key, in characters.
pub const MAX_CHARACTERS: usize = 255;

fn trimmed(text: &str, most: usize) -> Result<&str, TextError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(TextError::Empty);
    }
    if text.chars().count() > most {
        return Err(TextError::TooLong(most));
    }
    if text.chars().any(char::is_control) {
        return Err(TextError::ControlCharacter);
    }
    Ok(text)
}

macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(String);

        impl $name {
            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// A stored text, accepted before.
            #[must_use]
            pub fn from_stored(text: String) -> Self {
                Self(text)
            }
        }
    )+};
}

texts! {
    /// One line of 1 to 255 characters: a name, a title, a city, a wallet address.
    Line,
    /// An e-mail address, in its owner's spelling.
    Email,
    /// A phone number in the form of ITU-T E.164: `+` and 7 to 15 digits, of which the first is not 0. E.164
    /// sets no lower bound; the shortest numbers in use have 7 digits (Niue, Tokelau).
    Phone,
    /// The http or https URL of a piece of music, never fetched by this service.
    MusicUrl,
    /// The http or https URL of a payment page, never fetched by this service.
    PaymentUrl,
    /// The title of a gig: one line of 1 to 80 characters.
    GigTitle,
    /// One line of 1 to 140 characters: the message of a gig, a dedication.
    ShortMessage,
}

impl Line {
    /// The trimmed text.
    ///
    /// # Errors
    /// [`TextError`] if it is empty, longer than 255 characters, or has a control character.
    pub fn new(text: &str) -> Result<Self, TextError> {
        trimmed(text, MAX_CHARACTERS).map(|text| Self(text.to_owned()))
    }
}

impl Email {
    /// The trimmed address.
    ///
    /// # Errors
    /// [`TextError`] if it is empty, too long, or not an address.
    pub fn new(text: &str) -> Result<Self, TextError> {
        let text = trimmed(text, MAX_CHARACTERS)?;
        let options = email_address::Options::default().without_display_text().without_domain_literal();
        email_address::EmailAddress::parse_with_options(text, options).map_err(|_| TextError::Malformed)?;
        Ok(Self(text.to_owned()))
    }

    /// The domain of the addresses under which guest accounts are shown. No host can have it (RFC 2606).
    pub const GUEST_DOMAIN: &str = "guest.invalid";

    /// The trimmed address, for a user to have: none of a guest account.
    ///
    /// # Errors
    /// As [`Email::new`], and [`TextError::Malformed`] in [`Email::GUEST_DOMAIN`].
    pub fn to_own(text: &str) -> Result<Self, TextError> {
        let email = Self::new(text)?;
        let folded = email.folded();
        let reserved = folded.rsplit_once('@').is_some_and(|(_, domain)| domain == Self::GUEST_DOMAIN);
        if reserved { Err(TextError::Malformed) } else { Ok(email) }
    }

    /// The normalized form for comparison: each character in lower case, independently of its neighbours.
    #[must_use]
    pub fn folded(&self) -> String {
        self.0.chars().flat_map(char::to_lowercase).collect()
    }
}

impl Phone {
    /// The trimmed number.
    ///
    /// # Errors
    /// [`TextError`] if it is empty, too long, or not in the form of E.164.
    pub fn new(text: &str) -> Result<Self, TextError> {
        let text = trimmed(text, MAX_CHARACTERS)?;
        let digits = text.strip_prefix('+').ok_or(TextError::Malformed)?;
        let right = (7..=15).contains(&digits.len())
            && digits.bytes().all(|digit| digit.is_ascii_digit())
            && !digits.starts_with('0');
        if right { Ok(Self(text.to_owned())) } else { Err(TextError::Malformed) }
    }
}

impl From<Phone> for Line {
    fn from(Phone(number): Phone) -> Self {
        Self(number)
    }
}

impl MusicUrl {
    /// The maximum length, in characters.
    pub const MAX_CHARACTERS: usize = 2_048;

    /// The trimmed URL, as written.
    ///
    /// # Errors
    /// [`TextError`] if it is empty, longer than 2048 characters, or not an http(s) URL with a host.
    pub fn new(text: &str) -> Result<Self, TextError> {
        let text = web_address(text, Self::MAX_CHARACTERS)?;
        // A URL that browsers would silently repair is rejected.
        let repaired = text.contains(|c: char| c.is_whitespace() || "<>\"\\^`{|}".contains(c));
        if repaired || text.split_once(":///").is_some() {
            return Err(TextError::Malformed);
        }
        Ok(Self(text.to_owned()))
    }
}

impl PaymentUrl {
    /// The maximum length, in characters.
    pub const MAX_CHARACTERS: usize = 2_048;

    /// The trimmed URL, as its provider wrote it: browsers open more forms than [`MusicUrl`] accepts.
    ///
    /// # Errors
    /// [`TextError`] if it is empty, longer than 2048 characters, or not an http(s) URL with a host and
    /// without a user name.
    pub fn new(text: &str) -> Result<Self, TextError> {
        web_address(text, Self::MAX_CHARACTERS).map(|text| Self(text.to_owned()))
    }
}

impl GigTitle {
    /// The maximum length, in characters.
    pub const MAX_CHARACTERS: usize = 80;

    /// The trimmed text.
    ///
    /// # Errors
    /// [`TextError`] if it is empty, longer than 80 characters, or has a control character.
    pub fn new(text: &str) -> Result<Self, TextError> {
        trimmed(text, Self::MAX_CHARACTERS).map(|text| Self(text.to_owned()))
    }
}

impl ShortMessage {
    /// The maximum length, in characters.
    pub const MAX_CHARACTERS: usize = 140;

    /// The trimmed text.
    ///
    /// # Errors
    /// [`TextError`] if it is empty, longer than 140 characters, or has a control character.
    pub fn new(text: &str) -> Result<Self, TextError> {
        trimmed(text, Self::MAX_CHARACTERS).map(|text| Self(text.to_owned()))
    }
}

/// The trimmed text, if it is an http(s) URL with a host and without a user name.
fn web_address(text: &str, most: usize) -> Result<&str, TextError> {
    let text = trimmed(text, most)?;
    let (scheme, _) = text.split_once("://").ok_or(TextError::Malformed)?;
    let url = url::Url::parse(text).map_err(|_| TextError::Malformed)?;
    let web = ["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web));
    let named = url.has_host() && url.username().is_empty() && url.password().is_none();
    if web && named { Ok(text) } else { Err(TextError::Malformed) }
}

/// A password as typed; redacted in `Debug` output.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    /// The minimum length, in characters.
    pub const MIN_CHARACTERS: usize = 8;

    /// The password, untrimmed.
    ///
    /// # Errors
    /// [`TextError`] with fewer than 8 or more than 255 characters.
    pub fn new(text: &str) -> Result<Self, TextError> {
        let length = text.chars().count();
        if length == 0 {
            return Err(TextError::Empty);
        }
        if length < Self::MIN_CHARACTERS {
            return Err(TextError::TooShort(Self::MIN_CHARACTERS));
        }
        if length > MAX_CHARACTERS {
            return Err(TextError::TooLong(MAX_CHARACTERS));
        }
        Ok(Self(text.to_owned()))
    }

    /// A password presented at login, unvalidated, because only the comparison decides.
    #[must_use]
    pub fn presented(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The plain-text password, only for hashing.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Password {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Password([hidden])")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_trimmed_and_limited_to_255_characters() {
        assert_eq!(Line::new("  Blue Monday ").unwrap().as_str(), "Blue Monday");
        assert_eq!(Line::new(" \t "), Err(TextError::Empty));
        assert_eq!(Line::new("a\u{0}b"), Err(TextError::ControlCharacter));
        assert_eq!(Line::new("a\nb"), Err(TextError::ControlCharacter));
        assert!(Line::new(&"é".repeat(255)).is_ok());
        assert_eq!(Line::new(&"é".repeat(256)), Err(TextError::TooLong(255)));
    }

    #[test]
    fn malformed_email_addresses_are_refused_and_letter_case_is_folded() {
        for good in ["ada@example.com", "a.b+c@sub.example.org", "x@localhost"] {
            assert!(Email::new(good).is_ok(), "{good}");
        }
        for bad in ["ada", "@example.com", "ada@", "a b@example.com", "Ada <ada@example.com>", "a@b@c.com"] {
            assert_eq!(Email::new(bad), Err(TextError::Malformed), "{bad}");
        }
        assert_eq!(Email::new("Ada@Example.COM").unwrap().folded(), "ada@example.com");
        assert_eq!(
            Email::new("ΑΣ@example.com").unwrap().folded(),
            Email::new("ασ@example.com").unwrap().folded()
        );
    }

    #[test]
    fn no_user_can_take_an_address_of_guest_accounts() {
        for taken in ["guest-7@guest.invalid", "Ada@Guest.INVALID"] {
            assert!(Email::new(taken).is_ok(), "{taken}");
            assert_eq!(Email::to_own(taken), Err(TextError::Malformed), "{taken}");
        }
        for free in ["guest.invalid@example.com", "ada@my-guest.invalid"] {
            assert!(Email::to_own(free).is_ok(), "{free}");
        }
    }

    #[test]
    fn only_e164_phone_numbers_are_accepted() {
        for good in ["+6834000", "+4930123456", "+123456789012345", " +15550100200 "] {
            assert_eq!(Phone::new(good).unwrap().as_str(), good.trim());
        }
        for bad in [
            "4930123456",
            "+123456",
            "+1234567890123456",
            "+04930123456",
            "+49 30 123456",
            "+49-30-123456",
            "0049301234567",
            "++4930123456",
            "+49301234x6",
            "+٤٩٣٠١٢٣٤",
            "+",
        ] {
            assert_eq!(Phone::new(bad), Err(TextError::Malformed), "{bad}");
        }
        assert_eq!(Phone::new(" "), Err(TextError::Empty));
        assert_eq!(Phone::new("+4930\n12345"), Err(TextError::ControlCharacter));
    }

    #[test]
    fn only_http_and_https_urls_are_accepted_as_music_urls() {
        for good in ["https://example.com/track?id=1", "HTTP://example.com", "https://bücher.example/lied#1"]
        {
            assert!(MusicUrl::new(good).is_ok(), "{good}");
        }
        for bad in [
            "ftp://example.com/x",
            "javascript:alert(1)",
            "example.com",
            "http://",
            "http:example.com",
            "http:///example.com",
            "https:\\\\example.com",
            "https://example.com/a b",
            "https://example.com/<b>",
            "https://friend@example.com/",
        ] {
            assert_eq!(MusicUrl::new(bad), Err(TextError::Malformed), "{bad}");
        }
        let long = format!("https://example.com/{}", "a".repeat(2_048));
        assert_eq!(MusicUrl::new(&long), Err(TextError::TooLong(2_048)));
    }

    #[test]
    fn only_http_and_https_urls_are_accepted_as_payment_urls() {
        for good in
            ["https://pay.example.com/1?a=b", "HTTP://example.com", "https://pay.example.com/a|{b}#c^d"]
        {
            assert_eq!(PaymentUrl::new(&format!(" {good} ")).unwrap().as_str(), good);
        }
        for (bad, why) in [
            ("", TextError::Empty),
            ("pay.example.com/1", TextError::Malformed),
            ("https:pay.example.com", TextError::Malformed),
            ("javascript:alert(1)", TextError::Malformed),
            ("ftp://pay.example.com", TextError::Malformed),
            ("https://friend@pay.example.com/", TextError::Malformed),
            ("https://pay.example.com/\u{7}", TextError::ControlCharacter),
        ] {
            assert_eq!(PaymentUrl::new(bad), Err(why), "{bad}");
        }
        let address = |length: usize| format!("https://example.com/{}", "a".repeat(length - 20));
        assert!(PaymentUrl::new(&address(2_048)).is_ok());
        assert_eq!(PaymentUrl::new(&address(2_049)), Err(TextError::TooLong(2_048)));
    }

    #[test]
    fn debug_output_hides_passwords() {
        assert_eq!(format!("{:?}", Password::new("secret-secret").unwrap()), "Password([hidden])");
        assert_eq!(Password::new("1234567"), Err(TextError::TooShort(8)));
    }
}
