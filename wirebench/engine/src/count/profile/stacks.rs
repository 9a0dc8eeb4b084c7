//! Costs by call stack. Each frame is stored once.

use std::collections::HashMap;

use crate::count::profile::frame::{Frame, Rule};

/// A frame of one [`Stacks`]; it has no meaning in another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FrameId(pub(super) u32);

/// Costs by call stack, outermost function first. A run has some 10,000 stacks of some 50 frames.
#[derive(Debug, Clone)]
pub struct Stacks {
    rule: Rule,
    frames: Vec<Frame>,
    ids: HashMap<Frame, FrameId>,
    /// Differences between runs may be negative.
    costs: HashMap<Box<[FrameId]>, i128>,
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

    /// Adds a cost to a stack, outermost frame first, of ids from [`Self::frame`].
    pub fn add(&mut self, stack: &[FrameId], cost: i128) {
        match self.costs.get_mut(stack) {
            Some(sum) => *sum += cost,
            None => {
                self.costs.insert(stack.into(), cost);
            }
        }
    }

    /// The costs so far, which are taken out: frames keep their ids in both.
    pub fn take(&mut self) -> Self {
        let costs = std::mem::take(&mut self.costs);
        Self { costs, ..self.clone() }
    }

    /// Adds so many times the cost of every stack of another run, or of another process of the same run.
    pub fn absorb(&mut self, other: &Self, times: i128) {
        let ids: Vec<FrameId> = other.frames.iter().map(|frame| self.frame(frame.clone())).collect();
        for (stack, cost) in &other.costs {
            let stack: Vec<FrameId> = stack.iter().map(|id| ids[id.0 as usize]).collect();
            self.add(&stack, cost * times);
        }
    }

    /// The sum over all stacks.
    pub fn total(&self) -> i128 {
        self.costs.values().sum()
    }

    /// Every stack, outermost frame first, with its cost; in no order.
    pub fn iter(&self) -> impl Iterator<Item = (Vec<&Frame>, i128)> {
        let named = |stack: &[FrameId]| stack.iter().map(|id| &self.frames[id.0 as usize]).collect();
        self.costs.iter().map(move |(stack, cost)| (named(stack), *cost))
    }

    pub(super) fn frames(&self) -> &[Frame] {
        &self.frames
    }

    pub(super) fn rule(&self) -> Rule {
        self.rule
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
        assert_eq!((stacks.costs.len(), stacks.total()), (2, 8));
        let deepest = stacks.iter().find(|(stack, _)| stack.len() == 2).unwrap();
        assert_eq!((deepest.0[1].function.as_str(), deepest.1), ("work", 7));
        stacks.add(&[main], u64::MAX.into());
        assert_eq!(stacks.total(), i128::from(u64::MAX) + 8);
    }
}
