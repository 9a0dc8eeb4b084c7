//! Which cores the server and the driver run on, and starting a process there.

use std::io;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// The cores of server and driver; empty lists mean that both use all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cores {
    /// The server's.
    pub server: Vec<usize>,
    /// The driver's.
    pub driver: Vec<usize>,
    /// How many CPUs this process may use.
    pub available: usize,
}

impl Cores {
    /// Every core for both sides.
    pub fn shared() -> Self {
        Self {
            available: allowed().len().max(1),
            ..Self::default()
        }
    }

    /// A quarter of the cores (at least one) for the server, the rest for the driver, which needs 2 to 8 times the
    /// server's CPU; with one core both share it.
    pub fn split() -> Self {
        split_of(by_physical_core(allowed()))
    }

    /// Threads that a side can use: one on each of its own cores, or of all if it has none of its own.
    pub const fn threads(&self, own: &[usize]) -> usize {
        if own.is_empty() { self.available } else { own.len() }
    }
}

fn split_of(cpus: Vec<usize>) -> Cores {
    let available = cpus.len().max(1);
    let mut driver = if available < 2 { Vec::new() } else { cpus };
    let server = driver.split_off(driver.len().saturating_sub((available / 4).max(1)));
    Cores {
        server,
        driver,
        available,
    }
}

/// Orders CPUs so that the hyper-threads of one physical core stand together.
fn by_physical_core(mut cpus: Vec<usize>) -> Vec<usize> {
    let read = |cpu: usize, what: &str| {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/{what}");
        std::fs::read_to_string(path)
            .ok()
            .and_then(|text| text.trim().parse::<usize>().ok())
            .unwrap_or(0)
    };
    cpus.sort_by_key(|cpu| (read(*cpu, "physical_package_id"), read(*cpu, "core_id"), *cpu));
    cpus
}

fn allowed() -> Vec<usize> {
    let set = sched_getaffinity(Pid::from_raw(0)).unwrap_or_default();
    (0..CpuSet::count())
        .filter(|cpu| set.is_set(*cpu).unwrap_or(false))
        .collect()
}

/// Runs `spawn` with this thread bound to `cores`, so that the child process inherits them.
///
/// # Errors
/// When the kernel refuses the cores, or `spawn` fails.
pub fn spawn_on<T>(cores: &[usize], spawn: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    if cores.is_empty() {
        return spawn();
    }
    let own_thread = Pid::from_raw(0);
    let before = sched_getaffinity(own_thread)?;
    let mut wanted = CpuSet::new();
    for core in cores {
        wanted.set(*core)?;
    }
    sched_setaffinity(own_thread, &wanted)?;
    let spawned = spawn();
    sched_setaffinity(own_thread, &before)?;
    spawned
}

#[cfg(test)]
mod tests {
    use super::split_of;

    #[test]
    fn a_quarter_goes_to_the_server_and_nothing_is_shared() {
        for (count, server) in [(2, 1), (3, 1), (4, 1), (8, 2), (16, 4), (64, 16)] {
            let cores = split_of((0..count).collect());
            assert_eq!((cores.server.len(), cores.driver.len()), (server, count - server));
            assert!(cores.server.iter().all(|core| !cores.driver.contains(core)));
        }
    }

    #[test]
    fn one_core_is_shared() {
        let cores = split_of(vec![0]);
        assert!(cores.server.is_empty() && cores.driver.is_empty());
        assert_eq!(cores.threads(&cores.server), 1);
    }
}
