use super::*;
use wirebench_record::counts::{CallerCost, FunctionCost};
use wirebench_record::run::Variant;
use wirebench_testing::figure;

/// Functions as `name cost`, and the project's own as `name cost inclusive blamed` and perhaps ` calls`; `-` is an inclusive cost that
/// is not known.
fn counts(total: f64, functions: &[&str]) -> Counts {
    let figures = [Metric::Instructions, Metric::Syscalls].map(|metric| figure(metric, Some(total), 1.0));
    let mut counts = wirebench_testing::counts(Variant::Candidate, figures.to_vec());
    for function in functions {
        let words: Vec<&str> = function.split(' ').collect();
        let number = |at: usize| words.get(at).map(|word| word.parse().unwrap());
        counts.functions.push(FunctionCost {
            function: words[0].to_owned(),
            metric: Metric::Instructions,
            cost: number(1).unwrap(),
            inclusive: words
                .get(2)
                .filter(|word| **word != "-")
                .map(|word| word.parse().unwrap()),
            blamed: number(3),
            calls: number(4),
            source: number(3).map(|_| Source::at("a.rs", 7)),
        });
    }
    counts
}

/// Without whole call stacks, what functions cost with others moves by itself: only those that changed by themselves are named.
#[test]
fn without_whole_call_stacks_only_what_changed_by_itself_is_named_and_its_callees_are_charged_to_it() {
    let baseline = counts(
        50_000.0,
        &[
            "main.func1 65 - 26195 1",
            "main.order 274 - 3254 1",
            "main.render 130 - 9600 5",
            "json.Marshal 400",
        ],
    );
    let twice = counts(
        60_000.0,
        &[
            "main.func1 59 - 13112 1",
            "main.order 316 - 3296 1",
            "main.render 260 - 19200 10",
            "json.Marshal 800",
        ],
    );
    assert_eq!(names(&baseline, &twice), ["main.order +172", "json.Marshal +400"]);
    // On a busy machine stacks grow in other places, so that functions are entered once more now and then.
    let before = counts(
        50_000.0,
        &[
            "main.func1 59.9 - 26195 0.88",
            "main.order 274 - 3254 2.05",
            "main.render 130 - 9600 6.03",
        ],
    );
    let after = counts(
        60_000.0,
        &[
            "main.func1 75.4 - 26195 1.34",
            "main.order 316 - 3296 2.16",
            "main.render 260 - 19200 11.05",
        ],
    );
    assert_eq!(names(&before, &after), ["main.order +172"]);
    // One more call of a function that only calls others changes its caller by a few instructions; one that is inlined is no caller.
    let before = counts(
        90_000.0,
        &[
            "main.get 151 - 151 1",
            "main.stats 37 - 37 1",
            "main.count 38 - 103 1",
            "main.tenant 78 - 78",
        ],
    );
    let after = counts(
        95_000.0,
        &[
            "main.get 162 - 162 1",
            "main.stats 74 - 74 2",
            "main.count 76 - 206 2",
            "main.tenant 138 - 138",
        ],
    );
    assert_eq!(names(&before, &after), ["main.get +86", "main.tenant +60"]);
    // Of two functions that changed, nobody knows which one calls it more often; it is not to blame all the same.
    let before = counts(
        65_000.0,
        &[
            "main.call 39 - 20000 1",
            "main.func1 43 - 26195 1",
            "main.reflect 26 - 26 1",
        ],
    );
    let cloned = counts(
        73_000.0,
        &[
            "main.call 84 - 20000 1",
            "main.func1 56 - 26195 1",
            "main.reflect 173 - 173 7",
        ],
    );
    assert_eq!(names(&before, &cloned), ["main.call +45", "main.func1 +13"]);
    let extracted = counts(
        50_100.0,
        &[
            "main.func1 65 - 26195 1",
            "main.order 174 - 3154 1",
            "main.render 130 - 9600 5",
            "main.sum 200 - 200 1",
            "json.Marshal 400",
        ],
    );
    assert_eq!(names(&baseline, &extracted), ["main.sum +200", "main.order -100"]);
    let same = counts(
        50_000.0,
        &[
            "main.func1 65 - 20195 1",
            "main.order 274 - 9254 1",
            "main.render 130 - 9600 5",
            "json.Marshal 400",
        ],
    );
    assert_eq!(changes_of(Metric::Instructions, false, &baseline, &same), []);
}

