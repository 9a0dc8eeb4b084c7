//! Which metrics gate, which inform, and how both are reported.

use super::*;

#[test]
fn a_large_loss_of_throughput_gates_by_default_unless_the_client_was_the_limit() {
    let run = timed(10, 20, waits(0.5), [Some(Bound::Client), Some(Bound::Neither)]);
    let comparison = judged(&run);
    let lost = metric(&comparison, Metric::Throughput);
    assert_eq!(
        (comparison.verdict, lost.verdict, lost.primary),
        (Verdict::Regressed, Verdict::Regressed, true)
    );
    assert_eq!(lost.reason, MetricReason::WorseThanGate { percent: 10.0 });
    assert_eq!(
        reasons::metric(&lost.reason),
        "worse by more than 10 %, from where it gates"
    );
    assert!(
        terminal::one_line(&comparison).contains("✗ Regressed"),
        "{}",
        terminal::one_line(&comparison)
    );

    let bound = judged(&timed(10, 20, waits(0.5), [Some(Bound::Neither), Some(Bound::Client)]));
    let lost = metric(&bound, Metric::LatencyP50);
    assert_eq!((lost.verdict, lost.primary), (Verdict::Regressed, false));
    assert_eq!(lost.reason, MetricReason::WorseButClientBound { percent: 10.0 });
    assert_ne!(bound.verdict, Verdict::Regressed);
    let line = terminal::one_line(&bound);
    assert!(
        line.contains("But worse, not gating:") && line.contains("throughput"),
        "{line}"
    );
    assert!(!terminal::render(&bound, None).contains("nothing to do"));
}

#[test]
fn a_loss_below_ten_percent_is_in_the_headline_and_does_not_gate() {
    let comparison = judged(&timed(10, 20, waits(0.06), [None, None]));
    let lost = metric(&comparison, Metric::Throughput);
    assert_eq!((lost.verdict, lost.primary), (Verdict::Regressed, false));
    let line = terminal::one_line(&comparison);
    assert!(
        line.starts_with("= Unchanged, but worse in metrics that do not gate."),
        "{line}"
    );
    assert!(line.contains("throughput −5.7 %"), "{line}");
}

#[test]
fn a_change_that_only_the_ranks_show_is_inconclusive() {
    let cpu = [
        (192_231_744, 202_354_624),
        (200_000_000, 179_714_887),
        (196_817_433, 200_000_000),
        (200_000_000, 202_085_862),
        (190_697_893, 200_000_000),
        (203_759_732, 207_434_461),
        (200_000_000, 206_841_715),
        (193_208_664, 200_000_000),
    ];
    let mut run = timed(1, 8, |_| ([0.0; 4], [0.0; 4]), [None, None]);
    let fresh = run.series[0].rounds.iter_mut().filter(|round| round.stage == 2);
    for (round, user) in fresh.zip(cpu.iter().flat_map(|(base, head)| [*base, *head])) {
        round.server_cpu_ns = Some(CpuTime { user, system: 0 });
    }
    let found = judged(&run);
    let found = metric(&found, Metric::ServerCpu);
    assert!(found.p_worse.unwrap() < 0.01 && found.effect_low_percent.unwrap() < 0.0);
    assert_eq!(found.verdict, Verdict::Inconclusive);
    assert_eq!(found.reason, MetricReason::Disputed);
}

#[test]
fn too_few_pairs_are_the_reason_in_the_first_line() {
    let line = terminal::one_line(&judged(&timed(5, 0, waits(0.0), [None, None])));
    assert!(
        line.contains("only 5 usable pairs of rounds; 8 are needed") && !line.contains("10 %"),
        "{line}"
    );
}

