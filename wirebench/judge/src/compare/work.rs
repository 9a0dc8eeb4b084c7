//! What the project's own functions do more or less often per request: functions matched by file and name, however lines
//! moved, and work that only moved to another function told apart. Never a verdict.

use std::collections::{BTreeMap, BTreeSet};

use wirebench_record::comparison::{FunctionWorkChange, WorkChange, WorkKind};
use wirebench_record::counts::{Counts, FunctionWork};

/// Functions listed.
const LISTED: usize = 10;

/// A function on both sides, or on one.
struct Pair<'a> {
    sides: [Option<&'a FunctionWork>; 2],
    /// Units per request on the baseline, with what moved here from other functions.
    baseline: f64,
    kind: WorkKind,
}

/// The digests of the function's text.
fn texts(sides: [Option<&FunctionWork>; 2]) -> [Option<&String>; 2] {
    sides.map(|side| side.and_then(|work| work.text.as_ref()))
}

impl<'a> Pair<'a> {
    fn new(sides: [Option<&'a FunctionWork>; 2]) -> Self {
        let baseline = sides[0].map_or(0.0, |work| work.count);
        let texts = texts(sides);
        let is_edited = texts[0].is_some() && texts[1].is_some() && texts[0] != texts[1];
        Self {
            sides,
            baseline,
            kind: if is_edited { WorkKind::Edited } else { WorkKind::Changed },
        }
    }

    /// The function, as the candidate has it if it does.
    fn work(&self) -> &'a FunctionWork {
        self.sides[1]
            .or(self.sides[0])
            .expect("a pair has one function at least")
    }

    fn candidate(&self) -> f64 {
        self.sides[1].map_or(0.0, |work| work.count)
    }

    fn change(&self) -> f64 {
        self.candidate() - self.baseline
    }

    fn noise(&self) -> f64 {
        self.sides.iter().flatten().map(|work| work.spread).sum()
    }

    fn is_changed(&self) -> bool {
        self.change().abs() > self.noise()
    }

    /// Whether some of its work may be in a new function now: not if its text is the same as before.
    fn may_have_given_work(&self) -> bool {
        match self.sides {
            [Some(_), Some(_)] => !self.is_as_written(),
            [None, Some(new)] => new.text.is_none(),
            _ => true,
        }
    }

    /// Whether its text is the same on both sides: then it does more because others call it more often, or give it more to do.
    fn is_as_written(&self) -> bool {
        let [before, after] = texts(self.sides);
        before.is_some() && before == after
    }

    fn is_on_one_side(&self) -> bool {
        self.sides.contains(&None)
    }

    /// Additional calls of a function that only the candidate has; below 0, those of one that only the baseline has.
    fn calls(&self) -> f64 {
        match self.sides {
            [None, Some(new)] => new.calls,
            [Some(gone), None] => -gone.calls,
            _ => 0.0,
        }
    }
}

/// The functions that do more or less; `None` if there are none, or if one side counted nothing.
pub(super) fn change(baseline: &Counts, candidate: &Counts) -> Option<WorkChange> {
    let (before, after) = (baseline.work.as_ref()?, candidate.work.as_ref()?);
    if before.unit != after.unit {
        return None;
    }
    let pairs = pairs(&before.functions, &after.functions);
    let touched: BTreeSet<&str> = (pairs.iter().filter(|pair| pair.may_have_given_work()))
        .map(|pair| pair.work().source.file.as_str())
        .collect();
    let (mut changed, mut edited): (Vec<Pair>, Vec<Pair>) = pairs.into_iter().partition(Pair::is_changed);
    edited.retain(|pair| pair.kind == WorkKind::Edited);
    changed.iter_mut().for_each(|pair| pair.kind = WorkKind::Changed);
    let files: BTreeSet<&str> = changed.iter().map(|pair| pair.work().source.file.as_str()).collect();
    for file in files.intersection(&touched) {
        let mut of_file: Vec<&mut Pair> = (changed.iter_mut())
            .filter(|pair| pair.work().source.file == *file)
            .collect();
        undo_moves(&mut of_file, after.call);
    }
    changed.retain(|pair| pair.kind == WorkKind::Moved || pair.is_changed());
    changed.extend(edited);
    let order = |pair: &Pair| (pair.kind, pair.change() < 0.0, pair.is_as_written());
    changed.sort_by(|one, other| {
        (order(one).cmp(&order(other))).then(other.change().abs().total_cmp(&one.change().abs()))
    });
    changed.truncate(LISTED);
    let functions = changed.iter().map(|pair| FunctionWorkChange {
        function: pair.work().function.clone(),
        source: Some(pair.work().source.clone()),
        baseline: pair.baseline.max(0.0),
        candidate: pair.candidate(),
        kind: pair.kind,
    });
    (!changed.is_empty()).then(|| WorkChange {
        unit: after.unit.clone(),
        functions: functions.collect(),
    })
}

