//! Numbers and units as people read them.

use crate::distinct;
use wirebench_record::metric::{Better, Metric, Notation};
use wirebench_record::run::{Host, HostRole, RemoteHost, Run, ToolVersion};

/// A count with thousands separators: `12,345`.
pub fn count(value: f64) -> String {
    let digits = format!("{value:.0}");
    let (sign, digits) = digits
        .strip_prefix('-')
        .map_or(("", digits.as_str()), |rest| ("-", rest));
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    format!("{sign}{out}")
}

/// A number of things: `12,345`.
pub fn grouped(number: usize) -> String {
    count(number as f64)
}

/// `1 round`, `2 rounds`.
pub fn plural(number: usize, word: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {word}{ending}", grouped(number))
}

/// A counted number: `16,148`, `37.02`, `4`. Two decimals at most, and none from 10,000 on.
pub fn number(value: f64) -> String {
    if value.abs() >= 9_999.995 || (value - value.round()).abs() < 0.005 {
        // Adding 0 turns a negative zero round.
        return count(value.round() + 0.0);
    }
    let text = format!("{value:.2}");
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    let whole = count(whole.parse().unwrap_or_default());
    match part.trim_end_matches('0') {
        "" => whole,
        part => format!("{whole}.{part}"),
    }
}

/// At most so many digits that mean something, without zeros at the end: with four `8,123,000`, `37.02`, `0.001235`.
pub fn significant(value: f64, digits: i32) -> String {
    let size = value.abs();
    if size >= 1e15 || (size > 0.0 && size < 1e-6) {
        return format!("{value:.2e}");
    }
    if size == 0.0 || !value.is_finite() {
        return count(value + 0.0);
    }
    let magnitude = size.log10().floor() as i32;
    let step = 10_f64.powi(magnitude + 1 - digits);
    let rounded = (value / step).round() * step;
    let Ok(places @ 1..) = usize::try_from(digits - 1 - magnitude) else {
        return count(rounded);
    };
    let text = format!("{rounded:.places$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A time in ns with the unit that fits: `850 ns`, `12.2 µs`, `3.40 ms`, `1.25 s`.
pub fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "µs"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    format!("{} {unit}", three_digits(value))
}

/// A size with the unit that fits: `68 B`, `8.1 MiB`.
pub fn bytes(value: f64) -> String {
    let (value, unit) = match value {
        v if v < 1024.0 => return format!("{v:.0} B"),
        v if v < 1_048_576.0 => (v / 1024.0, "KiB"),
        v if v < 1_073_741_824.0 => (v / 1_048_576.0, "MiB"),
        v => (v / 1_073_741_824.0, "GiB"),
    };
    format!("{} {unit}", three_digits(value))
}

/// Three significant digits, without an exponent.
pub fn three_digits(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// Free text made safe for a Markdown table or a terminal line: without line breaks, pipes, backticks and control characters.
/// Invisible characters, such as bidirectional controls, become `\u{fffd}`.
pub fn plain(text: &str) -> String {
    text.replace('|', "/")
        .replace('`', "'")
        .replace(char::is_control, " ")
        .replace(is_unseen, "\u{fffd}")
}

/// A whole text made safe for a terminal or a workflow's log. Line breaks and tabs are kept; other control characters, invisible
/// characters and what a runner takes for a command (`::` at the start of a line, `##[` anywhere) have no effect.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("::") {
            out.push(char::REPLACEMENT_CHARACTER);
        }
        for c in line.chars() {
            match c {
                '\n' | '\t' => out.push(c),
                '[' if out.ends_with("##") => out.extend([char::REPLACEMENT_CHARACTER, c]),
                c if c.is_control() || is_unseen(c) => out.push(char::REPLACEMENT_CHARACTER),
                c => out.push(c),
            }
        }
    }
    out
}

/// Whether a character is invisible and changes a text: direction, joining, zero width, tags, line separators.
pub fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// At most so many characters, the cut marked by `…`.
pub fn shortened(text: &str, characters: usize) -> String {
    if text.chars().count() <= characters {
        return text.to_owned();
    }
    let kept: String = text.chars().take(characters.saturating_sub(1)).collect();
    kept + "…"
}

/// Every machine of a run in one line, each kind once.
pub fn machines(run: &Run) -> String {
    let mut seen = vec![&run.host];
    for host in run.shards.iter().map(|shard| &shard.host) {
        if seen.iter().all(|known| known.fingerprint != host.fingerprint) {
            seen.push(host);
        }
    }
    seen.into_iter().map(machine).collect::<Vec<String>>().join("; ")
}

