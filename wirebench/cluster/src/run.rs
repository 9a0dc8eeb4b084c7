//! The entry to a run on a cluster: connects, leads its stages, and removes everything.

use std::collections::BTreeMap;
use std::fs;
use std::time::Instant;

use tokio::runtime::Runtime;

use wirebench_engine::measure::interrupt::Interrupt;
use wirebench_engine::session::prepare::{self, tool_version};
use wirebench_engine::session::{Ending, Recorded, StageTime, measure_stages, new_folder, screen_stage};

use crate::api::Cluster;
use crate::names::key;
use crate::owner::Owner;
use crate::record::Recorder;
use crate::run_spec::RunSpec;
use crate::session::{LoadedSession, Session, stop_requested};

/// Measures a run on a cluster, writes its record, and removes all objects that it created there. Servers or load pods that fail
/// are not an error: they are in the record.
///
/// # Errors
/// When the cluster cannot be reached or refuses the load pods, jq is missing, the results folder cannot be written, or something
/// could not be removed.
pub fn measure(spec: &RunSpec) -> anyhow::Result<Recorded> {
    prepare::filters(spec.project)?;
    let (jq, jq_version) = prepare::jq(spec.project)?;
    let interrupt = Interrupt::watch()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let (cluster, version) = runtime.block_on(Cluster::connect(spec.context.as_deref(), spec.namespace.as_deref()))?;
    let (id, folder) = new_folder(&std::path::absolute(spec.out)?, spec.seed)?;
    // Its heartbeats go on between the rounds, on threads of the runtime.
    let owner = match runtime.block_on(Owner::make(&cluster, &key(&id), &spec.load.image)) {
        Ok(owner) => owner,
        Err(error) => {
            // No object was created: there is nothing to record.
            let _ = fs::remove_dir_all(&folder);
            return Err(error);
        }
    };
    let reference = owner.reference.clone();
    let tools = vec![jq_version, tool_version("kubernetes", &version)];
    let session = Session {
        spec,
        cluster: &cluster,
        jq: &jq,
        interrupt: &interrupt,
        owner: &reference,
        recorder: Recorder::begin(spec, id, folder, tools),
        targets: BTreeMap::new(),
        version,
        began: Instant::now(),
        slots: Vec::new(),
    };
    let measured = measure_session(session, &runtime);
    log::info!("removing what the run made");
    let removed = runtime.block_on(owner.remove());
    let recorder = measured?;
    removed?;
    Ok(Recorded {
        run: recorder.run,
        folder: recorder.folder,
    })
}

/// Creates the servers and load pods, and measures the stages.
fn measure_session(mut session: Session, runtime: &Runtime) -> anyhow::Result<Recorder> {
    session.recorder.save(true)?;
    let interrupt = session.interrupt.clone();
    let created = runtime.block_on(async {
        tokio::select! {
            created = session.create() => Some(created),
            () = stop_requested(&interrupt) => None,
        }
    });
    let Some(created) = created.transpose()? else {
        return session.finish(true);
    };
    let time = if session.is_paired() {
        StageTime::first(session.spec.budget)
    } else {
        StageTime::unlimited()
    };
    let ids = session.recorder.run.series.iter().map(|series| series.id.clone());
    let screen = screen_stage(ids.collect(), session.spec.rounds);
    let second_stage = session.spec.second_stage;
    let mut loaded = LoadedSession {
        session: &mut session,
        created: &created,
        runtime,
    };
    let ending = measure_stages(&mut loaded, &screen, time, second_stage)?;
    session.finish(ending == Ending::Interrupted)
}
