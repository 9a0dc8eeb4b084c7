//! Counting on a machine that other programs keep busy: counts do not depend on how long a server run takes.

/// The niceness of counted processes where the system allows it: below 0 is preferred to other programs. In lock step only one
/// of them runs at a time, and each waits for its turn among all other programs.
const PREFERRED: i32 = -5;

/// The average number of runnable threads over a minute; `None` if the system does not tell.
fn load() -> Option<f64> {
    use procfs::Current as _;
    Some(procfs::LoadAverage::current().ok()?.one.into())
}

/// The load of the machine, such as `load 20 on 2 cores`, if programs other than `own` server runs keep it busy.
pub(super) fn other_load(own: usize, cores: usize) -> Option<String> {
    let load = load()?;
    // In lock step a server run keeps one thread busy.
    (load - float(own) > float(cores)).then(|| format!("load {load:.0} on {cores} cores"))
}

/// By what whole factor a server run may take longer because threads wait for a core; at least 1.
pub(crate) fn slowdown(cores: usize) -> f64 {
    load().map_or(1.0, |load| (load / float(cores)).ceil().max(1.0))
}

fn float(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}

/// Prefers this thread, and the threads and programs that it starts, to other programs until it is dropped. Does nothing without
/// the right to.
pub(super) struct Preferred(Option<i32>);

/// What a niceness is set of: this thread. The type of libc's `PRIO_PROCESS` differs between C libraries.
const THIS: i32 = 0;

impl Preferred {
    pub(super) fn new() -> Self {
        let before = uapi::getpriority(THIS, 0).ok();
        let raised = before.filter(|_| uapi::setpriority(THIS, 0, PREFERRED).is_ok());
        Self(raised)
    }
}

impl Drop for Preferred {
    fn drop(&mut self) {
        if let Some(before) = self.0 {
            let _ = uapi::setpriority(THIS, 0, before);
        }
    }
}
