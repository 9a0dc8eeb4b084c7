//! Brings the summaries of a history in object storage up to date, while others may do the same.

use std::collections::{BTreeMap, BTreeSet};

use crate::bucket::Bucket;
use crate::error::StoreError;
use crate::fetch::name_of;
use crate::publish::content_of;
use wirebench_history::copies::{FileKind, month_in};
use wirebench_history::index::{Indexed, Months, index, is_current};
use wirebench_record::history::Month;

/// How often the summaries are written anew if others write them at the same time.
const TRIES: u32 = 10;

/// The run files of a month: the length in bytes by name.
type Files = BTreeMap<String, u64>;

/// A stored summary.
struct Summary {
    /// `None` if it is broken.
    content: Option<Month>,
    tag: Option<String>,
}

impl Bucket {
    /// Brings the summaries up to date: reads the runs of each month whose summary is out of date, and replaces the summary. If
    /// somebody else replaced it meanwhile, the month is examined again. A summary is never replaced by an older one.
    ///
    /// # Errors
    /// If an object cannot be read or written, or others keep writing the same summaries. A broken run file is no error: it is
    /// skipped and named.
    pub fn index(&self, which: Months) -> Result<Indexed, StoreError> {
        let mut done = Indexed::default();
        let mut contended: Option<BTreeSet<String>> = None;
        for _ in 0..TRIES {
            // Summaries before runs: a run in a summary is then among the runs, so that no summary loses a run.
            let summaries = self.summaries()?;
            let runs = runs_by_month(self.list()?);
            // A month that somebody else has summarised meanwhile is up to date, even if all are to be summarised.
            let rebuild = which == Months::All && contended.is_none();
            let months = contended.take().unwrap_or_else(|| runs.keys().cloned().collect());
            let mut collided = BTreeSet::new();
            for (month, files) in runs.iter().filter(|(month, _)| months.contains(*month)) {
                let summary = summaries.get(month);
                let content = summary.and_then(|summary| summary.content.as_ref());
                if !rebuild && content.is_some_and(|content| is_current(content, files)) {
                    done.current += 1;
                    continue;
                }
                let tag = summary.and_then(|summary| summary.tag.clone());
                if !self.summarise(month, files, tag, &mut done)? {
                    collided.insert(month.clone());
                }
            }
            done.orphans = summaries
                .into_keys()
                .filter(|month| !runs.contains_key(month))
                .collect();
            if collided.is_empty() {
                return Ok(done);
            }
            contended = Some(collided);
        }
        Err(StoreError::Contended {
            address: self.address().to_string(),
            months: contended.unwrap_or_default().into_iter().collect::<Vec<_>>().join(", "),
            tries: TRIES,
        })
    }

    /// The stored summaries by month.
    fn summaries(&self) -> Result<BTreeMap<String, Summary>, StoreError> {
        let paths = self.list()?.into_keys();
        let paths: Vec<String> = paths
            .filter(|path| FileKind::of(path) == Some(FileKind::Month))
            .collect();
        let mut summaries = BTreeMap::new();
        self.read(&paths, |path, content| {
            let month = path.trim_start_matches("months/").trim_end_matches(".json");
            let summary = Summary {
                content: month_in(&content.bytes),
                tag: content.tag,
            };
            summaries.insert(month.to_owned(), summary);
            Ok(())
        })?;
        Ok(summaries)
    }

    /// Summarises a month's runs. `tag` is the tag of the stored summary. Returns false if somebody else wrote one meanwhile.
    fn summarise(
        &self,
        month: &str,
        files: &Files,
        tag: Option<String>,
        done: &mut Indexed,
    ) -> Result<bool, StoreError> {
        let folder = tempfile::tempdir().map_err(StoreError::Temporary)?;
        let runs = format!("runs/{}", month.replace('-', "/"));
        let paths: Vec<String> = files.keys().map(|name| format!("{runs}/{name}")).collect();
        self.copy(folder.path(), &paths)?;
        let indexed = index(folder.path(), Months::All)?;
        let path = format!("months/{month}.json");
        if !self.replace(&path, &content_of(folder.path(), &path)?, tag)? {
            return Ok(false);
        }
        done.written.extend(indexed.written);
        // The errors name the address instead of the temporary folder.
        let (folder, address) = (folder.path().to_string_lossy(), self.address().to_string());
        let skipped = indexed.skipped.iter();
        done.skipped
            .extend(skipped.map(|error| error.replace(&*folder, &address)));
        Ok(true)
    }
}

fn runs_by_month(listed: BTreeMap<String, u64>) -> BTreeMap<String, Files> {
    let mut runs: BTreeMap<String, Files> = BTreeMap::new();
    for (path, bytes) in listed {
        if let Some(FileKind::Run(month)) = FileKind::of(&path) {
            runs.entry(month).or_default().insert(name_of(&path).to_owned(), bytes);
        }
    }
    runs
}
