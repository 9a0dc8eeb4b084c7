//! Starts a program with one port setting after the other until it listens at the requested port, and ends it with all its
//! child processes.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read as _;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use regex::Regex;

use super::{ProbeContext, ProbeFailure};
use crate::files::pattern;
use crate::port_settings::PortSetting;
use wirebench_declare::args::Arg;
use wirebench_declare::server::Server;
use wirebench_engine::measure::listening::{self, Tree};
use wirebench_engine::measure::process::{Group, describe_exit, tail};
use wirebench_engine::measure::side::Side;
use wirebench_engine::measure::target::{LaunchContext, Target};

/// How long a program may take until it listens.
const LONGEST: Duration = Duration::from_secs(60);
/// A program that ends sooner than this may want an argument: one of its commands, or its folder, as servers of files do.
const AT_ONCE: Duration = Duration::from_secs(5);
/// The folder that a program is started in, as an argument.
const FOLDER: &str = ".";
/// How long it may take to open further ports after the first.
const SETTLES: Duration = Duration::from_millis(250);
/// The beginning of the reason of a program that did not end.
const DOES_NOT_LISTEN: &str = "it did not listen";
const POLL: Duration = Duration::from_millis(20);
/// How long the process of a server may take to end after its last connection.
const ENDS: Duration = Duration::from_millis(200);
/// How often a server that requests end is started again.
const MOST_RESTARTS: usize = 5;
/// Some servers listen before they know their routes (Javalin: 0.3 s), and answer 404 until then. They get this time, and
/// half of what they took to listen, which grows with the load of the machine.
const LEARNS_ROUTES: Duration = Duration::from_secs(1);
/// The usual ports of debuggers (V8's inspector, which answers HTTP, JDWP, Delve, debugpy): programs open them in development.
const DEBUGGERS: [u16; 4] = [9229, 5005, 2345, 5678];

/// What programs are started with.
pub(super) struct Launcher<'a> {
    pub(super) context: &'a ProbeContext<'a>,
    pub(super) side: &'a Side,
    /// With the folder for their output.
    pub(super) launch: LaunchContext<'a>,
    /// How the program may be told its port.
    pub(super) settings: Vec<PortSetting>,
    /// The values that the repository has for environment variables.
    pub(super) values: BTreeMap<String, String>,
    /// The arguments that its container's image starts it with.
    pub(super) arguments: Vec<String>,
}

/// A program that listens.
#[derive(Debug)]
pub(super) struct Running {
    target: Target,
    /// The port of 127.0.0.1 for requests.
    pub(super) port: u16,
    /// The address at which it listens there.
    pub(super) at: SocketAddr,
    /// Every address at which it listens.
    listens: Vec<SocketAddr>,
    /// From its start until it listened.
    pub(super) listened_after: Duration,
    /// If it uses its own port: the settings that were tried before.
    pub(super) tried: String,
}

