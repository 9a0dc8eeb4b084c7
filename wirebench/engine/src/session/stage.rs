//! Leads the stages of a run: plans their rounds, ends a stage early when its time is over, and adds extra pairs for those that
//! were disturbed or failed.
//!
//! The time limits of a stage.

use std::time::{Duration, Instant};

use crate::session::pairs::{given_up, keep_least_disturbed, tally};
use wirebench_declare::plan::budget::{NextStage, Screen, is_late};
use wirebench_declare::plan::rerun::{FEWEST_PAIRS, Tally};
use wirebench_declare::plan::{Slot, Stretch, pairs};
use wirebench_record::run::{Run, Stage, Variant};

/// A series of a stage: its index in the run, and the variants that are measured of it.
pub type Member = (usize, Vec<Variant>);

/// How a stage ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Every round was measured.
    Whole,
    /// The time given was over first.
    OutOfTime,
    /// The user requested a stop.
    Interrupted,
}

/// A run that is measured in stages.
pub trait StagedRun {
    /// Its record so far.
    fn run(&mut self) -> &mut Run;

    /// Every slot that was planned so far.
    fn slots(&mut self) -> &mut Vec<Slot>;

    /// Whether more than one variant is measured.
    fn is_paired(&self) -> bool;

    /// A stage begins. Returns its series.
    fn begin(&mut self, stage: &Stage) -> Vec<Member>;

    /// Slots were planned, which are measured next; `kind` is a noun for their rounds.
    ///
    /// # Errors
    /// When the plan cannot be written.
    fn enter(&mut self, _stage: &Stage, _kind: &'static str, _slots: &[Slot]) -> anyhow::Result<()> {
        Ok(())
    }

    /// Measures the slots of one round and records them. After `deadline` no new pair begins.
    ///
    /// # Errors
    /// When the record cannot be written.
    fn pass(&mut self, slots: &[Slot], deadline: Option<Instant>) -> anyhow::Result<Ending>;

    /// Tells the user why something is not measured. The record says it too.
    fn log(&self, _text: &str) {}
}

/// The rules of the second stage.
#[derive(Clone, Copy)]
pub struct SecondStage<'a> {
    /// Plans it from the run and the time left of its budget.
    pub plan: &'a dyn Fn(&Run, Duration) -> NextStage,
    /// Whether the series of that index has too few usable pairs in it for a verdict.
    pub lacks_pairs: &'a dyn Fn(&Run, usize) -> bool,
    /// Whether a change of that series lacks pairs of baseline and null, which could tell it from noise.
    pub lacks_null_pairs: &'a dyn Fn(&Run, usize) -> bool,
}

/// The share of the budget by which it may be exceeded for a series whose second stage lacks pairs for a verdict: without them
/// all its time was spent for nothing. A change that only a null of few pairs contradicts gets more pairs of that null.
const BEYOND: f64 = 0.2;

/// Wants another pair of a series that `lacks` some, until the extra ones are used up.
fn while_left(lacks: &dyn Fn(&Run, usize) -> bool) -> impl Fn(&Run, usize, Tally) -> bool {
    move |run, series, tally| tally.has_extra_left() && lacks(run, series)
}

/// Measures the first stage, and then, within the budget, the one that `second_stage` plans, if it plans one.
///
/// # Errors
/// When plan or record cannot be written.
pub fn measure_stages(
    session: &mut impl StagedRun,
    screen: &Stage,
    budget: Option<Duration>,
    second_stage: SecondStage,
) -> anyhow::Result<Ending> {
    let time = StageTime::first(budget);
    // Fewer first rounds than a verdict needs were requested: they are measured, and nothing is decided.
    let decides = screen.rounds >= FEWEST_PAIRS;
    let ending = measure_stage(session, screen, time, decides.then_some(second_stage))?;
    let Some(end) = time.end.filter(|_| decides && ending == Ending::Whole) else {
        return Ok(ending);
    };
    let left = end.saturating_duration_since(Instant::now());
    let Some(second) = (second_stage.plan)(session.run(), left).stage else {
        return Ok(ending);
    };
    let members = session.begin(&second);
    let ending = measure_rounds(session, &second, StageTime::last(end), &members, None)?;
    if ending == Ending::Interrupted {
        return Ok(ending);
    }
    let beyond = StageTime::last(end + (end - time.began).mul_f64(BEYOND));
    let ending = measure_extra_pairs(session, &second, beyond, &members, while_left(second_stage.lacks_pairs))?;
    if ending == Ending::Interrupted {
        return Ok(ending);
    }
    let of_null = |(series, variants): &Member| {
        let has_null = variants.contains(&Variant::Null);
        has_null.then(|| (*series, vec![Variant::Baseline, Variant::Null]))
    };
    let nulls: Vec<Member> = members.iter().filter_map(of_null).collect();
    measure_extra_pairs(
        session,
        &second,
        beyond,
        &nulls,
        while_left(second_stage.lacks_null_pairs),
    )
}

