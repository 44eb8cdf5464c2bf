//! A mail server on loopback: a library speaks the protocol, and tests choose the answers.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use mailin::{Action, Handler, Response, SessionBuilder, response};

/// The behaviour of a mail server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Post {
    /// Accepts every mail.
    Takes,
    /// Rejects every recipient, repeating the address.
    Refuses,
    /// Never answers.
    Hangs,
}

/// A mail as received.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mail {
    pub(crate) from: String,
    pub(crate) to: Vec<String>,
    pub(crate) text: String,
}

#[derive(Debug)]
struct State {
    post: Post,
    callers: usize,
    mails: Vec<Mail>,
}

/// A mail server that listens until the test process ends.
pub(crate) struct MailServer {
    pub(crate) url: String,
    state: Arc<Mutex<State>>,
}

impl MailServer {
    pub(crate) fn new(post: Post) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("smtp://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State { post, callers: 0, mails: Vec::new() }));
        let serving = Arc::clone(&state);
        thread::spawn(move || {
            // Clients without an answer stay connected.
            let mut silent = Vec::new();
            for stream in listener.incoming().map_while(Result::ok) {
                let post = {
                    let mut state = serving.lock().unwrap();
                    state.callers += 1;
                    state.post
                };
                if post == Post::Hangs {
                    silent.push(stream);
                } else {
                    let state = Arc::clone(&serving);
                    thread::spawn(move || serve(&stream, post, state));
                }
            }
        });
        Self { url, state }
    }

    /// Sets its behaviour from now on.
    pub(crate) fn now(&self, post: Post) {
        self.state.lock().unwrap().post = post;
    }

    /// The number of connections so far.
    pub(crate) fn callers(&self) -> usize {
        self.state.lock().unwrap().callers
    }

    /// The mails accepted so far.
    pub(crate) fn mails(&self) -> Vec<Mail> {
        self.state.lock().unwrap().mails.clone()
    }
}

struct Taking {
    post: Post,
    mail: Mail,
    state: Arc<Mutex<State>>,
}

impl Handler for Taking {
    fn rcpt(&mut self, to: &str) -> Response {
        match self.post {
            Post::Refuses => {
                Response::custom(550, format!("<{to}>: Recipient address rejected: unknown user"))
            }
            Post::Takes | Post::Hangs => response::OK,
        }
    }

    fn data_start(&mut self, _: &str, from: &str, _: bool, to: &[String]) -> Response {
        self.mail = Mail { from: from.to_owned(), to: to.to_vec(), text: String::new() };
        response::OK
    }

    fn data(&mut self, line: &[u8]) -> std::io::Result<()> {
        self.mail.text.push_str(&String::from_utf8_lossy(line));
        Ok(())
    }

    fn data_end(&mut self) -> Response {
        self.state.lock().unwrap().mails.push(self.mail.clone());
        response::OK
    }
}

/// Answers line by line until either side closes.
fn serve(mut stream: &TcpStream, post: Post, state: Arc<Mutex<State>>) {
    let peer = stream.peer_addr().unwrap().ip();
    let taking = Taking { post, mail: Mail::default(), state };
    let mut session = SessionBuilder::new("mail.example.com").build(peer, taking);
    let mut reader = BufReader::new(stream);
    let mut said = session.greeting();
    loop {
        let gone = stream.write_all(&said.buffer().unwrap()).is_err();
        let mut line = Vec::new();
        if gone || said.action == Action::Close || reader.read_until(b'\n', &mut line).unwrap_or(0) == 0 {
            return;
        }
        said = session.process(&line);
    }
}
