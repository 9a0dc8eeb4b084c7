//! .NET: projects of the SDK for the web.

use std::sync::LazyLock;

use regex::Regex;

use crate::files::Files;
use crate::hints::{self, Port};
use crate::program::{Language, LaunchMethod, Program, argv, slug};

static WEB: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"Sdk\s*=\s*["']Microsoft\.NET\.Sdk\.Web["']"#).expect("a constant pattern"));
static ASSEMBLY: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"<AssemblyName>([^<$]+)</AssemblyName>").expect("a constant pattern"));

/// Every project that looks like a server.
pub(super) fn programs(files: &Files) -> Vec<Program> {
    files
        .below("", &["csproj"])
        .filter(|(_, text)| WEB.is_match(text))
        .filter_map(|(path, text)| program(files, path, text))
        .collect()
}

fn program(files: &Files, path: &str, text: &str) -> Option<Program> {
    let (folder, file) = path
        .rsplit_once('/')
        .map_or(("", path), |(folder, file)| (folder, file));
    let stem = file.strip_suffix(".csproj")?;
    let assembly = ASSEMBLY
        .captures(text)
        .map_or_else(|| stem.to_owned(), |found| found[1].to_owned());
    let folder = if folder.is_empty() {
        String::new()
    } else {
        format!("{folder}/")
    };
    let out = format!(".wirebench/bin/{}", slug(stem));
    let all: Vec<(&str, &str)> = files.below(&folder, &["cs"]).collect();
    let grpc = text.contains("Grpc.AspNetCore");
    let http = !grpc
        || all
            .iter()
            .any(|(_, text)| text.contains("MapGet(") || text.contains("MapControllers("));
    let mut hints = hints::of(&all.iter().map(|(_, text)| *text).collect::<Vec<_>>());
    hints.port = Port::Variable("ASPNETCORE_URLS".into(), "http://{address}".into());
    Some(Program {
        name: slug(stem),
        about: path.to_owned(),
        http,
        grpc,
        launch: LaunchMethod::Command {
            build: Some(argv(&[
                "dotnet",
                "publish",
                path,
                "--configuration",
                "Release",
                "--output",
                &out,
            ])),
            command: vec![format!("{out}/{assembly}")],
        },
        hints,
        sources: all.iter().map(|(path, _)| (*path).to_owned()).collect(),
        language: Language::DotNet,
        manifest: folder,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_web_project_is_published_and_told_its_address() {
        let web = "<Project Sdk=\"Microsoft.NET.Sdk.Web\"><PropertyGroup><TargetFramework>net8.0</TargetFramework></PropertyGroup></Project>";
        let found = programs(&Files::of(&[
            ("src/Shop/Shop.csproj", web),
            ("src/Shop/Program.cs", "app.MapGet(\"/items\", () => items);"),
            ("src/Lib/Lib.csproj", "<Project Sdk=\"Microsoft.NET.Sdk\"/>"),
        ]));
        assert_eq!(found.len(), 1);
        assert_eq!(
            (
                found[0].name.as_str(),
                found[0].http,
                found[0].grpc,
                &found[0].hints.port
            ),
            (
                "shop",
                true,
                false,
                &Port::Variable("ASPNETCORE_URLS".into(), "http://{address}".into())
            )
        );
        let LaunchMethod::Command {
            build: Some(build),
            command,
        } = &found[0].launch
        else {
            panic!("{found:?}")
        };
        assert_eq!(
            build.join(" "),
            "dotnet publish src/Shop/Shop.csproj --configuration Release --output .wirebench/bin/shop"
        );
        assert_eq!(command, &[".wirebench/bin/shop/Shop"]);
    }
}
