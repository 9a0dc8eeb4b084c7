//! The commands that run before a server is started, such as a migration.

use std::time::Duration;

use crate::measure::error::MeasureError;
use crate::measure::process::{Launch, describe_exit, tail};
use crate::measure::process_group::ProcessGroup as _;
use crate::measure::side::{Side, in_folder};
use crate::measure::startup::PORT;
use crate::measure::target::command::{LaunchContext, environment, values};
use crate::measure::target::instance::{Instance, last_words};
use crate::measure::target::spawn::cannot_start;
use wirebench_declare::args::expand;
use wirebench_declare::server::{Before, Server};

/// The time limit of a `before` command.
const TIME_LIMIT: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(5);

/// Runs a server's `before` commands in order, each in the server's folder and environment. Commands with `once` run only if
/// `first_time` is true.
///
/// # Errors
/// When one cannot be started, fails or takes too long, or the servers run on another host.
pub(super) fn run(
    side: &Side,
    server: &Server,
    context: &LaunchContext,
    tiers: &[Instance],
    first_time: bool,
) -> Result<(), MeasureError> {
    let front = &server.front;
    let placeholders = values(front, context, PORT, tiers);
    let env = environment(side, front, &placeholders);
    let wanted = |(_, before): &(usize, &Before)| first_time || !before.once;
    for (number, before) in server.before.iter().enumerate().filter(wanted) {
        let argv = expand(&before.command, &placeholders).expect("Server::check refuses unknown placeholders");
        let command = shell_words::join(&argv);
        if context.host.is_some() {
            return Err(MeasureError::Failed(format!(
                "server {}: {command} runs before it, and its files are not on the server's host; \
                    measure it on one machine, or leave it out with --server",
                server.name
            )));
        }
        let file = |stream: &str| context.folder.join(format!("before-{number}.{stream}"));
        let launch = Launch {
            argv: in_folder(&argv, &side.folder),
            folder: &side.folder,
            env: env.clone(),
            stdout: file("stdout"),
            stderr: file("stderr"),
            cores: &context.cores.server,
        };
        let mut group = launch
            .start()
            .map_err(|error| cannot_start(&server.name, &command, &error))?;
        while !group.has_ended() && group.started.elapsed() < TIME_LIMIT {
            if context.interrupt.is_requested() {
                return Err(MeasureError::Interrupted);
            }
            std::thread::sleep(POLL);
        }
        let in_time = group.has_ended();
        let how = match group.kill_and_reap() {
            Ok(status) if status.success() => continue,
            Ok(_) if !in_time => format!("did not end within {} s", TIME_LIMIT.as_secs()),
            Ok(status) => describe_exit(status),
            Err(error) => error.to_string(),
        };
        return Err(MeasureError::Failed(format!(
            "server {}: {command}, which runs before it, {how}{}",
            server.name,
            last_words(&tail(&file("stderr")))
        )));
    }
    Ok(())
}