/// The other machines of a run and the network to them, in one sentence; `None` when one machine did everything.
pub fn other_hosts(run: &Run) -> Option<String> {
    if run.hosts.is_empty() {
        return None;
    }
    let describe = |one: &RemoteHost| {
        let role = match one.role {
            HostRole::Server => "servers on another host",
            HostRole::Driver => "load from another host",
        };
        format!("{role}: {}", machine(&one.host))
    };
    let hosts: Vec<String> = run.hosts.iter().map(describe).collect();
    let network = run.link().map_or("not measured".to_owned(), |link| {
        let [p50, most] = [link.p50_ns, link.max_ns].map(|ns| time(ns as f64));
        format!("ping p50 {p50}, at most {most}, {} of {} lost", link.lost, link.sent)
    });
    Some(format!("{}; latency holds the network: {network}", hosts.join("; ")))
}

/// The machine in one line, without its fingerprint: `2 × AMD EPYC, 23.5 GiB memory, Linux 6.18`.
pub fn machine(host: &Host) -> String {
    let memory = host
        .memory_bytes
        .map_or("unknown memory".into(), |size| format!("{} memory", bytes(size as f64)));
    let model = host.cpu_model.as_deref().unwrap_or("unknown CPU");
    plain(&format!("{} × {model}, {memory}, {}", host.cpu_count, host.kernel))
}

/// Programs and their versions in one line, each once: `hey v0.1.5 · jq 1.7`.
pub fn tools(tools: &[ToolVersion]) -> String {
    let each = tools
        .iter()
        .map(|tool| plain(&format!("{} {}", tool.name, tool.version)));
    distinct(each).join(" · ")
}

// Values of metrics with their units, as people read them.

/// A value of a metric: `10.5 µs`, `83,304 req/s`, `163 B`, `16,148`.
pub fn figure(metric: Metric, value: f64) -> String {
    match metric.row().notation {
        Notation::Time => time(value),
        Notation::Size => bytes(value),
        Notation::Bytes => format!("{} B", number(value)),
        Notation::Number => number(value),
        Notation::NumberAndUnit if value.abs() < 1000.0 => format!("{} {}", three_digits(value), metric.unit()),
        Notation::NumberAndUnit => format!("{} {}", count(value), metric.unit()),
    }
}

/// How often a request causes a system call: `0.02`, `0.0033`.
pub fn rate(calls: f64) -> String {
    if calls < 0.01 {
        format!("{calls:.4}")
    } else {
        number(calls)
    }
}

// Relative changes and sizes, as people read them.

/// From this percentage on, a factor is easier to read.
pub(super) const FACTOR_FROM: f64 = 99.95;

/// A relative change: `+5.2 %`, `−0.3 %`, above +100 % as a factor: `× 2.1`.
pub fn change(percent: f64) -> String {
    if percent >= FACTOR_FROM {
        let factor = 1.0 + percent / 100.0;
        return if factor < 10.0 {
            format!("× {factor:.1}")
        } else {
            format!("× {}", count(factor))
        };
    }
    format!("{} %", signed(percent))
}

/// The bounds of a change: `+9.9 to +13.6 %`, `+85.0 % to × 2.3`.
pub fn interval(low: f64, high: f64) -> String {
    if high >= FACTOR_FROM {
        format!("{} to {}", change(low), change(high))
    } else {
        format!("{} to {} %", signed(low), signed(high))
    }
}

/// A change with its interval: `+8.2 % (+6.9 to +9.4 %)`; alone if counts leave no interval.
pub fn with_interval(percent: f64, low: f64, high: f64) -> String {
    if change(low) == change(high) {
        return change(percent);
    }
    format!("{} ({})", change(percent), interval(low, high))
}

/// A measured size without direction: `3.1 %`.
pub fn size(percent: f64) -> String {
    format!("{} %", digits(percent.abs()))
}

/// A declared size, as it was written: `5 %`, `0.5 %`.
pub fn declared(percent: f64) -> String {
    if percent.abs() < 10_000.0 {
        format!("{percent} %")
    } else {
        size(percent)
    }
}

/// A change in percent with its sign and without its unit: `+5.2`, `−0.3`.
pub(super) fn signed(percent: f64) -> String {
    let digits = digits(percent.abs());
    match percent {
        _ if digits == "0.0" => digits,
        p if p < 0.0 => format!("−{digits}"),
        _ => format!("+{digits}"),
    }
}

/// One decimal, which is finer than almost any interval; two if one would show zero.
fn digits(percent: f64) -> String {
    match percent {
        p if p < 0.005 => "0.0".into(),
        p if p < 0.095 => format!("{p:.2}"),
        p if p < FACTOR_FROM => format!("{p:.1}"),
        p => count(p),
    }
}