/// Measures the rounds of one stage, and up to four extra rounds of each series whose pairs were disturbed or failed too often.
/// After `time.end` no new pair begins, and the stage is recorded with the rounds that every series has. A stage that another one
/// follows (`next`) ends earlier (see [`Screen`]), and once it is late it has no extra rounds: the next stage measures such series
/// anew.
///
/// [`Screen`]: wirebench_declare::plan::budget::Screen
///
/// # Errors
/// When plan or record cannot be written.
pub(super) fn measure_stage(
    session: &mut impl StagedRun,
    stage: &Stage,
    time: StageTime,
    next: Option<SecondStage>,
) -> anyhow::Result<Ending> {
    let members = session.begin(stage);
    measure_rounds(session, stage, time, &members, next)
}

/// As [`measure_stage`], of a stage that has begun with these series. Where extra pairs do not make up for all disturbed ones, the
/// least disturbed of these are used.
fn measure_rounds(
    session: &mut impl StagedRun,
    stage: &Stage,
    time: StageTime,
    members: &[Member],
    next: Option<SecondStage>,
) -> anyhow::Result<Ending> {
    let ending = measure_undisturbed(session, stage, time, members, next)?;
    for (series, variants) in members {
        let series = &mut session.run().series[*series];
        let kept = keep_least_disturbed(&mut series.rounds, variants, stage.number, stage.rounds);
        if kept > 0 {
            let said = format!(
                "used after all: {}: the {kept} least disturbed pairs of those left out",
                series.id
            );
            session.log(&said);
        }
    }
    Ok(ending)
}

fn measure_undisturbed(
    session: &mut impl StagedRun,
    stage: &Stage,
    time: StageTime,
    members: &[Member],
    next: Option<SecondStage>,
) -> anyhow::Result<Ending> {
    if session.is_paired() {
        session.run().stages.push(stage.clone());
    }
    let slots = plan(session, members, stage.rounds, stage.number);
    session.enter(stage, "round", &slots)?;
    let first_round = slots.first().map_or(0, |slot| slot.round);
    for measured in 0..stage.rounds {
        let round = first_round + measured;
        let slots: Vec<Slot> = slots.iter().copied().filter(|slot| slot.round == round).collect();
        let ending = session.pass(&slots, time.end)?;
        if ending == Ending::OutOfTime {
            shorten(session, stage, measured, "the time given was over");
        }
        if ending != Ending::Whole {
            return Ok(ending);
        }
        let whole = measured + 1;
        let screen = time.screen(whole, Instant::now()).filter(|_| whole < stage.rounds);
        if let (Some(screen), Some(next)) = (screen, next) {
            let left = screen.budget.saturating_sub(screen.spent);
            if screen.ends((next.plan)(session.run(), left).needed) {
                shorten(session, stage, whole, "ended to leave time for the second stage,");
                return Ok(Ending::Whole);
            }
        }
    }
    measure_extra_pairs(session, stage, time, members, |_, _, tally| tally.wants_another())
}

