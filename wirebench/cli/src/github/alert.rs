//! `wirebench github alert`: keeps one GitHub issue that lists what got worse on the default branch.

use std::path::PathBuf;

use crate::folders::Root;
use crate::histories::{acceptances, check_history};
use crate::outcome::Outcome;
use wirebench_github::access::Access;
use wirebench_github::alert::{MARKER, WantedIssue, write};
use wirebench_github::api::Api;
use wirebench_history::trend::{NEWEST, TrendQuery, trend};
use wirebench_present::report::alert::{body, nothing, title};
use wirebench_present::report::trend::open_regressions;
use wirebench_record::trend::Group;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples, in a workflow, after a push was published:
  wirebench github alert DIR             opens, updates or closes the issue
  wirebench github alert DIR --dry-run   prints the issue's text

Reads GITHUB_REPOSITORY, GITHUB_API_URL, GITHUB_SERVER_URL and GITHUB_TOKEN.
An issue is opened for an open regression that was first reported at one of the newest pushes, and then lists every open \
regression. It is closed when every regression is fixed or accepted.")]
pub(super) struct Args {
    /// The history's folder.
    history: PathBuf,
    /// Print the issue's text, and write nothing.
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    let question = TrendQuery {
        series: None,
        metric: None,
        accepted: acceptances(root)?,
        newest: NEWEST,
    };
    check_history(&args.history)?;
    let found = trend(&args.history, &question)?.trend;
    let open: Vec<&Group> = found.groups.iter().filter(|group| group.open).collect();
    let title = (!open.is_empty()).then(|| title(&open));
    let body = match title {
        Some(_) => body(&open, MARKER),
        None => nothing(MARKER),
    };
    if args.dry_run {
        let title = title.map_or_else(String::new, |title| title + "\n\n");
        print!("{title}{body}");
        return Ok(Outcome::Done);
    }
    let wanted = WantedIssue {
        title: title.as_deref(),
        body: &body,
        is_new: found.recent_alerts > 0,
    };
    let done = write(&Api::new(Access::from_environment()?), &wanted)?;
    let nothing_done = || format!("no issue is open; {}, none of them new", open_regressions(open.len()));
    log::info!("{}", done.unwrap_or_else(nothing_done));
    Ok(Outcome::Done)
}
