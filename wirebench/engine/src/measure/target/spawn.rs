//! Starts a server's process on this machine.

use std::io;

use crate::measure::port;
use crate::measure::process::Launch;
use crate::measure::process_group::ProcessGroup;
use crate::measure::remote;
use crate::measure::side::Side;
use crate::measure::target::command::{argv, environment, names_data_folder, output_file};
use crate::measure::target::context::LaunchContext;
use crate::measure::target::error::TargetError;
use crate::measure::target::instance::Instance;
use crate::measure::temporary_folder::TemporaryFolder;
use wirebench_declare::server::authority;
use wirebench_declare::tier::{DATA, Part};

/// Starts one process of a server on a free port, here or on the context's host.
///
/// # Errors
/// When the port is taken, or the process cannot be started.
pub(super) fn spawn(
    side: &Side,
    part: &Part,
    context: &LaunchContext,
    tiers: &[Instance],
) -> Result<Instance, TargetError> {
    if let Some(host) = context.host {
        return remote::spawn(host, side, part, context, tiers);
    }
    let start_error = |program: &str, source| TargetError::Start {
        server: part.label(),
        program: program.to_owned(),
        source,
    };
    let own_folder = own_folder(part).map_err(|source| start_error("a folder for its files", source))?;
    let data_folder = own_folder.as_ref().map(|folder| folder.path().join(DATA));
    let context = &LaunchContext {
        data_folder: data_folder.as_deref(),
        ..*context
    };
    let ip = context.ip_of(part);
    if let Some(fixed) = part.port {
        port::wait_for(ip, fixed);
    }
    let port = port::free(ip, part.port).map_err(|(port, source)| TargetError::PortTaken {
        server: part.label(),
        port,
        source,
    })?;
    let port = port.to_string();
    let argv = argv(side, part, context, &port, tiers);
    // The output of a kept tier outlives the round.
    let output_folder = match &own_folder {
        Some(folder) if part.keep => folder.path(),
        _ => context.folder,
    };
    let folder = side.folder_of(part);
    if part.working_directory.is_some() && !folder.is_dir() {
        let missing = io::Error::other(format!(
            "there is no folder {} for its working_directory",
            folder.display()
        ));
        return Err(start_error(&argv[0], missing));
    }
    let launch = Launch {
        argv: &argv,
        folder: &folder,
        env: &environment(side, part, context, &port, tiers),
        stdout: output_folder.join(output_file(part, "stdout")),
        stderr: output_folder.join(output_file(part, "stderr")),
        cores: &context.cores.server,
    };
    let group = launch.start().map_err(|source| start_error(&argv[0], source))?;
    let instance = Instance::new(part, ProcessGroup::Local(group), authority(ip, &port), launch.stderr);
    Ok(instance.with(own_folder, part.keep))
}

/// A folder for the files of a tier that is kept or names `{data}`, with an empty folder `data` in it.
fn own_folder(part: &Part) -> io::Result<Option<TemporaryFolder>> {
    let is_kept_tier = part.keep && part.tier.is_some();
    if !is_kept_tier && !names_data_folder(part) {
        return Ok(None);
    }
    let folder = TemporaryFolder::make("wirebench-")?;
    std::fs::create_dir(folder.path().join(DATA))?;
    Ok(Some(folder))
}
