//! A running program that is started again when a request ends it.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::start::{Launcher, POLL, Running};
use wirebench_declare::server::Server;

/// How long the process of a server may take to end after its last connection.
const ENDS: Duration = Duration::from_millis(200);
/// How often a server that requests end is started again.
const MOST_RESTARTS: usize = 5;
/// Some servers listen before they know their routes (Javalin: 0.3 s), and answer 404 until then. They get this time, and
/// half of what they took to listen, which grows with the load of the machine.
const LEARNS_ROUTES: Duration = Duration::from_secs(1);

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
