//! `wirebench soak`: one server under load for long, and whether its memory stays flat.

mod args;
mod memory;
mod result;
mod series;
mod slices;
mod soak_run;

use anyhow::Context as _;

pub(crate) use self::args::Args;
use self::soak_run::SoakRun;
use crate::folders::Root;
use crate::outcome::{Outcome, UsageError};
use wirebench_declare::Project;
use wirebench_engine::git;
use wirebench_engine::measure::build::Builder;
use wirebench_engine::measure::cores::Cores;
use wirebench_engine::measure::interrupt::Interrupt;
use wirebench_engine::measure::side::Side;
use wirebench_engine::measure::soak::SoakTarget;
use wirebench_engine::session::{self, prepare};

pub(crate) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    let project = &root.project()?;
    if args.share.share() <= 0.0 || args.share.share() > 1.0 {
        return Err(UsageError(format!(
            "--share {}: expected more than 0% and at most 100%",
            args.share
        ))
        .into());
    }
    let own = Project {
        scenarios: vec![series::scenario(args)],
        ..project.clone()
    };
    let series = series::chosen(&own, args)?;
    let interrupt = Interrupt::watch()?;
    let _lock = session::locked(!args.lock.no_lock, &interrupt)?;
    let prepared = prepare::prepare(&own, std::slice::from_ref(&series), Cores::split(), interrupt.clone())?;
    if let Some(reason) = prepared.broken_drivers.get(&series.driver.name) {
        anyhow::bail!("driver {}: {reason}", series.driver.name);
    }
    let (jq, _) = prepare::jq(&own)?;
    let mut side = Side::new(git::state(&own.root), own.root.clone(), &own.servers);
    let builder = Builder {
        folder: own.root.clone(),
        interrupt,
        ..Builder::default()
    };
    side.build([args.server.as_str()].into_iter(), &builder);
    if let Some(reason) = side.broken.get(&args.server) {
        anyhow::bail!("server {}: {reason}", args.server);
    }
    let folder = tempfile::tempdir().context("no temporary folder can be made")?;
    let target = SoakTarget::start(&prepared.harness, &series, &side, folder.path().to_path_buf())?;
    let mut soaking = SoakRun {
        target,
        jq: &jq,
        folder: folder.path(),
    };
    let soak = soaking.all(args, &series)?;
    soaking.target.stop()?;
    if args.json {
        println!("{}", serde_json::to_string(&soak)?);
    } else {
        soak.print();
    }
    let good = soak.failures == 0 && soak.flat;
    Ok(Outcome::of(good))
}
