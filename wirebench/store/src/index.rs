//! Brings the summaries of a history in object storage up to date, beside others who do the same.

use std::collections::{BTreeMap, BTreeSet};

use crate::bucket::Bucket;
use crate::error::StoreError;
use crate::publish::content_of;
use wirebench_history::copies::{FileKind, month_in};
use wirebench_history::index::{Indexed, Months, index, is_current};
use wirebench_record::history::Month;

/// How often the summaries are made anew when others write them at the same time.
const TRIES: u32 = 10;

/// The run files of a month: names, and lengths in bytes.
type Files = BTreeMap<String, u64>;

/// A month's summary as it is stored.
struct Summary {
    /// `None` if it is broken.
    content: Option<Month>,
    tag: Option<String>,
}

impl Bucket {
    /// Brings the summaries up to date: reads the runs of the months whose summary is not of them, and replaces the summary if
    /// nobody did so meanwhile; otherwise it looks again. A summary is never replaced by an older one.
    ///
    /// # Errors
    /// When an object cannot be read or written, or others write the same summaries all the time. A broken run file is no error:
    /// it is skipped and named.
    pub fn index(&self, which: Months) -> Result<Indexed, StoreError> {
        let mut done = Indexed::default();
        let mut left: Option<BTreeSet<String>> = None;
        for _ in 0..TRIES {
            // Summaries before runs: a run that a summary names is then among the runs, so that none is dropped from a summary.
            let summaries = self.summaries_there()?;
            let runs = runs_by_month(self.list()?);
            // After a collision somebody else has summarised the month: that counts, also where all are to be made anew.
            let rebuild = which == Months::All && left.is_none();
            let months = left.take().unwrap_or_else(|| runs.keys().cloned().collect());
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
            left = Some(collided);
        }
        Err(StoreError::Contended {
            address: self.address().to_string(),
            months: left.unwrap_or_default().into_iter().collect::<Vec<_>>().join(", "),
            tries: TRIES,
        })
    }

    fn summaries_there(&self) -> Result<BTreeMap<String, Summary>, StoreError> {
        let listed = self.list()?.into_keys();
        let paths: Vec<String> = listed
            .filter(|path| FileKind::of(path) == Some(FileKind::Month))
            .collect();
        let mut found = BTreeMap::new();
        self.read(&paths, |path, content| {
            let month = path.trim_start_matches("months/").trim_end_matches(".json");
            let summary = Summary {
                content: month_in(&content.bytes),
                tag: content.tag,
            };
            found.insert(month.to_owned(), summary);
            Ok(())
        })?;
        Ok(found)
    }

    /// Summarises a month's runs; `tag` is that of the summary it has. Returns false if somebody else wrote one meanwhile.
    fn summarise(
        &self,
        month: &str,
        files: &Files,
        tag: Option<String>,
        done: &mut Indexed,
    ) -> Result<bool, StoreError> {
        let folder = tempfile::tempdir().map_err(StoreError::Temporary)?;
        let below = format!("runs/{}", month.replace('-', "/"));
        let paths: Vec<String> = files.keys().map(|name| format!("{below}/{name}")).collect();
        self.copy(folder.path(), &paths)?;
        let indexed = index(folder.path(), Months::All)?;
        let path = format!("months/{month}.json");
        if !self.replace(&path, &content_of(folder.path(), &path)?, tag)? {
            return Ok(false);
        }
        done.written.extend(indexed.written);
        let local = folder.path().to_string_lossy().into_owned();
        let named = indexed
            .skipped
            .into_iter()
            .map(|one| one.replace(&local, &self.address().to_string()));
        done.skipped.extend(named);
        Ok(true)
    }
}

fn runs_by_month(listed: BTreeMap<String, u64>) -> BTreeMap<String, Files> {
    let mut runs: BTreeMap<String, Files> = BTreeMap::new();
    for (path, bytes) in listed {
        if let Some(FileKind::Run(month)) = FileKind::of(&path) {
            let name = path.rsplit('/').next().unwrap_or_default().to_owned();
            runs.entry(month).or_default().insert(name, bytes);
        }
    }
    runs
}
