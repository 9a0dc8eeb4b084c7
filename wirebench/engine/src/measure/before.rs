//! The commands that run before a server is started, such as a migration.

use std::time::Duration;

use crate::measure::instance::Instance;
use crate::measure::process::{Launch, in_words, tail};
use crate::measure::side::{Side, in_folder};
use crate::measure::startup::PORT;
use crate::measure::target::{Ground, TargetError, environment, values};
use wirebench_declare::args::expand;
use wirebench_declare::server::{Before, Server};

/// The time limit of a `before` command.
const LONGEST_BEFORE: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(5);

/// Runs a server's `before` commands in order, each in the server's folder and environment. Commands with `once` run only
/// if the kept tiers have just been started.
///
/// # Errors
/// When one cannot be started, fails or takes too long, or the servers run on another host.
pub(super) fn run(
    side: &Side,
    server: &Server,
    ground: &Ground,
    tiers: &[Instance],
    is_new: bool,
) -> Result<(), TargetError> {
    let wanted = |(_, before): &(usize, &Before)| is_new || !before.once;
    for (number, before) in server.before.iter().enumerate().filter(wanted) {
        let argv = expand(
            &before.command,
            &values(ground.ip_of(&server.front()), ground, PORT, tiers),
        )
        .expect("Server::check refuses unknown placeholders");
        if ground.host.is_some() {
            return Err(TargetError::BeforeElsewhere {
                server: server.name.clone(),
                command: shell_words::join(&argv),
            });
        }
        let file = |stream: &str| ground.folder.join(format!("before-{number}.{stream}"));
        let launch = Launch {
            argv: &in_folder(&argv, &side.folder),
            folder: &side.folder,
            env: &environment(side, &server.front(), ground, PORT, tiers),
            stdout: file("stdout"),
            stderr: file("stderr"),
            cores: &ground.cores.server,
        };
        let words = shell_words::join(&argv);
        let mut group = launch.start().map_err(|source| TargetError::Start {
            server: server.name.clone(),
            program: words.clone(),
            source,
        })?;
        while !group.has_ended() && group.started.elapsed() < LONGEST_BEFORE {
            if ground.interrupt.asked() {
                return Err(TargetError::Interrupted);
            }
            std::thread::sleep(POLL);
        }
        let in_time = group.has_ended();
        let how = match group.kill_and_reap() {
            Ok(status) if status.success() => continue,
            Ok(_) if !in_time => format!("did not end within {} s", LONGEST_BEFORE.as_secs()),
            Ok(status) => in_words(status),
            Err(error) => error.to_string(),
        };
        return Err(TargetError::Before {
            server: server.name.clone(),
            command: words,
            how,
            output: tail(&file("stderr")),
        });
    }
    Ok(())
}
