//! Splits callgrind's function names under `--separate-callers`: the function and its callers, joined by `'`.

/// The parts of `inner'2'caller'main`, innermost first, each with all of the text that begins there: a caller's own
/// context. A function that calls itself is there once; the depth of its recursion (`'2`) is left out.
pub(super) fn frames(context: &str) -> Vec<(&str, &str)> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, _) in context.match_indices('\'') {
        if is_separator(&context[start..at]) {
            parts.push((&context[start..at], &context[start..]));
            start = at + 1;
        }
    }
    parts.push((&context[start..], &context[start..]));
    let is_depth = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    parts.retain(|(part, _)| !is_depth(part));
    parts
}

/// A `'` ends a function's name unless it begins a lifetime, as in `<&'a T>`, `for<'a>` and `dyn A + 'a`.
fn is_separator(before: &str) -> bool {
    let ends_name = !before.ends_with(['<', '&', ' ', '(', ',']);
    let operator = ["operator<", "operator<<", "operator&", "operator&&", "operator,"];
    !before.is_empty() && (ends_name || operator.iter().any(|name| before.ends_with(name)))
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::{any, prop_assert_eq, prop_oneof, proptest};

    use super::frames;

    fn names(context: &str) -> Vec<&str> {
        frames(context).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn a_context_is_a_function_and_its_callers() {
        for (context, expected) in [
            ("main", vec!["main"]),
            ("c'b'main", vec!["c", "b", "main"]),
            ("walk'2'main", vec!["walk", "main"]),
            ("main'(below main)'0x1ab70", vec!["main", "(below main)", "0x1ab70"]),
            ("<&'a T as m::A<'_>>::f'main", vec!["<&'a T as m::A<'_>>::f", "main"]),
            (
                "f<dyn for<'a> Fn(&'a u8) + 'static>'g",
                vec!["f<dyn for<'a> Fn(&'a u8) + 'static>", "g"],
            ),
            ("operator<<'main", vec!["operator<<", "main"]),
            (
                "f(int)'operator new(unsigned long)'g",
                vec!["f(int)", "operator new(unsigned long)", "g"],
            ),
            ("h::{{closure}}'h::run", vec!["h::{{closure}}", "h::run"]),
            ("", vec![""]),
        ] {
            assert_eq!(names(context), expected, "{context}");
        }
    }

    #[test]
    fn a_caller_comes_with_its_own_context() {
        assert_eq!(frames("c'b'main")[1], ("b", "b'main"));
    }

    proptest! {
        #[test]
        fn joined_names_are_split_again(parts in vec(prop_oneof!["[a-z_:]{1,9}", "<&'a [a-z]{1,5}>::[a-z]", "[a-z]{1,3}<dyn A \\+ 'b>"], 1..9)) {
            let context = parts.join("'");
            prop_assert_eq!(names(&context), parts);
        }

        #[test]
        fn any_text_is_split(text in any::<String>(), crooked in "['<>& (),0-9a]{0,20}") {
            frames(&text);
            frames(&crooked);
        }
    }
}
