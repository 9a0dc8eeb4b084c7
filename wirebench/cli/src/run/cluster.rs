//! `wirebench run --cluster`: the same run with servers and load in a Kubernetes cluster.

use wirebench_cluster::{LoadPods, Overlay, RunSpec, Side, fits};
use wirebench_declare::Project;
use wirebench_declare::plan;
use wirebench_engine::session::{NothingToMeasure, Recorded};
use wirebench_judge::compare::{self, Rules};
use wirebench_record::run::Variant;

use super::args::Args;
use crate::flags::selection::Scope;
use crate::outcome::UsageError;

/// Measures the selected series on a cluster and writes the record into the run's folder.
///
/// # Errors
/// When an overlay cannot be read, no series fits, or the cluster refuses the run.
pub(super) fn measure_on_cluster(project: &Project, args: &Args) -> anyhow::Result<Recorded> {
    let flags = &args.cluster;
    let sides = sides(args)?;
    let overlays = flags.overlay.iter().map(|name| Overlay::read(&project.root, name));
    let overlays: Vec<Overlay> = overlays
        .collect::<Result<_, _>>()
        .map_err(|error| UsageError(error.to_string()))?;
    let variants = sides.iter().map(|side| side.variant);
    let Scope { name, profile, rounds } = args.selection.scope(project, variants, args.rounds)?;
    let mut selection = args.selection.selection();
    if selection.servers.is_empty() {
        selection.servers = overlays.iter().map(|overlay| overlay.server.clone()).collect();
    }
    let mut series = plan::series(project, profile, &selection)?;
    series.retain(|one| overlays.iter().any(|overlay| overlay.server == one.server.name) && fits(one, flags.pods()));
    if series.is_empty() {
        return Err(NothingToMeasure.into());
    }
    let seed = args.seed();
    let rules = Rules::from(&project.config);
    wirebench_cluster::measure(&RunSpec {
        project,
        profile: name,
        series,
        overlays,
        repeat: repeat_command(args, &sides, rounds, seed),
        sides,
        context: flags.context.clone(),
        namespace: flags.namespace.clone(),
        load: LoadPods {
            pods: flags.pods(),
            image: flags.load_image.clone().unwrap_or_default(),
        },
        replicas: flags.replicas,
        rounds,
        seed,
        out: &args.out(project),
        keep_raw: args.keep_raw,
        budget: args.budget.unwrap_or(rules.compare.budget).0,
        second_stage: &|run, left| compare::next_stage(run, &rules, left, &compare::pair_costs(run)),
    })
}

/// The images to measure: one of each variant.
fn sides(args: &Args) -> Result<Vec<Side>, UsageError> {
    let one = |variant: Variant, given: &[String]| match given {
        [] => Ok(None),
        [image] => Ok(Some(image.clone())),
        _ => Err(UsageError(format!(
            "--{}: given several times; on a cluster it is one image",
            variant.name()
        ))),
    };
    if !args.sides.reference.is_empty() || args.only.is_some() || args.shard.is_some() {
        let message = "--reference, --only and --shard are not for --cluster: leave them out";
        return Err(UsageError(message.into()));
    }
    let baseline = one(Variant::Baseline, &args.sides.baseline)?;
    let candidate = Side {
        variant: Variant::Candidate,
        image: one(Variant::Candidate, &args.sides.candidate)?,
    };
    let baseline = baseline.map(|image| Side {
        variant: Variant::Baseline,
        image: Some(image),
    });
    Ok(baseline.into_iter().chain([candidate]).collect())
}

/// The command that repeats a run, for its record.
fn repeat_command(args: &Args, sides: &[Side], rounds: u32, seed: u64) -> String {
    let mut words = vec!["wirebench".to_owned(), "run".to_owned()];
    words.extend(args.cluster.as_flags());
    let images = sides
        .iter()
        .filter_map(|side| Some([format!("--{}", side.variant.name()), side.image.clone()?]));
    words.extend(images.flatten());
    words.extend(args.selection.as_flags());
    words.extend(args.amount_as_flags(rounds, seed));
    shell_words::join(words)
}
