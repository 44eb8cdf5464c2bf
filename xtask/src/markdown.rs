//! Markdown documents: their headings with the anchors that GitHub gives them, their links and their code spans.

use std::collections::BTreeMap;
use std::ops::Range;

use pulldown_cmark::{BrokenLink, Event, LinkType, Options, Parser, Tag, TagEnd};

/// What the checks and the site need to know about a document.
#[derive(Default)]
pub(crate) struct Document {
    /// The headings, in their order.
    pub(crate) headings: Vec<Heading>,
    /// The links and images, in their order.
    pub(crate) links: Vec<Link>,
    /// The references without a definition, each with its line.
    pub(crate) undefined: Vec<(usize, String)>,
    /// The code spans, each with its line.
    pub(crate) codes: Vec<(usize, String)>,
    /// The number of words outside of tables and code blocks.
    pub(crate) words: usize,
}

/// A heading.
pub(crate) struct Heading {
    /// Its text without markup.
    pub(crate) text: String,
    /// The fragment of a link to it.
    pub(crate) anchor: String,
}

/// A link or an image.
pub(crate) struct Link {
    /// The line where it begins, counted from 1.
    pub(crate) line: usize,
    /// Its place in the text.
    pub(crate) place: Range<usize>,
    /// The place of its label.
    pub(crate) label: Range<usize>,
    /// Its target, as written.
    pub(crate) target: String,
}

impl Link {
    /// Splits a target inside the repository into its path and its anchor; returns nothing for a URL.
    pub(crate) fn local(&self) -> Option<(&str, Option<&str>)> {
        let scheme = self.target.split(['/', '#']).next().unwrap_or_default();
        if scheme.contains(':') || self.target.starts_with("//") {
            return None;
        }
        Some(match self.target.split_once('#') {
            Some((path, anchor)) => (path, Some(anchor)),
            None => (&self.target, None),
        })
    }
}

impl Document {
    /// Parses a document as GitHub does.
    pub(crate) fn parse(text: &str) -> Self {
        let lines = Lines::of(text);
        let mut undefined = Vec::new();
        let mut note_undefined = |link: BrokenLink<'_>| {
            // A shortcut, such as `[x]`, is usually text in brackets.
            if matches!(link.link_type, LinkType::Reference | LinkType::Collapsed) {
                undefined.push((lines.number(link.span.start), link.reference.to_string()));
            }
            None
        };
        let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_FOOTNOTES;
        let parser = Parser::new_with_broken_link_callback(text, options, Some(&mut note_undefined));
        let mut reader = Reader::default();
        for (event, place) in parser.into_offset_iter() {
            reader.read(event, place, &lines);
        }
        Self { undefined, ..reader.document }
    }

    /// The text of the first heading.
    pub(crate) fn title(&self) -> Option<&str> {
        self.headings.first().map(|heading| heading.text.as_str())
    }

    /// Whether a heading has this anchor.
    pub(crate) fn has_anchor(&self, anchor: &str) -> bool {
        self.headings.iter().any(|heading| heading.anchor == anchor)
    }
}

/// The state between the events of the parser.
#[derive(Default)]
struct Reader {
    document: Document,
    /// The text of the heading that is open.
    heading: Option<String>,
    /// The indexes of the links that are open.
    open: Vec<usize>,
    /// Whether a table or a code block is open.
    in_block: bool,
    /// How often each anchor was given before numbers were appended.
    anchors: BTreeMap<String, usize>,
}

impl Reader {
    fn read(&mut self, event: Event<'_>, place: Range<usize>, lines: &Lines) {
        if let Some(link) = self.open.last().and_then(|open| self.document.links.get_mut(*open))
            && !matches!(event, Event::End(TagEnd::Link | TagEnd::Image))
        {
            link.label = if link.label.is_empty() { place.clone() } else { link.label.start..place.end };
        }
        match event {
            Event::Start(Tag::Heading { .. }) => self.heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => self.end_heading(),
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                self.open.push(self.document.links.len());
                let (line, label) = (lines.number(place.start), place.start..place.start);
                self.document.links.push(Link { line, place, label, target: dest_url.to_string() });
            }
            Event::End(TagEnd::Link | TagEnd::Image) => {
                self.open.pop();
            }
            Event::Start(Tag::CodeBlock(_) | Tag::Table(_)) => self.in_block = true,
            Event::End(TagEnd::CodeBlock | TagEnd::Table) => self.in_block = false,
            Event::Text(text) => self.text(&text),
            Event::Code(text) => {
                self.text(&text);
                self.document.codes.push((lines.number(place.start), text.to_string()));
            }
            Event::SoftBreak | Event::HardBreak => self.text(" "),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(heading) = &mut self.heading {
            heading.push_str(text);
        }
        if !self.in_block {
            let words = text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count();
            self.document.words = self.document.words.saturating_add(words);
        }
    }