#[test]
fn cpu_gates_where_instructions_do_not_compare_and_a_figure_refused_on_both_sides_is_left_out() {
    let with = |base: Option<f64>, head: Option<f64>| {
        let figures = |instructions| {
            [
                (Metric::Instructions, instructions, 1.0),
                (Metric::WireBytesSent, Some(163.0), 0.0),
            ]
        };
        let mut run = timed(10, 0, waits(0.0), [None, None]);
        let side = |variant, value| counts(variant, &figures(value), &[]);
        run.series
            .push(counted(side(Variant::Baseline, base), side(Variant::Candidate, head)));
        judged(&run)
    };
    let both = with(Some(10_000.0), Some(10_000.0));
    assert!(!metric(&both, Metric::ServerCpu).primary && both.method.gates.is_some());
    let neither = with(None, None);
    assert_eq!(
        (neither.verdict, metric(&neither, Metric::ServerCpu).primary),
        (Verdict::Unchanged, true)
    );
    let series = &neither.series[1];
    assert!(series.metrics.iter().all(|one| one.metric != Metric::Instructions));
    assert!(
        reasons::series(series.reason.as_ref().unwrap()).contains("refused on both sides: instructions per request")
    );
    // Counted, and not repeated on one side: no proof of anything, and no fault of the code.
    let one = with(Some(10_000.0), None);
    assert_eq!(one.verdict, Verdict::Inconclusive);
    assert!(metric(&one, Metric::ServerCpu).primary);
}

/// Equal counts, and CPU time that differs by these logarithms.
fn counted_and_timed(first: u32, second: u32, cpu: impl Fn(u32) -> f64, bound: [Option<Bound>; 2]) -> Run {
    let of = |number| {
        (
            [noise(number); 4],
            [noise(number + 3) + cpu(number), noise(number + 3), 0.0, 0.0],
        )
    };
    let mut run = timed(first, second, of, bound);
    let side = |variant| counts(variant, &[(Metric::Instructions, Some(10_000.0), 1.0)], &[]);
    run.series
        .push(counted(side(Variant::Baseline), side(Variant::Candidate)));
    run
}

/// Adds rounds of the null, whose values exceed the baseline's by these logarithms.
fn with_null(mut run: Run, off: impl Fn(u32) -> Bad) -> Run {
    let baseline = |round: &&Round| round.variant == Variant::Baseline;
    let rounds: Vec<Round> = run.series[0].rounds.iter().filter(baseline).cloned().collect();
    for one in rounds {
        let bad = off(one.round).map(|off| noise(one.round) + off);
        run.series[0]
            .rounds
            .push(round(Variant::Null, one.round, one.stage, bad, None));
    }
    run
}

#[test]
fn a_confirmed_large_loss_of_server_cpu_gates_also_where_counts_are_equal() {
    let client = Some(Bound::Client);
    let comparison = judged(&counted_and_timed(10, 20, |_| 0.25, [client, client]));
    let cpu = metric(&comparison, Metric::ServerCpu);
    assert_eq!(
        (comparison.verdict, cpu.verdict, cpu.primary),
        (Verdict::Regressed, Verdict::Regressed, true)
    );
    assert_eq!(cpu.reason, MetricReason::WorseThanGate { percent: 10.0 });
    // A smaller one informs, and is in the first line.
    let small = judged(&counted_and_timed(10, 20, |_| 0.05, [None, None]));
    assert_eq!(
        (small.verdict, metric(&small, Metric::ServerCpu).primary),
        (Verdict::Unchanged, false)
    );
    let line = terminal::one_line(&small);
    assert!(
        line.contains("server CPU per request +5.0 %") && !line.contains("Counted, not timed"),
        "{line}"
    );
}

/// Some pairs are no worse: the interval lies above zero, and the tests of all metrics together confirm nothing.
#[test]
fn a_large_loss_that_the_tests_do_not_confirm_is_no_all_clear() {
    const LOSSES: [f64; 8] = [0.3, 0.02, 0.28, 0.04, 0.25, -0.02, 0.22, 0.1];
    for (part, verdict) in [(1.0, Verdict::Inconclusive), (0.0, Verdict::Unchanged)] {
        let loss = |number: u32| part * LOSSES[number as usize % LOSSES.len()];
        let comparison = judged(&counted_and_timed(10, 8, loss, [None, None]));
        let cpu = metric(&comparison, Metric::ServerCpu);
        assert_eq!(comparison.verdict, verdict, "{cpu:#?}");
        assert_eq!(cpu.primary, verdict == Verdict::Inconclusive, "{cpu:#?}");
    }
}

