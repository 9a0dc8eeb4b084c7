//! Callgrind's file format, version 1, as valgrind writes it with `--dump-instr=yes`: the cost of each function at each
//! address.
//!
//! The format is described in valgrind's manual, chapter "Callgrind Format Specification". Costs of calls are
//! inclusive: sums over costs that are listed elsewhere in the file. They are used only to weigh the callers of a
//! function.
//!
//! Splits callgrind's function names under `--separate-callers`: the function and its callers, joined by `'`.

use std::collections::HashMap;
use std::path::Path;

use crate::count::profile::error::{line_error, quoted};

/// A function in one calling context.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Context<'a> {
    /// The function and its callers, as written.
    pub(super) text: &'a str,
    /// The file that its code is in, as written.
    pub(super) object: &'a str,
}

/// Instructions that one context spent by itself at one address of its object, or allocations that it asks for there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    /// Position in [`Costs::contexts`].
    pub(super) context: usize,
    /// The address in the object's file.
    pub(super) address: u64,
    /// Instructions or allocations.
    pub(super) amount: u64,
}

/// The calls of one context from one address of its caller.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    /// Position of the caller in [`Costs::contexts`].
    pub(super) caller: usize,
    /// Position of the function called.
    pub(super) callee: usize,
    /// The address in the caller's object.
    pub(super) address: u64,
    /// The number of calls.
    pub(super) times: u64,
    /// Instructions of these calls, including the calls that they make.
    pub(super) instructions: u64,
}

/// The contents of a file.
#[derive(Debug, Default)]
pub(super) struct Costs<'a> {
    /// Every context that is mentioned, in the order of the file.
    pub(super) contexts: Vec<Context<'a>>,
    /// Own costs, in the order of the file.
    pub(super) costs: Vec<Cost>,
    /// Calls, in the order of the file.
    pub(super) calls: Vec<Call>,
    /// The total that callgrind reports.
    pub(super) total: u64,
    /// Heap allocations, by the code that asks for them; empty if no runtime says which functions make them.
    pub(super) allocations: Vec<Cost>,
    /// Whether contexts may name wrong callers, because the program goes from stack to stack.
    pub(super) mixes_up_callers: bool,
}

impl Costs<'_> {
    /// Whether a condition holds of the function of each context.
    pub(super) fn by_context(&self, holds: impl Fn(&str) -> bool) -> Vec<bool> {
        let contexts = self.contexts.iter();
        contexts
            .map(|context| holds(context_frames(context.text)[0].0))
            .collect()
    }

    /// The number of heap allocations. A program without any has no names for its functions.
    pub(super) fn allocated(&self) -> u64 {
        sum_of(&self.allocations)
    }

    /// Leaves out the own costs of some functions of a program that goes from stack to stack, and their part of the total.
    pub(super) fn leave_out(&mut self, is_left_out: impl Fn(&str) -> bool) {
        self.mixes_up_callers = true;
        let left_out = self.by_context(is_left_out);
        self.costs.retain(|cost| !left_out[cost.context]);
        self.total = sum_of(&self.costs);
    }
}

/// The sum of costs; a file may name costs that no number holds.
pub(super) fn sum_of(costs: &[Cost]) -> u64 {
    costs.iter().fold(0, |sum, cost| sum.saturating_add(cost.amount))
}

/// Reads the text of `file`, whose name is for errors only.
pub(super) fn parse<'a>(file: &Path, text: &'a str) -> Result<Costs<'a>, String> {
    let whole = |wrong: &str| format!("{}: {wrong}", file.display());
    if !text.starts_with("# callgrind format\n") {
        return Err(whole(
            "does not begin with `# callgrind format`: not a file of valgrind's callgrind, or of one before 3.13",
        ));
    }
    let mut reader = Reader::default();
    for (at, line) in text.lines().enumerate() {
        reader
            .line(line)
            .map_err(|wrong| line_error(file, at + 1, &format!("{wrong}, found {}", quoted(line))))?;
    }
    if !reader.ended || !text.ends_with('\n') {
        return Err(whole(
            "ends without its `totals:` line: valgrind was killed while writing; stop the server with SIGINT or SIGTERM and wait",
        ));
    }
    Ok(reader.read)
}

/// The kind of the next line of numbers.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// A function's own cost.
    #[default]
    Own,
    /// The inclusive cost of a call.
    Call,
    /// The place of a jump.
    Jump,
}

