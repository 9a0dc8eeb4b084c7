//! The unary methods that the repository's .proto files declare.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::files::Files;

/// A unary method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    /// The file, from the top.
    pub(super) proto: String,
    /// The folder its imports start from.
    pub(super) root: String,
    /// `package.Service/Method`.
    pub(super) call: String,
    /// The method alone.
    pub(super) method: String,
}

static COMMENT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?s)//[^\n]*|/\*.*?\*/").expect("a constant pattern"));
static PACKAGE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?m)^\s*package\s+([\w.]+)\s*;").expect("a constant pattern"));
static IMPORT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?m)^\s*import\s+(?:public\s+|weak\s+)?"([^"]+)"\s*;"#).expect("a constant pattern")
});
static SERVICE_OR_RPC: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?x) \bservice\s+(?<service>\w+)\s*\{
        | \brpc\s+(?<method>\w+)\s*\(\s*(?<asks>stream\s)?[\s\w.]+\)\s*returns\s*\(\s*(?<answers>stream\s)?[\s\w.]+\)",
    )
    .expect("a constant pattern")
});

/// Every unary method once, in order, from the first file that declares it: repositories keep copies for each language. Those
/// of gRPC's own services are left out.
pub(super) fn calls(files: &Files) -> Vec<Call> {
    let ours = |(path, _): &(&str, &str)| {
        !path.starts_with("google/") && !path.contains("/google/") && !path.contains("grpc/health/")
    };
    let mut seen = BTreeSet::new();
    files
        .below("", &["proto"])
        .filter(ours)
        .flat_map(|(path, text)| of_file(files, path, text))
        .filter(|call| seen.insert(call.call.clone()))
        .collect()
}

fn of_file(files: &Files, path: &str, text: &str) -> Vec<Call> {
    let text = COMMENT.replace_all(text, " ");
    let package = PACKAGE.captures(&text).map(|found| found[1].to_owned());
    let root = root(files, path, &text, package.as_deref());
    let (mut service, mut found) = (None, Vec::new());
    for part in SERVICE_OR_RPC.captures_iter(&text) {
        if let Some(name) = part.name("service") {
            service = Some(name.as_str());
        } else if let (Some(service), Some(method), None, None) =
            (service, part.name("method"), part.name("asks"), part.name("answers"))
        {
            let package = package
                .as_ref()
                .map(|package| format!("{package}."))
                .unwrap_or_default();
            found.push(Call {
                proto: path.to_owned(),
                root: root.clone(),
                call: format!("{package}{service}/{}", method.as_str()),
                method: method.as_str().to_owned(),
            });
        }
    }
    found
}

/// The folder that imports start from: one above the file in which every import is found, else the one that the package's
/// name leads down from, else the file's own.
fn root(files: &Files, path: &str, text: &str, package: Option<&str>) -> String {
    let own = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let named = |folder: &str| {
        if folder.is_empty() {
            ".".to_owned()
        } else {
            folder.to_owned()
        }
    };
    let imports: Vec<String> = IMPORT.captures_iter(text).map(|found| found[1].to_owned()).collect();
    let imports: Vec<&String> = imports
        .iter()
        .filter(|import| !import.starts_with("google/protobuf/"))
        .collect();
    let mut above = Some(own);
    while let (Some(folder), false) = (above, imports.is_empty()) {
        let place = |import: &&String| {
            if folder.is_empty() {
                (**import).clone()
            } else {
                format!("{folder}/{import}")
            }
        };
        if imports.iter().all(|import| files.has(&place(import))) {
            return named(folder);
        }
        above = if folder.is_empty() {
            None
        } else {
            Some(folder.rsplit_once('/').map_or("", |(above, _)| above))
        };
    }
    let down = package.map(|package| package.replace('.', "/")).unwrap_or_default();
    match own.strip_suffix(&down) {
        Some(top) if !down.is_empty() && (top.is_empty() || top.ends_with('/')) => named(top.trim_end_matches('/')),
        _ => named(own),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_one_file_declare_a_method_once() {
        let text = "package a;\nservice S { rpc M (A) returns (B); }\n";
        let found = calls(&Files::of(&[
            ("go/a.proto", text),
            ("node/a.proto", text),
            ("proto/a.proto", text),
        ]));
        let told: Vec<_> = found
            .iter()
            .map(|one| (one.proto.as_str(), one.call.as_str()))
            .collect();
        assert_eq!(told, [("go/a.proto", "a.S/M")]);
    }

    #[test]
    fn unary_methods_are_found_and_streams_are_not() {
        let found = calls(&Files::of(&[
            (
                "proto/shop/v1/shop.proto",
                "syntax = \"proto3\";\npackage shop.v1;\n// service Old { rpc Gone(A) returns (B); }\n\
                 service Shop {\n  rpc GetItem (GetItemRequest) returns (.shop.v1.Item) { option (x) = {}; }\n\
                 rpc Watch(A) returns (stream B);\n rpc Send(stream A) returns (B);\n}\nservice Other { rpc Ping(A) returns (B); }\n",
            ),
            ("proto/google/api/x.proto", "service X { rpc Y(A) returns (B); }"),
        ]));
        let told: Vec<_> = found.iter().map(|call| call.call.as_str()).collect();
        assert_eq!(told, ["shop.v1.Shop/GetItem", "shop.v1.Other/Ping"]);
        assert_eq!((found[0].root.as_str(), found[0].method.as_str()), ("proto", "GetItem"));
    }

    #[test]
    fn imports_tell_where_they_start_from() {
        let service = "package a.b; \nimport \"common/types.proto\";\nimport \"google/protobuf/empty.proto\";\nservice S { rpc M(A) returns (B); }";
        let found = calls(&Files::of(&[
            ("api/defs/a/s.proto", service),
            ("api/defs/common/types.proto", ""),
        ]));
        assert_eq!(found[0].root, "api/defs");
        assert_eq!(
            calls(&Files::of(&[("x/s.proto", "service S { rpc M(A) returns (B); }")]))[0].root,
            "x"
        );
        assert_eq!(
            calls(&Files::of(&[("s.proto", "service S { rpc M(A) returns (B); }")]))[0].root,
            "."
        );
    }
}
