//! A history made by a stated model, with one example of everything that the dashboard can show. The older months are summaries
//! only; the newest month has all of its run files.

mod chance;
mod counted;
mod events;
mod extras;
mod json_file;
mod levels;
mod mishaps;
mod months;
mod pushes;
mod rounds;
mod runs;
mod series;

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use wirebench_history::append::{Admit, append};
use wirebench_history::index::{Months, index};
use wirebench_record::history::{FACTS, Facts, Released};

use json_file::write_json;
use pushes::{NEWEST_MONTH, Pushes, RELEASES};

/// The description of the model for the visitors of the dashboard.
const MODEL: &str = "Made up to show this site: every series has levels that step at a few given pushes; around them its times \
                     vary at random by 1 to 3 % (normal, seed 7), its counts not at all. Machines, commits, authors, releases, \
                     acceptances and the import are invented; levels resemble those of results/reference.";

/// Writes the history into a folder, which is created if it does not exist. An older history there is removed.
pub(crate) fn write(folder: &Path) -> anyhow::Result<()> {
    for part in ["months", "runs", "kept", "imported"] {
        let part = folder.join(part);
        if part.exists() {
            fs::remove_dir_all(&part).with_context(|| part.display().to_string())?;
        }
    }
    fs::create_dir_all(folder.join("months"))?;
    let pushes = Pushes::new()?;
    for month in months::before(NEWEST_MONTH, &pushes) {
        write_json(&folder.join(format!("months/{}.json", month.month)), &month)?;
    }
    let runs = runs::all(&pushes)?;
    for run in &runs {
        append(folder, run, Admit::Committed)?;
    }
    extras::write_comparison(folder, &runs)?;
    extras::import(folder)?;
    index(folder, Months::All)?;
    let released = RELEASES.map(|(place, name)| Released {
        commit: pushes::commit(place),
        name: name.into(),
    });
    let facts = Facts {
        schema: FACTS.into(),
        synthetic: Some(MODEL.into()),
        repository: None,
        releases: released.into(),
        commits: pushes.0.iter().map(extras::commit_message).collect(),
    };
    write_json(&folder.join("history.json"), &facts)
}
