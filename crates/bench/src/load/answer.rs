//! An HTTP response that arrives in pieces.

use anyhow::{Context, ensure};

/// A complete response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Answer<'a> {
    pub(super) status: u16,
    pub(super) body: &'a [u8],
}

/// Parses a response; `None` while it is incomplete.
///
/// # Errors
/// If the bytes are not a response with a `Content-Length`, or continue after it.
pub(super) fn parse(bytes: &[u8]) -> anyhow::Result<Option<Answer<'_>>> {
    let mut headers = [httparse::EMPTY_HEADER; 48];
    let mut head = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(head_length) = head.parse(bytes).context("the answer is not HTTP")? else {
        return Ok(None);
    };
    let status = head.code.context("the answer has no status")?;
    let mut lengths = head.headers.iter().filter(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length = lengths.next().context("the answer has no Content-Length")?;
    let length = std::str::from_utf8(length.value).ok().and_then(|length| length.parse::<usize>().ok());
    let length = length.context("the answer's Content-Length is not a number")?;
    let arrived = bytes.get(head_length..).unwrap_or_default();
    ensure!(arrived.len() <= length, "data follows the answer");
    Ok((arrived.len() == length).then_some(Answer { status, body: arrived }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &[u8] = b"HTTP/1.1 201 Created\r\ncontent-length: 5\r\nX-Other: 7\r\n\r\n";

    #[test]
    fn an_answer_is_complete_once_its_whole_body_has_arrived() {
        let whole = [HEAD, b"hello"].concat();
        for length in 0..whole.len() {
            assert_eq!(parse(&whole[..length]).unwrap(), None, "{length}");
        }
        assert_eq!(parse(&whole).unwrap(), Some(Answer { status: 201, body: b"hello" }));
    }

    #[test]
    fn an_answer_without_a_body_ends_with_its_head() {
        let answer = parse(b"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n").unwrap();
        assert_eq!(answer, Some(Answer { status: 500, body: b"" }));
    }

    #[test]
    fn malformed_answers_and_answers_of_unknown_length_are_refused() {
        let refused = |bytes: &[u8]| parse(bytes).unwrap_err().to_string();
        assert_eq!(refused(b"GET / HTTP/1.1\r\n\r\n"), "the answer is not HTTP");
        assert_eq!(
            refused(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
            "the answer has no Content-Length"
        );
        assert_eq!(
            refused(b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n"),
            "the answer's Content-Length is not a number"
        );
        assert_eq!(refused(&[HEAD, b"hello!"].concat()), "data follows the answer");
    }
}
