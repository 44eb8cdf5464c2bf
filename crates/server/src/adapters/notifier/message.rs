//! The words of a message: plain text, with nothing in it that a stranger wrote.

use cuepoint_domain::challenge::Purpose;
use cuepoint_domain::ports::Notice;

/// A message; it is never printed by accident, since it may hold a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Message {
    /// What it is about.
    pub subject: &'static str,
    /// What it says, on a few lines.
    pub text: String,
}

impl Message {
    /// A notice in words.
    #[must_use]
    pub fn of(notice: &Notice) -> Self {
        let minutes = |purpose: Purpose| purpose.valid_for().whole_minutes();
        let (subject, text) = match notice {
            Notice::Code(code) => (
                "Your Cuepoint code",
                format!(
                    "Your Cuepoint code is {}. It is valid for {} minutes.\n\
                     If you did not ask for it, you need not do anything.",
                    code.0,
                    minutes(Purpose::Email)
                ),
            ),
            Notice::PasswordReset(token) => (
                "Set a new Cuepoint password",
                format!(
                    "You can set a new Cuepoint password with this token:\n\
                     {}\n\
                     It is valid for {} minutes and works once.\n\
                     If you did not ask for it, you need not do anything.",
                    token.0,
                    minutes(Purpose::Password)
                ),
            ),
            Notice::PasswordChanged => (
                "Your Cuepoint password was changed",
                "The password of your Cuepoint account was changed.\n\
                 If that was not you, ask for a new one at once, as if you had forgotten it."
                    .to_owned(),
            ),
        };
        Self { subject, text }
    }
}

#[cfg(test)]
mod tests {
    use cuepoint_domain::ports::Token;

    use super::*;

    #[test]
    fn no_line_is_so_long_that_mail_has_to_break_it() {
        let (code, token) = (Token("042137".to_owned()), Token("x".repeat(43)));
        for notice in [Notice::Code(code), Notice::PasswordReset(token), Notice::PasswordChanged] {
            let text = Message::of(&notice).text;
            assert!(text.lines().all(|line| line.len() <= 76), "{text}");
        }
    }

    #[test]
    fn a_message_says_the_secret_and_how_long_it_is_good() {
        let code = Message::of(&Notice::Code(Token("042137".to_owned())));
        assert!(code.text.starts_with("Your Cuepoint code is 042137. It is valid for 10 minutes."));
        let reset = Message::of(&Notice::PasswordReset(Token("t0k".to_owned())));
        assert!(reset.text.contains(":\nt0k\n") && reset.text.contains("30 minutes"), "{}", reset.text);
    }
}