/// Adds what functions allocate.
fn allocating(mut counts: Counts, total: f64, functions: &[&str]) -> Counts {
    counts.figures.push(figure(Metric::Allocations, Some(total), 0.1));
    let allocated = self::counts(total, functions).functions.into_iter();
    counts.functions.extend(allocated.map(|function| FunctionCost {
        metric: Metric::Allocations,
        ..function
    }));
    counts
}

/// However few instructions an allocation takes, the function that makes more of them is named, or its caller if it is only called more often.
#[test]
fn allocations_are_named_by_function_without_whole_call_stacks_too() {
    let named = |baseline: &Counts, candidate: &Counts| -> Vec<String> {
        let found = changes_of(Metric::Allocations, true, baseline, candidate);
        let name = |one: FunctionChange| format!("{} {:+}", one.function, one.candidate - one.baseline);
        found.into_iter().map(name).collect()
    };
    let code = ["main.order 274 - 3254 1", "main.render 130 - 9600 5"];
    let baseline = counts(50_000.0, &code);
    let baseline = allocating(
        baseline,
        85.0,
        &["main.render 30 - 30", "main.queue 9 - 9", "json.Marshal 40"],
    );
    let fewer = counts(50_000.0, &code);
    let fewer = allocating(fewer, 56.0, &["main.render 10 - 10", "json.Marshal 40.05"]);
    assert_eq!(named(&baseline, &fewer), ["main.render -20", "main.queue -9"]);
    let twice = counts(60_000.0, &["main.order 316 - 3296 1", "main.render 260 - 19200 10"]);
    let twice = allocating(
        twice,
        115.0,
        &["main.render 60 - 60", "main.queue 9 - 9", "json.Marshal 40"],
    );
    assert_eq!(named(&baseline, &twice), ["main.order +30"]);
}

fn names(baseline: &Counts, candidate: &Counts) -> Vec<String> {
    let changes = changes_of(Metric::Instructions, true, baseline, candidate);
    let name = |change: FunctionChange| format!("{} {:+}", change.function, change.candidate - change.baseline);
    changes.into_iter().map(name).collect()
}

#[test]
fn the_projects_own_function_that_is_to_blame_stands_first() {
    let baseline = counts(
        1000.0,
        &[
            "main 1 1000 100",
            "handler 10 400 100",
            "render 5 300 300",
            "copy 200",
            "hash 90",
        ],
    );
    let candidate = counts(
        1500.0,
        &[
            "main 1 1500 160",
            "handler 10 900 100",
            "render 5 740 740",
            "copy 700",
            "hash 30",
        ],
    );
    // `main` is around everything: it stands behind whatever else is the project's.
    assert_eq!(
        names(&baseline, &candidate),
        ["render +440", "copy +500", "main +60", "hash -60"]
    );
    assert_eq!(
        names(&candidate, &baseline),
        ["render -440", "copy -500", "main -60", "hash +60"]
    );
    let first = &changes_of(Metric::Instructions, true, &baseline, &candidate)[0];
    assert!(first.own_code && first.source.is_some());
    assert!((first.share_percent - 44.0).abs() < 1e-9);
}

#[test]
fn a_function_that_is_only_called_more_often_is_not_to_blame_its_caller_is() {
    let baseline = counts(
        20_000.0,
        &[
            "serve 1 19000 2000 1",
            "answer 200 6000 900",
            "serialize 1500 4000 4000 1",
            "key 90 300 300 4",
        ],
    );
    let candidate = counts(
        24_300.0,
        &[
            "serve 1 23300 2000 1",
            "answer 500 10300 1200",
            "serialize 1500 8000 8000 2",
            "key 90 600 600 8",
        ],
    );
    // `key` is called by `serialize`, which is called twice by `answer`, which is inlined and so has no calls.
    assert_eq!(names(&baseline, &candidate), ["answer +4600"]);
    assert_eq!(names(&candidate, &baseline), ["answer -4600"]);
    // Called once, it was inlined; called twice, it is a function of its own.
    let inlined = counts(
        20_000.0,
        &[
            "serve 1 19000 2000 1",
            "answer 200 6000 900",
            "serialize 1500 4100 4100",
        ],
    );
    assert_eq!(
        names(&inlined, &candidate),
        ["answer +4300", "key +600", "serialize -100"]
    );
    // A function that costs more each time keeps that.
    let dearer = counts(
        24_300.0,
        &[
            "serve 1 23300 2000 1",
            "answer 200 10300 900",
            "serialize 1500 8300 8000 1",
            "key 90 300 300 4",
        ],
    );
    assert_eq!(names(&baseline, &dearer), ["serialize +4000"]);
    // The caller is unknown: the cost stays where it is.
    let alone = counts(24_000.0, &["serialize 1500 8000 8000 2"]);
    assert_eq!(
        names(&counts(20_000.0, &["serialize 1500 4000 4000 1"]), &alone),
        ["serialize +4000"]
    );
}

