//! `wirebench history trend`: the steps of each series.

use globset::Glob;

use crate::flags::metric::metric;
use crate::folders::Root;
use crate::histories::{acceptances, report_skipped};
use crate::location::Location;
use crate::outcome::Outcome;
use wirebench_history::trend::{NEWEST, TrendQuery, trend};
use wirebench_present::report::trend as text;
use wirebench_record::metric::Metric;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The history's folder, or s3://BUCKET/PREFIX.
    #[arg(value_parser = Location::parser())]
    history: Location,
    /// Only series that match, `scenario@server@driver` or an imported name.
    #[arg(long, value_name = "GLOB", value_parser = Glob::new)]
    series: Option<Glob>,
    /// Only this metric.
    #[arg(long, value_parser = metric)]
    metric: Option<Metric>,
    /// The whole trend as JSON instead of text.
    #[arg(long)]
    json: bool,
    /// Ends with exit code 3 when a worsening that nobody accepted was first reported at one of the newest pushes.
    #[arg(long)]
    fail_on_alert: bool,
    /// How many pushes are the newest.
    #[arg(long, value_name = "N", default_value_t = NEWEST)]
    newest: usize,
}

pub(super) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    let question = TrendQuery {
        series: args.series.as_ref().map(Glob::compile_matcher),
        metric: args.metric,
        accepted: acceptances(root)?,
        newest: args.newest,
    };
    let opened = args.history.open()?;
    let answer = trend(opened.path(), &question).map_err(|error| opened.error_with_address(error))?;
    if args.json {
        println!("{}", serde_json::to_string(&answer.trend)?);
    } else {
        print!("{}", text::render(&answer.trend));
    }
    if answer.not_indexed > 0 {
        log::info!(
            "{} runs were read one by one; summarise them with: wirebench history index {}",
            answer.not_indexed,
            args.history
        );
    }
    let outcome = report_skipped(answer.trend.skipped.iter().map(|one| opened.with_address(one)));
    if args.fail_on_alert && answer.trend.recent_alerts > 0 {
        log::info!(
            "alerts at {} of the newest {} pushes",
            answer.trend.recent_alerts,
            args.newest
        );
        return Ok(Outcome::Regressed);
    }
    Ok(outcome)
}
