//! A load generator on another host: its program and files go there, and what it wrote comes back.

use std::collections::BTreeMap;
use std::io;
use std::iter;
use std::path::{Path, PathBuf};

use wirebench_declare::plan::PlannedSeries;
use wirebench_declare::server::{GrpcOperation, Operation};

use crate::measure::interrupt::Interrupt;
use crate::measure::remote::host::Host;
use crate::measure::remote::process::Process;
use crate::measure::slot::files;

impl Host {
    /// The path there of a file that a load generator reads or writes.
    pub(in crate::measure) fn of_load(&self, name: &str) -> String {
        format!("{}/load/{name}", self.root())
    }

    /// Copies what the driver of a series reads: the files of the round in `folder`, its own scripts, and the .proto files.
    ///
    /// # Errors
    /// When one cannot be read here, or finds no room there.
    pub(in crate::measure) fn supply(
        &self,
        series: &PlannedSeries,
        project: &Path,
        folder: &Path,
        interrupt: &Interrupt,
    ) -> io::Result<()> {
        let round = [files::BODY, files::PROTOSET].map(|name| (folder.join(name), name.to_owned()));
        let mut all: Vec<(PathBuf, String)> = round.into_iter().filter(|(file, _)| file.exists()).collect();
        all.extend(files::below(&series.driver.folder, ".js", files::DRIVER)?);
        if let Operation::Grpc(GrpcOperation { proto: Some(file), .. }) = series.operation {
            let root = &file.proto_root;
            all.extend(files::below(
                &project.join(root),
                ".proto",
                &format!("{}/{root}", files::PROJECT),
            )?);
        }
        for (file, name) in all {
            self.put(&file, &self.of_load(&name), interrupt)?;
        }
        Ok(())
    }

    /// Starts a load generator there; its program is copied first, and what the one before it wrote is removed.
    ///
    /// # Errors
    /// When the program cannot be copied, or the connection is lost.
    pub(in crate::measure) fn load(
        &self,
        argv: &[String],
        env: &BTreeMap<String, String>,
        interrupt: &Interrupt,
    ) -> io::Result<Process> {
        let (program, args) = argv.split_first().ok_or_else(|| io::Error::other("an empty command"))?;
        let program = self.copied(program, interrupt)?;
        self.ask(&["rm", "-f", &self.of_load(files::RAW)])?;
        let argv: Vec<String> = iter::once(program).chain(args.iter().cloned()).collect();
        let before = self.children();
        Ok(self.start(&argv, env)?.counted(before))
    }

    /// Bytes that a load generator has written there so far.
    pub(in crate::measure) fn written(&self, process: &Process) -> u64 {
        let raw = self.of_load(files::RAW);
        let said = self.ask(&["size", &process.output("stdout"), &process.output("stderr"), &raw]);
        said.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
    }

    /// Brings what a load generator wrote there to files of this machine: its output, its errors, and its raw file.
    ///
    /// # Errors
    /// When a file cannot be written here, or the connection is lost.
    pub(in crate::measure) fn bring(&self, process: &Process, [stdout, stderr, raw]: [&Path; 3]) -> io::Result<()> {
        self.get(&format!("{}/{}", self.root(), process.output("stdout")), stdout)?;
        self.get(&format!("{}/{}", self.root(), process.output("stderr")), stderr)?;
        let written = self.of_load(files::RAW);
        if self.ask(&["size", &written])?.trim() != "0" {
            self.get(&written, raw)?;
        }
        let [stdout, stderr] = ["stdout", "stderr"].map(|stream| process.output(stream));
        self.ask(&["rm", "-f", &stdout, &stderr, &written]).map(drop)
    }
}
