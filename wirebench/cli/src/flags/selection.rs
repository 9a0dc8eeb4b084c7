//! The flags that choose a profile and series, shared by list, verify and run.

use clap_complete::ArgValueCandidates;

use crate::candidates;
use crate::flags::with_flag;
use crate::outcome::UsageError;
use wirebench_declare::Project;
use wirebench_declare::plan::Selection;
use wirebench_declare::profiles::names_of;
use wirebench_declare::project::Profile;
use wirebench_record::run::Variant;

/// Which profile and which series.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct SelectionArgs {
    /// Profile from wirebench.toml; without it, its default_profile, or with a baseline its compare.profile.
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(candidates::profiles))]
    pub(crate) profile: Option<String>,
    /// Only scenarios that match this glob; may be given several times.
    #[arg(long, value_name = "GLOB", add = ArgValueCandidates::new(candidates::scenarios))]
    scenario: Vec<String>,
    /// Only servers that match this glob; may be given several times.
    #[arg(long, value_name = "GLOB", add = ArgValueCandidates::new(candidates::servers))]
    server: Vec<String>,
    /// Only drivers that match this glob; may be given several times.
    #[arg(long, value_name = "GLOB", add = ArgValueCandidates::new(candidates::drivers))]
    driver: Vec<String>,
    /// Only series (scenario@server@driver, as `wirebench list` prints them) that match this glob; may be given several times.
    #[arg(long, value_name = "GLOB")]
    series: Vec<String>,
}

impl SelectionArgs {
    /// The profile.
    pub(crate) fn profile<'a>(&self, project: &'a Project) -> Result<&'a Profile, UsageError> {
        self.profile_or(project, None)
    }

    /// The profile of a run of these variants, and the number of rounds of each series and variant. A run with a baseline takes
    /// both from `[compare]`, unless a flag (`--profile`, `rounds`) says otherwise.
    ///
    /// # Errors
    /// When there is no such profile.
    pub(crate) fn scope<'a>(
        &self,
        project: &'a Project,
        mut variants: impl Iterator<Item = Variant>,
        rounds: Option<u32>,
    ) -> Result<(&'a Profile, u32), UsageError> {
        let has_baseline = variants.any(|variant| variant == Variant::Baseline);
        let compare = has_baseline.then_some(&project.config.compare);
        let preferred = compare.and_then(|compare| compare.profile.as_ref());
        let profile = self.profile_or(project, preferred)?;
        let by_default = compare.map_or(profile.rounds, |compare| compare.rounds);
        Ok((profile, rounds.unwrap_or(by_default)))
    }

    fn profile_or<'a>(&self, project: &'a Project, preferred: Option<&String>) -> Result<&'a Profile, UsageError> {
        let config = &project.config;
        let name = self.profile.as_ref().or(preferred).unwrap_or(&config.default_profile);
        config.profiles.get(name).ok_or_else(|| {
            let known = names_of(&config.profiles);
            UsageError(format!(
                "--profile {name}: no such profile in wirebench.toml; there are {known}"
            ))
        })
    }

    pub(crate) fn selection(&self) -> Selection {
        Selection {
            scenarios: self.scenario.clone(),
            servers: self.server.clone(),
            drivers: self.driver.clone(),
            series: self.series.clone(),
        }
    }

    /// The flags again, for the command that repeats a run.
    pub(crate) fn as_flags(&self) -> Vec<String> {
        with_flag("--profile", &self.profile)
            .chain(with_flag("--scenario", &self.scenario))
            .chain(with_flag("--server", &self.server))
            .chain(with_flag("--driver", &self.driver))
            .chain(with_flag("--series", &self.series))
            .collect()
    }
}
