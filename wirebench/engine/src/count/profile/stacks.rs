//! Costs by call stack. Each frame is stored once.

use std::collections::HashMap;

use crate::count::profile::frame::Frame;
use crate::count::profile::frame::Rule;

/// A frame of one [`Stacks`]; it has no meaning in another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FrameId(pub(super) u32);

/// Costs by call stack, outermost function first. A run has some 10,000 stacks of some 50 frames.
#[derive(Debug, Clone)]
pub struct Stacks {
    rule: Rule,
    frames: Vec<Frame>,
    ids: HashMap<Frame, FrameId>,
    costs: HashMap<Box<[FrameId]>, u64>,
}

impl Stacks {
    /// An empty collection; `rule` decides which frame a cost belongs to.
    pub fn new(rule: Rule) -> Self {
        Self {
            rule,
            frames: Vec::new(),
            ids: HashMap::new(),
            costs: HashMap::new(),
        }
    }

    /// The id of a frame, the same for equal ones.
    pub fn frame(&mut self, frame: Frame) -> FrameId {
        if let Some(&id) = self.ids.get(&frame) {
            return id;
        }
        let id = FrameId(u32::try_from(self.frames.len()).expect("a profile has fewer than 2^32 functions"));
        self.frames.push(frame.clone());
        self.ids.insert(frame, id);
        id
    }

    /// Adds a cost to a stack, outermost frame first, of ids from [`Self::frame`]. Sums saturate.
    pub fn add(&mut self, stack: &[FrameId], cost: u64) {
        match self.costs.get_mut(stack) {
            Some(sum) => *sum = sum.saturating_add(cost),
            None => {
                self.costs.insert(stack.into(), cost);
            }
        }
    }

    /// Adds every stack of another process of the same run.
    pub fn absorb(&mut self, other: &Self) {
        for (stack, cost) in other.iter() {
            let ids: Vec<FrameId> = stack.into_iter().map(|frame| self.frame(frame.clone())).collect();
            self.add(&ids, cost);
        }
    }

    /// The sum over all stacks.
    pub fn total(&self) -> u64 {
        self.costs.values().fold(0, |sum, &cost| sum.saturating_add(cost))
    }

    /// How many different stacks there are.
    pub fn len(&self) -> usize {
        self.costs.len()
    }

    /// Whether there is no stack at all.
    pub fn is_empty(&self) -> bool {
        self.costs.is_empty()
    }

    /// Every stack, outermost frame first, with its cost; in no order.
    pub fn iter(&self) -> impl Iterator<Item = (Vec<&Frame>, u64)> {
        self.by_id().map(|(stack, cost)| (self.named(stack), cost))
    }

    pub(super) fn by_id(&self) -> impl Iterator<Item = (&[FrameId], u64)> {
        self.costs.iter().map(|(stack, &cost)| (&**stack, cost))
    }

    pub(super) fn frames(&self) -> &[Frame] {
        &self.frames
    }

    pub(super) fn rule(&self) -> Rule {
        self.rule
    }

    fn named(&self, stack: &[FrameId]) -> Vec<&Frame> {
        stack.iter().map(|id| &self.frames[id.0 as usize]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Stacks;
    use crate::count::profile::frame::Rule;
    use crate::count::profile::frame::{Frame, Origin};

    #[test]
    fn equal_stacks_are_one_and_their_costs_add_up() {
        let mut stacks = Stacks::new(Rule::Instructions);
        let frame = |function: &str| Frame {
            function: function.to_owned(),
            origin: Origin::Foreign,
            inlined: false,
        };
        let (main, work) = (stacks.frame(frame("main")), stacks.frame(frame("work")));
        assert_eq!(stacks.frame(frame("main")), main);
        stacks.add(&[main, work], 3);
        stacks.add(&[main], 1);
        stacks.add(&[main, work], 4);
        assert_eq!((stacks.len(), stacks.total()), (2, 8));
        let deepest = stacks.iter().find(|(stack, _)| stack.len() == 2).unwrap();
        assert_eq!((deepest.0[1].function.as_str(), deepest.1), ("work", 7));
        stacks.add(&[main], u64::MAX);
        assert_eq!(stacks.total(), u64::MAX);
    }
}
