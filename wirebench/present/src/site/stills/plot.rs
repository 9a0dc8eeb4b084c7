//! The plot of a still picture: its axes, and the course of the values in it, as `plot.js` and `draw.js` of the moving chart draw
//! them.

use jiff::Timestamp;

use super::course::{Course, Point, Shape, Stretch, shown};
use crate::report::format::significant;
use crate::site::scale::Linear;
use crate::site::shown::{direction, name};
use crate::site::svg::{Anchor, Path, Svg};
use wirebench_record::site::{Column, PUSHES_A_FILE, Pushes};

/// Room above, for the names of marks; on the left, for the axis of values; on the right; and below, for the places.
const TOP: f64 = 38.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 14.0;
const BOTTOM: f64 = 26.0;

/// Whiskers nearer to each other than this are drawn as one band, px.
const MERGED: f64 = 6.0;
/// Up to so many values are not joined by a line.
const FEW: usize = 4;
/// With fewer places in view these are named by their commits, else by their days.
const NAMED_BY_COMMIT: usize = 30;

/// The size of a picture, px.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Size {
    /// What a file of this size has before its `.svg`.
    pub(super) ending: &'static str,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A plot with its scales.
#[derive(Debug)]
pub(super) struct Plot {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
    height: f64,
    range: (usize, usize),
    x: Linear,
    y: Linear,
    /// The ends of the axis of values.
    room: (f64, f64),
    /// What 1 on the axis is worth, and its name.
    unit: (f64, String),
}

impl Plot {
    pub(super) fn of(course: &Course, column: &Column, size: Size) -> Self {
        let (left, top, right, bottom) = (LEFT, TOP, size.width - RIGHT, size.height - BOTTOM);
        let (from, to) = course.range;
        let (low, high) = course.room();
        let (worth, unit) = if course.percent {
            let reference = column.reference.as_deref().unwrap_or("the reference");
            (1.0, format!("% against {}", name(reference)))
        } else {
            fit(&column.unit, low.abs().max(high.abs()))
        };
        let better = column
            .better
            .map_or_else(String::new, |better| format!(" ({})", direction(better)));
        Self {
            left,
            top,
            right,
            bottom,
            height: size.height,
            range: course.range,
            x: Linear::new((place(from) - 0.5, left), (place(to) + 0.5, right)),
            y: Linear::new((low, bottom), (high, top)),
            room: (low, high),
            unit: (worth, format!("{}{better}", name(&unit))),
        }
    }

    /// Where a place is, px; halves lie between two.
    pub(super) fn at(&self, place: f64) -> f64 {
        self.x.at(place)
    }

    /// The distance of two places, px.
    fn gap(&self) -> f64 {
        self.x.at(1.0) - self.x.at(0.0)
    }

    /// The radius of a value's dot, and the size of a failed run's cross, px.
    pub(super) fn sizes(&self) -> (f64, f64) {
        ((self.gap() * 0.42).clamp(1.6, 3.6), (self.gap() * 1.6).clamp(9.0, 19.0))
    }

    /// Grid, ticks, their names, and the unit.
    pub(super) fn draw_axes(&self, svg: &mut Svg, pushes: &[Pushes]) {
        let worth = self.unit.0;
        let scale = Linear::new((self.room.0 / worth, self.bottom), (self.room.1 / worth, self.top));
        let mut ground = Path::default();
        ground.through([
            (0.0, 0.0),
            (self.right + RIGHT, 0.0),
            (self.right + RIGHT, self.height),
            (0.0, self.height),
        ]);
        svg.path("ground", &ground, "");
        for tick in scale.ticks((self.bottom - self.top) / 44.0, 1.0) {
            let y = scale.at(tick);
            svg.line("grid", (self.left, y), (self.right, y));
            svg.line("scale", (self.left - 4.0, y), (self.left, y));
            svg.text("tick", (self.left - 9.0, y), Anchor::End, &axis_number(tick));
        }
        svg.upwards("unit", (19.0, f64::midpoint(self.top, self.bottom)), &self.unit.1);
        for tick in self.places_with_names() {
            let x = self.at(place(tick));
            svg.line("scale", (x, self.bottom), (x, self.bottom + 4.0));
            svg.text(
                "below",
                (x, self.bottom + 9.0),
                Anchor::Middle,
                &self.place_name(tick, pushes),
            );
        }
    }