#[test]
fn a_large_loss_in_too_few_pairs_is_no_all_clear_and_is_named() {
    let lost = |off: f64| {
        let of = move |number| {
            let (base, head) = (noise(number), noise(number + 3));
            ([base; 4], [head + 0.69, head + 1.17, head + 1.2, head + 2.1])
        };
        let mut run = timed(3, 0, of, [None, None]);
        let side = |variant| counts(variant, &[(Metric::Instructions, Some(10_000.0), 1.0)], &[]);
        run.series
            .push(counted(side(Variant::Baseline), side(Variant::Candidate)));
        judged(&with_null(run, move |_| [off; 4]))
    };
    let few = lost(0.0);
    assert_eq!(few.verdict, Verdict::Inconclusive);
    let cpu = metric(&few, Metric::ServerCpu);
    assert_eq!(cpu.reason, MetricReason::WorseInEveryPair { usable: 3, needed: 8 });
    let line = terminal::one_line(&few);
    assert!(
        line.contains("latency p99 × 8") && !line.to_lowercase().contains("unchanged"),
        "{line}"
    );
    assert!(terminal::render(&few, None).contains("Repeat the measurement"));
    // What the same code shows as well is the machine.
    let cpu_alone = metric(&lost(0.5), Metric::ServerCpu).clone();
    assert!(!cpu_alone.primary && matches!(cpu_alone.reason, MetricReason::TooFewPairs { .. }));
}

#[test]
fn rounds_of_servers_that_were_not_seen_to_be_warm_give_no_verdict() {
    let judged = |off: f64, warmup_unknown_after: Option<Duration>| {
        let mut run = timed(10, 20, |n| ([noise(n); 4], [noise(n + 3) + off; 4]), [None, None]);
        run.series[0].load.warmup_unknown_after_ns = warmup_unknown_after.map(nanos);
        judged(&run)
    };
    for (off, known) in [
        (0.18, Verdict::Regressed),
        (-0.18, Verdict::Improved),
        (0.0, Verdict::Unchanged),
    ] {
        assert_eq!(judged(off, None).verdict, known);
        let comparison = judged(off, Some(Duration::from_secs(7)));
        let reason = &metric(&comparison, Metric::ServerCpu).reason;
        let (verdict, minutes) = (Verdict::Inconclusive, Some(8));
        assert_eq!(
            (comparison.verdict, reason),
            (verdict, &MetricReason::MaybeNotWarm { minutes })
        );
        let page = terminal::render(&comparison, None);
        assert!(
            page.contains("still warming up") && page.contains("--budget 8m"),
            "{page}"
        );
    }
    let longest = judged(0.18, Some(LONGEST));
    assert_eq!(
        metric(&longest, Metric::ServerCpu).reason,
        MetricReason::MaybeNotWarm { minutes: None }
    );
    assert!(terminal::render(&longest, None).contains("longer load.warmup"));
}

/// Lets the servers of baseline and candidate sleep so often, in a thousand requests.
fn sleep(run: &mut Run, (baseline, candidate): (u64, u64)) {
    for round in &mut run.series[0].rounds {
        let per_thousand = match round.variant {
            Variant::Baseline => baseline,
            _ => candidate,
        };
        let more = u64::from(round.round * 37 % 11);
        round.server_sleeps = Some(round.ok_count.unwrap() * per_thousand / 1000 + more);
    }
}

