//! The arguments of `wirebench soak`.

use crate::flags::lock::LockArgs;
use wirebench_declare::percent::Percent;
use wirebench_declare::span::Span;

/// Loads one server for a long time and checks whether its memory stays flat.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wirebench soak --server http --operation weather
  wirebench soak --server grpc --operation weather --driver ghz --connections 1000 --length 30m

First the capacity is measured, in a closed loop of 3 s. Then a driver that can keep a rate offers --share of the capacity; \
any other driver runs a closed loop with that share of the connections. One server process serves the whole load. Its \
memory is read between slices of at most 20 s.
Exit code 1: a request failed, or a process grew by more than 5 %.")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) lock: LockArgs,
    /// The server to load.
    #[arg(long)]
    pub(super) server: String,
    /// The operation to request.
    #[arg(long)]
    pub(super) operation: String,
    /// The driver; without it, one that can keep a rate, otherwise the first that fits.
    #[arg(long)]
    pub(super) driver: Option<String>,
    /// Number of connections.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) connections: u32,
    /// Share of the capacity to offer.
    #[arg(long, default_value = "70%", value_name = "PERCENT")]
    pub(super) share: Percent,
    /// Duration of the load, such as 10m.
    #[arg(long, default_value = "10m", value_name = "TIME")]
    pub(super) length: Span,
    /// Prints one JSON object.
    #[arg(long)]
    pub(super) json: bool,
}