#[derive(Default)]
struct Reader<'a> {
    read: Costs<'a>,
    objects: HashMap<&'a str, &'a str>,
    functions: HashMap<&'a str, usize>,
    object: &'a str,
    callee_object: Option<&'a str>,
    context: Option<usize>,
    callee: Option<usize>,
    /// The number of calls, until their cost is read.
    times: u64,
    next: Next,
    /// The number of columns before the costs.
    columns: Option<usize>,
    /// Which of the costs are instructions.
    events: Option<usize>,
    address: u64,
    ended: bool,
}

impl<'a> Reader<'a> {
    fn line(&mut self, line: &'a str) -> Result<(), &'static str> {
        match line.as_bytes().first() {
            None | Some(b'#') => Ok(()),
            Some(b'0'..=b'9' | b'+' | b'-' | b'*') => self.numbers(line),
            Some(_) => {
                let Some(at) = line.find(['=', ':']) else {
                    return Err("expected `key: value`, `key=value` or numbers");
                };
                let (key, value) = (&line[..at], &line[at + 1..]);
                if line.as_bytes()[at] == b':' {
                    self.header(key, value.trim())
                } else {
                    self.place(key, value)
                }
            }
        }
    }

    fn header(&mut self, key: &str, value: &'a str) -> Result<(), &'static str> {
        match key {
            "positions" => {
                if value.split_whitespace().next() != Some("instr") {
                    return Err("expected addresses, written with --dump-instr=yes");
                }
                self.columns = Some(value.split_whitespace().count());
            }
            "events" => {
                let event = value.split_whitespace().position(|event| event == "Ir");
                self.events = Some(event.ok_or("expected instructions, Ir, among the events")?);
            }
            "part" => self.ended = false,
            "totals" => {
                let cell = value.split_whitespace().nth(self.events.unwrap_or(0));
                let total: u64 = cell
                    .and_then(|cell| cell.parse().ok())
                    .ok_or("expected the sum of all costs")?;
                self.read.total = self.read.total.saturating_add(total);
                self.ended = true;
            }
            _ if key.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {}
            _ => return Err("expected a heading"),
        }
        Ok(())
    }

    fn place(&mut self, key: &str, value: &'a str) -> Result<(), &'static str> {
        match key {
            "ob" => self.object = self.object_of(value)?,
            "cob" => self.callee_object = Some(self.object_of(value)?),
            "fn" => self.context = Some(self.context_of(value, self.object)?),
            "cfn" => {
                let object = self.callee_object.take().unwrap_or(self.object);
                self.callee = Some(self.context_of(value, object)?);
            }
            "calls" => {
                let times = value.split_whitespace().next().and_then(|cell| cell.parse().ok());
                self.times = times.ok_or("expected a number of calls")?;
                self.next = Next::Call;
            }
            "jump" | "jcnd" => self.next = Next::Jump,
            "fl" | "fi" | "fe" | "cfi" | "cfl" | "jfi" | "jfn" => {}
            _ => return Err("expected a place such as `fn=`"),
        }
        Ok(())
    }

    fn object_of(&mut self, value: &'a str) -> Result<&'a str, &'static str> {
        let (id, name) = compressed(value)?;
        match (id, name) {
            (Some(id), Some(name)) => {
                self.objects.insert(id, name);
                Ok(name)
            }
            (Some(id), None) => self.objects.get(id).copied().ok_or("expected an object named before"),
            (None, name) => Ok(name.unwrap_or("")),
        }
    }

    fn context_of(&mut self, value: &'a str, object: &'a str) -> Result<usize, &'static str> {
        let (id, name) = compressed(value)?;
        let key = id.or(name).unwrap_or("");
        let Some(text) = name else {
            let known = self.functions.get(key).copied();
            return known.ok_or("expected a function named before");
        };
        if id.is_none()
            && let Some(&known) = self.functions.get(key)
        {
            return Ok(known);
        }
        self.read.contexts.push(Context { text, object });
        self.functions.insert(key, self.read.contexts.len() - 1);
        Ok(self.read.contexts.len() - 1)
    }

    fn numbers(&mut self, line: &str) -> Result<(), &'static str> {
        let mut cells = line.split_ascii_whitespace();
        let address = cells.next().unwrap_or("");
        self.address = subposition(address, self.address).ok_or("expected an address")?;
        let next = std::mem::take(&mut self.next);
        if next == Next::Jump {
            return Ok(());
        }
        let (Some(columns), Some(event)) = (self.columns, self.events) else {
            return Err("expected `positions:` and `events:` before the first cost");
        };
        let context = self
            .context
            .ok_or("expected a function, `fn=`, before the first cost")?;
        // Costs of 0 at the end of a line may be left out.
        let instructions = match cells.nth(columns - 1 + event) {
            Some(cell) => cell.parse().map_err(|_| "expected a count of instructions")?,
            None => 0,
        };
        let address = self.address;
        match (next, self.callee) {
            (Next::Call, Some(callee)) => self.read.calls.push(Call {
                caller: context,
                callee,
                address,
                times: self.times,
                instructions,
            }),
            (Next::Call, None) => return Err("expected the function called, `cfn=`, before its cost"),
            _ => self.read.costs.push(Cost {
                context,
                address,
                amount: instructions,
            }),
        }
        Ok(())
    }
}

/// `(7) text`, `(7)` or `text`.
fn compressed(value: &str) -> Result<(Option<&str>, Option<&str>), &'static str> {
    let id = value.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    match id.filter(|(id, _)| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit())) {
        Some((id, "")) => Ok((Some(id), None)),
        Some((id, rest)) => Ok((Some(id), Some(rest.strip_prefix(' ').ok_or("expected `(id) name`")?))),
        None => Ok((None, Some(value))),
    }
}