/// What two functions must have in common: file, name, text, count and calls; empty or 0 where it does not matter.
type Key<'a> = (&'a str, &'a str, &'a str, u64, u64);

/// The key of a function, from the bits of its count and calls.
type Way<'a> = fn(&'a FunctionWork, (u64, u64)) -> Key<'a>;

/// The digest of a function's text; empty if it is not known.
fn text(work: &FunctionWork) -> &str {
    work.text.as_deref().unwrap_or_default()
}

/// Matches functions, the most certain way first; those that are left are on one side only.
fn pairs<'a>(before: &'a [FunctionWork], after: &'a [FunctionWork]) -> Vec<Pair<'a>> {
    let bits = |work: &FunctionWork| (work.count.to_bits(), work.calls.to_bits());
    let ways: [Way; 7] = [
        // Several functions of one name, such as callbacks without one: first those that are written alike, then those that do
        // the same, the others in order.
        |work, (count, calls)| (&work.source.file, &work.function, text(work), count, calls),
        |work, _| (&work.source.file, &work.function, text(work), 0, 0),
        |work, (count, calls)| (&work.source.file, &work.function, "", count, calls),
        |work, _| (&work.source.file, &work.function, "", 0, 0),
        // Renamed.
        |work, (count, calls)| (&work.source.file, "", "", count, calls),
        // In another file.
        |work, (count, calls)| ("", &work.function, "", count, calls),
        |work, _| ("", &work.function, "", 0, 0),
    ];
    let by_line = |side: &'a [FunctionWork]| {
        let mut all: Vec<&FunctionWork> = side.iter().collect();
        all.sort_by_key(|work| (&work.source.file, work.source.line));
        all
    };
    let (mut before, mut after) = (by_line(before), by_line(after));
    let mut pairs = Vec::new();
    for key in ways {
        let mut waiting: BTreeMap<Key, Vec<&FunctionWork>> = BTreeMap::new();
        for work in before.drain(..).rev() {
            waiting.entry(key(work, bits(work))).or_default().push(work);
        }
        after.retain(|work| {
            let found = waiting.get_mut(&key(work, bits(work))).and_then(Vec::pop);
            pairs.extend(found.map(|found| Pair::new([Some(found), Some(*work)])));
            found.is_none()
        });
        before = waiting.into_values().flatten().collect();
        before.sort_by_key(|work| (&work.source.file, work.source.line));
    }
    pairs.extend(before.into_iter().map(|gone| Pair::new([Some(gone), None])));
    pairs.extend(after.into_iter().map(|new| Pair::new([None, Some(new)])));
    pairs
}