impl Launcher<'_> {
    /// Finds the first setting that the program accepts, and returns the running program; its own port if it accepts none. A program
    /// that ends and names variables gets them in the draft: with the values that the repository has for them.
    ///
    /// # Errors
    /// When it ends or does not listen, with every setting.
    pub(super) fn find(&self, draft: &mut Server) -> Result<(PortSetting, Running), ProbeFailure> {
        let (mut failed, mut own): (Option<String>, Option<PortSetting>) = (None, None);
        let mut tried: Vec<String> = Vec::new();
        let mut longest = Duration::ZERO;
        let mut ways = self.settings.clone();
        let given = self.context.arguments;
        let (mut has_argument, mut has_waited, mut failed_by_flag) = (!given.is_empty(), false, false);
        let (mut container, mut listed) = (self.arguments.clone(), BTreeSet::new());
        'ways: loop {
            let mut said = String::new();
            for setting in &ways {
                let began = Instant::now();
                let started = self.start(&declared_with(draft, setting));
                longest = longest.max(began.elapsed());
                match started {
                    Ok(running) if running.is_as_told() => return Ok((setting.clone(), running)),
                    Ok(running) => {
                        let at = running.at;
                        own = own.or_else(|| reaches(&at).then(|| setting.at_own(at.port())));
                        if own.is_none() {
                            failed.get_or_insert_with(|| format!("it listens on {at} only, which clients of 127.0.0.1 do not reach; let it listen on 127.0.0.1"));
                        }
                        tried.push(setting.names());
                        running.stop();
                    }
                    Err(reason) if self.context.interrupt.is_requested() => {
                        return Err(failed.unwrap_or(reason).into());
                    }
                    // A program that runs and does not listen waits for something else than its port: perhaps at a place that the
                    // repository names. This is tried once, because it takes long.
                    Err(reason) if reason.starts_with(DOES_NOT_LISTEN) => {
                        let asked = asked_for(&self.output(), &self.values, &draft.front.env);
                        if has_waited || asked.is_empty() {
                            return Err(failed.unwrap_or(reason).into());
                        }
                        has_waited = true;
                        draft.front.env.extend(asked);
                        failed.get_or_insert(reason);
                        continue 'ways;
                    }
                    Err(reason) => {
                        // What it says of a flag that it does not have hides what it lacks.
                        let by_flag = !setting.args.is_empty();
                        if failed.is_none() || (failed_by_flag && !by_flag) {
                            (failed, failed_by_flag) = (Some(reason), by_flag);
                        }
                        said.push_str(&self.output());
                    }
                }
            }
            if own.is_some() {
                break;
            }
            listed.extend(serving_commands(&said));
            let asked = asked_for(&said, &self.values, &draft.front.env);
            let is_quick = longest <= AT_ONCE;
            // It may need nothing but arguments: its container's, one of its commands, or else its folder.
            let arguments = if is_quick && !container.is_empty() {
                vec![std::mem::take(&mut container)]
            } else if is_quick && !has_argument && !listed.is_empty() {
                (failed, has_argument) = (None, true);
                listed.iter().map(|one| vec![one.clone()]).collect()
            } else if is_quick && !has_argument && asked.is_empty() {
                has_argument = true;
                vec![vec![FOLDER.to_owned()]]
            } else if !asked.is_empty() {
                failed = None;
                draft.front.env.extend(asked);
                continue;
            } else {
                break;
            };
            let with = |words: Vec<String>| self.settings.iter().map(move |setting| setting.after(&words));
            ways = arguments.into_iter().flat_map(with).collect();
        }
        let Some(setting) = own else {
            let reason = failed.unwrap_or_else(|| "no way to start it is known".into());
            let wants = given.is_empty() && speaks_of_arguments(&reason);
            let question = wants.then(|| {
                format!(
                    "which arguments does it want? Remove wirebench.toml, then: wirebench init --only {} --args 'ARGUMENTS'",
                    draft.name
                )
            });
            return Err(ProbeFailure {
                questions: question.into_iter().collect(),
                ..reason.into()
            });
        };
        let mut running = self.start(&declared_with(draft, &setting))?;
        running.tried = tried.join(", then ");
        if running.is_as_told() {
            return Ok((setting, running));
        }
        let at = running.at;
        Err(format!("it listens on another port at each start, the last time on {at}").into())
    }

    /// Starts it and waits until it listens.
    ///
    /// # Errors
    /// When it cannot be started, ends, or does not listen in time; the error has its last output.
    pub(super) fn start(&self, server: &Server) -> Result<Running, String> {
        let target = Target::launch(self.side, server, &self.launch).map_err(|error| error.to_string())?;
        let address = target.front.address.rsplit_once(':');
        let port = address.and_then(|(_, port)| port.parse().ok()).unwrap_or_default();
        let began = Instant::now();
        let group = target
            .front
            .group
            .local()
            .map(Group::id)
            .ok_or("it runs on another host")?;
        // Its processes at the last look: a daemon leaves it.
        let mut before: Option<Tree> = None;
        loop {
            let tree = Tree::of(group);
            if !listens(&tree, port).is_empty() {
                let listened_after = began.elapsed();
                std::thread::sleep(SETTLES);
                let listens = listens(&Tree::of(group), port);
                if let Some(at) = best(&listens, port) {
                    return Ok(Running {
                        target,
                        port,
                        at,
                        listens,
                        listened_after,
                        tried: String::new(),
                    });
                }
            }
            if target.front.group.has_ended() {
                let mut target = target;
                let ended = target.front.group.kill_and_reap();
                if let Some(tree) = before {
                    tree.kill();
                }
                let how = ended.map_or_else(|error| error.to_string(), describe_exit);
                return Err(format!("it {how} before it listened{}", self.last_words()));
            }
            if began.elapsed() > LONGEST || self.context.interrupt.is_requested() {
                let elsewhere = listening::only_unix(group).map_or_else(String::new, |unix| format!(": {unix}"));
                end(target);
                let (longest, last_words) = (LONGEST.as_secs(), self.last_words());
                return Err(format!("{DOES_NOT_LISTEN} within {longest} s{elsewhere}{last_words}"));
            }
            before = Some(tree);
            std::thread::sleep(POLL);
        }
    }

    /// What the server printed so far.
    pub(super) fn output(&self) -> String {
        const MOST_BYTES: u64 = 1 << 20;
        let read = |file: &str| {
            let mut bytes = Vec::new();
            // A file that cannot be read names no route.
            let _ = File::open(self.launch.folder.join(file))
                .and_then(|open| open.take(MOST_BYTES).read_to_end(&mut bytes));
            String::from_utf8_lossy(&bytes).into_owned()
        };
        read("server.stdout") + "\n" + &read("server.stderr")
    }

    /// The last lines that the server printed, as the end of a sentence; empty if there are none.
    pub(super) fn last_words(&self) -> String {
        let said = ["server.stderr", "server.stdout"].map(|file| tail(&self.launch.folder.join(file)));
        let said = said.iter().find(|text| !text.is_empty());
        said.map_or_else(String::new, |text| format!("; its last words: {text}"))
    }
}