    /// Places at round numbers, counted from 1, that have room for a name on their right.
    fn places_with_names(&self) -> Vec<usize> {
        let (from, to) = self.range;
        let numbers = Linear::new((place(from) + 0.5, self.left), (place(to) + 1.5, self.right));
        let ticks = numbers.ticks((self.right - self.left) / 95.0, 1.0).into_iter();
        let whole = ticks.filter(|tick| (tick - tick.round()).abs() < 1e-6 && self.right - numbers.at(*tick) > 20.0);
        let found = whole.map(|tick| (from..=to).find(|at| (place(*at) + 1.0 - tick).abs() < 0.5));
        found.flatten().collect()
    }

    fn place_name(&self, at: usize, pushes: &[Pushes]) -> String {
        let file = pushes.get(at / PUSHES_A_FILE);
        let commit = file.and_then(|file| file.commits.get(at - file.from));
        let seconds = file.and_then(|file| file.at.get(at - file.from).copied().flatten());
        if let Some(commit) =
            commit.filter(|commit| self.range.1 - self.range.0 < NAMED_BY_COMMIT && !commit.is_empty())
        {
            return commit.chars().take(7).collect();
        }
        let day = seconds.and_then(|seconds| Timestamp::from_second(seconds).ok());
        day.map_or_else(
            || format!("#{}", significant(place(at) + 1.0, 9)),
            |day| day.strftime("%Y-%m-%d").to_string(),
        )
    }

    /// The zero line of ratios, levels, values with their intervals, and failed runs.
    pub(super) fn draw_course(&self, svg: &mut Svg, course: &Course, column: &Column, pushes: &[Pushes]) {
        if course.percent && self.room.0 <= 0.0 && self.room.1 >= 0.0 {
            svg.line("zero", (self.left, self.y.at(0.0)), (self.right, self.y.at(0.0)));
        }
        let mut levels = Path::default();
        for level in column
            .levels
            .iter()
            .filter(|one| one.to >= self.range.0 && one.from <= self.range.1)
        {
            let y = self.y.at(shown(level.level, course.percent));
            levels.through([
                (self.at(place(level.from) - 0.5), y),
                (self.at(place(level.to) + 0.5), y),
            ]);
        }
        svg.path("level", &levels, "");
        let breaks: Vec<usize> = column.breaks.iter().map(|one| one.at).collect();
        match &course.shape {
            Shape::Points(points) => self.draw_points(svg, points, &breaks, pushes),
            Shape::Stretches(stretches) => self.draw_stretches(svg, stretches, &breaks),
        }
        for failure in &column.failures {
            svg.text(
                "failure",
                (self.at(place(failure.at)), self.bottom - 4.0),
                Anchor::Middle,
                "✕",
            );
        }
    }

    fn draw_points(&self, svg: &mut Svg, points: &[Point], breaks: &[usize], pushes: &[Pushes]) {
        let [mut line, mut band, mut whiskers, mut full, mut hollow] = [(); 5].map(|()| Path::default());
        let known = |one: &Point| one.value.is_finite();
        for piece in pieces(points, known, |one| one.place, breaks) {
            let spot = |one: &Point, value: f64| (self.at(place(one.place)), self.y.at(value));
            line.through(piece.iter().map(|one| spot(one, one.value)));
            for one in piece {
                let dots = if is_provisional(one.place, pushes) {
                    &mut hollow
                } else {
                    &mut full
                };
                dots.dot(spot(one, one.value));
                if one.half > 0.0 && self.gap() >= MERGED {
                    self.whisker(
                        &mut whiskers,
                        spot(one, one.value - one.half),
                        spot(one, one.value + one.half),
                    );
                }
            }
            if self.gap() < MERGED && piece.iter().any(|one| one.half > 0.0) {
                let upper = piece.iter().map(|one| spot(one, one.value + one.half));
                band.through(upper.chain(piece.iter().rev().map(|one| spot(one, one.value - one.half))));
            }
        }
        svg.path("band", &band, "");
        if points.iter().filter(|one| known(one)).count() > FEW {
            svg.path("course", &line, "");
        }
        svg.path("whisker", &whiskers, "");
        for (class, dots) in [("dot", &full), ("hollow", &hollow), ("inner", &hollow)] {
            svg.path(class, dots, "");
        }
    }