/// Measures extra pairs, a round of them at a time, until no series of the run `wants_another` or the time is over.
fn measure_extra_pairs(
    session: &mut impl StagedRun,
    stage: &Stage,
    time: StageTime,
    members: &[Member],
    wants_another: impl Fn(&Run, usize, Tally) -> bool,
) -> anyhow::Result<Ending> {
    while session.is_paired() && !time.is_late(Instant::now()) {
        let run = session.run();
        let gets_another = |(series, variants): &&Member| {
            let rounds = &run.series[*series].rounds;
            let tally = tally(rounds, variants, stage.number, stage.rounds);
            variants.len() > 1 && wants_another(run, *series, tally) && !given_up(rounds, variants[0])
        };
        let extra: Vec<Member> = members.iter().filter(gets_another).cloned().collect();
        if extra.is_empty() {
            break;
        }
        let slots = plan(session, &extra, 1, stage.number);
        session.enter(stage, "extra round", &slots)?;
        let ending = session.pass(&slots, time.end)?;
        if ending == Ending::OutOfTime {
            session.log("the time given was over before every disturbed round was made up for");
        }
        if ending != Ending::Whole {
            return Ok(ending);
        }
    }
    Ok(Ending::Whole)
}

/// Plans rounds of these series, after those that are planned already.
fn plan(session: &mut impl StagedRun, members: &[Member], rounds: u32, stage: u32) -> Vec<Slot> {
    let seed = session.run().seed;
    let planned = session.slots();
    let stretch = Stretch {
        series: members,
        rounds,
        first_round: planned.last().map_or(0, |slot| slot.round + 1),
        first_position: planned.len(),
        stage,
    };
    let slots = pairs(&stretch, seed);
    planned.extend(&slots);
    slots
}

/// Records that a stage ended early, with the number of rounds that every series has.
fn shorten(session: &mut impl StagedRun, stage: &Stage, whole: u32, why: &str) {
    let why = format!("{why} after {whole} of {} rounds", stage.rounds);
    session.log(&why);
    if let Some(recorded) = session.run().stages.last_mut() {
        recorded.rounds = whole;
        recorded.why = format!("{}; {why}", recorded.why);
    }
}

/// The first stage of a run, for the series with these ids.
pub fn screen_stage(series: Vec<String>, rounds: u32) -> Stage {
    let count = series.len();
    Stage {
        number: 1,
        rounds,
        why: format!("screen of every series ({count}), {rounds} rounds of each variant"),
        series,
    }
}

/// The time limits of a stage.
#[derive(Debug, Clone, Copy)]
pub(super) struct StageTime {
    began: Instant,
    /// The time after which no new round begins.
    end: Option<Instant>,
    /// Whether a stage follows, which needs a part of the time.
    is_first: bool,
}

impl StageTime {
    /// A first stage, which leaves time for a second one within the budget that begins now; without a budget it has no limits.
    pub(super) fn first(budget: Option<Duration>) -> Self {
        let began = Instant::now();
        Self {
            began,
            end: budget.map(|budget| began + budget),
            is_first: true,
        }
    }

    /// A stage that may take all the time there is.
    fn last(end: Instant) -> Self {
        Self {
            began: Instant::now(),
            end: Some(end),
            is_first: false,
        }
    }

    /// True if the time of the next stage has begun.
    fn is_late(self, now: Instant) -> bool {
        let screen = self.screen(0, now);
        screen.is_some_and(|screen| is_late(screen.spent, screen.budget))
    }

