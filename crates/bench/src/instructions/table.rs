//! The table of instructions.

use crate::table::{line, shown, table};

/// The cost of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    /// Instructions in user mode.
    pub(super) instructions: f64,
    /// The average group of the writes, on a store that forms groups.
    pub(super) plans_per_group: Option<f64>,
}

/// The costs of all rows.
#[derive(Debug, Default)]
pub(super) struct Costs(Vec<Row>);

#[derive(Debug)]
struct Row {
    name: String,
    connections: usize,
    this: Cost,
    /// The cost with the other build.
    that: Option<Cost>,
}

impl Costs {
    pub(super) fn add(&mut self, name: &str, connections: usize, this: Cost, that: Option<Cost>) {
        self.0.push(Row { name: name.to_owned(), connections, this, that });
    }

    /// Returns the table in Markdown.
    pub(super) fn markdown(&self) -> String {
        let heads =
            ["row", "connections", "instructions", "plans/group", "other build", "plans/group", "ratio"];
        let mut lines = vec![line(heads.map(str::to_owned))];
        for Row { name, connections, this, that } in &self.0 {
            lines.push(line([
                name.clone(),
                connections.to_string(),
                format!("{:.0}", this.instructions),
                shown(this.plans_per_group, 2),
                shown(that.map(|that| that.instructions), 0),
                shown(that.and_then(|that| that.plans_per_group), 2),
                shown(that.map(|that| this.instructions / that.instructions), 3),
            ]));
        }
        format!("Instructions per request:\n\n{}", table(lines))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_compares_both_builds() {
        let cost = |instructions| Cost { instructions, plans_per_group: None };
        let mut costs = Costs::default();
        costs.add("memory: list", 16, cost(1_500.0), Some(cost(1_000.0)));
        costs.add("sqlite: list", 1, Cost { plans_per_group: Some(2.5), ..cost(10.0) }, None);
        let text = costs.markdown();
        assert!(
            text.contains("|         1500 |             |        1000 |             | 1.500 |"),
            "{text}"
        );
        assert!(
            text.contains("|           10 |        2.50 |             |             |       |"),
            "{text}"
        );
    }
}
