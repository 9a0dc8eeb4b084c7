//! Numbers and units as people read them.

/// A count with thousands separators: `12,345`.
#[must_use]
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

/// A time in ns with the unit that fits: `850 ns`, `12.2 µs`, `3.40 ms`, `1.25 s`.
#[must_use]
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
#[must_use]
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
#[must_use]
pub fn three_digits(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// A length of time for a progress line: `45 s`, `3 min`.
#[must_use]
pub fn remaining(length: std::time::Duration) -> String {
    let seconds = length.as_secs_f64();
    if seconds < 90.0 {
        format!("{seconds:.0} s")
    } else {
        format!("{:.0} min", (seconds / 60.0).ceil())
    }
}

/// Free text made safe for a Markdown table or a terminal line: no line breaks, pipes, backticks or control characters.
#[must_use]
pub fn plain(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '|' => '/',
            '`' => '\'',
            c if c.is_control() => ' ',
            c => c,
        })
        .collect()
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
}