/// Undoes what an extracted, inlined or renamed function moved within a file, so that only real changes remain. If the whole
/// file changed by no more than the calls of new functions cost, work only moved.
fn undo_moves(changed: &mut [&mut Pair], call: f64) {
    let calls: f64 = changed.iter().map(|pair| pair.calls()).sum::<f64>() * call;
    let noise: f64 = changed.iter().map(|pair| pair.noise()).sum();
    let net: f64 = changed.iter().map(|pair| pair.change()).sum();
    let has_one_sided = changed.iter().any(|pair| pair.is_on_one_side());
    if has_one_sided && (calls.min(0.0) - noise..=calls.max(0.0) + noise).contains(&net) {
        changed.iter_mut().for_each(|pair| pair.kind = WorkKind::Moved);
        return;
    }
    for at in 0..changed.len() {
        let size = changed[at].change();
        if !changed[at].is_on_one_side() {
            continue;
        }
        let other = (0..changed.len())
            .filter(|other| changed[*other].change() * size < 0.0)
            .max_by(|one, other| {
                let size = |at: usize| changed[at].change().abs();
                size(*one).total_cmp(&size(*other))
            });
        if let Some(other) = other {
            let moved = size.abs().min(changed[other].change().abs()) * size.signum();
            changed[at].baseline += moved;
            changed[other].baseline -= moved;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_record::counts::{Source, Work};
    use wirebench_record::run::Variant;

    /// Functions as `file:line name count calls`.
    fn counts(functions: &[&str]) -> Counts {
        let function = |text: &&str| {
            let words: Vec<&str> = text.split(' ').collect();
            let (file, line) = words[0].split_once(':').unwrap();
            FunctionWork {
                function: words[1].into(),
                source: Source::at(file, line.parse().unwrap()),
                count: words[2].parse().unwrap(),
                spread: 0.02,
                calls: words[3].parse().unwrap(),
                text: words.get(4).map(|text| (*text).to_owned()),
            }
        };
        let mut counts = wirebench_testing::counts(Variant::Baseline, Vec::new());
        counts.work = Some(Work {
            unit: "block".into(),
            call: 1.0,
            functions: functions.iter().map(function).collect(),
        });
        counts
    }

    /// Each change as `name change`, what else happened to a function.
    fn changes(before: &[&str], after: &[&str]) -> Vec<String> {
        let found = change(&counts(before), &counts(after));
        let functions = found.into_iter().flat_map(|found| found.functions);
        let said = |one: FunctionWorkChange| match one.kind {
            WorkKind::Changed => format!("{} {:+}", one.function, one.candidate - one.baseline),
            kind => format!("{} {kind:?}", one.function),
        };
        functions.map(said).collect()
    }

    #[test]
    fn a_function_that_does_more_is_listed_before_one_that_does_less() {
        let before = ["a.js:1 order 10 1", "a.js:9 price 6 3", "a.js:20 log 5 1"];
        let after = ["a.js:1 order 12 1", "a.js:9 price 3 3", "a.js:20 log 5 1"];
        assert_eq!(changes(&before, &after), ["order +2", "price -3"]);
    }

    #[test]
    fn moved_lines_other_names_and_other_files_are_no_change() {
        let before = [
            "a.js:1 order 10 1",
            "a.js:9 price 6 3",
            "a.js:20 log 5 1",
            "a.js:30 (anonymous) 2 1",
        ];
        assert_eq!(
            changes(
                &before,
                &[
                    "a.js:4 order 10 1",
                    "a.js:12 cost 6 3",
                    "b.js:1 log 5 1",
                    "a.js:5 (anonymous) 2 1"
                ]
            ),
            [""; 0]
        );
        // One more callback stands before the one that was there.
        let after = [
            "a.js:25 (anonymous) 7 1",
            "a.js:31 (anonymous) 2 1",
            "a.js:1 order 10 1",
            "a.js:9 price 6 3",
            "a.js:20 log 5 1",
        ];
        assert_eq!(changes(&before, &after), ["(anonymous) +7"]);
    }

    #[test]
    fn work_that_moved_to_an_extracted_function_or_back_is_no_change() {
        let whole = ["a.js:1 order 30 1", "a.js:90 log 5 1"];
        let parted = [
            "a.js:1 order 12 1",
            "a.js:20 sum 10 1",
            "a.js:40 check 10 1",
            "a.js:90 log 5 1",
        ];
        assert_eq!(changes(&whole, &parted), ["sum Moved", "check Moved", "order Moved"]);
        assert_eq!(changes(&parted, &whole), ["order Moved", "sum Moved", "check Moved"]);
        // The extracted function does its work twice.
        let twice = ["a.js:1 order 20 1", "a.js:20 sum 22 1", "a.js:90 log 5 1"];
        assert_eq!(changes(&whole, &twice), ["sum +12"]);
    }

    #[test]
    fn a_function_that_was_edited_and_does_as_much_comes_after_those_that_do_more() {
        let before = ["a.js:1 order 10 1 aa", "a.js:9 price 6 3 bb", "a.js:20 log 5 1 cc"];
        let after = ["a.js:2 order 10 1 dd", "a.js:10 price 7 3 ee", "a.js:21 log 5 1 cc"];
        assert_eq!(changes(&before, &after), ["price +1", "order Edited"]);
    }

    #[test]
    fn a_function_that_is_written_anew_comes_before_those_that_it_calls_more_often() {
        let before = ["a.js:1 order 10 1 aa", "b.js:9 price 6 1 bb", "b.js:20 log 5 1 cc"];
        let after = ["a.js:1 order 12 1 dd", "b.js:9 price 36 6 bb", "b.js:20 log 5 1 cc"];
        assert_eq!(changes(&before, &after), ["order +2", "price +30"]);
    }

    #[test]
    fn a_callback_that_is_new_is_told_from_one_that_stands_behind_it_now() {
        let before = ["a.js:10 (anonymous) 1 1 aa", "b.js:8 find 1 1 bb"];
        let after = [
            "a.js:9 (anonymous) 1 1 cc",
            "a.js:15 (anonymous) 1 1 aa",
            "b.js:8 find 1 1 bb",
        ];
        assert_eq!(changes(&before, &after), ["(anonymous) +1"]);
        // The one that was there gave it its work.
        let edited = [
            "a.js:9 (anonymous) 1 1 cc",
            "a.js:15 (anonymous) 1 1 dd",
            "b.js:8 find 1 1 bb",
        ];
        assert_eq!(changes(&before, &edited), ["(anonymous) Edited", "(anonymous) Moved"]);
    }

    #[test]
    fn nothing_is_said_of_what_one_side_did_not_count() {
        let mut other = counts(&["a.js:1 order 12 1"]);
        let counted = counts(&["a.js:1 order 10 1"]);
        other.work.as_mut().unwrap().unit = "bytecode".into();
        assert_eq!(change(&counted, &other), None);
        other.work = None;
        assert_eq!(change(&counted, &other), None);
    }
}
