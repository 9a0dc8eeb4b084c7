//! Starts a server's process on another host.

use std::io;
use std::path::Path;

use wirebench_declare::server::authority;
use wirebench_declare::tier::Part;

use crate::measure::process_group::ProcessGroup;
use crate::measure::remote::host::Host;
use crate::measure::side::Side;
use crate::measure::target::{Instance, LaunchContext, TargetError, argv, environment, names_data_folder, output_file};
use crate::measure::temporary_folder::TemporaryFolder;

/// Starts one process of a server on a free port of `host`, which is also the host of `context`. Its program is copied first.
/// The output of a tier with `keep` is copied to a folder that outlives the round.
///
/// # Errors
/// When the program cannot be copied, or the connection is lost.
pub(in crate::measure) fn spawn(
    host: &Host,
    side: &Side,
    part: &Part,
    context: &LaunchContext,
    tiers: &[Instance],
) -> Result<Instance, TargetError> {
    // The file on this machine: on the host the program is called by its hash.
    let program = &side.programs[&part.key()][0];
    let start_error = |source| TargetError::Start {
        server: part.label(),
        program: program.clone(),
        source,
    };
    let data_folder = names_data_folder(part).then(|| host.make_folder()).transpose();
    let data_folder = data_folder.map_err(start_error)?;
    let context = &LaunchContext {
        data_folder: data_folder.as_deref().map(Path::new),
        ..*context
    };
    let port = host.free_port(part.port).map_err(|source| match part.port {
        Some(port) if source.kind() == io::ErrorKind::AddrInUse => TargetError::PortTaken {
            server: part.label(),
            port,
            source,
        },
        _ => start_error(source),
    })?;
    let port = port.to_string();
    let mut argv = argv(side, part, context, &port, tiers);
    argv[0] = host.copy_program(&argv[0], context.interrupt).map_err(start_error)?;
    let env = environment(side, part, context, &port, tiers);
    let own_folder = part.keep.then(|| TemporaryFolder::make("wirebench-")).transpose();
    let own_folder = own_folder.map_err(start_error)?;
    let output_folder = own_folder.as_ref().map_or(context.folder, TemporaryFolder::path);
    let stderr = output_folder.join(output_file(part, "stderr"));
    let process = host.start(&argv, &env).map_err(start_error)?;
    let instance = Instance::new(part, ProcessGroup::Remote(process), authority(host.ip(), &port), stderr);
    Ok(instance.with(own_folder, part.keep))
}
