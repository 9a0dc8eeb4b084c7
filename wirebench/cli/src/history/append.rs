//! `wirebench history append`: one run more.

use std::path::PathBuf;

use crate::folders::Root;
use crate::location::Location;
use crate::outcome::Outcome;
use crate::runs;
use wirebench_history::append::Admit;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Histories in S3-compatible object storage (s3://BUCKET/PREFIX) take AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, \
AWS_SESSION_TOKEN, AWS_REGION and AWS_ENDPOINT_URL from the environment, and AWS_ALLOW_HTTP=true for a server without TLS."
)]
pub(crate) struct Args {
    /// A run's folder or its run.json; without it, the newest run under results/.
    run: Option<PathBuf>,
    /// The history's folder, made when missing; or s3://BUCKET/PREFIX.
    #[arg(long, value_name = "DIR", value_parser = Location::parser())]
    to: Location,
    /// Accepts a run whose files differed from its commit.
    #[arg(long)]
    allow_modified: bool,
}

pub(super) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    // A run given by path needs no project.
    let root = if args.run.is_some() {
        PathBuf::new()
    } else {
        root.folder()?
    };
    let run = runs::read_at(&root, args.run.as_deref())?;
    let admit = if args.allow_modified {
        Admit::Modified
    } else {
        Admit::Committed
    };
    args.to.append(&run, admit)?;
    Ok(Outcome::Done)
}
