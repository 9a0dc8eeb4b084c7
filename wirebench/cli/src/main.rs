//! Runs the command of the arguments; the only place where an error becomes text and an exit code.

use std::process::ExitCode;

use wirebench::{Outcome, describe_error, is_usage, printable};
use wirebench_engine::measure::interrupt;

fn main() -> ExitCode {
    let ended = wirebench::execute();
    let code = match &ended {
        Ok(Outcome::Done) => 0,
        Ok(Outcome::Failed) => 1,
        Ok(Outcome::Regressed) => 3,
        Ok(Outcome::NotJudged) => 4,
        Ok(Outcome::CannotTell) => 125,
        Err(error) => {
            eprintln!("error: {}", printable(&describe_error(error)));
            if is_usage(error) { 2 } else { 1 }
        }
    };
    // 128 + signal, as shells do: 130 after Ctrl-C.
    ExitCode::from(interrupt::received().map_or(code, |signal| 128 + signal))
}
