//! Server-sent events in an HTTP response that arrives in pieces.

use anyhow::{Context, bail, ensure};
use httparse::Status;

/// The bytes after each chunk of a body.
const LINE_END: usize = 2;
/// The end of a block: an event, a comment or a field.
const BLOCK_END: &[u8] = b"\n\n";

/// A streamed response as it has arrived so far.
#[derive(Default, Debug)]
pub(super) struct Decoder {
    /// Whether the status and the headers have arrived.
    has_head: bool,
    has_ended: bool,
    /// Bytes that are not decoded yet: an incomplete head or chunk.
    arrived: Vec<u8>,
    /// The beginning of a block whose end has not arrived.
    block: Vec<u8>,
}

impl Decoder {
    /// Whether the last chunk has arrived: the server has ended the stream.
    pub(super) const fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Decodes the next bytes, and hands over the blocks that they complete.
    ///
    /// # Errors
    /// If the response is not a success, or its body is not in chunks.
    pub(super) fn decode(&mut self, bytes: &[u8], mut block: impl FnMut(&[u8])) -> anyhow::Result<()> {
        self.arrived.extend_from_slice(bytes);
        if !self.has_head && !self.decode_head()? {
            return Ok(());
        }
        while !self.has_ended {
            let Status::Complete((begin, length)) = chunk_size(&self.arrived)? else { return Ok(()) };
            let length = usize::try_from(length).context("a chunk is too long")?;
            let end = begin.saturating_add(length);
            let Some(chunk) = self.arrived.get(begin..end) else { return Ok(()) };
            let next = end.saturating_add(LINE_END);
            if self.arrived.len() < next {
                return Ok(());
            }
            self.has_ended = chunk.is_empty();
            self.block.extend_from_slice(chunk);
            self.arrived.drain(..next);
            self.complete_blocks(&mut block);
        }
        Ok(())
    }

    /// Returns false while the head is incomplete.
    fn decode_head(&mut self) -> anyhow::Result<bool> {
        let mut headers = [httparse::EMPTY_HEADER; 48];
        let mut head = httparse::Response::new(&mut headers);
        let parsed = head.parse(&self.arrived).context("the answer is not HTTP")?;
        let Status::Complete(length) = parsed else { return Ok(false) };
        let status = head.code.context("the answer has no status")?;
        if status != 200 {
            bail!("a stream was refused: {}", String::from_utf8_lossy(&self.arrived));
        }
        let is_chunked = head.headers.iter().any(|header| {
            header.name.eq_ignore_ascii_case("transfer-encoding")
                && header.value.eq_ignore_ascii_case(b"chunked")
        });
        ensure!(is_chunked, "the body of a stream is not in chunks");
        self.arrived.drain(..length);
        self.has_head = true;
        Ok(true)
    }

    fn complete_blocks(&mut self, block: &mut impl FnMut(&[u8])) {
        let mut taken = 0_usize;
        while let Some(rest) = self.block.get(taken..)
            && let Some(length) = position_of(BLOCK_END, rest)
        {
            block(rest.get(..length).unwrap_or_default());
            taken = taken.saturating_add(length).saturating_add(BLOCK_END.len());
        }
        self.block.drain(..taken);
    }
}

/// Parses the line before a chunk.
fn chunk_size(bytes: &[u8]) -> anyhow::Result<Status<(usize, u64)>> {
    httparse::parse_chunk_size(bytes).map_err(|_| anyhow::anyhow!("the size of a chunk is not a number"))
}

/// Returns the first place of one text in another.
pub(crate) fn position_of(text: &[u8], bytes: &[u8]) -> Option<usize> {
    bytes.windows(text.len()).position(|window| window == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    const BODY: &[u8] = b"7\r\none\n\ntw\r\n9\r\no\n\nthree\n\r\n1\r\n\n\r\n0\r\n\r\n";

    /// Decodes a response in pieces of this length.
    fn decoded(response: &[u8], length: usize) -> anyhow::Result<(Vec<String>, bool)> {
        let (mut decoder, mut blocks) = (Decoder::default(), Vec::new());
        for piece in response.chunks(length) {
            decoder.decode(piece, |block| blocks.push(String::from_utf8_lossy(block).into_owned()))?;
        }
        Ok((blocks, decoder.has_ended()))
    }

    #[test]
    fn blocks_are_decoded_across_chunks_and_packets() {
        let response = [HEAD, BODY].concat();
        for length in 1..=response.len() {
            let blocks = ["one", "two", "three"].map(str::to_owned);
            assert_eq!(decoded(&response, length).unwrap(), (blocks.into(), true));
        }
        for (response, blocks) in
            [(HEAD.split_at(20).0, 0), (HEAD, 0), (response.split_at(HEAD.len() + 12).0, 1)]
        {
            let (decoded, has_ended) = decoded(response, 1_000).unwrap();
            assert_eq!((decoded.len(), has_ended), (blocks, false));
        }
    }

    #[test]
    fn a_refusal_and_a_malformed_body_are_errors() {
        let refused = |response: &[u8]| decoded(response, 1_000).unwrap_err().to_string();
        let full = b"HTTP/1.1 503 Full\r\nContent-Length: 2\r\n\r\n{}";
        assert!(refused(full).starts_with("a stream was refused: HTTP/1.1 503 Full"));
        assert_eq!(
            refused(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"),
            "the body of a stream is not in chunks"
        );
        assert_eq!(refused(&[HEAD, b"many\r\n"].concat()), "the size of a chunk is not a number");
    }
}
