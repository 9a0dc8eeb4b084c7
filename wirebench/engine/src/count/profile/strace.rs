//! Reads the table of `strace -c -f -o FILE`: how often each system call was made.

use std::collections::BTreeMap;
use std::path::Path;

use crate::count::profile::error::{line_error, quoted, text_of};

/// System calls by name, over the whole run. An empty file is a run without one.
///
/// # Errors
/// A file that cannot be read, that is no such table, that was cut off, or whose rows do not add up to its total.
pub fn read(file: &Path) -> Result<BTreeMap<String, u64>, String> {
    parse(file, &text_of(file)?)
}

fn parse(file: &Path, text: &str) -> Result<BTreeMap<String, u64>, String> {
    let wrong = |line: usize, wrong: String| line_error(file, line + 1, &wrong);
    let mut calls = BTreeMap::new();
    let mut sum = 0u64;
    let mut headed = false;
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let cells: Vec<&str> = line.split_whitespace().collect();
        if !headed {
            if cells.first() != Some(&"%") || cells.last() != Some(&"syscall") {
                let expected = "expected strace's heading, `% time … calls errors syscall`";
                return Err(wrong(at, format!("{expected}, found {}", quoted(line))));
            }
            headed = true;
            continue;
        }
        if cells.iter().all(|cell| cell.bytes().all(|byte| byte == b'-')) {
            continue;
        }
        if cells.last() == Some(&"total") {
            let agrees = cells.len() > 3 && cells[2..cells.len() - 1].contains(&sum.to_string().as_str());
            return if agrees && text.ends_with('\n') {
                Ok(calls)
            } else {
                Err(wrong(
                    at,
                    format!("the rows add up to {sum} calls, the total is {}", quoted(line)),
                ))
            };
        }
        let (name, count) = row(&cells).ok_or_else(|| {
            let expected = "expected share, seconds, microseconds a call, calls, perhaps errors, and a system call";
            wrong(at, format!("{expected}; found {}", quoted(line)))
        })?;
        sum = sum.saturating_add(count);
        let calls_of_name = calls.entry(name.to_owned()).or_insert(0u64);
        *calls_of_name = calls_of_name.saturating_add(count);
    }
    if headed {
        return Err(format!(
            "{}: strace's table ends without its total line: strace was killed while writing; let it end by itself",
            file.display()
        ));
    }
    Ok(calls)
}

/// `97.95 0.033722 28 1203 [errors] writev`
fn row<'a>(cells: &[&'a str]) -> Option<(&'a str, u64)> {
    let [share, seconds, each, calls, rest @ ..] = cells else {
        return None;
    };
    share.parse::<f64>().ok()?;
    seconds.parse::<f64>().ok()?;
    each.parse::<u64>().ok()?;
    let name: &'a str = match *rest {
        [name] => name,
        [errors, name] => {
            errors.parse::<u64>().ok()?;
            name
        }
        _ => return None,
    };
    let named = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    Some((name, calls.parse().ok()?)).filter(|_| named)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::{any, proptest};

    use super::parse;

    const TABLE: &str = "\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ------------------
 66.67    0.000002           1         2           write
 33.33    0.000001           0         7         3 recvfrom
------ ----------- ----------- --------- --------- ------------------
100.00    0.000003           0         9         3 total
";

    fn read(text: &str) -> Result<Vec<(String, u64)>, String> {
        parse(Path::new("calls.txt"), text).map(|calls| calls.into_iter().collect())
    }

    #[test]
    fn calls_are_read_by_name() {
        let expected = Ok(vec![("recvfrom".to_owned(), 7), ("write".to_owned(), 2)]);
        assert_eq!(read(TABLE), expected);
        let older = TABLE.replace("0         9         3 total", "          9         3 total");
        assert_eq!(read(&older), expected);
        assert_eq!(read(&TABLE.replace("         3 ", "           ")), expected);
    }

    #[test]
    fn no_calls_are_no_calls() {
        assert_eq!(read(""), Ok(vec![]));
        let rule = "------ ----------- ----------- --------- --------- ----------------\n";
        let heading = TABLE.lines().next().unwrap();
        let total = "100.00    0.000000           0         0           total\n";
        assert_eq!(read(&format!("{heading}\n{rule}{rule}{total}")), Ok(vec![]));
    }

    #[test]
    fn what_is_no_such_table_is_named_with_its_line() {
        let foreign = read("hello\n").unwrap_err();
        assert!(
            foreign.starts_with("calls.txt:1: expected strace's heading"),
            "{foreign}"
        );
        let row = read(&TABLE.replace("         2           write", "       two           write")).unwrap_err();
        assert!(row.starts_with("calls.txt:3: expected share"), "{row}");
        let sum = read(&TABLE.replace("         2           write", "         1           write")).unwrap_err();
        assert!(sum.starts_with("calls.txt:6: the rows add up to 8 calls"), "{sum}");
    }

    #[test]
    fn a_table_cut_off_anywhere_is_an_error() {
        for end in 1..TABLE.len() {
            assert!(read(&TABLE[..end]).is_err(), "{:?}", &TABLE[..end]);
        }
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(text in any::<String>(), rows in "([ 0-9a-z%.-]{0,30}\n){0,4}") {
            read(&text).ok();
            read(&format!("% time syscall\n{rows}")).ok();
        }
    }
}
