//! An overlay: Kubernetes objects as kustomize rendered them, adapted for a run with names of its own, labels, an owner, another
//! image, and a container that reads CPU times.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::names::{Names, OVERLAY, RUN, VARIANT};

/// The annotation of the Service that load is sent to: the name of the declared server whose operations it answers.
pub(crate) const SERVER: &str = "wirebench.dev/server";
/// Where rendered overlays are, below the project's folder.
pub(crate) const FOLDER: &str = "deploy/kubernetes/rendered";
/// The container that reads CPU times; the name is taken.
pub(crate) const METER: &str = "wirebench-meter";

/// An overlay as it was rendered.
#[derive(Debug, Clone)]
pub struct Overlay {
    /// Its name.
    pub name: String,
    /// The declared server that it runs.
    pub server: String,
    /// The file's text, which a series' digest covers.
    pub text: String,
    /// Services, in the order of the file.
    services: Vec<Value>,
    /// Every other object.
    others: Vec<Value>,
    /// The name of the Service that load is sent to.
    pub(crate) front: String,
    /// The image that a variant replaces: that of the front's first container.
    image: String,
}

/// What differs between the variants of an overlay.
#[derive(Debug, Clone)]
pub(crate) struct Adaptation<'a> {
    /// The names and labels of its objects.
    pub names: &'a Names,
    /// The owner's reference, in JSON.
    pub owner: &'a Value,
    /// The image of its servers; `None` for the overlay's own.
    pub image: Option<&'a str>,
    /// Replicas of each Deployment; `None` for the overlay's own.
    pub replicas: Option<u32>,
    /// The image of the container that reads CPU times.
    pub meter_image: &'a str,
}

impl Overlay {
    /// Reads `deploy/kubernetes/rendered/NAME.yaml` of a project.
    ///
    /// # Errors
    /// When there is no such file, it is no YAML, or it holds objects that a run cannot rename.
    pub fn read(root: &Path, name: &str) -> anyhow::Result<Self> {
        let file = root.join(FOLDER).join(format!("{name}.yaml"));
        let wrong = |what: String| anyhow::anyhow!("{}: {what}", file.display());
        let text = fs::read_to_string(&file).map_err(|error| {
            wrong(format!(
                "cannot be read: {error}; --overlay names a file there, which `kubectl kustomize` writes"
            ))
        })?;
        Self::parse(name, text).map_err(wrong)
    }

    fn parse(name: &str, text: String) -> Result<Self, String> {
        let objects: Vec<Value> = serde_saphyr::from_multiple(&text).map_err(|error| format!("not YAML: {error}"))?;
        let objects = objects.into_iter().filter(|object| !object.is_null());
        let (services, others): (Vec<Value>, Vec<Value>) = objects.partition(|object| object["kind"] == "Service");
        for object in &others {
            let kind = object["kind"].as_str().unwrap_or_default();
            if !SUPPORTED.contains(&kind) {
                return Err(format!(
                    "{kind} {}: expected one of Service, {}",
                    object["metadata"]["name"],
                    SUPPORTED.join(", ")
                ));
            }
        }
        let of = |object: &Value| object["metadata"]["annotations"][SERVER].as_str().map(str::to_owned);
        let fronts: Vec<(String, String)> = services
            .iter()
            .filter_map(|one| Some((text_at(one, "/metadata/name"), of(one)?)))
            .collect();
        let [(front, server)] = fronts.as_slice() else {
            return Err(format!(
                "expected one Service with the annotation {SERVER}: SERVER, found {}",
                fronts.len()
            ));
        };
        let mut overlay = Self {
            name: name.to_owned(),
            server: server.clone(),
            services,
            others,
            front: front.clone(),
            image: String::new(),
            text,
        };
        let deployment = overlay
            .front_deployment()
            .ok_or_else(|| format!("Service {front}: no Deployment here has the labels of its selector"))?;
        overlay.image = text_at(deployment, "/spec/template/spec/containers/0/image");
        Ok(overlay)
    }

    /// The Deployment behind the front's Service.
    fn front_deployment(&self) -> Option<&Value> {
        let service = self
            .services
            .iter()
            .find(|one| one["metadata"]["name"] == *self.front)?;
        let wanted = service["spec"]["selector"].as_object()?;
        self.deployments().find(|one| {
            let labels = &one["spec"]["template"]["metadata"]["labels"];
            wanted.iter().all(|(key, value)| labels[key] == *value)
        })
    }

    fn deployments(&self) -> impl Iterator<Item = &Value> {
        self.others.iter().filter(|one| one["kind"] == "Deployment")
    }

    /// The name of the front's Deployment in a run, and the port that its first container listens on.
    ///
    /// # Errors
    /// When the container declares no port.
    pub(crate) fn front_pods(&self, names: &Names) -> Result<(String, u16), String> {
        let deployment = self
            .front_deployment()
            .ok_or("no Deployment behind the front's Service")?;
        let port = &deployment["spec"]["template"]["spec"]["containers"][0]["ports"][0]["containerPort"];
        let port = port.as_u64().and_then(|port| u16::try_from(port).ok());
        let name = text_at(deployment, "/metadata/name");
        let port = port.ok_or_else(|| format!("Deployment {name}: its first container declares no port"))?;
        Ok((names.of(&name), port))
    }

