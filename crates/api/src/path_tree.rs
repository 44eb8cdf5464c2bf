//! The declared paths as a tree of their segments, so that a path is found by one look-up per segment.

use std::collections::BTreeMap;

/// The value of each declared path. In a declared path, `{name}` stands for a segment that is not empty, and
/// `{name:.*}` at the end for the rest of a path, which may be empty.
pub(crate) struct PathTree<T> {
    /// The value of the path that ends here.
    value: Option<T>,
    literals: BTreeMap<&'static str, Self>,
    segment: Option<Box<Self>>,
    rest: Option<Box<Self>>,
}

impl<T> Default for PathTree<T> {
    fn default() -> Self {
        Self { value: None, literals: BTreeMap::new(), segment: None, rest: None }
    }
}

impl<T> PathTree<T> {
    /// The place of the value of a declared path.
    pub(crate) fn at(&mut self, declared: &'static str) -> &mut Option<T> {
        &mut declared.split('/').fold(self, Self::below).value
    }

    fn below(&mut self, declared: &'static str) -> &mut Self {
        match declared.strip_prefix('{') {
            None => self.literals.entry(declared).or_default(),
            Some(name) if name.ends_with(":.*}") => self.rest.get_or_insert_default(),
            Some(_) => self.segment.get_or_insert_default(),
        }
    }

    /// The value of the declared path that this path matches, and the part that stands for its parameter. A literal
    /// segment precedes a parameter if the whole path matches with it.
    pub(crate) fn find<'p>(&self, path: &'p str) -> Option<(&T, Option<&'p str>)> {
        let (segment, rest) =
            path.split_once('/').map_or((path, None), |(segment, rest)| (segment, Some(rest)));
        let literal = self.literals.get(segment).and_then(|below| below.end_or_find(rest));
        literal
            .or_else(|| {
                let below = self.segment.as_ref().filter(|_| !segment.is_empty())?;
                let (value, _) = below.end_or_find(rest)?;
                Some((value, Some(segment)))
            })
            .or_else(|| Some((self.rest.as_ref()?.value.as_ref()?, Some(path))))
    }

    fn end_or_find<'p>(&self, rest: Option<&'p str>) -> Option<(&T, Option<&'p str>)> {
        match rest {
            None => Some((self.value.as_ref()?, None)),
            Some(rest) => self.find(rest),
        }
    }
}
