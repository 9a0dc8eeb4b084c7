//! A stored run, of any age and from anywhere: shown as text, as Markdown and as a page, and judged.
#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use wirebench::compare::{Rules, across, paired};
use wirebench::declare::project::Config;
use wirebench::record::run::Run;
use wirebench::report::{markdown, terminal};
use wirebench::site::report;

static CONFIG: LazyLock<Config> = LazyLock::new(|| {
    let file = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../wirebench.toml"));
    Config::read(file).expect("this repository's own file is good")
});

fuzz_target!(|bytes: &[u8]| {
    let Ok(run) = serde_json::from_slice::<Run>(bytes) else {
        return;
    };
    let rules = Rules::from(&*CONFIG);
    let comparison = paired(&run, &rules).ok();
    let _ = across(&run, &run, &rules);
    let _ = (terminal::render(&run, Some(80)), markdown::render(&run, &[]));
    report(&run, comparison.as_ref()).expect("every run has a page");
});
