//! The specification of a run on a cluster, and its preparation: the drivers' input files, and servers that are ready.
//!
//! The files that load generators read, as a ConfigMap: protocol definitions, drivers' scripts, request bodies.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::{Value, json};

use crate::deploy::{Target, wait};
use crate::kubectl::Cluster;
use crate::load;
use crate::names::RUN;
use crate::overlay::Overlay;
use wirebench_declare::Project;
use wirebench_declare::plan::PlannedSeries;
use wirebench_declare::server::{GrpcOperation, Operation};
use wirebench_engine::measure::request::Request;
use wirebench_engine::measure::slot::files;
use wirebench_engine::measure::values::Captured;
use wirebench_engine::measure::wire::Endpoint;
use wirebench_engine::session::SecondStage;
use wirebench_record::run::Variant;

/// How long the first right response may take after the pods are ready.
const FIRST_RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(100);

/// The pods that send requests.
#[derive(Debug, Clone)]
pub struct LoadPods {
    /// How many there are.
    pub pods: u32,
    /// Their image: a shell, and the drivers' programs.
    pub image: String,
}

/// The image of a variant, as the user named it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// Which variant.
    pub variant: Variant,
    /// The image of its servers; `None` for the overlay's own.
    pub image: Option<String>,
}

/// What a run on a cluster measures, and how.
pub struct RunSpec<'a> {
    /// The project.
    pub project: &'a Project,
    /// The profile's name.
    pub profile: &'a str,
    /// The series, all of which fit; their servers are those of the overlays.
    pub series: Vec<PlannedSeries<'a>>,
    /// The overlays to apply.
    pub overlays: Vec<Overlay>,
    /// The variants: a candidate, and a baseline if two are compared.
    pub sides: Vec<Side>,
    /// The context of the kubeconfig; `None` for the current one.
    pub context: Option<String>,
    /// The namespace; `None` for the context's.
    pub namespace: Option<String>,
    /// The load pods.
    pub load: LoadPods,
    /// Replicas of each Deployment; `None` for the overlay's own.
    pub replicas: Option<u32>,
    /// Rounds of each series and variant in the first stage.
    pub rounds: u32,
    /// Seed of the order of rounds.
    pub seed: u64,
    /// The folder that takes the run's folder.
    pub out: &'a Path,
    /// The command that repeats the run.
    pub repeat: String,
    /// Whether raw output of good rounds is kept too.
    pub keep_raw: bool,
    /// Wall time for rounds of load where two variants are compared.
    pub budget: Duration,
    /// Plans the second stage.
    pub second_stage: SecondStage<'a>,
}

/// Waits until every pod of a target is ready, and until a first response is right: it takes a moment until every node knows the
/// addresses of Services.
///
/// # Errors
/// When that takes too long; the message contains the reason.
pub(crate) fn wait_until_ready(
    cluster: &Cluster,
    root: &Path,
    target: &Target,
    series: Option<&PlannedSeries<'_>>,
) -> anyhow::Result<()> {
    wait(cluster, &target.names.selector(), target.pods)?;
    let Some(series) = series else {
        return Ok(());
    };
    let request = request(root, series)?;
    let pods = target.ready_pods(cluster)?;
    let deadline = Instant::now() + FIRST_RESPONSE_TIMEOUT;
    loop {
        // Opened again: kubectl closes a port whose first connection fails.
        let answered = target.forward(cluster, &pods).and_then(|port| port.check(&request));
        match answered {
            Ok(_) => return Ok(()),
            Err(error) if cluster.interrupt.is_requested() => return Err(error),
            Err(error) if Instant::now() > deadline => {
                bail!("the pods are ready, and after {FIRST_RESPONSE_TIMEOUT:?} there was no right response: {error:#}")
            }
            Err(_) => std::thread::sleep(POLL),
        }
    }
}

/// The request of a series.
///
/// # Errors
/// When it needs seeds or server reflection, which only servers on this machine support.
pub(crate) fn request<'q>(root: &Path, series: &PlannedSeries<'q>) -> anyhow::Result<Request<'q>> {
    let name = &series.server.name;
    anyhow::ensure!(
        series.server.seed.is_empty(),
        "server {name}: its seeds are not sent in a cluster; measure it on one machine, or declare it without seeds"
    );
    if let Operation::Grpc(GrpcOperation { proto: None, call, .. }) = series.operation {
        bail!("server {name}: {call} has no .proto file; a cluster needs one: name it with proto and proto_root");
    }
    let endpoint = Endpoint {
        address: "",
        protocol: series.protocol,
        ca: Path::new(""),
    };
    let request = Request::new(root, series.server, series.operation, endpoint, &Captured::new())?;
    anyhow::ensure!(
        request.protoset().is_none(),
        "server {name}: its .proto file imports a file that is not in the repository; a cluster needs all of them below proto_root"
    );
    Ok(request)
}

