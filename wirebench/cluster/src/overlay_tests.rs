//! Tests of overlays: those of this repository, and what is refused.

use super::*;
use wirebench_record::run::Variant;

fn ours(name: &str) -> Overlay {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Overlay::read(&root, name).unwrap()
}

fn adapted(overlay: &Overlay, image: Option<&str>, variant: Variant) -> (Vec<Value>, Vec<Value>) {
    let names = Names::new("run", &overlay.name, variant);
    let owner = json!({"kind": "Job", "name": "wb-owner", "uid": "1"});
    let adapt = Adaptation {
        names: &names,
        owner: &owner,
        image,
        replicas: Some(2),
        meter_image: "load:1",
    };
    let variables = service_variables("service-http", "10.0.0.7", 8080);
    let services = overlay.services(&adapt).into_iter().map(|(_, service)| service);
    (services.collect(), overlay.others(&adapt, &variables))
}

#[test]
fn the_overlays_of_this_repository_run_its_declared_servers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for name in ["http", "grpc"] {
        let overlay = ours(name);
        assert_eq!(overlay.server, format!("three-tier-{name}"));
        assert!(root.join("servers").join(&overlay.server).join("server.toml").is_file());
        assert_eq!((overlay.pods(None), overlay.pods(Some(1))), (9, 3));
        let names = Names::new("run", name, Variant::Candidate);
        assert_eq!(overlay.front_pods(&names).unwrap().1, 8080);
    }
}

#[test]
fn every_object_gets_the_run_s_name_labels_and_owner() {
    let overlay = ours("http");
    let (services, others) = adapted(&overlay, None, Variant::Baseline);
    assert_eq!((services.len(), others.len()), (3, 6));
    for object in services.iter().chain(&others) {
        let name = text_at(object, "/metadata/name");
        assert!(name.starts_with("wb-") && name.contains("-b-"), "{name}");
        assert_eq!(object["metadata"]["ownerReferences"][0]["name"], "wb-owner");
        assert_eq!(object["metadata"]["labels"][VARIANT], "baseline");
    }
    for service in &services {
        assert_eq!(service["spec"]["selector"][VARIANT], "baseline");
    }
}

#[test]
fn a_variant_has_its_own_image_and_finds_its_own_services() {
    let overlay = ours("http");
    let (_, others) = adapted(&overlay, Some("localhost/servers:slow"), Variant::Candidate);
    for deployment in others.iter().filter(|one| one["kind"] == "Deployment") {
        let containers = deployment["spec"]["template"]["spec"]["containers"].as_array().unwrap();
        assert_eq!(containers.len(), 2);
        assert_eq!(containers[0]["image"], "localhost/servers:slow");
        assert_eq!(
            containers[0]["env"][0],
            json!({"name": "SERVICE_HTTP_SERVICE_HOST", "value": "10.0.0.7"})
        );
        assert_eq!(
            containers[0]["env"][1],
            json!({"name": "SERVICE_HTTP_SERVICE_PORT", "value": "8080"})
        );
        assert_eq!(containers[1]["name"], METER);
        assert_eq!(deployment["spec"]["replicas"], 2);
        let selector = &deployment["spec"]["selector"]["matchLabels"];
        assert_eq!(*selector, deployment["spec"]["template"]["metadata"]["labels"]);
    }
}

#[test]
fn another_program_s_image_stays() {
    assert_eq!(repository("registry:5000/a/b:1.2@sha256:00"), "registry:5000/a/b");
    assert_eq!(repository("registry:5000/a/b"), "registry:5000/a/b");
    assert_ne!(repository("postgres:17"), repository("wirebench-servers:0.1.0"));
}

#[test]
fn what_cannot_be_renamed_or_has_no_front_is_refused() {
    let secret = "kind: Secret\nmetadata: {name: keys}\n---\nkind: Service\nmetadata: {name: a}\n";
    let error = Overlay::parse("x", secret.into()).unwrap_err();
    assert!(
        error.starts_with("Secret \"keys\": expected one of Service, Deployment"),
        "{error}"
    );
    let error = Overlay::parse("x", "kind: Service\nmetadata: {name: a}\n".into()).unwrap_err();
    assert!(
        error.contains("expected one Service with the annotation wirebench.dev/server"),
        "{error}"
    );
    let error = Overlay::parse("x", "{".into()).unwrap_err();
    assert!(error.starts_with("not YAML"), "{error}");
}