    fn end_heading(&mut self) {
        let text = self.heading.take().unwrap_or_default();
        let anchor = anchor(&text);
        let earlier = self.anchors.entry(anchor.clone()).or_default();
        let unique = if *earlier == 0 { anchor } else { format!("{anchor}-{earlier}") };
        *earlier = earlier.saturating_add(1);
        self.document.headings.push(Heading { text, anchor: unique });
    }
}

/// Returns the anchor that GitHub derives from the text of a heading, if no earlier heading has it.
fn anchor(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    heading.trim().to_lowercase().chars().filter(kept).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Returns the path that a link of a document leads to; `..` above the root stays, and names no file. An empty target is
/// the document itself.
pub(crate) fn resolve(document: &str, target: &str) -> String {
    if target.is_empty() {
        return document.to_owned();
    }
    let mut parts: Vec<&str> = document.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The offsets at which the lines of a text begin.
pub(crate) struct Lines(Vec<usize>);

impl Lines {
    /// Finds the lines of a text.
    pub(crate) fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(offset, _)| offset).collect())
    }

    /// The number of the line that contains this offset, counted from 1.
    pub(crate) fn number(&self, offset: usize) -> usize {
        self.0.partition_point(|end| *end < offset).saturating_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anchors(text: &str) -> Vec<String> {
        Document::parse(text).headings.into_iter().map(|heading| heading.anchor).collect()
    }

    #[test]
    fn headings_get_the_same_anchors_as_on_github() {
        let cases = [
            ("# Backup and restore", "backup-and-restore"),
            ("## 6. The other operations", "6-the-other-operations"),
            ("## `GET /api/v1/wallet`, *again*", "get-apiv1wallet-again"),
            ("## A [link](x.md) to `snake_case`", "a-link-to-snake_case"),
            ("## Users — and DJs' “fees”", "users--and-djs-fees"),
            ("Zürich\n======", "zürich"),
        ];
        for (heading, expected) in cases {
            assert_eq!(anchors(heading), [expected], "{heading}");
        }
    }

    #[test]
    fn equal_headings_have_numbered_anchors() {
        assert_eq!(anchors("# Keys\n## Keys\n## `Keys`!\n"), ["keys", "keys-1", "keys-2"]);
    }

    #[test]
    fn headings_and_links_in_code_are_not_parsed() {
        let document = Document::parse("```md\n# Title\n[a](b.md)\n```\n\n`[a](b.md)`\n");
        assert!(document.headings.is_empty() && document.links.is_empty());
        assert_eq!(document.codes, [(6, "[a](b.md)".to_owned())]);
    }

    #[test]
    fn links_are_found_with_their_lines_and_labels() {
        let text =
            "One\n[two `c`](a.md#b) and [three][r],\n\n| t |\n|---|\n| ![i](i.png) |\n\n[r]: https://x.org\n";
        let document = Document::parse(text);
        let found: Vec<_> = document
            .links
            .iter()
            .map(|link| {
                let part = |place: &Range<usize>| text.get(place.clone()).unwrap();
                (link.line, part(&link.place), part(&link.label), link.target.as_str())
            })
            .collect();
        let expected = [
            (2, "[two `c`](a.md#b)", "two `c`", "a.md#b"),
            (2, "[three][r]", "three", "https://x.org"),
            (6, "![i](i.png)", "i", "i.png"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn link_references_without_a_definition_are_found() {
        let document = Document::parse("[a][b],\n[c][], [d]: [e](f.md)\n");
        assert_eq!(document.undefined, [(1, "b".to_owned()), (2, "c".to_owned())]);
    }

    #[test]
    fn only_links_within_the_repository_are_split_into_path_and_anchor() {
        let local = |target: &str| {
            let link = Link { line: 1, place: 0..0, label: 0..0, target: target.to_owned() };
            link.local().map(|(path, anchor)| (path.to_owned(), anchor.map(str::to_owned)))
        };
        let part = |path: &str, anchor: &str| Some((path.to_owned(), Some(anchor.to_owned())));
        assert_eq!(local("../a.md#b"), part("../a.md", "b"));
        assert_eq!(local("#b:c"), part("", "b:c"));
        assert_eq!(local("a/b:c.md"), Some(("a/b:c.md".to_owned(), None)));
        for url in ["https://example.com/a.md#b", "mailto:a@example.com", "//example.com"] {
            assert_eq!(local(url), None);
        }
    }

    #[test]
    fn words_are_counted_outside_tables_and_code_blocks() {
        let text = "# Two words\n\nThree `code`, words – [and four](a.md).\n\n| a | b |\n|---|---|\n\n\
                    ```sh\nnone here\n```\n";
        assert_eq!(Document::parse(text).words, 7);
    }
}
