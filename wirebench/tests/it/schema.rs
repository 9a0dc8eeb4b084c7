//! The committed JSON Schema is the one the record's types give.

use std::fs;

use crate::bench::repository;

#[test]
fn the_committed_schema_is_current() {
    let schema = schemars::schema_for!(wirebench::record::run::Run);
    let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    let file = repository().join("results/schema/run.v1.schema.json");
    if std::env::var_os("WIREBENCH_WRITE_SCHEMA").is_some() {
        fs::write(&file, &text).unwrap();
    }
    let committed = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        committed == text,
        "results/schema/run.v1.schema.json is not what the types give; write it anew with: \
         WIREBENCH_WRITE_SCHEMA=1 cargo test -p wirebench the_committed_schema_is_current"
    );
}

#[test]
fn the_reference_run_fits_the_schema() {
    let text = fs::read(repository().join("results/reference/run.json")).unwrap();
    crate::bench::assert_fits_schema(&serde_json::from_slice(&text).unwrap());
}
