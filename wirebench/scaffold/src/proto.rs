//! The unary methods that the repository's .proto files declare.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::files::{Files, folder_of, folders_up, pattern, word};
use wirebench_declare::server::{GrpcOperation, ProtoFile};

/// A unary method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    /// The file that declares it; `None` if only the server's reflection does.
    pub(super) file: Option<ProtoFile>,
    /// `package.Service/Method`.
    pub(super) call: String,
}

impl Call {
    /// The service with its package.
    pub(super) fn service(&self) -> &str {
        self.call.split('/').next().unwrap_or_default()
    }

    /// The method alone.
    pub(super) fn method(&self) -> &str {
        self.call.rsplit('/').next().unwrap_or_default()
    }

    /// A call with an empty message.
    pub(super) fn operation(&self) -> GrpcOperation {
        GrpcOperation {
            proto: self.file.clone(),
            call: self.call.clone(),
            message: "{}".into(),
            metadata: Vec::new(),
            expected_message: None,
        }
    }
}

static COMMENT: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?s)//[^\n]*|/\*.*?\*/"));
static PACKAGE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)^\s*package\s+([\w.]+)\s*;"));
static IMPORT: LazyLock<Regex> = LazyLock::new(|| pattern(r#"(?m)^\s*import\s+(?:public\s+|weak\s+)?"([^"]+)"\s*;"#));
/// Services and their unary methods: a stream has a second word.
static SERVICE_OR_RPC: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?x) \bservice\s+(?<service>\w+)\s*\{
        | \brpc\s+(?<method>\w+)\s*\(\s*[\w.]+\s*\)\s*returns\s*\(\s*[\w.]+\s*\)",
    )
});

/// Every unary method once, in order, from the first file that declares it: repositories keep copies for each language. Those
/// of gRPC's own services are left out.
pub(super) fn calls(files: &Files) -> Vec<Call> {
    let ours = |(path, _): &(&str, &str)| {
        !path.starts_with("google/") && !path.contains("/google/") && !path.contains("grpc/health/")
    };
    let mut seen = BTreeSet::new();
    let all = files.below("", "proto").filter(ours);
    let all = all.flat_map(|(path, text)| of_file(files, path, text));
    all.filter(|call| seen.insert(call.call.clone())).collect()
}

fn of_file(files: &Files, path: &str, text: &str) -> Vec<Call> {
    let text = COMMENT.replace_all(text, " ");
    let package = PACKAGE.captures(&text).map(|found| found[1].to_owned());
    let file = ProtoFile {
        proto: path.to_owned(),
        proto_root: root(files, path, &text, package.as_deref()),
    };
    let (mut service, mut found) = (None, Vec::new());
    for part in SERVICE_OR_RPC.captures_iter(&text) {
        if let Some(name) = part.name("service") {
            service = Some(name.as_str());
        } else if let (Some(service), Some(method)) = (service, part.name("method")) {
            let package = package.as_ref().map(|package| format!("{package}."));
            let package = package.unwrap_or_default();
            found.push(Call {
                file: Some(file.clone()),
                call: format!("{package}{service}/{}", method.as_str()),
            });
        }
    }
    found
}

/// The folder that imports start from: one above the file in which every import is found, else the one that the package's
/// name leads down from, else the file's own.
fn root(files: &Files, path: &str, text: &str, package: Option<&str>) -> String {
    let own = folder_of(path);
    let imports = IMPORT.captures_iter(text).map(|found| found[1].to_owned());
    let imports = imports.filter(|import| !import.starts_with("google/protobuf/"));
    let imports: Vec<String> = imports.collect();
    let has_all = |folder: &&str| imports.iter().all(|import| files.has(&format!("{folder}{import}")));
    if let Some(folder) = folders_up(own).find(has_all).filter(|_| !imports.is_empty()) {
        return word(folder);
    }
    let down = package.map(|package| package.replace('.', "/") + "/");
    let top = own.strip_suffix(&down.unwrap_or_default());
    let top = top.filter(|top| top.is_empty() || top.ends_with('/'));
    word(top.unwrap_or(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(call: &Call) -> &ProtoFile {
        call.file.as_ref().unwrap()
    }

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
            .map(|one| (file(one).proto.as_str(), one.call.as_str()))
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
        assert_eq!(
            (file(&found[0]).proto_root.as_str(), found[0].method()),
            ("proto", "GetItem")
        );
    }

    #[test]
    fn imports_tell_where_they_start_from() {
        let service = "package a.b; \nimport \"common/types.proto\";\nimport \"google/protobuf/empty.proto\";\nservice S { rpc M(A) returns (B); }";
        let found = calls(&Files::of(&[
            ("api/defs/a/s.proto", service),
            ("api/defs/common/types.proto", ""),
        ]));
        assert_eq!(file(&found[0]).proto_root, "api/defs");
        assert_eq!(
            file(&calls(&Files::of(&[("x/s.proto", "service S { rpc M(A) returns (B); }")]))[0]).proto_root,
            "x"
        );
        assert_eq!(
            file(&calls(&Files::of(&[("s.proto", "service S { rpc M(A) returns (B); }")]))[0]).proto_root,
            "."
        );
    }
}
