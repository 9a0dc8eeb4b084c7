//! `wirebench run --cluster`: the same run with servers and load in a Kubernetes cluster.

use wirebench_cluster::{LoadPods, Overlay, RunSpec, Side, fits};
use wirebench_declare::Project;
use wirebench_declare::plan;
use wirebench_engine::session::{NothingToMeasure, Recorded, SecondStage};
use wirebench_judge::compare;
use wirebench_record::run::Variant;

use super::args::Args;
use crate::flags::with_flag;
use crate::outcome::UsageError;

/// The flags of a run on a cluster.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "On a Kubernetes cluster")]
pub(crate) struct ClusterArgs {
    /// Measure on the cluster that KUBECONFIG names. --baseline and --candidate are then images of the servers.
    #[arg(long, requires = "overlay", requires = "load_image")]
    pub(crate) cluster: bool,
    /// Overlays to apply, separated by commas: names of files in deploy/kubernetes/rendered/, without .yaml.
    #[arg(long, value_name = "NAME", value_delimiter = ',', requires = "cluster")]
    pub(super) overlay: Vec<String>,
    /// Image of the load pods: a shell, and the drivers' programs.
    #[arg(long, value_name = "IMAGE", requires = "cluster")]
    pub(super) load_image: Option<String>,
    /// Pods that send requests; they share the connections. Without it, 1.
    #[arg(long, value_name = "N", requires = "cluster", value_parser = clap::value_parser!(u32).range(1..=100))]
    load_pods: Option<u32>,
    /// Replicas of each Deployment; without it, the overlay's.
    #[arg(long, value_name = "N", requires = "cluster", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(super) replicas: Option<u32>,
    /// Context of the kubeconfig; without it, the current one.
    #[arg(long, value_name = "NAME", requires = "cluster")]
    pub(super) context: Option<String>,
    /// Namespace in which everything is made; without it, the context's.
    #[arg(long, value_name = "NAME", requires = "cluster")]
    pub(super) namespace: Option<String>,
}

impl ClusterArgs {
    pub(super) fn pods(&self) -> u32 {
        self.load_pods.unwrap_or(1)
    }

    /// The flags again, for the command that repeats a run.
    pub(super) fn as_flags(&self) -> Vec<String> {
        std::iter::once("--cluster".to_owned())
            .chain(with_flag("--overlay", [self.overlay.join(",")]))
            .chain(with_flag("--load-image", &self.load_image))
            .chain(with_flag("--load-pods", [self.pods()]))
            .chain(with_flag("--replicas", self.replicas))
            .chain(with_flag("--context", &self.context))
            .chain(with_flag("--namespace", &self.namespace))
            .collect()
    }
}

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
    let (profile, rounds) = args.selection.scope(project, variants, args.rounds)?;
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
    let rules = &project.config;
    wirebench_cluster::measure(&RunSpec {
        project,
        profile: &profile.name,
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
        second_stage: SecondStage {
            plan: &|run, left| compare::next_stage(run, rules, left, &compare::pair_costs(run)),
            lacks_pairs: &|run, series| compare::lacks_pairs(run, rules, series),
            lacks_null_pairs: &|run, series| compare::lacks_null_pairs(run, rules, series),
        },
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
    let image = |side: &Side| Some([format!("--{}", side.variant.name()), side.image.clone()?]);
    words.extend(sides.iter().filter_map(image).flatten());
    words.extend(args.selection.as_flags());
    words.extend(args.amount_as_flags(rounds, seed));
    shell_words::join(words)
}
