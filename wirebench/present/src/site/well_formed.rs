//! Whether every element of a page is closed where it should be, and nothing stands in it that its
//! Content-Security-Policy forbids. For tests.

/// Elements that have no end.
const VOID: [&str; 6] = ["meta", "link", "br", "hr", "img", "input"];

/// Reads the whole text as markup; the error says where it is broken.
pub(super) fn check(text: &str) -> Result<(), String> {
    let mut open: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let before = &rest[..start];
        if open.last().is_some_and(|name| name == "style") {
            // A style sheet is no markup until it ends.
            let end = rest.find("</style>").ok_or("a style sheet without an end")?;
            open.pop();
            rest = &rest[end + "</style>".len()..];
            continue;
        }
        if before.contains('>') {
            return Err(format!("a stray > in {before:?}"));
        }
        let tag = &rest[start + 1..];
        let end = end_of(tag).ok_or_else(|| format!("a tag without an end: {:.60}", &rest[start..]))?;
        let (inside, after) = (&tag[..end], &tag[end + 1..]);
        rest = after;
        if inside.starts_with('!') {
            continue;
        }
        if let Some(name) = inside.strip_prefix('/') {
            match open.pop() {
                Some(last) if last == name => {}
                last => return Err(format!("</{name}> after {last:?}")),
            }
            continue;
        }
        attributes(inside)?;
        let name: String = inside.chars().take_while(char::is_ascii_alphanumeric).collect();
        if name.is_empty() {
            return Err(format!("no element: <{inside:.60}>"));
        }
        if !inside.ends_with('/') && !VOID.contains(&&*name) {
            open.push(name);
        }
    }
    if rest.contains('>') {
        return Err(format!("a stray > in {rest:.60}"));
    }
    if open.is_empty() {
        Ok(())
    } else {
        Err(format!("never closed: {open:?}"))
    }
}

/// The `>` that ends a tag, outside of its quoted attributes.
fn end_of(tag: &str) -> Option<usize> {
    let mut quoted = false;
    for (place, c) in tag.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '>' if !quoted => return Some(place),
            _ => {}
        }
    }
    None
}

fn attributes(tag: &str) -> Result<(), String> {
    let mut parts = tag.split('"');
    while let Some(outside) = parts.next() {
        let name = outside.trim_end_matches('=').rsplit(' ').next().unwrap_or_default();
        if name.starts_with("on") || (name == "style" && outside.ends_with('=')) {
            return Err(format!("{name} in <{tag:.80}>"));
        }
        if outside.contains('<') || outside.contains('\'') {
            return Err(format!("an attribute that is not quoted in <{tag:.80}>"));
        }
        if parts
            .next()
            .is_some_and(|inside| inside.contains('<') || inside.contains("javascript:"))
        {
            return Err(format!("an open attribute in <{tag:.80}>"));
        }
    }
    Ok(())
}

#[test]
fn what_is_broken_or_forbidden_is_found() {
    for good in [
        "<p class=\"a > b\">x<br>y</p>",
        "<svg><path d=\"M0 0\"/></svg>",
        "<style>a>b{}</style>",
    ] {
        assert_eq!(check(good), Ok(()), "{good}");
    }
    for bad in [
        "<p>",
        "<p></b>",
        "</p>",
        "<p style=\"x\"></p>",
        "<p onclick=\"x\"></p>",
        "<a href=\"javascript:x\"></a>",
        "a > b",
        "<p class=\"<b>\"></p>",
        "<3",
        "<p",
    ] {
        assert!(check(bad).is_err(), "{bad}");
    }
}
