//! Starts a server's processes: what they need besides their declarations, their command lines and environments, the commands that
//! run before them, and each process on this machine or on another host.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::measure::cores::Cores;
use crate::measure::error::MeasureError;
use crate::measure::interrupt::Interrupt;
use crate::measure::kill_on_exit::TemporaryFolder;
use crate::measure::port;
use crate::measure::process::{Launch, ProcessGroup, describe_exit, tail};
use crate::measure::remote::Host;
use crate::measure::side::{Side, in_folder};
use crate::measure::startup::PORT;
use crate::measure::target::instance::{Instance, last_words};
use crate::measure::target::tiers::KeptTiers;
use crate::measure::tls::TlsFiles;
use crate::measure::usage::LocalUsage;
use wirebench_declare::args::{Arg, Value, expand, fill};
use wirebench_declare::server::{Before, Server, authority};
use wirebench_declare::tier::{DATA, Part};

/// Starts one process of a server on a free port, here or on the context's host; its program is copied there first.
///
/// # Errors
/// When the port is taken, the process cannot be started, its program cannot be copied, or the connection is lost.
pub(super) fn spawn(
    side: &Side,
    part: &Part,
    context: &LaunchContext,
    tiers: &[Instance],
) -> Result<Instance, MeasureError> {
    let start_error = |program: &str, error| cannot_start(&part.label(), program, &error);
    let no_folder = |error| start_error("a folder for its files", error);
    let own_folder = own_folder(part).map_err(no_folder)?;
    let ip = context.ip_of(part);
    let port = free_port(side, part, context)?.to_string();
    let mut values = values(part, context, &port, tiers);
    if let Some(folder) = &own_folder {
        let data = match context.host {
            Some(host) => host.make_folder().map_err(no_folder)?,
            None => folder.path().join(DATA).to_string_lossy().into_owned(),
        };
        values.insert(DATA.to_owned(), Value::One(data));
    }
    let (mut argv, env) = (argv(side, part, &values), environment(side, part, &values));
    // The output of a kept tier outlives the round.
    let output_folder = match &own_folder {
        Some(folder) if part.keep => folder.path(),
        _ => context.folder,
    };
    let stderr = output_folder.join(output_file(part, "stderr"));
    let program = argv[0].clone();
    let group: io::Result<Box<dyn ProcessGroup>> = if let Some(host) = context.host {
        let copied = host.copy_program(&program, context.interrupt);
        let process = copied.and_then(|copied| {
            argv[0] = copied;
            host.start(&argv, &env)
        });
        process.map(|process| Box::new(process) as _)
    } else {
        let folder = side.folder_of(part);
        if part.working_directory.is_some() && !folder.is_dir() {
            let missing = format!("there is no folder {} for its working_directory", folder.display());
            return Err(start_error(&program, io::Error::other(missing)));
        }
        let launch = Launch {
            argv,
            folder: &folder,
            env,
            stdout: output_folder.join(output_file(part, "stdout")),
            stderr: stderr.clone(),
            cores: &context.cores.server,
        };
        launch.start().map(|group| Box::new(group) as _)
    };
    let group = group.map_err(|error| start_error(&program, error))?;
    Ok(Instance {
        name: part.name().to_owned(),
        group,
        address: authority(ip, &port),
        usage: Arc::new(LocalUsage::default()),
        keep: part.keep,
        label: part.label(),
        stderr,
        _folder: own_folder,
    })
}

/// The error of a program that cannot be started.
pub(super) fn cannot_start(server: &str, program: &str, error: &io::Error) -> MeasureError {
    MeasureError::Failed(format!("server {server}: cannot start {program}: {error}"))
}

/// A port for a process: its fixed one, or one that is free.
fn free_port(side: &Side, part: &Part, context: &LaunchContext) -> Result<u16, MeasureError> {
    let server = part.label();
    let taken = |port: u16, error: io::Error| {
        MeasureError::Failed(format!(
            "server {server}: port {port} is taken by another program ({error}); stop that program, \
             or let the server's arguments take {{port}}"
        ))
    };
    let Some(host) = context.host else {
        let ip = context.ip_of(part);
        if let Some(fixed) = part.port {
            port::wait_for(ip, fixed);
        }
        return port::free(ip, part.port).map_err(|(port, error)| taken(port, error));
    };
    host.free_port(part.port).map_err(|error| match part.port {
        Some(port) if error.kind() == io::ErrorKind::AddrInUse => taken(port, error),
        _ => cannot_start(&server, &side.programs[&part.key()][0], &error),
    })
}