/// An address: `0x…` or decimal, `+n` and `-n` from the last one, `*` the same.
fn subposition(cell: &str, last: u64) -> Option<u64> {
    let number = |digits: &str| match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => digits.parse().ok(),
    };
    match cell.as_bytes().first()? {
        b'+' => last.checked_add(number(&cell[1..])?),
        b'-' => last.checked_sub(number(&cell[1..])?),
        b'*' if cell.len() == 1 => Some(last),
        _ => number(cell),
    }
}

/// The parts of `inner'2'caller'main`, innermost first, each with all of the text that begins there: a caller's own
/// context. A function that calls itself is there once; the depth of its recursion (`'2`) is left out.
pub(super) fn context_frames(context: &str) -> Vec<(&str, &str)> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, _) in context.match_indices('\'') {
        if is_separator(&context[start..at]) {
            parts.push((&context[start..at], &context[start..]));
            start = at + 1;
        }
    }
    parts.push((&context[start..], &context[start..]));
    let is_depth = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    parts.retain(|(part, _)| !is_depth(part));
    parts
}

/// A `'` ends a function's name unless it begins a lifetime, as in `<&'a T>`, `for<'a>` and `dyn A + 'a`.
fn is_separator(before: &str) -> bool {
    let ends_name = !before.ends_with(['<', '&', ' ', '(', ',']);
    let operator = ["operator<", "operator<<", "operator&", "operator&&", "operator,"];
    !before.is_empty() && (ends_name || operator.iter().any(|name| before.ends_with(name)))
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::{any, prop_assert_eq, prop_oneof, proptest};

    use super::context_frames;

    fn names(context: &str) -> Vec<&str> {
        context_frames(context).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn a_context_is_a_function_and_its_callers() {
        for (context, expected) in [
            ("main", vec!["main"]),
            ("c'b'main", vec!["c", "b", "main"]),
            ("walk'2'main", vec!["walk", "main"]),
            ("main'(below main)'0x1ab70", vec!["main", "(below main)", "0x1ab70"]),
            ("<&'a T as m::A<'_>>::f'main", vec!["<&'a T as m::A<'_>>::f", "main"]),
            (
                "f<dyn for<'a> Fn(&'a u8) + 'static>'g",
                vec!["f<dyn for<'a> Fn(&'a u8) + 'static>", "g"],
            ),
            ("operator<<'main", vec!["operator<<", "main"]),
            (
                "f(int)'operator new(unsigned long)'g",
                vec!["f(int)", "operator new(unsigned long)", "g"],
            ),
            ("h::{{closure}}'h::run", vec!["h::{{closure}}", "h::run"]),
            ("", vec![""]),
        ] {
            assert_eq!(names(context), expected, "{context}");
        }
    }

    #[test]
    fn a_caller_comes_with_its_own_context() {
        assert_eq!(context_frames("c'b'main")[1], ("b", "b'main"));
    }

    proptest! {
        #[test]
        fn joined_names_are_split_again(parts in vec(prop_oneof!["[a-z_:]{1,9}", "<&'a [a-z]{1,5}>::[a-z]", "[a-z]{1,3}<dyn A \\+ 'b>"], 1..9)) {
            let context = parts.join("'");
            prop_assert_eq!(names(&context), parts);
        }

        #[test]
        fn any_text_is_split(text in any::<String>(), crooked in "['<>& (),0-9a]{0,20}") {
            context_frames(&text);
            context_frames(&crooked);
        }
    }
}
