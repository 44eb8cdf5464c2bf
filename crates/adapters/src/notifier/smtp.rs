//! E-mail through an SMTP server.

use anyhow::Context;
use async_trait::async_trait;
use cuepoint_domain::ports::Unavailable;
use lettre::address::Address;
use lettre::message::header::ContentType;
use lettre::message::{Mailbox, Message as Mail};
use lettre::transport::smtp;
use lettre::{AsyncSmtpTransport, AsyncTransport, Tokio1Executor};
use secrecy::{ExposeSecret, SecretString};
use tokio::time::timeout;

use super::{Channel, Message, TIMEOUT};
use crate::security::random::RandomSecrets;

/// A channel that sends each message through one server, over a new connection.
pub struct SmtpChannel {
    server: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
    secrets: RandomSecrets,
}

impl SmtpChannel {
    /// Creates a channel through the server at a URL such as `smtps://user:password@mail.example.com`.
    ///
    /// # Errors
    /// When the URL is invalid.
    pub fn new(url: &SecretString, from: Mailbox, secrets: RandomSecrets) -> anyhow::Result<Self> {
        let server = AsyncSmtpTransport::<Tokio1Executor>::from_url(url.expose_secret());
        let server = server.context("is not the URL of a mail server")?;
        Ok(Self { server: server.timeout(Some(TIMEOUT)).build(), from, secrets })
    }

    /// Connects to the server, logs in, and sends nothing.
    ///
    /// # Errors
    /// When the server cannot be reached or refuses the login.
    pub async fn log_in(&self) -> Result<(), Unavailable> {
        // The time limit of the transport covers single steps, of which there may be many.
        match timeout(TIMEOUT, self.server.test_connection()).await {
            Ok(Ok(true)) => Ok(()),
            Ok(Ok(false)) => Err(Unavailable::new("the mail server ends the connection")),
            Ok(Err(error)) => Err(match error.status() {
                Some(code) => {
                    Unavailable::new(format!("the mail server refuses the login: reply code {code}"))
                }
                None => refusal(&error),
            }),
            Err(_) => Err(Unavailable::new("the mail server does not answer in time")),
        }
    }

    fn mail(&self, address: &str, message: Message) -> Result<Mail, Unavailable> {
        // Parsed again by the mail library, so that only an address in its grammar reaches a header.
        let to: Address = address
            .parse()
            .map_err(|_| Unavailable::new("the recipient has no address that mail can carry"))?;
        let id = format!("<{}@{}>", self.secrets.token().0, self.from.email.domain());
        Mail::builder()
            .message_id(Some(id))
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject(message.subject)
            .header(ContentType::TEXT_PLAIN)
            .body(message.text)
            .map_err(|_| Unavailable::new("the mail cannot be written"))
    }
}

/// Describes why the server rejected an e-mail, with the reply code. The text of the reply is left out,
/// because it often repeats the recipient's address.
fn refusal(error: &smtp::Error) -> Unavailable {
    let what = if error.is_permanent() {
        "the mail server rejects the message permanently"
    } else if error.is_transient() {
        "the mail server rejects the message temporarily"
    } else if error.is_timeout() {
        "the mail server does not answer in time"
    } else if error.is_tls() {
        "no encrypted connection to the mail server"
    } else if error.is_response() {
        "the mail server does not speak SMTP"
    } else if error.is_client() {
        "the message cannot be sent by SMTP"
    } else {
        "no connection to the mail server"
    };
    Unavailable::new(match error.status() {
        Some(code) => format!("{what}: reply code {code}"),
        None => what.to_owned(),
    })
}

#[async_trait]
impl Channel for SmtpChannel {
    async fn send(&self, address: &str, message: Message) -> Result<(), Unavailable> {
        self.server.send(self.mail(address, message)?).await.map_err(|error| refusal(&error))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel() -> SmtpChannel {
        let from = "Cuepoint <no-reply@example.com>".parse().unwrap();
        let url = SecretString::from("smtp://127.0.0.1:1");
        SmtpChannel::new(&url, from, RandomSecrets::new().unwrap()).unwrap()
    }

    fn mail(address: &str) -> Result<String, Unavailable> {
        let message = Message { subject: "Hello".to_owned(), text: "One\nTwo".to_owned() };
        let mail = channel().mail(address, message)?;
        Ok(String::from_utf8(mail.formatted()).unwrap())
    }

    #[test]
    fn an_email_has_a_sender_recipient_subject_and_body() {
        let mail = mail("ada@example.com").unwrap();
        let (headers, body) = mail.split_once("\r\n\r\n").unwrap();
        for header in ["From: Cuepoint <no-reply@example.com>", "To: ada@example.com", "Subject: Hello"] {
            assert!(headers.lines().any(|line| line == header), "{header}: {headers}");
        }
        assert!(headers.contains("@example.com>\r\n") && headers.contains("Message-ID: <"), "{headers}");
        assert_eq!(body.trim_end(), "One\r\nTwo");
    }

    #[test]
    fn an_email_address_cannot_inject_a_header() {
        for address in [
            "a@example.com\r\nBcc: b@example.com",
            "a@example.com>\r\n",
            "a b@example.com",
            "a,b@example.com",
        ] {
            assert!(mail(address).is_err(), "{address:?}");
        }
    }
}
