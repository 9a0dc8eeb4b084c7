//! The style sheet of a still picture: the colours are those of the pages, in both schemes.

use std::fmt::Write as _;

/// Where the pages have their colours.
const BASE: &str = include_str!("../../../../../site/assets/base.css");

/// The colours that a picture uses besides its line's.
const COLOURS: [&str; 7] = ["ground", "text", "quiet", "line", "worse", "better", "noise"];

/// The look of `site/assets/chart/draw.js`.
const LOOK: &str = "text{font:12px system-ui,sans-serif;fill:var(--quiet)}\
path{fill:none;stroke:var(--own)}\
.ground{fill:var(--ground);stroke:none}\
.grid,.scale{stroke:var(--line)}\
.tick,.name{dominant-baseline:central}\
.below{dominant-baseline:hanging}\
.zero{stroke:var(--quiet)}\
.level{stroke-width:4;opacity:.35}\
.course{stroke-width:1.5;opacity:.6}\
.middle{stroke-width:1.5}\
.area,.band{fill:var(--own);stroke:none;opacity:.22}\
.band{opacity:.2}\
.whisker{opacity:.6}\
.dot,.hollow,.inner{stroke-linecap:round}\
.inner{stroke:var(--ground)}\
.failure{fill:none;stroke:var(--text);font-weight:bold;text-anchor:middle}\
.release{stroke:var(--quiet);opacity:.6}\
.break{stroke:var(--text);stroke-dasharray:6 4}\
.step{stroke-dasharray:1 3}\
.between{stroke:none;opacity:.1}\
.rule.worse{stroke:var(--worse)}.rule.better{stroke:var(--better)}.rule.noise{stroke:var(--noise)}\
.name.text{fill:var(--text)}\
.between.worse,.name.worse{fill:var(--worse)}.between.better,.name.better{fill:var(--better)}.between.noise,.name.noise{fill:var(--noise)}";

/// The style sheet of the picture of a server: `dot` is the radius of its dots, `cross` the size of its crosses, px.
pub(super) fn of(server: &str, (dot, cross): (f64, f64)) -> String {
    let line = format!("line-{}", colour(server));
    let (light, dark) = BASE.split_once("prefers-color-scheme: dark").unwrap_or((BASE, ""));
    let colours = |css: &str| {
        let names = COLOURS
            .iter()
            .map(|name| (*name, *name))
            .chain([("own", line.as_str())]);
        names.fold(String::new(), |mut text, (ours, theirs)| {
            let _ = write!(text, "--{ours}:{};", value(css, theirs));
            text
        })
    };
    let (width, ring) = (2.0 * dot, 1.5);
    format!(
        "svg{{{}}}@media(prefers-color-scheme:dark){{svg{{{}}}}}{LOOK}\
         .dot{{stroke-width:{width:.1}}}.hollow{{stroke-width:{:.1}}}.inner{{stroke-width:{:.1}}}.failure{{font-size:{cross:.1}px}}",
        colours(light),
        colours(dark),
        width + ring,
        width - ring,
    )
}

/// The value of a custom property where it is first given.
fn value<'a>(css: &'a str, name: &str) -> &'a str {
    let given = css.split_once(&format!("--{name}: "));
    given
        .and_then(|(_, rest)| rest.split(';').next())
        .unwrap_or("currentColor")
}

/// The colour of a server, 1 to 4, as in the moving chart: `look` in `site/assets/chart/draw.js`.
fn colour(server: &str) -> u32 {
    let hash = server.chars().fold(29_942_u32, |hash, letter| {
        (hash ^ u32::from(letter)).wrapping_mul(16_777_619)
    });
    1 + ((hash ^ (hash >> 15)) & 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_have_the_colours_of_the_moving_charts() {
        // The unit test of `look` expects the same of the first four.
        let servers = ["http", "http-multi", "grpc", "grpc-multi", "http-tls", "Parse <b>", "ü"];
        assert_eq!(servers.map(colour), [1, 3, 2, 4, 4, 3, 4]);
    }

    #[test]
    fn every_colour_is_taken_from_the_style_sheet_of_the_pages() {
        for server in ["http", "http-multi", "grpc", "grpc-multi"] {
            let style = of(server, (3.6, 19.0));
            assert!(!style.contains("currentColor"), "{style}");
        }
        let style = of("http", (3.6, 19.0));
        let (light, dark) = style.split_once("@media").unwrap();
        assert!(
            light.contains("--own:#004488;") && dark.contains("--own:#7fb0ee;"),
            "{style}"
        );
    }
}