/// The variables that a program named before it ended, in any case, and that it did not get yet, with the values that the repository
/// has for them (`known`); if it has none, or the program got them, the secrets among them with a value that is made up; then all
/// other known ones.
fn asked_for(
    output: &str,
    known: &BTreeMap<String, String>,
    has: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    static NAME: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"\b(?:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[a-z][a-z0-9]*(?:_[a-z0-9]+)+)\b"));
    static SECRET: LazyLock<Regex> = LazyLock::new(|| pattern(r"SECRET|PASSWORD|TOKEN|SALT|_KEY$"));
    const MADE_UP: &str = "made-up-by-wirebench-0123456789a";
    let output = anstream::adapter::strip_str(output).to_string();
    let names: BTreeSet<&str> = NAME.find_iter(&output).map(|found| found.as_str()).collect();
    let is_named = |name: &str| names.iter().any(|one| one.eq_ignore_ascii_case(name));
    let with_value = known.iter().filter(|(_, value)| !value.is_empty());
    let known = with_value.map(|(name, value)| (name.as_str(), value.as_str()));
    let named: Vec<(&str, &str)> = known.clone().filter(|(name, _)| is_named(name)).collect();
    let is_missing = |name: &str| !has.contains_key(name);
    let mut asked: Vec<_> = named.iter().copied().filter(|(name, _)| is_missing(name)).collect();
    if asked.is_empty() {
        // Its value may have been an example that the program refuses.
        let is_refused = |name: &str| has.get(name).map_or(named.is_empty(), |value| value != MADE_UP);
        let secrets = names.iter().filter(|name| SECRET.is_match(name) && is_refused(name));
        asked = secrets.map(|name| (*name, MADE_UP)).collect();
    }
    if asked.is_empty() {
        asked = known.filter(|(name, _)| is_missing(name)).collect();
    }
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    asked.into_iter().map(owned).collect()
}

