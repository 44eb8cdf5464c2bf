//! The texts of messages to users: plain text that contains no user input.

use cuepoint_domain::account::challenge::Purpose;
use cuepoint_domain::ports::Notice;
use cuepoint_domain::webhook::DisabledReason;

/// A message. It does not implement `Debug`, because it may contain a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Message {
    /// The subject line.
    pub subject: &'static str,
    /// The body: a few lines of at most 76 characters.
    pub text: String,
}

impl Message {
    /// Returns the message for a notice.
    #[must_use]
    pub fn of(notice: &Notice) -> Self {
        let minutes = |purpose: Purpose| purpose.valid_for().whole_minutes();
        let (subject, text) = match notice {
            Notice::Code(code) => (
                "Your Cuepoint code",
                format!(
                    "Your Cuepoint code is {}. It expires in {} minutes.\n\
                     If you didn't request this code, you can ignore this message.",
                    code.0,
                    minutes(Purpose::Email)
                ),
            ),
            Notice::PasswordReset(token) => (
                "Reset your Cuepoint password",
                format!(
                    "Reset your Cuepoint password with this token:\n\
                     {}\n\
                     It expires in {} minutes and can be used once.\n\
                     If you didn't request a reset, you can ignore this message.",
                    token.0,
                    minutes(Purpose::Password)
                ),
            ),
            Notice::PasswordChanged => (
                "Your Cuepoint password was changed",
                "The password of your Cuepoint account was changed.\n\
                 If you didn't make this change, reset your password immediately."
                    .to_owned(),
            ),
            Notice::WebhookCreated(endpoint) => (
                "A webhook endpoint was created",
                format!(
                    "The webhook endpoint {endpoint} was created\n\
                     with your Cuepoint account: events are sent to its URL.\n\
                     If you didn't create it, delete it and change your password immediately."
                ),
            ),
            Notice::WebhookDisabled { endpoint, reason } => (
                "A webhook endpoint was disabled",
                format!(
                    "Cuepoint no longer calls the webhook endpoint {endpoint}\n\
                     that you created, because {}.\n\
                     New events wait. To receive them, correct the receiver and set `paused`\n\
                     of the endpoint to false.",
                    match reason {
                        DisabledReason::Gone => "it answered 410 Gone",
                        DisabledReason::Failing => "no delivery has succeeded for five days",
                        DisabledReason::Security => {
                            "all sessions of your account were ended, or its password was reset"
                        }
                        DisabledReason::SecretLost => "its secret is lost: rotate it first",
                    }
                ),
            ),
        };
        Self { subject, text }
    }
}

#[cfg(test)]
mod tests {
    use cuepoint_domain::ids::WebhookEndpointId;
    use cuepoint_domain::ports::Token;

    use super::*;

    #[test]
    fn message_lines_fit_into_76_columns() {
        let (code, token) = (Token("042137".to_owned()), Token("x".repeat(43)));
        let endpoint = WebhookEndpointId::new(i64::MAX).unwrap();
        let disabled = |reason| Notice::WebhookDisabled { endpoint, reason };
        let created = Notice::WebhookCreated(endpoint);
        let notices = [Notice::Code(code), Notice::PasswordReset(token), Notice::PasswordChanged, created];
        for notice in notices.into_iter().chain(DisabledReason::all().map(disabled)) {
            let text = Message::of(&notice).text;
            assert!(text.lines().all(|line| line.len() <= 76), "{text}");
        }
    }

    #[test]
    fn a_message_contains_the_secret_and_its_lifetime() {
        let code = Message::of(&Notice::Code(Token("042137".to_owned())));
        assert!(code.text.starts_with("Your Cuepoint code is 042137. It expires in 10 minutes."));
        let reset = Message::of(&Notice::PasswordReset(Token("t0k".to_owned())));
        assert!(reset.text.contains(":\nt0k\n") && reset.text.contains("30 minutes"), "{}", reset.text);
    }
}
