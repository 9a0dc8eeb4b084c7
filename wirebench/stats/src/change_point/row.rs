//! A row of values, with the level before each place.

use crate::change_point::level::PriorLevel;
use crate::change_point::rules::WINDOW;

/// The values of a row.
#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    pub(super) values: Vec<f64>,
    /// For each place, the level of the values before it, from the same level only.
    pub(super) priors: Vec<PriorLevel>,
    /// The newest values of the current level, at most [`WINDOW`], ascending.
    pub(super) window: Vec<f64>,
}

impl Row {
    pub(super) fn push(&mut self, value: f64) {
        self.priors.push(PriorLevel::of(&self.window));
        self.values.push(value);
        if self.window.len() == WINDOW {
            let oldest = self.values[self.values.len() - 1 - WINDOW];
            self.window.remove(self.window.partition_point(|other| *other < oldest));
        }
        let place = self.window.partition_point(|other| *other < value);
        self.window.insert(place, value);
    }

    /// Moves the start of the current level.
    pub(super) fn restart(&mut self, start: usize) {
        self.priors.truncate(start);
        self.window.clear();
        for value in self.values.split_off(start) {
            self.push(value);
        }
    }

    /// Up to [`WINDOW`] values before a place, none of them before `start`.
    pub(super) fn before(&self, place: usize, start: usize) -> &[f64] {
        &self.values[start.max(place.saturating_sub(WINDOW))..place]
    }
}