#[test]
fn cpu_time_of_servers_that_sleep_differently_often_is_told_only_beyond_what_that_can_be() {
    let judged = |off: f64, baseline: u64, candidate: u64| {
        let mut run = timed(10, 20, |n| ([noise(n); 4], [noise(n + 3) + off; 4]), [None, None]);
        sleep(&mut run, (baseline, candidate));
        judged(&run)
    };
    let (less, more) = ((400, 70), (70, 400));
    for (off, (baseline, candidate), expected) in [
        (0.0, (400, 400), Verdict::Unchanged),
        (0.0, (400, 398), Verdict::Unchanged),
        (0.0, more, Verdict::Unchanged),
        (0.0, less, Verdict::Inconclusive),
        (-0.08, less, Verdict::Inconclusive),
        (-0.08, more, Verdict::Improved),
        (0.08, less, Verdict::Regressed),
        (0.08, more, Verdict::Inconclusive),
        (0.08, (390, 400), Verdict::Regressed),
        (2.5, (40, 9_000), Verdict::Regressed),
    ] {
        let comparison = judged(off, baseline, candidate);
        let cpu = metric(&comparison, Metric::ServerCpu);
        assert_eq!(cpu.verdict, expected, "{off} {baseline} {candidate}: {:?}", cpu.reason);
        let is_for_sleeps = matches!(cpu.reason, MetricReason::SleepsDiffer { .. });
        assert_eq!(is_for_sleeps, expected == Verdict::Inconclusive, "{:?}", cpu.reason);
    }
    let comparison = judged(0.0, less.0, less.1);
    let cpu = metric(&comparison, Metric::ServerCpu);
    assert_eq!((cpu.worse_at_most_percent, cpu.resolvable_percent), (None, None));
    let page = terminal::render(&comparison, None);
    assert!(
        page.contains("0.40 → 0.07 times per request") && page.contains("h2load for HTTP"),
        "{page}"
    );
}

/// As a query that lost its index, which costs CPU time in the database.
#[test]
fn a_process_behind_the_server_that_carries_a_change_of_cpu_time_is_named() {
    let page = |candidates: u64| {
        let mut run = timed(10, 40, |n| ([noise(n); 4], [noise(n + 3) + 0.7; 4]), [None, None]);
        for round in &mut run.series[0].rounds {
            let tenths = if round.variant == Variant::Candidate {
                candidates
            } else {
                4
            };
            let part = |name: &str, tenths: u64| wirebench_record::run::ProcessUsage {
                name: name.into(),
                cpu_ns: round.server_cpu_ns.map(|cpu| CpuTime {
                    user: cpu.total() / 10 * tenths,
                    system: 0,
                }),
                ..Default::default()
            };
            round.processes = vec![part("front", 10 - tenths), part("store", tenths)];
        }
        terminal::render(&judged(&run), None)
    };
    // The whole doubles: seven tenths of it are more in the store, two tenths are what it was.
    let in_store = page(7);
    assert!(in_store.contains("\n  process store +"), "{in_store}");
    let in_front = page(2);
    assert!(!in_front.contains("process store"), "{in_front}");
}

/// Figures like those of the truth row node-structured-clone beside four busy loops, and of the change reversed.
#[test]
fn latency_of_servers_that_sleep_differently_often_has_no_verdict_where_other_programs_use_the_machine() {
    let judged = |off: f64, sleeps: (u64, u64), others: u32| {
        let mut run = timed(10, 20, |n| ([noise(n); 4], [noise(n + 3) + off; 4]), [None, None]);
        sleep(&mut run, sleeps);
        for round in &mut run.series[0].rounds {
            round.others_busy_permille = Some(others);
        }
        judged(&run)
    };
    let (less, more) = ((400, 70), (70, 400));
    for (off, sleeps, others, expected) in [
        (0.18, more, 800, Verdict::Inconclusive),
        (0.18, more, 250, Verdict::Regressed),
        (0.18, less, 800, Verdict::Regressed),
        (0.18, (390, 390), 800, Verdict::Regressed),
        (-0.18, less, 800, Verdict::Inconclusive),
        (-0.18, more, 800, Verdict::Improved),
        (0.0, less, 800, Verdict::Inconclusive),
        (0.0, less, 250, Verdict::Unchanged),
        (0.0, more, 800, Verdict::Unchanged),
    ] {
        let comparison = judged(off, sleeps, others);
        for of in [Metric::LatencyP50, Metric::Throughput] {
            let judged = metric(&comparison, of);
            assert_eq!(
                judged.verdict, expected,
                "{off} {sleeps:?} {others}: {:?}",
                judged.reason
            );
        }
    }
    let comparison = judged(0.18, more, 800);
    let page = terminal::render(&comparison, None);
    let (why, how) = (
        "while other programs use 80 % of the machine",
        "or where no other program",
    );
    assert!(page.contains(why) && page.contains(how), "{page}");
}

