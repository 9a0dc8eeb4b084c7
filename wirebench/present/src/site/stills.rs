//! Still pictures of columns, for print and for readers without scripts: what the moving chart shows at first, drawn from the
//! same data in the same look.

mod course;
mod marks;
mod plot;
mod style;

use self::course::Course;
use self::plot::{Plot, Size};
use crate::site::svg::Svg;
use wirebench_record::site::{Column, Pushes, Release};

/// For a desktop, and for a phone, where text must not become smaller. The pages name both.
const SIZES: [Size; 2] = [
    Size {
        ending: "",
        width: 960.0,
        height: 450.0,
    },
    Size {
        ending: ".phone",
        width: 366.0,
        height: 360.0,
    },
];

/// The pictures of a column: names and contents. `pushes` are the files of its timeline, `releases` those among them.
pub(super) fn files(name: &str, column: &Column, releases: &[Release], pushes: &[Pushes]) -> Vec<(String, String)> {
    let course = Course::of(column);
    let file = |size: &Size| {
        let file = format!("charts/{name}{}.svg", size.ending);
        (file, draw(&course, column, releases, pushes, *size))
    };
    SIZES.iter().map(file).collect()
}

fn draw(course: &Course, column: &Column, releases: &[Release], pushes: &[Pushes], size: Size) -> String {
    let mut svg = Svg::new(size.width, size.height);
    let plot = Plot::of(course, column, size);
    plot.draw_axes(&mut svg, pushes);
    marks::draw(&mut svg, &plot, column, releases);
    plot.draw_course(&mut svg, course, column, pushes);
    svg.file(
        &style::of(&column.server, plot.sizes()),
        &format!("{}: {}", column.series, column.label),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::well_formed;
    use serde_json::json;

    /// Eight pushes: a release, a step that got worse, an accepted one, a break, a run without a value, and the newest provisional.
    fn column() -> Column {
        let step = |before: usize, percent: f64, accepted: Option<&str>| {
            json!({
                "last_before": before, "first_after": before + 1, "reported": before + 1, "change_percent": percent,
                "low_percent": percent - 1.0, "high_percent": percent + 1.0, "direction": "worse", "accepted": accepted, "alert": false,
            })
        };
        let level = |from: usize, to: usize, level: f64| json!({ "from": from, "to": to, "level": level });
        serde_json::from_value(json!({
            "schema": "wirebench.column/v1", "series": "a@http@hey", "server": "http", "metric": "server_cpu",
            "label": "server CPU per request", "unit": "ns", "better": "lower", "basis": "value", "reference": null,
            "timeline": "runs", "places": 8,
            "breaks": [{ "at": 5, "why": "another machine <b>" }],
            "levels": [level(0, 1, 10_000.0), level(2, 4, 12_000.0), level(5, 7, 9_000.0)],
            "steps": [step(1, 20.0, None), step(3, 5.5, Some("the cache"))],
            "failures": [{ "at": 3, "why": "no answer" }],
            "points": {
                "from": 0, "value": { "scale": 1.0, "deltas": [10_000, 0, 2_000, null, 0, -3_000, 0, 0] }, "ratio": null,
                "half_permille": [10, 10, 10, null, 10, 10, 10, 10],
            },
            "buckets": null,
        }))
        .unwrap()
    }

    fn pushes(places: usize) -> Vec<Pushes> {
        vec![Pushes {
            schema: String::new(),
            from: 0,
            commits: (0..places).map(|place| format!("{place:012x}")).collect(),
            at: vec![Some(1_795_237_200); places],
            messages: Vec::new(),
            runs: vec![None; places],
            provisional: vec![places - 1],
        }]
    }

    fn releases() -> [Release; 1] {
        [Release {
            at: 1,
            name: "v1 <i>".into(),
        }]
    }

    fn drawn(column: &Column, size: Size) -> String {
        draw(&Course::of(column), column, &releases(), &pushes(column.places), size)
    }

    #[test]
    fn levels_steps_breaks_releases_and_failures_are_drawn_with_their_names() {
        let wide = drawn(&column(), SIZES[0]);
        well_formed::check(&wide).unwrap();
        for (what, count) in [
            ("class=\"rule step worse\"", 1),
            ("class=\"rule step noise\"", 1),
            ("class=\"rule break\"", 1),
            ("class=\"rule release\"", 1),
            ("class=\"failure\"", 1),
            (">▼ worse +20.0 %</text>", 1),
            (">▼ accepted +5.50 %</text>", 1),
            (">v1 &lt;i&gt;</text>", 1),
            (">another machine &lt;b&gt;</text>", 1),
            (">µs (lower is better)</text>", 1),
            (">0000000</text>", 8),
        ] {
            assert_eq!(wide.matches(what).count(), count, "{what} in {wide}");
        }
        let level = wide
            .split("class=\"level\" d=\"")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap();
        assert_eq!(level.matches('M').count(), 3, "{level}");
    }

    #[test]
    fn a_narrow_picture_has_the_same_marks_in_fewer_words() {
        let narrow = drawn(&column(), SIZES[1]);
        well_formed::check(&narrow).unwrap();
        assert!(
            narrow.contains(">▼ +20.0 %</text>") && narrow.contains(">another machi…</text>"),
            "{narrow}"
        );
        for class in [
            "level",
            "rule step worse",
            "rule break",
            "rule release",
            "failure",
            "whisker",
        ] {
            assert!(narrow.contains(&format!("class=\"{class}\"")), "{class}");
        }
    }

    #[test]
    fn many_values_are_stretches_and_a_ratio_is_percent_around_a_zero_line() {
        let row = |from: i64| json!({ "scale": 0.001, "deltas": [from, 20, null, 5] });
        let envelope = json!({ "min": row(990), "middle": row(1_000), "max": row(1_010) });
        let mut value = serde_json::to_value(column()).unwrap();
        let buckets = json!({ "from": [0, 2, 4, 6], "value": envelope, "ratio": envelope });
        for (key, new) in [
            ("basis", json!("ratio")),
            ("reference", json!("v1.4.0")),
            ("points", json!(null)),
            ("buckets", buckets),
            ("levels", json!([{ "from": 0, "to": 7, "level": 1.01 }])),
        ] {
            value[key] = new;
        }
        let drawn = drawn(&serde_json::from_value(value).unwrap(), SIZES[0]);
        well_formed::check(&drawn).unwrap();
        for needed in [
            "class=\"area\"",
            "class=\"zero\"",
            ">% against v1.4.0 (lower is better)</text>",
            "class=\"level\"",
        ] {
            assert!(drawn.contains(needed), "no {needed} in {drawn}");
        }
        assert!(!drawn.contains("class=\"dot\""), "{drawn}");
    }

    #[test]
    fn a_column_without_any_value_is_an_empty_plot() {
        let mut column = column();
        column.points = None;
        let text = drawn(&column, SIZES[0]);
        well_formed::check(&text).unwrap();
        assert!(!text.contains("NaN"), "{text}");
    }
}
