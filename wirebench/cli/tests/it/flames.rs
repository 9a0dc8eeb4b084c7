//! Flame graphs of the counts that changed, beside a run's comparison.

use serde_json::{Value, json};

use crate::compare::Records;
use crate::counted::{COUNTED, changed, metric};

#[test]
fn flame_graphs_are_drawn_of_what_changed_and_missing_stacks_are_one_warning() {
    let records = Records::new();
    let mut record = changed(&[("instructions", 16_313.0)]);
    for side in record["series"][0]["counts"].as_array_mut().unwrap() {
        let name = side["variant"].as_str().unwrap().to_owned();
        side["stacks"] = json!({"instructions": format!("stacks/{name}.folded"), "allocations": "stacks/none.folded"});
    }
    let file = records.file("run", &record);
    let folder = file.parent().unwrap();
    let bare = records.command(&["compare"], &[&file]);
    assert_eq!(bare.code, 0);
    assert_eq!(
        bare.stderr.matches("warning: no flame graph").count(),
        1,
        "{}",
        bare.stderr
    );
    assert!(bare.stderr.contains("stacks/baseline.folded"), "{}", bare.stderr);

    std::fs::create_dir(folder.join("stacks")).unwrap();
    std::fs::write(folder.join("stacks/baseline.folded"), "main;serve 16148000\n").unwrap();
    std::fs::write(
        folder.join("stacks/candidate.folded"),
        "main;serve 16148000\nmain;waste 165000\n",
    )
    .unwrap();
    let comparison = records.judged(&record);
    let path = metric(&comparison, "instructions")["flame_graph"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(path, format!("flames/{COUNTED}/instructions-difference.svg"));
    assert!(std::fs::read_to_string(folder.join(&path)).unwrap().contains("waste"));
    assert_eq!(crate::made::files(&folder.join("flames").join(COUNTED)).len(), 3);
    assert_eq!(metric(&comparison, "allocations")["flame_graph"], Value::Null);
}

#[test]
fn a_record_cannot_have_files_read_from_outside_its_folder() {
    let records = Records::new();
    let mut record = changed(&[("instructions", 16_313.0)]);
    for side in record["series"][0]["counts"].as_array_mut().unwrap() {
        side["stacks"] = json!({"instructions": "../outside.folded"});
    }
    std::fs::write(records.folder.path().join("outside.folded"), "main 5\n").unwrap();
    let file = records.file("run", &record);
    let done = records.command(&["compare"], &[&file]);
    assert_eq!(done.code, 1);
    assert!(
        done.stderr
            .contains("\"../outside.folded\" is no path below the record's folder"),
        "{}",
        done.stderr
    );
}
