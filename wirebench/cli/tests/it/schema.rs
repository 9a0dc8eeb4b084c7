//! The committed JSON Schemas are those the record's types give.

use std::fs;

use crate::bench::repository;

/// Holds a committed schema against what a type gives; writes it anew when asked to.
fn assert_current(name: &str, schema: &schemars::Schema) {
    let text = serde_json::to_string_pretty(schema).unwrap() + "\n";
    let file = repository().join("results/schema").join(name);
    if std::env::var_os("WIREBENCH_WRITE_SCHEMA").is_some() {
        fs::write(&file, &text).unwrap();
    }
    let committed = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        committed == text,
        "results/schema/{name} is not what the types give; write it anew with: \
         WIREBENCH_WRITE_SCHEMA=1 cargo test -p wirebench the_committed_schema_is_current"
    );
}

#[test]
fn the_committed_schema_is_current() {
    assert_current("run.v1.schema.json", &schemars::schema_for!(wirebench_record::run::Run));
    assert_current(
        "comparison.v2.schema.json",
        &schemars::schema_for!(wirebench_record::comparison::Comparison),
    );
    assert_current(
        "history-month.v1.schema.json",
        &schemars::schema_for!(wirebench_record::history::Month),
    );
    assert_current(
        "trend.v1.schema.json",
        &schemars::schema_for!(wirebench_record::trend::Trend),
    );
    assert_current(
        "imported.v1.schema.json",
        &schemars::schema_for!(wirebench_record::imported::Imported),
    );
    assert_current(
        "history.v1.schema.json",
        &schemars::schema_for!(wirebench_record::history::Facts),
    );
    assert_current(
        "site.v1.schema.json",
        &schemars::schema_for!(wirebench_record::site::Manifest),
    );
    assert_current(
        "pushes.v1.schema.json",
        &schemars::schema_for!(wirebench_record::site::Pushes),
    );
    assert_current(
        "column.v1.schema.json",
        &schemars::schema_for!(wirebench_record::site::Column),
    );
    assert_current(
        "points.v1.schema.json",
        &schemars::schema_for!(wirebench_record::site::PointsFile),
    );
}

#[test]
fn the_reference_run_fits_the_schema() {
    let text = fs::read(repository().join("results/reference/run.json")).unwrap();
    crate::bench::assert_fits_schema(&serde_json::from_slice(&text).unwrap());
}
