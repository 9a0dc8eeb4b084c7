//! Starts a server's process, on this machine or on another host.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::measure::error::MeasureError;
use crate::measure::port;
use crate::measure::process::Launch;
use crate::measure::process_group::ProcessGroup;
use crate::measure::side::Side;
use crate::measure::target::command::{LaunchContext, argv, environment, names_data_folder, output_file, values};
use crate::measure::target::instance::Instance;
use crate::measure::temporary_folder::TemporaryFolder;
use crate::measure::usage::LocalUsage;
use wirebench_declare::server::authority;
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
    let data_folder = match (&own_folder, context.host) {
        (None, _) => None,
        (Some(_), Some(host)) => Some(PathBuf::from(host.make_folder().map_err(no_folder)?)),
        (Some(folder), None) => Some(folder.path().join(DATA)),
    };
    let context = &LaunchContext {
        data_folder: data_folder.as_deref(),
        ..*context
    };
    let ip = context.ip_of(part);
    let port = free_port(side, part, context)?.to_string();
    let values = values(part, context, &port, tiers);
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
        usage: Arc::new(LocalUsage::groups(&[])),
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

/// A folder of its own: for a kept tier, and for a tier that names a data folder.
fn own_folder(part: &Part) -> io::Result<Option<TemporaryFolder>> {
    let is_kept_tier = part.keep && part.tier.is_some();
    if !is_kept_tier && !names_data_folder(part) {
        return Ok(None);
    }
    let folder = TemporaryFolder::make("wirebench-")?;
    std::fs::create_dir(folder.path().join(DATA))?;
    Ok(Some(folder))
}