    /// Pods of all its Deployments together.
    pub(crate) fn pods(&self, replicas: Option<u32>) -> usize {
        let own = |one: &Value| one["spec"]["replicas"].as_u64().unwrap_or(1);
        let all = self
            .deployments()
            .map(|one| replicas.map_or_else(|| own(one), u64::from));
        usize::try_from(all.sum::<u64>()).unwrap_or(usize::MAX)
    }

    /// The Services, by the names that the overlay gives them. They are made first: their addresses are variables of every container.
    pub(crate) fn services(&self, adapt: &Adaptation) -> Vec<(String, Value)> {
        let adapted = self.services.iter().map(|service| {
            let name = text_at(service, "/metadata/name");
            let mut service = service.clone();
            adapt.set_metadata(&mut service);
            adapt.label(&mut service["spec"]["selector"]);
            // A fixed address can be taken once only.
            if let Some(spec) = service["spec"].as_object_mut() {
                spec.remove("clusterIP");
                spec.remove("clusterIPs");
            }
            (name, service)
        });
        adapted.collect()
    }

    /// Every other object, once the Services have addresses, which `variables` name.
    pub(crate) fn others(&self, adapt: &Adaptation, variables: &[Value]) -> Vec<Value> {
        let adapted = self.others.iter().map(|object| {
            let mut object = object.clone();
            adapt.set_metadata(&mut object);
            match object["kind"].as_str() {
                Some("Deployment") => self.adapt_deployment(&mut object, adapt, variables),
                Some("HorizontalPodAutoscaler") => {
                    let name = text_at(&object, "/spec/scaleTargetRef/name");
                    object["spec"]["scaleTargetRef"]["name"] = json!(adapt.names.of(&name));
                }
                _ => adapt.label(&mut object["spec"]["selector"]["matchLabels"]),
            }
            object
        });
        adapted.collect()
    }

    fn adapt_deployment(&self, object: &mut Value, adapt: &Adaptation, variables: &[Value]) {
        adapt.label(&mut object["spec"]["selector"]["matchLabels"]);
        adapt.label(&mut object["spec"]["template"]["metadata"]["labels"]);
        if let Some(replicas) = adapt.replicas {
            object["spec"]["replicas"] = json!(replicas);
        }
        let pod = &mut object["spec"]["template"]["spec"];
        pod["shareProcessNamespace"] = json!(true);
        let Some(containers) = pod["containers"].as_array_mut() else {
            return;
        };
        for container in containers.iter_mut() {
            if let Some(image) = adapt
                .image
                .filter(|_| repository(&text_at(container, "/image")) == repository(&self.image))
            {
                container["image"] = json!(image);
            }
            let own = container["env"].as_array().map_or(&[][..], Vec::as_slice);
            container["env"] = json!([variables, own].concat());
        }
        let resources = json!({"requests": {"cpu": "1m", "memory": "4Mi"}, "limits": {"memory": "32Mi"}});
        // It reads the CPU times of the pod's processes.
        containers.push(sleeping(METER, adapt.meter_image, &resources));
    }
}

/// The kinds of objects besides Services that can be renamed.
const SUPPORTED: [&str; 4] = [
    "Deployment",
    "PodDisruptionBudget",
    "HorizontalPodAutoscaler",
    "ServiceMonitor",
];

impl Adaptation<'_> {
    /// Gives an object its name, labels and owner.
    fn set_metadata(&self, object: &mut Value) {
        let name = text_at(object, "/metadata/name");
        object["metadata"]["name"] = json!(self.names.of(&name));
        object["metadata"]["ownerReferences"] = json!([self.owner]);
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.remove("namespace");
        }
        self.label(&mut object["metadata"]["labels"]);
    }

    fn label(&self, labels: &mut Value) {
        labels[RUN] = json!(self.names.run);
        labels[OVERLAY] = json!(self.names.overlay);
        labels[VARIANT] = json!(self.names.variant);
    }
}

/// The variables by which containers find a Service that the overlay calls `service`, with the address of the renamed one.
pub(crate) fn service_variables(service: &str, ip: &str, port: u64) -> [Value; 2] {
    // The way Kubernetes writes it.
    let service = service.to_ascii_uppercase().replace('-', "_");
    [
        json!({"name": format!("{service}_SERVICE_HOST"), "value": ip}),
        json!({"name": format!("{service}_SERVICE_PORT"), "value": port.to_string()}),
    ]
}

/// An image without its tag and digest.
fn repository(image: &str) -> &str {
    let image = image.split('@').next().unwrap_or_default();
    match image.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => name,
        _ => image,
    }
}

/// A container without any rights that sleeps until a command is run in it.
pub(crate) fn sleeping(name: &str, image: &str, resources: &Value) -> Value {
    json!({
        "name": name,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["sh", "-c", "while :; do sleep 3600; done"],
        "resources": resources,
        "securityContext": {
            "runAsNonRoot": true,
            "runAsUser": 65532,
            "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true,
            "capabilities": {"drop": ["ALL"]},
        },
    })
}

fn text_at(object: &Value, pointer: &str) -> String {
    let text = object.pointer(pointer).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

#[cfg(test)]
#[path = "overlay_tests.rs"]
mod tests;