    /// The first stage after that many whole rounds; `None` if no stage follows.
    fn screen(self, whole: u32, now: Instant) -> Option<Screen> {
        let end = self.end.filter(|_| self.is_first)?;
        Some(Screen {
            budget: end - self.began,
            spent: now.duration_since(self.began),
            whole,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalise::failed_round;
    use std::cell::RefCell;
    use wirebench_record::run::{Round, RoundStatus};

    const BOTH: [Variant; 2] = [Variant::Baseline, Variant::Candidate];
    const HOUR: Duration = Duration::from_secs(3600);

    /// A run of two series whose rounds take no time.
    struct Fake {
        run: Run,
        slots: Vec<Slot>,
        variants: Vec<Variant>,
        /// How each pass ends, in turn; `Whole` after the last.
        endings: Vec<Ending>,
        /// The rounds, by number, of the first series that fail.
        failing: Vec<u32>,
        /// What was measured: the noun for the rounds, the round, and its series.
        passes: Vec<(&'static str, u32, Vec<usize>)>,
        kind: &'static str,
        logged: RefCell<Vec<String>>,
    }

    impl Fake {
        fn new(variants: &[Variant]) -> Self {
            let mut run = wirebench_testing::reference();
            run.stages.clear();
            run.series.truncate(2);
            run.series.iter_mut().for_each(|series| series.rounds.clear());
            Self {
                run,
                slots: Vec::new(),
                variants: variants.to_vec(),
                endings: Vec::new(),
                failing: Vec::new(),
                passes: Vec::new(),
                kind: "",
                logged: RefCell::default(),
            }
        }

        fn screen(&self, rounds: u32) -> Stage {
            screen_stage(self.run.series.iter().map(|series| series.id.clone()).collect(), rounds)
        }
    }

    impl StagedRun for Fake {
        fn run(&mut self) -> &mut Run {
            &mut self.run
        }

        fn slots(&mut self) -> &mut Vec<Slot> {
            &mut self.slots
        }

        fn is_paired(&self) -> bool {
            self.variants.len() > 1
        }

        fn begin(&mut self, stage: &Stage) -> Vec<Member> {
            let series = self.run.series.iter().enumerate();
            let series = series.filter(|(_, series)| stage.series.contains(&series.id));
            series.map(|(index, _)| (index, self.variants.clone())).collect()
        }

        fn enter(&mut self, _: &Stage, kind: &'static str, _: &[Slot]) -> anyhow::Result<()> {
            self.kind = kind;
            Ok(())
        }

        fn pass(&mut self, slots: &[Slot], _: Option<Instant>) -> anyhow::Result<Ending> {
            let mut series: Vec<usize> = slots.iter().map(|slot| slot.series).collect();
            series.sort_unstable();
            series.dedup();
            self.passes.push((self.kind, slots[0].round, series));
            if !self.endings.is_empty() {
                let ending = self.endings.remove(0);
                if ending != Ending::Whole {
                    return Ok(ending);
                }
            }
            for slot in slots {
                let fails = slot.series == 0 && self.failing.contains(&slot.round);
                let round = Round {
                    status: if fails { RoundStatus::Invalid } else { RoundStatus::Ok },
                    ..failed_round(*slot, String::new())
                };
                self.run.series[slot.series].rounds.push(round);
            }
            Ok(Ending::Whole)
        }

        fn log(&self, text: &str) {
            self.logged.borrow_mut().push(text.to_owned());
        }
    }

    /// A second stage that never lacks pairs.
    fn planned(plan: &dyn Fn(&Run, Duration) -> NextStage) -> SecondStage<'_> {
        SecondStage {
            plan,
            lacks_pairs: &|_, _| false,
            lacks_null_pairs: &|_, _| false,
        }
    }

    #[test]
    fn every_round_has_every_series_and_extra_pairs_make_up_for_failed_ones() {
        let mut fake = Fake::new(&BOTH);
        fake.failing = vec![0, 4];
        let stage = fake.screen(4);
        let ending = measure_stage(&mut fake, &stage, StageTime::first(Some(HOUR)), None).unwrap();
        assert_eq!(ending, Ending::Whole);
        let rounds = (0..4).map(|round| ("round", round, vec![0, 1]));
        let extra = [4, 5].map(|round| ("extra round", round, vec![0]));
        assert_eq!(fake.passes, rounds.chain(extra).collect::<Vec<_>>());
        assert_eq!((fake.run.stages, fake.slots.len()), (vec![stage], 2 * 2 * 4 + 2 * 2));
        assert!(fake.logged.into_inner().is_empty());
    }

    #[test]
    fn no_series_gets_more_than_four_extra_pairs() {
        let mut fake = Fake::new(&BOTH);
        fake.failing = (0..100).collect();
        let stage = fake.screen(3);
        measure_stage(&mut fake, &stage, StageTime::first(None), None).unwrap();
        assert_eq!(fake.passes.len(), 3 + 4);
    }

    #[test]
    fn a_single_variant_has_no_stages_and_no_extra_rounds() {
        let mut fake = Fake::new(&BOTH[1..]);
        fake.failing = vec![0];
        let stage = fake.screen(3);
        measure_stage(&mut fake, &stage, StageTime::first(None), None).unwrap();
        assert_eq!((fake.passes.len(), fake.run.stages.len()), (3, 0));
    }

    #[test]
    fn a_stage_whose_time_is_over_is_recorded_with_the_rounds_that_every_series_has() {
        let mut fake = Fake::new(&BOTH);
        fake.endings = vec![Ending::Whole, Ending::Whole, Ending::OutOfTime];
        let stage = fake.screen(8);
        let ending = measure_stages(&mut fake, &stage, Some(HOUR), planned(&|_, _| NextStage::default()));
        let ending = ending.unwrap();
        assert_eq!(ending, Ending::OutOfTime);
        let recorded = &fake.run.stages[0];
        let why = "screen of every series (2), 8 rounds of each variant; the time given was over after 2 of 8 rounds";
        assert_eq!((recorded.rounds, &*recorded.why), (2, why));
        assert_eq!(*fake.logged.borrow(), ["the time given was over after 2 of 8 rounds"]);
    }

    #[test]
    fn an_interrupted_stage_is_recorded_as_planned() {
        let mut fake = Fake::new(&BOTH);
        fake.endings = vec![Ending::Whole, Ending::Interrupted];
        let stage = fake.screen(8);
        let ending = measure_stage(&mut fake, &stage, StageTime::first(Some(HOUR)), None).unwrap();
        assert_eq!((ending, fake.run.stages), (Ending::Interrupted, vec![stage]));
    }

    #[test]
    fn time_that_is_over_before_the_extra_pairs_is_logged() {
        let mut fake = Fake::new(&BOTH);
        fake.failing = vec![0];
        fake.endings = vec![Ending::Whole, Ending::OutOfTime];
        let stage = fake.screen(1);
        let ending = measure_stage(&mut fake, &stage, StageTime::first(Some(HOUR)), None).unwrap();
        assert_eq!((ending, &fake.run.stages), (Ending::OutOfTime, &vec![stage]));
        let text = "the time given was over before every disturbed round was made up for";
        assert_eq!(*fake.logged.borrow(), [text]);
    }

    #[test]
    fn a_late_first_stage_ends_early_without_extra_pairs_and_the_second_one_follows() {
        let mut fake = Fake::new(&BOTH);
        fake.failing = vec![0];
        let stage = fake.screen(20);
        let id = fake.run.series[1].id.clone();
        let second = |run: &Run, _| NextStage {
            needed: None,
            stage: (run.series[0].rounds.len() == 2 * 10).then(|| Stage {
                number: 2,
                rounds: 8,
                series: vec![id.clone()],
                why: "decide".into(),
            }),
        };
        // The time of a first stage of no length is over from the beginning.
        let ending = measure_stages(&mut fake, &stage, Some(Duration::ZERO), planned(&second)).unwrap();
        assert_eq!(ending, Ending::Whole);
        let recorded: Vec<u32> = fake.run.stages.iter().map(|stage| stage.rounds).collect();
        assert_eq!(recorded, [10, 8]);
        assert!(
            fake.run.stages[0]
                .why
                .ends_with("; ended to leave time for the second stage, after 10 of 20 rounds")
        );
        let last: Vec<_> = fake.passes.iter().skip(10).collect();
        assert_eq!((last.len(), last[0]), (8, &("round", 20, vec![1])));
    }

    #[test]
    fn a_second_stage_that_lacks_pairs_for_a_verdict_gets_up_to_four_more_even_after_its_time() {
        let measured = |wanted: usize, endings: Vec<Ending>| {
            let mut fake = Fake::new(&BOTH);
            fake.endings = endings;
            let stage = fake.screen(8);
            let second = fake.screen(9);
            let (number, series) = (2, second.series[..1].to_vec());
            let second = Stage {
                number,
                series,
                ..second
            };
            let plan = |_: &Run, _| NextStage {
                needed: None,
                stage: Some(second.clone()),
            };
            let second = SecondStage {
                plan: &plan,
                lacks_pairs: &|run, series| {
                    assert_eq!(series, 0, "only series of the stage are asked about");
                    let rounds = run.series[series].rounds.iter();
                    rounds.filter(|round| round.stage == 2).count() < 2 * wanted
                },
                ..planned(&plan)
            };
            let ending = measure_stages(&mut fake, &stage, Some(HOUR), second).unwrap();
            let extra = fake.passes.iter().filter(|(kind, ..)| *kind == "extra round");
            (ending, extra.count())
        };
        assert_eq!(measured(9, Vec::new()), (Ending::Whole, 0));
        assert_eq!(measured(11, Vec::new()), (Ending::Whole, 2));
        assert_eq!(measured(99, Vec::new()), (Ending::Whole, 4));
        let over = [[Ending::Whole; 8 + 7].to_vec(), vec![Ending::OutOfTime]].concat();
        assert_eq!(measured(8, over), (Ending::Whole, 1));
        let stopped = [[Ending::Whole; 8 + 7].to_vec(), vec![Ending::Interrupted]].concat();
        assert_eq!(measured(8, stopped), (Ending::Interrupted, 0));
    }

    #[test]
    fn a_change_that_lacks_pairs_of_the_null_gets_up_to_four_of_baseline_and_null_alone() {
        let measured = |variants: &[Variant], wanted: usize| {
            let mut fake = Fake::new(variants);
            let stage = fake.screen(8);
            let second = Stage {
                number: 2,
                ..fake.screen(9)
            };
            let plan = |_: &Run, _| NextStage {
                needed: None,
                stage: Some(second.clone()),
            };
            let has_null = |series: usize, run: &Run| {
                let rounds = run.series[series].rounds.iter();
                rounds.filter(|round| round.variant == Variant::Null).count()
            };
            let before = std::cell::Cell::new(0);
            let second = SecondStage {
                lacks_null_pairs: &|run, series| {
                    if before.get() == 0 {
                        before.set(has_null(1, run));
                    }
                    series == 1 && has_null(series, run) < before.get() + wanted
                },
                ..planned(&plan)
            };
            measure_stages(&mut fake, &stage, Some(HOUR), second).unwrap();
            let extra = fake.run.series[1].rounds.iter().filter(|round| round.round >= 8 + 9);
            let mut extra: Vec<_> = extra.map(|round| (round.round, round.stage, round.variant)).collect();
            extra.sort_unstable();
            let other = fake.run.series[0].rounds.iter().any(|round| round.round >= 8 + 9);
            assert!(!other, "only the series that lacks them");
            extra
        };
        let all = [Variant::Baseline, Variant::Candidate, Variant::Null];
        let two = [17, 18].map(|round| [Variant::Baseline, Variant::Null].map(|variant| (round, 2, variant)));
        assert_eq!(measured(&all, 2), two.as_flattened());
        assert_eq!(measured(&all, 99).len(), 2 * 4);
        assert_eq!(measured(&BOTH, 2), []);
    }

    #[test]
    fn fewer_first_rounds_than_a_verdict_needs_have_no_second_stage() {
        let mut fake = Fake::new(&BOTH);
        let stage = fake.screen(FEWEST_PAIRS - 1);
        let none = |_: &Run, _| -> NextStage { panic!("a second stage") };
        measure_stages(&mut fake, &stage, Some(HOUR), planned(&none)).unwrap();
    }
}

#[cfg(test)]
mod time_tests {
    use super::*;

    #[test]
    fn only_a_first_stage_leaves_time() {
        const BUDGET: Duration = Duration::from_secs(100);
        let now = Instant::now();
        let later = now + Duration::from_secs(99);
        for time in [StageTime::last(now + BUDGET), StageTime::first(None)] {
            assert!(!time.is_late(later) && time.screen(99, later).is_none());
        }
        let first = StageTime::first(Some(BUDGET));
        assert!(!first.is_late(now + Duration::from_secs(39)) && first.is_late(now + Duration::from_secs(41)));
        assert_eq!(first.screen(3, later).map(|screen| screen.budget), Some(BUDGET));
    }
}
