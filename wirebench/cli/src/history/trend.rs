//! `wirebench history trend`: the steps of each series.

use std::path::PathBuf;

use globset::Glob;

use crate::flags::metric::metric;
use crate::folders::Root;
use crate::histories::{acceptances, check_history, report_skipped};
use crate::outcome::Outcome;
use wirebench_history::trend::{NEWEST, TrendQuery, trend};
use wirebench_present::report::trend as text;
use wirebench_record::metric::Metric;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The history's folder.
    history: PathBuf,
    /// Only series that match, `scenario@server@driver` or an imported name.
    #[arg(long, value_name = "GLOB", value_parser = Glob::new)]
    series: Option<Glob>,
    /// Only this metric.
    #[arg(long, value_parser = metric)]
    metric: Option<Metric>,
    /// The whole trend as JSON instead of text.
    #[arg(long)]
    json: bool,
    /// Ends with exit code 3 while a regression is open: a step for the worse that no later step took back and nobody accepted.
    #[arg(long)]
    fail_on_alert: bool,
    /// Ends with exit code 3 only for open regressions that were first reported at one of the newest N pushes. All runs of a
    /// commit are one push. Without it, 5 pushes count as new, and every open regression fails.
    #[arg(long, value_name = "N")]
    newest: Option<usize>,
}

pub(super) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    let question = TrendQuery {
        series: args.series.as_ref().map(Glob::compile_matcher),
        metric: args.metric,
        accepted: acceptances(root)?,
        newest: args.newest.unwrap_or(NEWEST),
    };
    check_history(&args.history)?;
    let answer = trend(&args.history, &question)?;
    if args.json {
        println!("{}", serde_json::to_string(&answer.trend)?);
    } else {
        print!("{}", text::render(&answer.trend));
    }
    if answer.not_indexed > 0 {
        log::info!(
            "{} runs were read one by one; summarise them with: wirebench history index {}",
            answer.not_indexed,
            args.history.display()
        );
    }
    let outcome = report_skipped(answer.trend.skipped.iter().cloned());
    let failing = match args.newest {
        Some(_) => answer.trend.recent_alerts,
        None => answer.trend.open,
    };
    if args.fail_on_alert && failing > 0 {
        let new = args.newest.map_or_else(String::new, |newest| {
            format!(", reported at the newest {newest} pushes")
        });
        log::info!("{}{new}", text::open_regressions(failing));
        return Ok(Outcome::Regressed);
    }
    Ok(outcome)
}
