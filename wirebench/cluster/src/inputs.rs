//! The files that load generators read, as a ConfigMap: protocol definitions, drivers' scripts, request bodies.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};
use k8s_openapi::ByteString;
use serde_json::{Value, json};

use wirebench_engine::measure::slot::files;

use crate::names::RUN;

/// Where the inputs are in a load pod.
pub(crate) const INPUTS: &str = "/wirebench-in";
/// Where a driver writes, in a load pod.
pub(crate) const OUTPUTS: &str = "/wirebench";
/// The most bytes of a ConfigMap; etcd stores little more than 1 MiB.
const MAX_BYTES: usize = 1_000_000;

/// Files by their path below [`INPUTS`].
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    files: BTreeMap<String, Vec<u8>>,
}

impl Inputs {
    /// Adds a file.
    pub(crate) fn add(&mut self, path: String, bytes: Vec<u8>) {
        self.files.insert(path, bytes);
    }

    /// Adds every file with this ending below a folder, at the same places below `under`.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub(crate) fn add_folder(&mut self, folder: &Path, ending: &str, under: &str) -> anyhow::Result<()> {
        let found = files::below(folder, ending, under);
        for (path, place) in found.with_context(|| format!("{}: cannot be read", folder.display()))? {
            let bytes = fs::read(&path).with_context(|| format!("{}: cannot be read", path.display()))?;
            self.add(place, bytes);
        }
        Ok(())
    }

    /// The ConfigMap's key of a file; `None` if there is no such file.
    pub(crate) fn key_of(&self, path: &str) -> Option<String> {
        let number = self.files.keys().position(|known| known == path)?;
        Some(file_key(number, path))
    }

    /// The ConfigMap, and the volume that puts its files in their places.
    ///
    /// # Errors
    /// When they are too large for one ConfigMap.
    pub(crate) fn objects(&self, name: &str, key: &str, owner: &Value) -> anyhow::Result<(Value, Value)> {
        let bytes: usize = self.files.values().map(Vec::len).sum();
        if bytes > MAX_BYTES {
            bail!(
                "the inputs of the chosen series are {bytes} bytes, and a ConfigMap holds {MAX_BYTES}; choose fewer series"
            );
        }
        let (mut data, mut items) = (serde_json::Map::new(), Vec::new());
        for (number, (path, bytes)) in self.files.iter().enumerate() {
            let file = file_key(number, path);
            data.insert(file.clone(), json!(ByteString(bytes.clone())));
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
}

/// The key of a file in the ConfigMap; keys cannot contain folders.
fn file_key(number: usize, path: &str) -> String {
    format!("{number}-{}", path.rsplit('/').next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_keep_their_places() {
        let mut inputs = Inputs::default();
        let protos = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proto");
        inputs.add_folder(&protos, ".proto", "project/proto").unwrap();
        inputs.add("bodies/0".into(), vec![0, 255]);
        let (map, volume) = inputs.objects("inputs", "key", &json!({})).unwrap();
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
        inputs.add("a".into(), vec![0; MAX_BYTES + 1]);
        assert!(
            inputs
                .objects("a", "b", &json!({}))
                .unwrap_err()
                .to_string()
                .contains("choose fewer series")
        );
    }
}