/// Whether a program that ended said something of its arguments.
fn speaks_of_arguments(reason: &str) -> bool {
    static ARGUMENTS: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?i)(?:^|[^\w-])--[a-z]|\b(?:usage|flags?|arguments?)\b"));
    ARGUMENTS.is_match(reason)
}

/// The commands that serve among those which a program listed when it was started without one: `  serve    Starts the server`.
fn serving_commands(output: &str) -> BTreeSet<String> {
    static LISTED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"(?m)^[ \t]{1,8}(serve|server|start|web|daemon|run)(?:,[ \w,]*)?(?::|[ \t]{2,}|[ \t]*$)")
    });
    LISTED.captures_iter(output).map(|found| found[1].to_owned()).collect()
}

/// The declaration of a server that gets its port by this setting.
pub(crate) fn declared_with(draft: &Server, setting: &PortSetting) -> Server {
    let mut server = draft.clone();
    server.front.args = setting
        .first
        .iter()
        .chain(&setting.args)
        .cloned()
        .map(Arg::One)
        .collect();
    server.front.env.extend(setting.env.clone());
    server.front.port = setting.fixed;
    server
}

/// Where a program that was told `port` listens, without the ports of debuggers.
fn listens(tree: &Tree, port: u16) -> Vec<SocketAddr> {
    let mut all = tree.listens();
    all.retain(|one| one.port() == port || !DEBUGGERS.contains(&one.port()));
    all
}

/// The listener at that port; otherwise the first that clients on 127.0.0.1 reach, otherwise any.
fn best(listens: &[SocketAddr], port: u16) -> Option<SocketAddr> {
    let told = listens.iter().find(|one| one.port() == port && reaches(one));
    told.or(listens.iter().find(|one| reaches(one)))
        .or(listens.first())
        .copied()
}

/// True if a client that connects to 127.0.0.1 reaches it.
fn reaches(address: &SocketAddr) -> bool {
    let ip = match address.ip() {
        IpAddr::V4(four) => four.is_loopback() || four.is_unspecified(),
        IpAddr::V6(six) => six.is_unspecified(),
    };
    let local = SocketAddr::from(([127, 0, 0, 1], address.port()));
    ip && TcpStream::connect_timeout(&local, Duration::from_secs(1)).is_ok()
}

impl Running {
    fn is_as_told(&self) -> bool {
        self.at.port() == self.port && reaches(&self.at)
    }

    /// The ports that are not asked.
    pub(super) fn other_ports(&self) -> BTreeSet<u16> {
        let all = self.listens.iter().map(SocketAddr::port);
        all.filter(|port| *port != self.port).collect()
    }

    /// The remark on its other ports, which are not measured.
    pub(super) fn unmeasured(&self) -> Option<String> {
        let others = self.other_ports();
        let list = others.iter().map(u16::to_string).collect::<Vec<_>>().join(" and ");
        let question = "too: is that to be measured? Then declare a second server with that port";
        (!list.is_empty()).then(|| format!("it listens on port {list} {question}"))
    }

    /// True if the program ended by itself.
    pub(super) fn has_ended(&self) -> bool {
        self.target.front.group.has_ended()
    }

    /// Ends the program and all its child processes.
    pub(super) fn stop(self) {
        end(self.target);
    }
}

/// Ends a target, also processes of it that went into groups of their own.
fn end(target: Target) {
    let tree = target.front.group.local().map(|group| Tree::of(group.id()));
    // An error means that it has ended already.
    let _ = target.stop();
    if let Some(tree) = tree {
        tree.kill();
    }
}

/// A program that is started again when a request ends it.
pub(super) struct Supervised<'a> {
    pub(super) launcher: &'a Launcher<'a>,
    /// How it is started.
    server: Server,
    running: RefCell<Running>,
    /// Its last words, each time that it ended.
    ended: RefCell<Vec<String>>,
}

impl<'a> Supervised<'a> {
    pub(super) fn new(launcher: &'a Launcher<'a>, server: Server, running: Running) -> Self {
        Self {
            launcher,
            server,
            running: running.into(),
            ended: RefCell::default(),
        }
    }