/// A folder of its own: for a kept tier, and for a tier whose arguments or environment name `{data}`.
fn own_folder(part: &Part) -> io::Result<Option<TemporaryFolder>> {
    let in_env = |text: &String| text.contains(&format!("{{{DATA}}}"));
    let in_args = part.args.iter().flat_map(Arg::placeholders).any(|name| name == DATA);
    if part.tier.is_none() || !(part.keep || in_args || part.env.values().any(in_env)) {
        return Ok(None);
    }
    let folder = TemporaryFolder::make("wirebench-")?;
    std::fs::create_dir(folder.path().join(DATA))?;
    Ok(Some(folder))
}

/// The values of the placeholders of a process's arguments and environment.
pub(in crate::measure) type PartValues = BTreeMap<String, Value>;

/// The values of a process's placeholders: its own address, and the addresses of the tiers that run already. `port` is a port
/// or a placeholder for one.
pub(in crate::measure) fn values(part: &Part, context: &LaunchContext, port: &str, tiers: &[Instance]) -> PartValues {
    let ip = context.ip_of(part);
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let threads = context
        .host
        .map_or_else(|| context.cores.threads(&context.cores.server), Host::cpus);
    let own = [
        ("address", authority(ip, port)),
        ("host", ip.to_string()),
        ("port", port.to_owned()),
        ("threads", threads.to_string()),
        ("tls_cert", text(&context.tls.certificate())),
        ("tls_key", text(&context.tls.key())),
    ];
    let tiers = tiers.iter().map(|tier| (tier.name.clone(), tier.address.clone()));
    let own = own.into_iter().map(|(name, value)| (name.to_owned(), value));
    let all = own.chain(tiers);
    all.map(|(name, value)| (name, Value::One(value))).collect()
}

/// The command line of one process on one side, program first.
///
/// # Panics
/// Never for a server that `Server::check` accepted, as it rejects unknown placeholders, and that the side has built.
pub(in crate::measure) fn argv(side: &Side, part: &Part, values: &PartValues) -> Vec<String> {
    let args = expand(&part.args, values).expect("Server::check refuses unknown placeholders");
    // A command may be a shell's script: braces in it that name no placeholder stay as they are, as in the environment.
    let program = side.programs[&part.key()].iter().map(|word| fill(word, values, 0));
    program.chain(args).collect()
}

/// The environment of one process. Braces that name no placeholder stay as they are.
pub(in crate::measure) fn environment(side: &Side, part: &Part, values: &PartValues) -> BTreeMap<String, String> {
    let declared = part.env.iter();
    let declared = declared.map(|(name, text)| (name.clone(), fill(text, values, 0)));
    let own = side.environment.clone().into_iter();
    own.chain(declared).collect()
}

/// The name of the file that takes `stdout` or `stderr` of a process.
pub(in crate::measure) fn output_file(part: &Part, stream: &str) -> String {
    match &part.tier {
        None => format!("server.{stream}"),
        Some(tier) => format!("tier-{tier}.{stream}"),
    }
}

/// Where and with what the processes of a server are started.
#[derive(Debug, Clone, Copy)]
pub struct LaunchContext<'a> {
    /// The folder for their output.
    pub folder: &'a Path,
    /// The cores that they run on.
    pub cores: &'a Cores,
    /// The certificate that they show to clients.
    pub tls: &'a TlsFiles,
    /// Ctrl-C.
    pub interrupt: &'a Interrupt,
    /// Takes the tiers with `keep` between rounds; without it, every tier is started for each round.
    pub kept: Option<&'a Arc<KeptTiers>>,
    /// The host on which they run; `None` for this machine.
    pub host: Option<&'a Host>,
    /// The address of this machine for load generators on another host: the front listens there.
    pub listen_ip: Option<IpAddr>,
}

impl LaunchContext<'_> {
    /// The address at which a process listens. Tiers behind the front get requests only from their own machine.
    pub(in crate::measure) fn ip_of(&self, part: &Part) -> IpAddr {
        match (self.host, self.listen_ip) {
            (Some(host), _) => host.ip(),
            (None, Some(ip)) if part.tier.is_none() => ip,
            (None, _) => part.host,
        }
    }
}

/// The time limit of a `before` command.
const TIME_LIMIT: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(5);

/// Runs a server's `before` commands in order, each in the server's folder and environment. Commands with `once` run only if
/// `first_time` is true.
///
/// # Errors
/// When one cannot be started, fails or takes too long, or the servers run on another host.
pub(super) fn run_before(
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
