//! The input and the result of a probe.

use std::collections::BTreeMap;
use std::path::Path;

use crate::port_settings::PortSetting;
use wirebench_declare::server::{Operation, Server};
use wirebench_engine::measure::interrupt::Interrupt;
use wirebench_engine::measure::tls::TlsFiles;
use wirebench_record::run::VariantRevision;

/// The context of a probe.
pub struct ProbeContext<'a> {
    /// The folder that commands run in.
    pub root: &'a Path,
    /// The name of the code, for the messages of a build.
    pub revision: VariantRevision,
    /// The certificate that servers show.
    pub tls: &'a TlsFiles,
    /// Ctrl-C.
    pub interrupt: &'a Interrupt,
    /// Receives progress lines.
    pub say: &'a dyn Fn(&str),
}

/// The connections of a load, if the server has no reason for fewer.
pub(crate) const CONNECTIONS: u32 = 10;

/// A probed server, ready to be declared.
#[derive(Debug, Clone)]
pub(crate) struct ProbedServer {
    /// The declaration.
    pub(crate) server: Server,
    /// The evidence for keys of the declaration.
    pub(crate) evidence: BTreeMap<&'static str, String>,
    /// The evidence for each operation.
    pub(crate) operations: BTreeMap<String, Evidence>,
    /// Other paths with a response, which are not declared.
    pub(crate) more: Vec<String>,
    /// The open questions.
    pub(crate) questions: Vec<String>,
    /// Whether it closes a connection after each response: load generators that keep connections cannot measure it.
    pub(crate) closes: bool,
    /// The connections of its load.
    pub(crate) connections: u32,
}

impl ProbedServer {
    /// A server without operations yet.
    pub(crate) fn new(server: Server, evidence: BTreeMap<&'static str, String>) -> Self {
        Self {
            server,
            evidence,
            operations: BTreeMap::new(),
            more: Vec::new(),
            questions: Vec::new(),
            closes: false,
            connections: CONNECTIONS,
        }
    }

    /// Declares an operation with its evidence.
    pub(crate) fn declare(&mut self, name: String, operation: Operation, request: String, expect: String) {
        self.operations.insert(name.clone(), Evidence { request, expect });
        self.server.operations.insert(name, operation);
    }

    /// The failure of this probe, with the questions so far.
    pub(super) fn failure(&mut self, reason: String) -> ProbeFailure {
        ProbeFailure {
            questions: std::mem::take(&mut self.questions),
            ..reason.into()
        }
    }
}

/// The evidence for an operation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Evidence {
    /// Where the request comes from.
    pub(crate) request: String,
    /// The origin of the expected response.
    pub(crate) expect: String,
}

/// Why a program could not be probed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ProbeFailure {
    /// The reason.
    pub(crate) reason: String,
    /// The question to be answered first, if known.
    pub(crate) questions: Vec<String>,
    /// How it was started, if it listened.
    pub(crate) way: Option<PortSetting>,
    /// True if it could not be built.
    pub(crate) is_of_build: bool,
}

impl From<String> for ProbeFailure {
    fn from(reason: String) -> Self {
        Self {
            reason,
            ..Self::default()
        }
    }
}