    fn whisker(&self, whiskers: &mut Path, low: (f64, f64), high: (f64, f64)) {
        whiskers.through([low, high]);
        if self.gap() > MERGED + 1.0 {
            for (x, y) in [low, high] {
                whiskers.through([(x - 3.0, y), (x + 3.0, y)]);
            }
        }
    }

    fn draw_stretches(&self, svg: &mut Svg, stretches: &[Stretch], breaks: &[usize]) {
        let (mut area, mut line) = (Path::default(), Path::default());
        let known = |one: &Stretch| one.middle.is_finite();
        for piece in pieces(stretches, known, |one| one.from, breaks) {
            let left = |one: &Stretch| self.at(place(one.from) - 0.5);
            let right = |one: &Stretch| self.at(place(one.to) + 0.5);
            let upper = piece
                .iter()
                .flat_map(|one| [left(one), right(one)].map(|x| (x, self.y.at(one.high))));
            let lower = piece
                .iter()
                .rev()
                .flat_map(|one| [right(one), left(one)].map(|x| (x, self.y.at(one.low))));
            area.through(upper.chain(lower));
            let centres = piece
                .iter()
                .map(|one| (f64::midpoint(left(one), right(one)), self.y.at(one.middle)));
            let first = piece.first().map(|one| (left(one), self.y.at(one.middle)));
            let last = piece.last().map(|one| (right(one), self.y.at(one.middle)));
            line.through(first.into_iter().chain(centres).chain(last));
        }
        svg.path("area", &area, "");
        svg.path("middle", &line, "");
    }
}

/// Stretches in which a line may run: no missing value, no break.
fn pieces<'a, T>(
    all: &'a [T],
    known: impl Fn(&T) -> bool + 'a,
    place: impl Fn(&T) -> usize + 'a,
    breaks: &'a [usize],
) -> Vec<&'a [T]> {
    let joined = |one: &T, next: &T| known(one) && known(next) && !breaks.contains(&place(next));
    all.chunk_by(joined)
        .filter(|piece| piece.first().is_some_and(&known))
        .collect()
}

fn is_provisional(place: usize, pushes: &[Pushes]) -> bool {
    let file = pushes.get(place / PUSHES_A_FILE);
    file.is_some_and(|file| file.provisional.contains(&place))
}

#[expect(clippy::cast_precision_loss, reason = "places stay far below 2^53")]
pub(super) fn place(at: usize) -> f64 {
    at as f64
}

/// The unit that fits values up to `size`: what 1 of it is worth, and its name; of `ns/op` the time is scaled and the rest stays.
fn fit(unit: &str, size: f64) -> (f64, String) {
    const TIMES: &[(f64, &str)] = &[(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];
    const BYTES: &[(f64, &str)] = &[
        (1_073_741_824.0, "GiB"),
        (1_048_576.0, "MiB"),
        (1024.0, "KiB"),
        (1.0, "B"),
    ];
    let (what, rest) = unit.split_at(unit.find('/').unwrap_or(unit.len()));
    let (times, steps) = match what {
        "ns" => (1.0, TIMES),
        "us" | "µs" => (1e3, TIMES),
        "ms" => (1e6, TIMES),
        "bytes" => (1.0, BYTES),
        _ => return (1.0, unit.to_owned()),
    };
    let fits = steps.iter().find(|(least, _)| size * times >= *least);
    let (least, name) = fits.or(steps.last()).copied().unwrap_or((1.0, what));
    (least / times, format!("{name}{rest}"))
}

/// A number on an axis: `12,500`, `37.02`, `−2`.
fn axis_number(value: f64) -> String {
    significant(value + 0.0, 5).replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_fits_the_largest_value() {
        let found = [
            ("ns", 19_412.0),
            ("us/op", 2_500.0),
            ("bytes", 3e6),
            ("req/s", 5e4),
            ("sec", 3.0),
            ("ns", 0.0),
        ];
        let found = found.map(|(unit, size)| fit(unit, size));
        let expected = [
            (1e3, "µs"),
            (1e3, "ms/op"),
            (1_048_576.0, "MiB"),
            (1.0, "req/s"),
            (1.0, "sec"),
            (1.0, "ns"),
        ];
        assert_eq!(found, expected.map(|(worth, name)| (worth, name.to_owned())));
    }

    #[test]
    fn numbers_of_an_axis_are_short() {
        let found = [12_500.0, 37.02, -2.0, -0.0, 0.000_1].map(axis_number);
        assert_eq!(found, ["12,500", "37.02", "−2", "0", "0.0001"]);
    }
}
