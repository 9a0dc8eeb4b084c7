//! The files of a project: the first byte says which one the rest is; a good one goes on to the series it makes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wirebench::declare::Project;
use wirebench::plan::{self, Selection};
use wirebench_fuzz::in_folder;

const CONFIG: &[u8] = br#"builtin_drivers = []
[profiles.quick]
about = "x"
rounds = 1
duration_at_most = "1s"
requests_at_most = 10
"#;
const SCENARIO: &[u8] = br#"about = "x"
operation = "ask"
load = { connections = [1, 2], duration = "2s" }
"#;
const SERVER: &[u8] = br#"about = "x"
protocols = ["http"]
command = ["x"]
ready = { tcp = true }
[operations.ask]
request = { path = "/ask" }
"#;
const DRIVER: &[u8] = br#"about = "x"
[tool]
program = "x"
version = "1"
version_command = ["x"]
version_pattern = "(1)"
install = "x"
[protocols.http]
args = ["{url}"]
[normalise]
args = ["{stdout}"]
"#;

fuzz_target!(|bytes: &[u8]| {
    let Some((which, rest)) = bytes.split_first() else {
        return;
    };
    let mut files = [
        ("wirebench.toml", CONFIG),
        ("scenarios/ask.toml", SCENARIO),
        ("servers/one/server.toml", SERVER),
        ("drivers/one/driver.toml", DRIVER),
    ];
    files[usize::from(which % 4)].1 = rest;
    in_folder(&files, |folder| {
        let Ok(project) = Project::read(folder) else { return };
        for profile in project.config.profiles.values() {
            let _ = plan::series(&project, profile, &Selection::default());
        }
    });
});
