//! The pushes, with their times, releases and machines.

use anyhow::Context as _;
use jiff::{SignedDuration, Timestamp};
use wirebench_record::accepted::Accepted;
use wirebench_record::run::Host;

use super::chance::{Chance, hex};

/// The number of pushes.
pub(super) const COUNT: usize = 260;
/// The first push of the newest month, the only month with run files.
pub(super) const FIRST_WHOLE: usize = 251;
/// The newest month.
pub(super) const NEWEST_MONTH: &str = "2026-11";
/// Place and name of each release.
pub(super) const RELEASES: [(usize, &str); 5] = [
    (0, "v1.0.0"),
    (66, "v1.1.0"),
    (120, "v1.2.0"),
    (175, "v1.3.0"),
    (218, "v1.4.0"),
];
/// From this push on the reference is v1.3.0 instead of v1.0.0.
const NEW_REFERENCE: usize = 176;
/// From this push on another machine measures.
const NEW_MACHINE: usize = 140;
/// The duration of a request on it, as a multiple of that on the first machine.
const NEW_MACHINE_FACTOR: f64 = 0.86;
/// The first day. Before the newest month, there are pushes on working days only.
const FIRST_DAY: &str = "2026-03-23T08:10:00Z";
/// The number of working days before the newest month.
const WORKING_DAYS: f64 = 160.0;
/// The days of the newest month with a push.
const NEWEST_DAYS: [i8; COUNT - FIRST_WHOLE] = [3, 4, 6, 10, 11, 13, 17, 18, 20];

/// One push.
pub(super) struct Push {
    pub(super) place: usize,
    pub(super) commit: String,
    pub(super) committed_at: Timestamp,
    pub(super) started_at: Timestamp,
    /// The slowness of the machine: 1 is the first machine.
    pub(super) machine: f64,
    /// The slowness of that day, as a factor; it does not affect process starts.
    pub(super) day: f64,
}

/// Every push, in order.
pub(super) struct Pushes(pub(super) Vec<Push>);

impl Pushes {
    pub(super) fn new() -> anyhow::Result<Self> {
        let mut chance = Chance::of("pushes");
        let mut drift = 0.0;
        let pushes = (0..COUNT).map(|place| {
            let committed_at = committed(place, chance.share())?;
            let queue = SignedDuration::from_secs(120 + i64::from(chance.below(400)));
            drift = 0.7 * drift + 0.02 * chance.normal();
            let machine = if place < NEW_MACHINE { 1.0 } else { NEW_MACHINE_FACTOR };
            Ok(Push {
                place,
                commit: commit(place),
                committed_at,
                started_at: committed_at + queue,
                machine,
                day: f64::exp(drift),
            })
        });
        Ok(Self(pushes.collect::<anyhow::Result<_>>()?))
    }
}

/// The time of a commit. Each push has its own stretch of the time, so that their order is kept.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "days and seconds"
)]
fn committed(place: usize, share: f64) -> anyhow::Result<Timestamp> {
    if place >= FIRST_WHOLE {
        let day = NEWEST_DAYS[place - FIRST_WHOLE];
        let minute = 9 * 60 + (share * 480.0) as i64;
        let time = format!("{NEWEST_MONTH}-{day:02}T{:02}:{:02}:17Z", minute / 60, minute % 60);
        return time.parse().context(time);
    }
    let days = (place as f64 + 0.8 * share) / FIRST_WHOLE as f64 * WORKING_DAYS;
    let (weeks, weekday) = ((days / 5.0).floor(), (days % 5.0).floor());
    let seconds = days.fract() * 9.5 * 3600.0;
    let since = SignedDuration::from_hours(24 * (weeks as i64 * 7 + weekday as i64));
    let first: Timestamp = FIRST_DAY.parse()?;
    Ok(first + since + SignedDuration::from_secs(seconds as i64))
}

/// The commit of a place.
pub(super) fn commit(place: usize) -> String {
    hex(&format!("commit {place}"), 40)
}

impl Push {
    /// The id of its run.
    pub(super) fn run_id(&self) -> String {
        let digits = hex(&format!("run {}", self.place), 6);
        format!("{}-{digits}", self.started_at.strftime("%Y%m%dT%H%M%SZ"))
    }

    /// The place of its reference, a release.
    pub(super) const fn reference(&self) -> usize {
        if self.place < NEW_REFERENCE {
            RELEASES[0].0
        } else {
            RELEASES[3].0
        }
    }

    /// The machine that measures it.
    pub(super) fn host(&self) -> Host {
        let (model, image) = if self.place < NEW_MACHINE {
            ("AMD EPYC 7763 64-Core Processor", "ubuntu24 20260309.1.0")
        } else {
            ("AMD EPYC 9V74 80-Core Processor", "ubuntu24 20260705.1.0")
        };
        Host {
            cpu_model: Some(model.into()),
            cpu_count: 4,
            memory_bytes: Some(16_772_579_328),
            kernel: "Linux 6.11.0-1018-azure x86_64".into(),
            image: Some(image.into()),
            loopback_mtu_bytes: Some(65_536),
            fingerprint: hex(model, 12),
        }
    }

    /// The acceptances that come with it.
    pub(super) fn accepted(&self) -> Vec<Accepted> {
        if self.place != super::events::ACCEPTED {
            return Vec::new();
        }
        vec![Accepted {
            series: "{weather-fixed-count,count-weather}@grpc@*".into(),
            metric: None,
            at_most_percent: 8.0,
            commit: None,
            reason: "every connection now checks the deadline that its caller sends; worth the time".into(),
        }]
    }
}
