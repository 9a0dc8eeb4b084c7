//! The flags of a run on a Kubernetes cluster.

use crate::flags::with_flag;

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
