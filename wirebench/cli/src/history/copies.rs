//! `wirebench history publish` and `fetch`: a whole history from a folder into object storage, and back.

use std::path::PathBuf;

use crate::folders::check_exists;
use crate::location::MAKE_ONE;
use crate::outcome::Outcome;
use wirebench_history::append::Written;
use wirebench_store::{Address, Bucket, Published, Wanted};

#[derive(Debug, clap::Args)]
pub(crate) struct PublishArgs {
    /// The history's folder.
    history: PathBuf,
    /// The history in object storage; files that it has are not replaced.
    #[arg(long, value_name = "s3://BUCKET/PREFIX")]
    to: Address,
}

#[derive(Debug, clap::Args)]
pub(crate) struct FetchArgs {
    /// Where the history is in object storage.
    #[arg(value_name = "s3://BUCKET/PREFIX")]
    history: Address,
    /// The folder to copy it into; made when missing. Files that it has already are not copied again.
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
}

pub(super) fn publish(args: &PublishArgs) -> anyhow::Result<Outcome> {
    check_exists(&args.history, "HISTORY", MAKE_ONE)?;
    let published = Bucket::open(&args.to)?.publish(&args.history)?;
    let new: Vec<&Published> = published.iter().filter(|one| one.written == Written::New).collect();
    for one in &new {
        println!("{}", one.address);
    }
    log::info!(
        "{} added, {} were there already",
        new.len(),
        published.len() - new.len()
    );
    Ok(Outcome::Done)
}

pub(super) fn fetch(args: &FetchArgs) -> anyhow::Result<Outcome> {
    let fetched = Bucket::open(&args.history)?.fetch(&args.to, Wanted::Everything)?;
    println!("{}", args.to.display());
    log::info!("{} files copied, {} were there already", fetched.copied, fetched.there);
    if fetched.ignored > 0 {
        log::info!(
            "{} objects are no files of a history and were left out",
            fetched.ignored
        );
    }
    Ok(Outcome::Done)
}