#[test]
fn a_change_that_is_not_three_times_what_equal_code_shows_has_no_verdict() {
    let of = |off: f64| {
        judged(&with_null(
            timed(10, 20, |n| ([noise(n); 4], [noise(n + 3) + 0.18; 4]), [None, None]),
            move |n| [off + noise(n + 5); 4],
        ))
    };
    let verdict = |off| metric(&of(off), Metric::ServerCpu).verdict;
    assert_eq!(verdict(0.0), Verdict::Regressed);
    assert_eq!(verdict(0.04), Verdict::Inconclusive, "differs from itself beyond doubt");
    // Four pairs of the null prove nothing by a test, and their size counts.
    let few = |off: f64, every: u32| {
        let mut run = with_null(
            timed(10, 20, |n| ([noise(n); 4], [noise(n + 3) + 0.18; 4]), [None, None]),
            move |_| [off; 4],
        );
        run.series[0]
            .rounds
            .retain(|round| round.variant != Variant::Null || round.round.is_multiple_of(every));
        let cpu = metric(&judged(&run), Metric::ServerCpu).clone();
        let lacks = compare::lacks_null_pairs(&run, &Rules::default(), 0);
        (cpu.verdict, cpu.null_pairs, lacks)
    };
    assert_eq!(few(0.05, 9), (Verdict::Regressed, 4, false));
    for off in [0.13, -0.13] {
        assert_eq!(few(off, 9), (Verdict::Inconclusive, 4, true));
        assert_eq!(few(off, 7), (Verdict::Inconclusive, 5, false), "these are tested");
    }
}

#[test]
fn worse_around_the_margin_is_not_called_unchanged() {
    // Worse by 6 % with a margin of 5 % inside the interval, and by 3 % with the margin outside.
    let spread = |n: u32| f64::from(n * 7 % 11) * 0.02 - 0.1;
    let of = |by: f64| {
        judged(&timed(
            10,
            20,
            move |n| ([0.0; 4], [0.0, 0.2, 0.0, spread(n) + by]),
            [None, None],
        ))
    };
    let around = of(0.058);
    let p99 = metric(&around, Metric::LatencyP99);
    assert!(p99.effect_low_percent.unwrap() > 0.0 && p99.effect_low_percent.unwrap() < 5.0);
    assert_eq!(
        (p99.verdict, &p99.reason),
        (Verdict::Inconclusive, &MetricReason::WorseAroundMargin { percent: 5.0 })
    );
    let within = judged(&timed(
        10,
        20,
        |n| ([0.0; 4], [0.0, 0.2, 0.0, noise(n) + 0.02]),
        [None, None],
    ));
    let p99 = metric(&within, Metric::LatencyP99);
    assert_eq!(
        (
            p99.verdict,
            matches!(p99.reason, MetricReason::WorseWithinMargin { .. })
        ),
        (Verdict::Unchanged, true)
    );
    assert!(reasons::metric(&p99.reason).contains("within the margin of 5 %"));
}

#[test]
fn a_new_system_call_is_said_however_rare_and_one_that_waits_is_no_all_clear() {
    let with = |calls: &[(&str, f64)]| {
        let figures = [(Metric::Syscalls, Some(4.0), 0.02)];
        let (mut run, _) = empty();
        let base = counts(Variant::Baseline, &figures, &[("read", 2.0), ("write", 2.0)]);
        run.series
            .push(counted(base, counts(Variant::Candidate, &figures, calls)));
        judged(&run)
    };
    let same = with(&[("read", 2.0), ("write", 2.0)]);
    assert_eq!(same.verdict, Verdict::Unchanged);
    assert!(!terminal::render(&same, None).contains("New system call"));

    let sleeps = with(&[("read", 2.0), ("write", 2.0), ("clock_nanosleep", 0.02)]);
    assert_eq!(sleeps.verdict, Verdict::Inconclusive);
    for text in [
        terminal::render(&sleeps, None),
        markdown::render(&sleeps).replace('`', ""),
    ] {
        assert!(
            text.contains("New system call: clock_nanosleep, 0.02 per request of"),
            "{text}"
        );
        assert!(text.contains("in which requests wait"), "{text}");
    }
    let asks = with(&[("read", 2.0), ("write", 2.0), ("getrandom", 0.02)]);
    assert_eq!(asks.verdict, Verdict::Unchanged);
    let text = terminal::render(&asks, None);
    assert!(
        text.contains("New system call: getrandom") && text.contains("look at where"),
        "{text}"
    );
}

