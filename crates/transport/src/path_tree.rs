//! The declared paths as a tree of their segments, so that a path is found segment by segment.

/// The value of each declared path. In a declared path, `{name}` stands for a segment that is not empty, and
/// `{name:.*}` at the end for the rest of a path, which may be empty.
pub struct PathTree<T> {
    /// The value of the path that ends here.
    value: Option<T>,
    /// Compared in turn: they are few, and most differ in length already.
    literals: Vec<(&'static str, Self)>,
    segment: Option<Box<Self>>,
    rest: Option<Box<Self>>,
}

impl<T> Default for PathTree<T> {
    fn default() -> Self {
        Self { value: None, literals: Vec::new(), segment: None, rest: None }
    }
}

impl<T> PathTree<T> {
    /// The place of the value of a declared path.
    pub fn at(&mut self, declared: &'static str) -> &mut Option<T> {
        &mut declared.split('/').fold(self, Self::below).value
    }

    fn below(&mut self, declared: &'static str) -> &mut Self {
        match declared.strip_prefix('{') {
            None => {
                let known = self.literals.iter().position(|(literal, _)| *literal == declared);
                let known = known.map(|at| self.literals.swap_remove(at).1).unwrap_or_default();
                &mut self.literals.push_mut((declared, known)).1
            }
            Some(name) if name.ends_with(":.*}") => self.rest.get_or_insert_default(),
            Some(_) => self.segment.get_or_insert_default(),
        }
    }

    /// The value of the declared path that this path matches, and the part that stands for its parameter. A literal
    /// segment precedes a parameter if the whole path matches with it.
    pub fn find<'p>(&self, path: &'p str) -> Option<(&T, Option<&'p str>)> {
        // Bytewise, because segments are too short for the search of `split_once`.
        let end = path.bytes().position(|byte| byte == b'/');
        let (segment, rest) = end.and_then(|end| path.split_at_checked(end)).unwrap_or((path, ""));
        let rest = rest.strip_prefix('/');
        let literal = self.literals.iter().find(|(literal, _)| *literal == segment);
        let literal = literal.and_then(|(_, below)| below.end_or_find(rest));
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
