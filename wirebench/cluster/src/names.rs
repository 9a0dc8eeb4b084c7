//! The names and labels of a run's objects. Several runs, and both variants of one, share a namespace without meeting.

use wirebench_engine::measure::digest::first_bytes;
use wirebench_record::run::Variant;

/// The label that every object and pod of a run has.
pub(crate) const RUN: &str = "wirebench.dev/run";
/// The label that says which overlay an object comes from.
pub(crate) const OVERLAY: &str = "wirebench.dev/overlay";
/// The label that says which variant an object belongs to.
pub(crate) const VARIANT: &str = "wirebench.dev/variant";
/// The most characters of a Service's name.
const LONGEST: usize = 63;

/// The names of the objects of an overlay in one variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Names {
    /// The run's key.
    pub(crate) run: String,
    /// The overlay's name.
    pub(crate) overlay: String,
    /// The variant's name.
    pub(crate) variant: &'static str,
}

impl Names {
    /// The names of an overlay's variant in the run with this id.
    pub(crate) fn new(run: &str, overlay: &str, variant: Variant) -> Self {
        Self {
            run: key(run),
            overlay: overlay.to_owned(),
            variant: variant.name(),
        }
    }

    /// The name in this run of an object that an overlay calls `name`. A name that would be too long is cut, and ends with a
    /// hash of all of it.
    pub(crate) fn of(&self, name: &str) -> String {
        let name = format!("{}{name}", self.prefix());
        if name.len() <= LONGEST {
            return name;
        }
        let hash = first_bytes(&name, 4);
        let cut: String = name.chars().take(LONGEST - 1 - hash.len()).collect();
        format!("{}-{hash}", cut.trim_end_matches('-'))
    }

    fn prefix(&self) -> String {
        format!("wb-{}-{}-{}-", self.run, &self.variant[..1], self.overlay)
    }

    /// The overlay's name of a Deployment, by the name of one of its pods.
    pub(crate) fn deployment(&self, pod: &str) -> String {
        let name = pod.strip_prefix(&self.prefix()).unwrap_or(pod);
        name.rsplitn(3, '-').last().unwrap_or(name).to_owned()
    }

    /// The selector of the pods of this overlay and variant.
    pub(crate) fn selector(&self) -> String {
        format!(
            "{},{OVERLAY}={},{VARIANT}={}",
            selector(&self.run),
            self.overlay,
            self.variant
        )
    }
}

/// The key of a run in names and labels: eight hex digits over its id.
pub(crate) fn key(run: &str) -> String {
    first_bytes(run, 4)
}

/// The selector of all pods of the run with this key.
pub(crate) fn selector(key: &str) -> String {
    format!("{RUN}={key}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn names_are_dns_labels_and_differ_where_the_overlay_s_do(
            one in "[a-z]([-a-z0-9]{0,61}[a-z0-9])?", other in "[a-z]([-a-z0-9]{0,61}[a-z0-9])?"
        ) {
            let names = Names::new("20260101T000000Z-abcdef", "http", Variant::Candidate);
            for name in [names.of(&one), names.of(&other)] {
                prop_assert!(name.len() <= LONGEST);
                prop_assert!(name.starts_with(|c: char| c.is_ascii_lowercase()) && !name.ends_with('-'));
                prop_assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'));
            }
            prop_assert_eq!(one == other, names.of(&one) == names.of(&other));
        }
    }

    #[test]
    fn a_pod_s_name_leads_back_to_its_deployment() {
        let names = Names::new("run", "http", Variant::Baseline);
        let pod = format!("{}-5d9c7b6f4-x2x9z", names.of("controller-http"));
        assert_eq!(names.deployment(&pod), "controller-http");
    }

    #[test]
    fn variants_and_runs_do_not_meet() {
        let name = |run, variant| Names::new(run, "http", variant).of("controller");
        let all = [
            name("a", Variant::Baseline),
            name("a", Variant::Candidate),
            name("b", Variant::Candidate),
        ];
        assert!(all[0] != all[1] && all[1] != all[2] && all[0] != all[2], "{all:?}");
    }
}