#[test]
fn a_comparison_without_anything_that_gates_is_not_judged() {
    let (mut run, mut series) = empty();
    series.missing_in = Some(Variant::Baseline);
    run.series.push(series);
    let comparison = judged(&run);
    assert_eq!(comparison.verdict, Verdict::NotJudged);
    assert!(terminal::one_line(&comparison).starts_with("– Not judged. No gating metric is on both sides"));
    assert!(terminal::render(&comparison, None).contains("nothing was tested"));
}

#[test]
fn one_program_on_both_sides_is_unchanged_and_nothing_else_is_said_of_it() {
    let mut comparison = judged(&timed(10, 0, waits(0.0), [None, None]));
    for series in &mut comparison.series {
        (series.same_program, series.metrics, series.verdict) = (true, Vec::new(), Some(Verdict::Unchanged));
    }
    let text = terminal::render(&comparison, None);
    assert!(
        text.starts_with("= Unchanged. Same program on both sides: nothing was measured.\nNext: nothing to do."),
        "{text}"
    );
    assert!(!text.contains("not measured:"), "{text}");
}

#[test]
fn an_interrupted_run_keeps_the_verdict_of_its_counts_and_says_that_the_timing_is_not_judged() {
    let counts_of = |variant, instructions| counts(variant, &[(Metric::Instructions, Some(instructions), 1.0)], &[]);
    let mut run = timed(1, 0, waits(0.3), [None, None]);
    run.series.push(counted(
        counts_of(Variant::Baseline, 1_000.0),
        counts_of(Variant::Candidate, 1_200.0),
    ));
    assert!(!headline::verdict(&judged(&run)).contains("interrupted"));
    run.status = RunStatus::Incomplete;
    run.reason = Some("interrupted".into());
    let comparison = judged(&run);
    assert_eq!(comparison.verdict, Verdict::Regressed);
    let verdict = headline::verdict(&comparison);
    assert_eq!(
        verdict,
        "✗ Regressed; the run was interrupted, the timing is not judged"
    );
    assert!(terminal::one_line(&comparison).contains(&verdict) && markdown::render(&comparison).contains(&verdict));
    let mut screened = timed(10, 0, waits(0.0), [None, None]);
    screened.status = RunStatus::Incomplete;
    let verdict = headline::verdict(&judged(&screened));
    assert!(verdict.ends_with("judged by fewer rounds than planned"), "{verdict}");
}

#[test]
fn rounds_that_no_figure_uses_are_counted_by_reason() {
    let mut run = timed(10, 0, waits(0.0), [None, None]);
    let left_out = |run: &Run| {
        let notes = judged(run).notes;
        let note = notes
            .into_iter()
            .find(|note| matches!(note, Note::RoundsLeftOut { .. }));
        note.map(|note| reasons::note(&note))
    };
    assert_eq!(left_out(&run), None);
    let (driver, rounds) = (run.series[0].driver.clone(), &mut run.series[0].rounds);
    rounds[0].dropped = Some("steal 9.0 % of the CPUs' time".into());
    rounds[1].dropped = Some("steal 9.0 % of the CPUs' time".into());
    rounds[2].status = RoundStatus::Invalid;
    for (place, reason) in [
        (3, format!("candidate abc: {driver} exited with status 2: panic")),
        (4, format!("{driver} was still running after 30s and was stopped")),
        (5, "candidate abc: server http: not ready within 10s".to_owned()),
    ] {
        rounds[place].status = RoundStatus::Failed;
        rounds[place].reason = Some(reason);
    }
    let expected = "Left out: 2 rounds with a disturbed machine, 1 round that failed a check, \
                    2 rounds in which the load generator failed, 1 round in which the server failed.";
    assert_eq!(left_out(&run).as_deref(), Some(expected));
    assert!(terminal::render(&judged(&run), None).contains("2 rounds in which the load generator failed"));
}