#[test]
fn what_went_the_other_way_comes_last_and_what_did_not_change_never() {
    let baseline = counts(1000.0, &["a 500", "b 100", "c 10", "own 50 400 60"]);
    let candidate = counts(1100.0, &["a 100", "b 590", "c 11", "own 50 400 60.5"]);
    assert_eq!(names(&baseline, &candidate), ["b +490", "a -400"]);
}

#[test]
fn a_function_of_the_projects_that_explains_nearly_nothing_does_not_lead() {
    let baseline = counts(1000.0, &["own 50 400 60", "hash 90"]);
    let candidate = counts(2000.0, &["own 50 400 63", "hash 1090"]);
    assert_eq!(names(&baseline, &candidate), ["hash +1000", "own +3"]);
}

#[test]
fn cost_that_inlining_moved_between_a_caller_and_its_callee_blames_neither() {
    // Measured: a response header more, built without link-time optimisation; serializing was inlined elsewhere.
    let baseline = counts(
        20_946.0,
        &["respond 35 3130 2861", "serialize 15 269 269", "ask 29 171 62"],
    );
    let candidate = counts(
        21_500.0,
        &["respond 55 3532 1481", "serialize 24 2051 2051", "ask 62 406 297"],
    );
    assert_eq!(names(&baseline, &candidate), ["respond +402", "ask +235"]);
    assert_eq!(names(&candidate, &baseline), ["respond -402", "ask -235"]);
    // Nothing was lost by the caller: the callee itself is dearer.
    let dearer = counts(21_500.0, &["respond 35 4912 2861", "serialize 15 2051 2051"]);
    assert_eq!(names(&baseline, &dearer)[0], "serialize +1782");
}

#[test]
fn nothing_is_listed_if_the_functions_of_the_project_are_known_on_one_side_only() {
    let known = counts(10_180.0, &["main 1 10180 100", "answer 700 9000 7000", "copy 900"]);
    let unknown = counts(10_000.0, &["main 1", "answer 690", "copy 890"]);
    assert!(names(&unknown, &known).is_empty() && names(&known, &unknown).is_empty());
    // Some of the project's packages are known.
    let partly = counts(10_000.0, &["main 1 10000 2000", "answer 690", "copy 890"]);
    assert!(names(&partly, &known).is_empty());
    let before = counts(9_000.0, &["main 1 9000 100", "answer 700 9000 5900", "copy 900"]);
    assert_eq!(names(&before, &known), ["answer +1100"]);
}

#[test]
fn functions_of_older_records_are_compared_by_their_own_cost() {
    let mut sides = [counts(1000.0, &["own 50 400 60"]), counts(1100.0, &["own 150 500 260"])];
    for function in sides.iter_mut().flat_map(|counts| &mut counts.functions) {
        (function.inclusive, function.blamed) = (None, None);
    }
    assert_eq!(names(&sides[0], &sides[1]), ["own +100"]);
}

#[test]
fn a_system_call_is_shown_with_who_makes_it_more_often() {
    let caller = |function: &str, cost: f64| CallerCost {
        syscall: "write".into(),
        function: function.into(),
        cost,
    };
    let (mut baseline, mut candidate) = (counts(10.0, &[]), counts(20.0, &["log 5 30 30"]));
    baseline.syscalls.insert("write".into(), 2.0);
    candidate.syscalls.insert("write".into(), 12.0);
    baseline.callers = vec![caller("send", 100.0)];
    candidate.callers = vec![caller("send", 101.0), caller("log", 40.0)];
    let found = changes_of(Metric::Syscalls, true, &baseline, &candidate).remove(0);
    assert_eq!(found.caller.as_deref(), Some("log"));
    assert_eq!(found.source.map(|source| source.line), Some(7));
    let fewer = changes_of(Metric::Syscalls, true, &candidate, &baseline).remove(0);
    assert_eq!((fewer.caller.as_deref(), fewer.source), (Some("log"), None));
}
