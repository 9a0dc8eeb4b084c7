//! A load generator on another host: its program and files are copied there, and its output is copied back.

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
    /// The path on the host of a file that a load generator reads or writes.
    pub(in crate::measure) fn load_file(&self, name: &str) -> String {
        format!("{}/load/{name}", self.root())
    }

    /// Copies the files that the driver of a series reads: those of the round in `folder`, its own scripts, and the .proto files.
    ///
    /// # Errors
    /// When a file cannot be read, or does not fit on the host's disk.
    pub(in crate::measure) fn upload_inputs(
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
            self.upload(&file, &self.load_file(&name), interrupt)?;
        }
        Ok(())
    }

    /// Starts a load generator on the host. Its program is copied first, and the raw file of the previous one is removed.
    ///
    /// # Errors
    /// When the program cannot be copied, or the connection is lost.
    pub(in crate::measure) fn start_load(
        &self,
        argv: &[String],
        env: &BTreeMap<String, String>,
        interrupt: &Interrupt,
    ) -> io::Result<Process> {
        let (program, args) = argv.split_first().ok_or_else(|| io::Error::other("an empty command"))?;
        let program = self.copy_program(program, interrupt)?;
        self.run(&["rm", "-f", &self.load_file(files::RAW)])?;
        let argv: Vec<String> = iter::once(program).chain(args.iter().cloned()).collect();
        let before = self.reaped_ticks();
        Ok(self.start(&argv, env)?.with_ticks_before(before))
    }

    /// Bytes that a load generator has written on the host so far.
    pub(in crate::measure) fn output_bytes(&self, process: &Process) -> u64 {
        let raw = self.load_file(files::RAW);
        let output = self.run(&["size", &process.output("stdout"), &process.output("stderr"), &raw]);
        output.ok().and_then(|bytes| bytes.trim().parse().ok()).unwrap_or(0)
    }

    /// Moves the output of a load generator to files of this machine: its standard output, standard error and raw file.
    ///
    /// # Errors
    /// When a file cannot be written to this machine, or the connection is lost.
    pub(in crate::measure) fn download_output(
        &self,
        process: &Process,
        [stdout_to, stderr_to, raw_to]: [&Path; 3],
    ) -> io::Result<()> {
        let [stdout, stderr] = ["stdout", "stderr"].map(|stream| process.output(stream));
        self.download(&format!("{}/{stdout}", self.root()), stdout_to)?;
        self.download(&format!("{}/{stderr}", self.root()), stderr_to)?;
        let raw = self.load_file(files::RAW);
        if self.run(&["size", &raw])?.trim() != "0" {
            self.download(&raw, raw_to)?;
        }
        self.run(&["rm", "-f", &stdout, &stderr, &raw]).map(drop)
    }
}