/// The files that the drivers of all series read.
pub(crate) fn inputs(spec: &RunSpec) -> anyhow::Result<Inputs> {
    let root = &spec.project.root;
    let mut inputs = Inputs::default();
    for (number, series) in spec.series.iter().enumerate() {
        let request = request(root, series)?;
        inputs.insert(load::body(number), request.wire.body.clone());
        if let Operation::Grpc(GrpcOperation { proto: Some(file), .. }) = series.operation {
            let under = format!("project/{}", file.proto_root);
            add_folder(&mut inputs, &root.join(&file.proto_root), ".proto", &under)?;
        }
        let name = &series.driver.name;
        let added = add_folder(&mut inputs, &series.driver.folder, ".js", &format!("drivers/{name}"));
        added.with_context(|| format!("driver {name}"))?;
    }
    Ok(inputs)
}

/// Where the inputs are in a load pod.
pub(crate) const INPUTS: &str = "/wirebench-in";
/// Where a driver writes, in a load pod.
pub(crate) const OUTPUTS: &str = "/wirebench";
/// The most bytes of a ConfigMap; etcd stores little more than 1 MiB.
const MAX_BYTES: usize = 1_000_000;

/// Files by their path below [`INPUTS`].
pub(crate) type Inputs = BTreeMap<String, Vec<u8>>;

/// Adds every file with this ending below a folder, at the same places below `under`.
///
/// # Errors
/// When the folder cannot be read.
fn add_folder(inputs: &mut Inputs, folder: &Path, ending: &str, under: &str) -> anyhow::Result<()> {
    let found = files::below(folder, ending, under);
    for (path, place) in found.with_context(|| format!("{}: cannot be read", folder.display()))? {
        let bytes = fs::read(&path).with_context(|| format!("{}: cannot be read", path.display()))?;
        inputs.insert(place, bytes);
    }
    Ok(())
}

/// The ConfigMap, and the volume that puts its files in their places.
///
/// # Errors
/// When they are too large for one ConfigMap.
pub(crate) fn objects(inputs: &Inputs, name: &str, key: &str, owner: &Value) -> anyhow::Result<(Value, Value)> {
    let bytes: usize = inputs.values().map(Vec::len).sum();
    if bytes > MAX_BYTES {
        bail!(
            "the inputs of the chosen series are {bytes} bytes, and a ConfigMap holds {MAX_BYTES}; choose fewer series"
        );
    }
    let (mut data, mut items) = (serde_json::Map::new(), Vec::new());
    for (number, (path, bytes)) in inputs.iter().enumerate() {
        // Keys cannot contain folders.
        let file = format!("{number}-{}", path.rsplit('/').next().unwrap_or_default());
        data.insert(file.clone(), json!(BASE64_STANDARD.encode(bytes)));
        items.push(json!({"key": file, "path": path}));
    }
    let map = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "labels": {RUN: key}, "ownerReferences": [owner]},
        "binaryData": data,
    });
    let volume = json!({"name": "inputs", "configMap": {"name": name, "items": items, "optional": true}});
    Ok((map, volume))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_keep_their_places() {
        let mut inputs = Inputs::default();
        let protos = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proto");
        add_folder(&mut inputs, &protos, ".proto", "project/proto").unwrap();
        inputs.insert("bodies/0".into(), vec![0, 255]);
        let (map, volume) = objects(&inputs, "inputs", "key", &json!({})).unwrap();
        assert_eq!(map["binaryData"]["0-0"], "AP8=");
        assert_eq!(
            volume["configMap"]["items"][0],
            json!({"key": "0-0", "path": "bodies/0"})
        );
        let paths = volume["configMap"]["items"].to_string();
        assert!(
            paths.contains("project/proto/wirebench/weather/v1/weather.proto"),
            "{paths}"
        );
    }

    #[test]
    fn more_than_a_config_map_holds_is_refused() {
        let mut inputs = Inputs::default();
        inputs.insert("a".into(), vec![0; MAX_BYTES + 1]);
        let refused = objects(&inputs, "a", "b", &json!({})).unwrap_err().to_string();
        assert!(refused.contains("choose fewer series"));
    }
}