    /// Where requests are sent: `127.0.0.1:8080`.
    pub(super) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port())
    }

    pub(super) fn port(&self) -> u16 {
        self.running.borrow().port
    }

    /// The address at which it listens.
    pub(super) fn listens_on(&self) -> SocketAddr {
        self.running.borrow().at
    }

    /// Waits until it may know its routes.
    pub(super) fn learns_routes(&self) {
        std::thread::sleep(LEARNS_ROUTES.max(self.running.borrow().listened_after / 2));
    }

    /// If it has ended, starts it again; true if it had.
    pub(super) fn restart(&self) -> bool {
        let asked = Instant::now();
        while !self.running.borrow().has_ended() {
            if asked.elapsed() > ENDS {
                return false;
            }
            std::thread::sleep(POLL);
        }
        if self.ended.borrow().len() >= MOST_RESTARTS {
            return false;
        }
        self.ended.borrow_mut().push(self.launcher.last_words());
        if let Ok(again) = self.launcher.start(&self.server) {
            self.running.replace(again);
            self.learns_routes();
        }
        true
    }

    /// Its last words before it ended the last time; `None` if it never did.
    pub(super) fn last_words(&self) -> Option<String> {
        self.ended.borrow().last().cloned()
    }

    pub(super) fn stop(self) {
        self.running.into_inner().stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_gets_the_variables_that_it_names_each_once() {
        let known = [("APP_SECRET", "replace me"), ("APP_DB", "a.db"), ("JWT_SECRET", "")];
        let known: BTreeMap<String, String> = known.map(|(name, value)| (name.into(), value.into())).into();
        let asks = |output: &str, has: &[&str]| -> Vec<String> {
            let has = has.iter().map(|name| ((*name).to_owned(), String::new())).collect();
            let asked = asked_for(output, &known, &has).into_iter();
            asked.map(|(name, value)| format!("{name}={value}")).collect()
        };
        let named = "APP_SECRET or APP_SECRET_HASH is required";
        assert_eq!(asks(named, &[]), ["APP_SECRET=replace me"]);
        let made_up = |name: &str| vec![format!("{name}=made-up-by-wirebench-0123456789a")];
        assert_eq!(asks("\x1b[34mJWT_SECRET\x1b[0m: undefined", &[]), made_up("JWT_SECRET"));
        assert_eq!(asks("app_secret\n  Field required", &[]), ["APP_SECRET=replace me"]);
        assert_eq!(
            asks(named, &["APP_SECRET"]),
            made_up("APP_SECRET"),
            "its example was refused; the other is instead of it"
        );
        assert_eq!(asks("secret: must be of type String", &[]).len(), 2);
        assert!(asks("it cannot start", &["APP_SECRET", "APP_DB"]).is_empty());
    }

    #[test]
    fn a_program_that_ended_may_say_that_it_wants_arguments() {
        for said in [
            "no .htpasswd (use --no-auth to disable)",
            "the 'dir' flag/key is required",
            "Usage: serve FOLDER",
        ] {
            assert!(speaks_of_arguments(said), "{said}");
        }
        for said in ["connect ECONNREFUSED 127.0.0.1:5432", "-- no rows --", "bad value a--b"] {
            assert!(!speaks_of_arguments(said), "{said}");
        }
    }

    #[test]
    fn a_command_that_serves_is_read_from_the_list_that_a_program_prints() {
        let cobra = "Usage:\n  pb [command]\n\nAvailable Commands:\n  migrate     Executes app DB migration scripts\n  serve       Starts the web server\n";
        let clap = "Commands:\n  new   Make one\n  run, r  Run it\n";
        let argparse = "usage: x [-h] {serve,check}\n  start\n";
        assert_eq!(serving_commands(cobra), ["serve".to_owned()].into());
        assert_eq!(serving_commands(clap), ["run".to_owned()].into());
        assert_eq!(serving_commands(argparse), ["start".to_owned()].into());
        assert!(serving_commands("cannot serve: no configuration\n  run it with --config FILE\n").is_empty());
    }
}
