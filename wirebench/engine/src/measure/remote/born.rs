//! Starts a server's process on another host.

use std::io;
use std::path::Path;

use wirebench_declare::args::Arg;
use wirebench_declare::server::authority;
use wirebench_declare::tier::{DATA, Part};

use crate::measure::instance::Instance;
use crate::measure::remote::host::Host;
use crate::measure::running::Running;
use crate::measure::side::Side;
use crate::measure::target::{Ground, TargetError, argv, environment};

/// Starts one process of a server there, on a free port; its program is copied first. `ground.host` is that host.
///
/// # Errors
/// When the program cannot be copied, or the connection is lost.
pub(in crate::measure) fn born(
    host: &Host,
    side: &Side,
    part: &Part,
    ground: &Ground,
    before: &[Instance],
) -> Result<Instance, TargetError> {
    // Named by its file here: there it is called by its hash.
    let program = &side.programs[&part.key()][0];
    let failed = |source| TargetError::Start {
        server: part.label(),
        program: program.clone(),
        source,
    };
    let data = data(host, part).map_err(failed)?;
    let ground = &Ground {
        data: data.as_deref().map(Path::new),
        ..*ground
    };
    let port = host.free_port(part.port).map_err(|source| match part.port {
        Some(port) if source.kind() == io::ErrorKind::AddrInUse => TargetError::PortTaken {
            server: part.label(),
            port,
            source,
        },
        _ => failed(source),
    })?;
    let port = port.to_string();
    let mut argv = argv(side, part, ground, &port, before);
    argv[0] = host.copied(&argv[0], ground.interrupt).map_err(failed)?;
    let env = environment(side, part, ground, &port, before);
    let process = host.start(&argv, &env).map_err(failed)?;
    let errors = ground.folder.join(match part.tier {
        None => "server.stderr".to_owned(),
        Some(tier) => format!("tier-{tier}.stderr"),
    });
    Ok(Instance::new(
        part,
        Running::There(process),
        authority(host.ip(), &port),
        errors,
    ))
}

/// An empty folder for a tier that names `{data}`.
fn data(host: &Host, part: &Part) -> io::Result<Option<String>> {
    let named = |text: &String| text.contains(&format!("{{{DATA}}}"));
    let by_args = part.args.iter().flat_map(Arg::placeholders).any(|word| word == DATA);
    let wanted = part.tier.is_some() && (by_args || part.env.values().any(named));
    wanted.then(|| host.folder()).transpose()
}
