//! Finds where valgrind loaded a program, to convert process addresses to addresses in its file.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use object::{Object as _, ObjectSymbol as _};

use crate::count::profile::names;

const PAGE: u64 = 4096;

/// The address and the length of each function of a program's symbol table, by name; `None` where two functions have the name, which
/// then does not identify an address.
type Functions = HashMap<String, Option<(u64, u64)>>;

/// The difference between process addresses and the addresses in a program's file, from process addresses and the functions at them
/// by valgrind. `None` if the program does not exist, is none, or is stripped, or no function is known.
pub(in crate::count::profile) fn load_offset(path: &Path, seen: &[(u64, String)]) -> Option<u64> {
    let bytes = fs::read(path).ok()?;
    let object = object::File::parse(bytes.as_slice()).ok()?;
    let mut functions = Functions::new();
    let symbols = object.symbols();
    for symbol in symbols.filter(|symbol| symbol.is_definition() && symbol.size() > 0) {
        if let Ok(name) = symbol.name() {
            let place = Some((symbol.address(), symbol.size()));
            let known = functions.entry(names::clean(name)).or_insert(place);
            *known = (*known).filter(|_| *known == place);
        }
    }
    offset_of(&functions, seen.iter().map(|(address, name)| (*address, name.as_str())))
}

/// The number of whole pages that fits most addresses.
fn offset_of<'a>(functions: &Functions, seen: impl Iterator<Item = (u64, &'a str)>) -> Option<u64> {
    let mut votes: BTreeMap<u64, usize> = BTreeMap::new();
    for (address, name) in seen {
        let Some(Some((start, size))) = functions.get(name) else {
            continue;
        };
        let Some(above) = address.checked_sub(*start) else {
            continue;
        };
        // A function longer than a page fits at several offsets; a wrong one gets fewer votes.
        let furthest = above / PAGE;
        let nearest = above.saturating_sub(size - 1).div_ceil(PAGE);
        for pages in (nearest..=furthest).take(16) {
            *votes.entry(pages * PAGE).or_insert(0) += 1;
        }
    }
    // Of equal candidates the smallest, so that the result is deterministic.
    let most = votes.into_iter().rev().max_by_key(|&(_, count)| count);
    most.map(|(offset, _)| offset)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::{prop_assert_eq, proptest};

    use super::{Functions, PAGE, offset_of};

    fn functions() -> Functions {
        let functions = [
            ("main", 0x1000, 0x55d),
            ("long", 0x2000, 0x4000),
            ("short", 0x7000, 0x10),
        ];
        HashMap::from(functions.map(|(name, start, size)| (name.to_owned(), Some((start, size)))))
    }

    #[test]
    fn functions_say_where_a_program_was_loaded() {
        let seen = [
            (0x10_9200, "main"),
            (0x10_b100, "long"),
            (0x10_f004, "short"),
            (0x4_0000_0000, "malloc"),
        ];
        assert_eq!(offset_of(&functions(), seen.into_iter()), Some(0x10_8000));
        assert_eq!(offset_of(&functions(), [(0x1200, "main")].into_iter()), Some(0));
        assert_eq!(
            offset_of(&functions(), [(0x900, "main"), (5, "unknown")].into_iter()),
            None
        );
    }

    proptest! {
        #[test]
        fn every_offset_is_found(pages in 0u64..1 << 30, into in 0u64..0x55d, deep in 0u64..0x10) {
            let offset = pages * PAGE;
            let seen = [(offset + 0x1000 + into, "main"), (offset + 0x7000 + deep, "short")];
            prop_assert_eq!(offset_of(&functions(), seen.into_iter()), Some(offset));
        }
    }
}
