//! Series without a load on one server: process starts, where the driver starts the server repeatedly, and benchmarks.

use std::path::Path;

use crate::measure::error::{MeasureError, written};
use crate::measure::request::Request;
use crate::measure::side::Side;
use crate::measure::slot::harness::Harness;
use crate::measure::slot::measured::Measured;
use crate::measure::startup::{PORT, StartUp};
use crate::measure::target::{Target, argv, environment};
use wirebench_declare::args::{Value, Values};
use wirebench_declare::plan::PlannedSeries;
use wirebench_declare::server::Operation;
use wirebench_declare::span::nanos;

impl Harness<'_> {
    /// Lets the driver start the server's front repeatedly, while the tiers behind it keep running. `verified_body` is the body of
    /// a right response.
    pub(super) fn measure_starts(
        &self,
        series: &PlannedSeries,
        side: &Side,
        folder: &Path,
        request: &Request,
        verified_body: Vec<u8>,
        target: Target,
    ) -> Result<Measured, MeasureError> {
        let mut values = self.values(series, &target, folder);
        let tiers = written(folder, target.stop_front())?;
        let server = &side.server_of(series);
        let context = self.context(folder);
        let (status, body) = match series.operation {
            Operation::Http(http) => (http.status, http.expected_body.as_ref().map(|_| verified_body)),
            Operation::Grpc(_) | Operation::Bench(_) => (200, Some(verified_body)),
        };
        let start_up = StartUp {
            argv: argv(side, &server.front(), &context, PORT, &tiers.list),
            folder: side.folder_of(&server.front()),
            env: environment(side, &server.front(), &context, PORT, &tiers.list),
            port: server.port,
            host: server.host,
            cores: self.cores.server.clone(),
            request: request.wire.clone(),
            status,
            body,
            timeout_ns: nanos(server.ready_timeout.0),
        };
        let spec = folder.join("start.json");
        written(&spec, start_up.write(&spec))?;
        values.insert("start_command", Value::One(start_command(&spec)));
        let measured = self.measure_driver_alone(series, folder, &values)?;
        written(folder, tiers.stop())?;
        Ok(measured)
    }

    /// Runs one benchmark of a program in the side's folder: without requests, and without a server.
    pub(super) fn measure_benchmark(
        &self,
        series: &PlannedSeries,
        side: &Side,
        folder: &Path,
    ) -> Result<Measured, MeasureError> {
        let server = &side.server_of(series);
        let context = self.context(folder);
        let variables = environment(side, &server.front(), &context, PORT, &[]);
        let variables = variables.iter().map(|(name, value)| format!("{name}={value}"));
        let command = argv(side, &server.front(), &context, PORT, &[]);
        let command = std::iter::once("env".to_owned())
            .chain(variables)
            .chain(command)
            .collect();
        let mut values = self.values_at(series, "", &self.tls.certificate(), folder);
        values.insert("bench_command", Value::Many(command));
        let bench_folder = side.folder.to_string_lossy().into_owned();
        values.insert("bench_folder", Value::One(bench_folder));
        self.measure_driver_alone(series, folder, &values)
    }

    fn measure_driver_alone(
        &self,
        series: &PlannedSeries,
        folder: &Path,
        values: &Values,
    ) -> Result<Measured, MeasureError> {
        let driven = self.drive(series, folder, values, None, None)?;
        Ok(Measured {
            loading: driven.wall,
            driven,
            ..Measured::default()
        })
    }
}

/// The command line that runs `wirebench first-answer` with a file.
fn start_command(spec: &Path) -> String {
    let wirebench = std::env::current_exe().unwrap_or_else(|_| "wirebench".into());
    shell_words::join([&*wirebench.to_string_lossy(), "first-answer", &*spec.to_string_lossy()])
}
