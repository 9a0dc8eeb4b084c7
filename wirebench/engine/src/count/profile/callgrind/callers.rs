//! The ways that lead to a function: its callers, with the project's own functions that were inlined around each call.

use std::rc::Rc;

use crate::count::profile::callgrind::context;
use crate::count::profile::callgrind::format::Call;
use crate::count::profile::callgrind::resolver::{Blamed, Resolver, is_own};
use crate::count::profile::stacks::FrameId;

/// The most ways kept for each context, the most expensive first; the others are added to these.
const WAYS: usize = 24;

/// One way to a context.
#[derive(Debug, Clone)]
pub(super) struct Way {
    /// The functions around it, outermost first.
    pub(super) stack: Vec<FrameId>,
    /// The innermost function of the project's among them, with the line of the call.
    pub(super) blamed: Blamed,
    /// The share of the context's cost that came this way; the shares of all ways add up to 1.
    share: f64,
}

/// All ways to one context; at least one.
pub(super) type Ways = Rc<[Way]>;

impl Resolver<'_> {
    /// The ways to a context, looked up once.
    pub(super) fn ways(&mut self, context: usize) -> Ways {
        if let Some(ways) = self.ways.get(&context) {
            return ways.clone();
        }
        // Functions that call each other deeper than contexts name callers are a circle: it is entered where it was met first.
        let named = self.as_named(context);
        self.ways.insert(context, [named].into());
        let mut found: Vec<Way> = Vec::new();
        for call in self.direct(context) {
            for way in self.through(&call) {
                match found
                    .iter_mut()
                    .find(|held| held.stack == way.stack && held.blamed == way.blamed)
                {
                    Some(held) => held.share += way.share,
                    None => found.push(way),
                }
            }
        }
        if found.is_empty() {
            return self.ways[&context].clone();
        }
        found.sort_by(|one, other| other.share.total_cmp(&one.share));
        found.truncate(WAYS);
        let sum: f64 = found.iter().map(|way| way.share).sum();
        found.iter_mut().for_each(|way| way.share /= sum);
        let ways: Ways = found.into();
        self.ways.insert(context, ways.clone());
        ways
    }

    /// Calls from the very context that the text names as the caller's. A text names a limited number of callers, so the
    /// caller's own text may go on where it ends.
    fn direct(&self, context: usize) -> Vec<Call> {
        let Some((_, named)) = context::frames(self.read.contexts[context].text).get(1).copied() else {
            return Vec::new();
        };
        let is_named = |caller: usize| {
            let rest = self.read.contexts[caller].text.strip_prefix(named);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('\''))
        };
        let calls = self.calls.get(&context).into_iter().flatten();
        calls
            .filter(|call| is_named(call.caller) && call.instructions > 0)
            .copied()
            .collect()
    }

    /// The ways to one call; their shares add up to the call's cost.
    #[expect(clippy::cast_precision_loss, reason = "only the proportion counts")]
    fn through(&mut self, call: &Call) -> Vec<Way> {
        let object = self.object(self.read.contexts[call.caller].object);
        let place = self.place(object, call.address);
        let physical = self.innermost(call.caller);
        let own = place.chain.iter().copied().filter(|id| is_own(&self.stacks, *id));
        let here: Vec<FrameId> = physical.into_iter().chain(own).collect();
        let ways = self.ways(call.caller);
        let way = |outer: &Way| Way {
            stack: outer.stack.iter().chain(&here).copied().collect(),
            blamed: place.blamed.or(outer.blamed),
            share: outer.share * call.instructions as f64,
        };
        ways.iter().map(way).collect()
    }

    /// The way that the text of a context names, where no call says more.
    fn as_named(&mut self, context: usize) -> Way {
        let stack = self.named_callers(context);
        let own = stack.iter().rfind(|id| is_own(&self.stacks, **id));
        Way {
            blamed: own.map(|id| (*id, None)),
            stack,
            share: 1.0,
        }
    }
}

/// A cost in whole instructions by the way that it came; the parts add up to it.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a count is rounded to a whole number no larger than the count"
)]
pub(super) fn divided(cost: u64, ways: &[Way]) -> Vec<(&Way, u64)> {
    let (mut share, mut given) = (0.0, 0);
    let mut parts = Vec::with_capacity(ways.len());
    for (at, way) in ways.iter().enumerate() {
        share += way.share;
        let upto = if at + 1 == ways.len() {
            cost
        } else {
            ((cost as f64 * share).round() as u64).clamp(given, cost)
        };
        parts.push((way, upto - given));
        given = upto;
    }
    parts.retain(|(_, part)| *part > 0);
    parts
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use super::{Way, divided};

    fn ways(weights: &[f64]) -> Vec<Way> {
        let sum: f64 = weights.iter().sum();
        let way = |weight: &f64| Way {
            stack: Vec::new(),
            blamed: None,
            share: weight / sum,
        };
        weights.iter().map(way).collect()
    }

    #[test]
    fn a_cost_is_divided_as_the_calls_cost() {
        let ways = ways(&[3.0, 1.0, 0.0]);
        let parts: Vec<u64> = divided(102, &ways).into_iter().map(|(_, part)| part).collect();
        assert_eq!(parts, [77, 25]);
    }

    proptest! {
        #[test]
        fn nothing_is_lost(cost in any::<u64>(), weights in vec(0.001f64..1e9, 1..24)) {
            let ways = ways(&weights);
            let sum: u64 = divided(cost, &ways).into_iter().map(|(_, part)| part).sum();
            prop_assert_eq!(sum, cost);
        }
    }
}
