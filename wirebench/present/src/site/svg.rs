//! Inline pictures: elements with escaped text and attributes, and nothing that a strict Content-Security-Policy forbids.
//! How they look is the style sheet's: elements carry classes, so that dark mode needs no second picture.

use std::fmt::{self, Display, Write as _};

use askama::filters::HtmlSafe;

/// A finished picture, or a name with markup. Everything in it was escaped, so a template prints it as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Markup(pub(super) String);

impl Display for Markup {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        to.write_str(&self.0)
    }
}

impl HtmlSafe for Markup {}

/// A picture being drawn.
#[derive(Debug)]
pub struct Svg {
    width: f64,
    height: f64,
    body: String,
}

/// Where a text stands beside its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// The text begins there.
    Start,
    /// The text is centred there.
    Middle,
    /// The text ends there.
    End,
}

impl Svg {
    /// An empty one of that size, px.
    pub const fn new(width: f64, height: f64) -> Self {
        Self {
            width,
            height,
            body: String::new(),
        }
    }

    /// A straight line.
    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let (x1, y1, x2, y2) = (pixel(from.0), pixel(from.1), pixel(to.0), pixel(to.1));
        let class = escaped(class);
        let _ = write!(
            self.body,
            "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"
        );
    }

    /// A path, with a tooltip unless that is empty.
    pub fn path(&mut self, class: &str, path: &Path, title: &str) {
        if path.0.is_empty() {
            return;
        }
        let class = escaped(class);
        let _ = write!(self.body, "<path class=\"{class}\" d=\"{}\"", path.0);
        if title.is_empty() {
            self.body.push_str("/>");
        } else {
            let _ = write!(self.body, "><title>{}</title></path>", escaped(title));
        }
    }

    /// Words on the picture.
    pub fn text(&mut self, class: &str, at: (f64, f64), anchor: Anchor, words: &str) {
        let (x, y, class) = (pixel(at.0), pixel(at.1), escaped(class));
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let _ = write!(
            self.body,
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{}</text>",
            escaped(words)
        );
    }

    /// The picture, with a text for readers who do not see it.
    pub fn finish(self, class: &str, alt: &str) -> Markup {
        let (width, height, body) = (pixel(self.width), pixel(self.height), self.body);
        let (class, alt) = (escaped(class), escaped(alt));
        Markup(format!(
            "<svg class=\"{class}\" role=\"img\" aria-label=\"{alt}\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\">{body}</svg>"
        ))
    }
}

/// Path data.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Path(String);

impl Path {
    /// A point: a dot when the line's ends are round, a square when they are square.
    pub fn dot(&mut self, (x, y): (f64, f64)) {
        let _ = write!(self.0, "M{} {}h0", pixel(x), pixel(y));
    }

    /// A diamond.
    pub fn diamond(&mut self, (x, y): (f64, f64)) {
        let _ = write!(self.0, "M{} {}l4 4l-4 4l-4-4z", pixel(x), pixel(y - 4.0));
    }

    /// A cross.
    pub fn cross(&mut self, (x, y): (f64, f64)) {
        let (left, top) = (pixel(x - 3.5), pixel(y - 3.5));
        let _ = write!(self.0, "M{left} {top}l7 7m0-7l-7 7");
    }

    /// A circle, drawn as two halves.
    pub fn ring(&mut self, (x, y): (f64, f64)) {
        let _ = write!(self.0, "M{} {}a3 3 0 1 0 6 0a3 3 0 1 0-6 0", pixel(x - 3.0), pixel(y));
    }

    /// A line through points.
    pub fn through(&mut self, points: impl IntoIterator<Item = (f64, f64)>) {
        for (place, (x, y)) in points.into_iter().enumerate() {
            let pen = if place == 0 { 'M' } else { 'L' };
            let _ = write!(self.0, "{pen}{} {}", pixel(x), pixel(y));
        }
    }
}

/// A coordinate to a tenth of a pixel; NaN and infinities are 0.
fn pixel(value: f64) -> String {
    let value = if value.is_finite() { value.clamp(-1e5, 1e5) } else { 0.0 };
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".into() } else { text.to_owned() }
}

/// Text without what would end it or open an element, in content and in attributes.
pub(super) fn escaped(text: &str) -> String {
    text.replace(char::is_control, " ")
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_words_stay_words_wherever_they_stand() {
        let nasty = "\"><img src=x onerror=alert(1)><script>'";
        let mut svg = Svg::new(10.0, 10.0);
        let mut path = Path::default();
        path.cross((5.0, 5.0));
        svg.path(nasty, &path, nasty);
        svg.text(nasty, (1.0, 1.0), Anchor::Start, nasty);
        svg.line(nasty, (0.0, 0.0), (1.0, 1.0));
        let text = svg.finish(nasty, nasty).to_string();
        assert!(!text.contains("<img") && !text.contains("<script"), "{text}");
        crate::site::well_formed::check(&text).unwrap();
        assert_eq!(text.matches("onerror").count(), 7, "said, not done: {text}");
    }

    #[test]
    fn no_number_breaks_a_picture() {
        assert_eq!(
            [1.0, 1.25, -0.01, f64::NAN, f64::INFINITY, 1e300].map(pixel),
            ["1", "1.2", "0", "0", "0", "100000"]
        );
    }

    #[test]
    fn a_template_prints_a_picture_as_it_is_and_text_escaped() {
        #[derive(askama::Template)]
        #[template(source = "{{ picture }}{{ text }}", ext = "html")]
        struct Both {
            picture: Markup,
            text: &'static str,
        }
        let both = Both {
            picture: Svg::new(1.0, 1.0).finish("x", ""),
            text: "<b>",
        };
        let text = askama::Template::render(&both).unwrap();
        assert!(text.starts_with("<svg ") && text.ends_with("&#60;b&#62;"), "{text}");
    }
}
