//! A .proto file, compiled even if files that it imports are not in the repository: annotations for gateways, documentation and
//! validation are often fetched only where code is generated.

use std::path::{Path, PathBuf};

use prost_reflect::prost_types::{FileDescriptorProto, FileDescriptorSet, UninterpretedOption};
use prost_reflect::{DynamicMessage, ReflectMessage as _, Value};
use protox::Compiler;
use protox::file::{File, FileResolver, GoogleFileResolver, IncludeFileResolver};

/// Compiles `file`: returns its descriptors and those of its imports, imported files before those that import them, and whether an import
/// is not below `root`. Then the descriptors have a file of the project in its place, or an empty one, and no custom options: messages do
/// not depend on them. Imports are below `root`, or else below `project`, where the first folders of their names may be missing: a
/// repository `etcd` imports `etcd/api/kv.proto`.
///
/// # Errors
/// When a file is not valid, or a type is used whose file is missing.
pub(super) fn compile(file: &Path, root: &Path, project: &Path) -> Result<(FileDescriptorSet, bool), protox::Error> {
    let missing = match protox::compile([file], [root]) {
        Ok(set) => return Ok((set, false)),
        Err(error) if error.is_file_not_found() && file.is_file() => error,
        Err(error) => return Err(error),
    };
    let mut compiler = Compiler::with_file_resolver(Lenient {
        below: IncludeFileResolver::new(root.to_owned()),
        project: project.to_owned(),
    });
    // A type of the missing file is used after all: its absence is the reason.
    let compiled = compiler.include_imports(true).open_file(file).map_err(|_| missing)?;
    Ok((compiled.file_descriptor_set(), true))
}

/// Finds files without their custom options, and an empty file for one that is missing.
struct Lenient {
    below: IncludeFileResolver,
    project: PathBuf,
}

impl Lenient {
    fn find(&self, name: &str) -> Result<File, protox::Error> {
        let missing = match self.below.open_file(name) {
            Err(error) if error.is_file_not_found() => error,
            found => return found,
        };
        let suffixes = name.match_indices('/').map(|(slash, _)| &name[slash + 1..]);
        let mut places = std::iter::once(name)
            .chain(suffixes)
            .map(|name| self.project.join(name));
        match places.find(|place| place.is_file()) {
            Some(place) => File::open(name, &place),
            None => GoogleFileResolver::new().open_file(name).map_err(|_| missing),
        }
    }
}

impl FileResolver for Lenient {
    fn resolve_path(&self, path: &Path) -> Option<String> {
        self.below.resolve_path(path)
    }

    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        let mut described = match self.find(name) {
            Ok(file) => file.file_descriptor_proto().transcode_to_dynamic(),
            Err(error) if error.is_file_not_found() => FileDescriptorProto {
                name: Some(name.to_owned()),
                ..FileDescriptorProto::default()
            }
            .transcode_to_dynamic(),
            Err(error) => return Err(error),
        };
        remove_custom_options(&mut described);
        let described = described.transcode_to().expect("it is of this type");
        Ok(File::from_file_descriptor_proto(described))
    }
}

/// Removes options in parentheses, such as `(google.api.http)`, from a message and the messages in it.
fn remove_custom_options(described: &mut DynamicMessage) {
    for (field, value) in described.fields_mut() {
        match value {
            Value::List(options) if field.name() == "uninterpreted_option" => options.retain(is_standard),
            Value::List(inner) => {
                let messages = inner.iter_mut().filter_map(Value::as_message_mut);
                messages.for_each(remove_custom_options);
            }
            Value::Message(inner) => remove_custom_options(inner),
            _ => {}
        }
    }
}

fn is_standard(option: &Value) -> bool {
    let option = option.as_message().and_then(|option| option.transcode_to().ok());
    option.is_some_and(|option: UninterpretedOption| option.name.iter().all(|part| !part.is_extension))
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost_reflect::DescriptorPool;

    /// The descriptors of `s.proto` beside other files, and whether an import was missing.
    fn compiled(text: &str, beside: &[(&str, &str)]) -> Result<(DescriptorPool, bool), String> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in beside.iter().chain(&[("s.proto", text)]) {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let (set, is_partial) =
            compile(&folder.path().join("s.proto"), folder.path(), folder.path()).map_err(|error| error.to_string())?;
        let pool = DescriptorPool::from_file_descriptor_set(set).map_err(|error| error.to_string())?;
        Ok((pool, is_partial))
    }

    const SERVICE: &str = r#"syntax = "proto3";
        package shop;
        import "google/api/annotations.proto";
        import "google/protobuf/timestamp.proto";
        import "money.proto";
        option (openapi.swagger) = { info: { title: "Shop" } };
        message Order {
            option (openapi.schema) = { title: "Order" };
            oneof by { option (validate.required) = true; int64 id = 1 [(validate.rules).int64.gt = 0, json_name = "number"]; }
            repeated int32 counts = 2 [packed = false];
            Money price = 3;
            google.protobuf.Timestamp at = 4;
            enum State { option (a.b) = 1; NEW = 0 [(c.d) = "new"]; }
        }
        service Shop {
            option (google.api.default_host) = "shop.example";
            rpc Get(Order) returns (Order) { option (google.api.http) = { get: "/orders/{id}" }; option idempotency_level = NO_SIDE_EFFECTS; }
        }"#;
    const MONEY: (&str, &str) = (
        "money.proto",
        "syntax = \"proto3\";\npackage shop;\nmessage Money { int64 units = 1; }",
    );

    #[test]
    fn a_missing_file_whose_types_are_not_used_is_left_out_with_the_custom_options() {
        let (pool, is_partial) = compiled(SERVICE, &[MONEY]).unwrap();
        assert!(is_partial);
        let order = pool.get_message_by_name("shop.Order").unwrap();
        assert_eq!(order.get_field_by_name("id").unwrap().json_name(), "number");
        assert!(!order.get_field_by_name("counts").unwrap().is_packed());
        assert!(pool.get_service_by_name("shop.Shop").is_some());
        let whole = "syntax = \"proto3\";\nmessage A {}";
        assert!(!compiled(whole, &[]).unwrap().1);
    }

    #[test]
    fn an_import_that_begins_with_the_repositorys_name_is_found_in_it() {
        let named = SERVICE.replace("\"money.proto\"", "\"github.com/shop/money.proto\"");
        assert_ne!(named, SERVICE);
        let (pool, is_partial) = compiled(&named, &[MONEY]).unwrap();
        assert!(is_partial && pool.get_message_by_name("shop.Money").is_some());
    }

    #[test]
    fn a_missing_file_whose_type_is_used_is_named() {
        let missing = compiled(SERVICE, &[]).unwrap_err();
        assert!(missing.contains("annotations.proto"), "{missing}");
        let money = SERVICE.replace("import \"google/api/annotations.proto\";", "");
        let missing = compiled(&money, &[]).unwrap_err();
        assert!(missing.contains("money.proto"), "{missing}");
        let broken = compiled("message {", &[]).unwrap_err();
        assert!(!broken.contains("not found"), "{broken}");
        let alone = Path::new("nowhere");
        assert!(compile(&alone.join("a.proto"), alone, alone).is_err());
    }
}