/// Which way is better, in words.
pub const fn direction(better: Better) -> &'static str {
    match better {
        Better::Lower => "lower is better",
        Better::Higher => "higher is better",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped_by_three() {
        let found = [0.0, 999.0, 1000.0, 1_234_567.4, -12_345.0].map(count);
        assert_eq!(found, ["0", "999", "1,000", "1,234,567", "-12,345"]);
    }

    #[test]
    fn counted_numbers_have_decimals_only_where_they_say_something() {
        let found = [
            16_148.3, 37.02, 4.0, 4.5, 0.0, -0.001, 9_999.996, 1_234.56, -0.25, 9.9951, 163.0,
        ]
        .map(number);
        let expected = [
            "16,148", "37.02", "4", "4.5", "0", "0", "10,000", "1,234.56", "-0.25", "10", "163",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn times_take_the_unit_that_fits() {
        assert_eq!(
            [850.0, 12_200.0, 3.4e6, 1.25e9].map(time),
            ["850 ns", "12.2 µs", "3.40 ms", "1.25 s"]
        );
    }

    #[test]
    fn sizes_take_the_unit_that_fits() {
        assert_eq!([68.0, 8_493_465.0].map(bytes), ["68 B", "8.10 MiB"]);
    }

    #[test]
    fn text_that_acts_or_hides_is_made_plain() {
        let nasty = "a|b`c\nd\u{1b}[31me\u{202e}f\u{200b}g";
        assert_eq!(plain(nasty), "a/b'c d [31me\u{fffd}f\u{fffd}g");
    }

    #[test]
    fn what_is_printed_keeps_its_lines_and_nothing_that_acts() {
        let ours = "\u{2717} Regressed\n\t1 \u{b5}s \u{2192} 2\nstd::io::Write\n";
        assert_eq!(printable(ours), ours);
        assert_eq!(
            printable("a\n::error::x\r\n \t::debug::\u{1b}[2J\u{202e}##[group]\u{9b}"),
            "a\n\u{fffd}::error::x\u{fffd}\n\u{fffd} \t::debug::\u{fffd}[2J\u{fffd}##\u{fffd}[group]\u{fffd}"
        );
    }

    proptest::proptest! {
        #[test]
        fn no_printed_line_is_a_command(text in "[:#\\[a\n\r\t \u{1b}\u{2028}\u{202e}]{0,40}", more in proptest::prelude::any::<String>()) {
            let shown = printable(&(text + &more));
            proptest::prop_assert!(!shown.contains("##[") && shown.lines().all(|line| !line.trim_start().starts_with("::")));
            proptest::prop_assert!(shown.chars().all(|c| c == '\n' || c == '\t' || !(c.is_control() || is_unseen(c))));
        }
    }

    #[test]
    fn long_text_is_cut_with_a_mark() {
        assert_eq!(
            (shortened("ünïcode", 7), shortened("ünïcode", 4)),
            ("ünïcode".into(), "ünï…".into())
        );
    }
}

#[cfg(test)]
mod values_tests {
    use super::*;

    #[test]
    fn values_carry_their_unit() {
        let found = [
            (10_512.0, Metric::LatencyP50),
            (8_493_465.0, Metric::PeakRss),
            (83_304.2, Metric::Throughput),
            (12.5, Metric::Throughput),
        ];
        assert_eq!(
            found.map(|(number, metric)| figure(metric, number)),
            ["10.5 µs", "8.10 MiB", "83,304 req/s", "12.5 req/s"]
        );
    }
}

#[cfg(test)]
mod percent_tests {
    use proptest::prelude::{prop_assert, proptest};

    use super::*;

    #[test]
    fn changes_have_a_sign_and_sensible_digits() {
        let found = [
            5.24, -0.31, 0.0, -0.0, 0.004, -0.04, 11.84, -62.3, 99.9, 99.96, 110.0, 3000.0,
        ]
        .map(change);
        let expected = [
            "+5.2 %",
            "−0.3 %",
            "0.0 %",
            "0.0 %",
            "0.0 %",
            "−0.04 %",
            "+11.8 %",
            "−62.3 %",
            "+99.9 %",
            "× 2.0",
            "× 2.1",
            "× 31",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn intervals_say_their_unit_once() {
        assert_eq!(interval(-0.4, 1.2), "−0.4 to +1.2 %");
        assert_eq!(interval(85.0, 130.0), "+85.0 % to × 2.3");
    }

    #[test]
    fn sizes_have_one_decimal_or_are_as_they_were_declared() {
        assert_eq!(
            [1.0, 3.12, 0.04, 140.2, 0.0].map(size),
            ["1.0 %", "3.1 %", "0.04 %", "140 %", "0.0 %"]
        );
        assert_eq!([5.0, 0.5, 1e300].map(declared)[..2], ["5 %", "0.5 %"]);
    }

    proptest! {
        #[test]
        fn no_number_makes_a_long_text(percent in -1e12_f64..1e12) {
            prop_assert!(change(percent).chars().count() < 24 && declared(percent).chars().count() < 24);
            prop_assert!(percent.abs() < 0.01 || (percent < 0.0) == change(percent).starts_with('−'));
        }
    }
}
