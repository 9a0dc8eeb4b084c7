//! The settings by which a program may be given its port, as its sources suggest; they are tried until one works.

use std::collections::{BTreeMap, BTreeSet};

use regex::Captures;

use crate::files::{Files, pattern};
use crate::known::KNOWN;
use crate::program::Program;
use crate::recipe::is_match;

/// Arguments and variables that set a program's port.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PortSetting {
    /// Arguments before those that set the port: a command, a folder, those of a container's image.
    pub(super) first: Vec<String>,
    /// Arguments, with placeholders.
    pub(super) args: Vec<String>,
    /// Environment variables, with placeholders.
    pub(super) env: BTreeMap<String, String>,
    /// The program's own port.
    pub(super) fixed: Option<u16>,
}

/// At most this many settings are tried: more starts would take too long.
const MOST: usize = 6;

/// Every setting to try, the likeliest first: what its recipe says, those in the program's sources, then the variable PORT, which
/// many frameworks read by themselves; it alone adds no argument that a program may refuse.
pub(super) fn of(files: &Files, program: &Program) -> Vec<PortSetting> {
    let texts: Vec<&str> = program.sources.iter().filter_map(|source| files.text(source)).collect();
    let told = program.port.clone().filter(|setting| setting.fixed.is_none());
    let all = told.into_iter().chain(of_texts(&texts));
    let usual = by_variable("PORT");
    let mut seen = BTreeSet::from([usual.clone()]);
    let likely = all
        .chain(of_container(files))
        .filter(|setting| seen.insert(setting.clone()));
    likely.take(MOST - 1).chain([usual]).collect()
}

/// The likeliest setting that a program's sources suggest, those closest to its main file first; else the number that they have.
pub(super) fn likeliest(texts: &[&str]) -> Option<PortSetting> {
    let literal = |text: &&str| {
        let mut all = KNOWN.port_numbers.captures_iter(text);
        all.find_map(|found| number(&found))
    };
    let fixed = || texts.iter().find_map(literal).map(PortSetting::fixed);
    of_texts(texts).into_iter().next().or_else(fixed)
}

/// The port that the repository's container exposes.
pub(super) fn exposed(files: &Files) -> Option<u16> {
    files
        .containers()
        .find_map(|text| number(&KNOWN.exposed_port.captures(text)?))
}

/// By a variable to which a container or an example of the environment gives the port that the container exposes.
fn of_container(files: &Files) -> BTreeSet<PortSetting> {
    let Some(port) = exposed(files) else {
        return BTreeSet::new();
    };
    let set = pattern(&format!(
        r#"(?m)\b([A-Z][A-Z0-9_]*)=["']?(?:[\w.]*|\[::\]):?{port}["']?\s*(?:\\|$)"#
    ));
    let environments = files.environments().map(|(_, text)| text);
    let named = files
        .containers()
        .chain(environments)
        .flat_map(|text| set.captures_iter(text));
    named.map(|found| by_variable(&found[1])).collect()
}

/// The port in the group that took part.
fn number(found: &Captures) -> Option<u16> {
    group(found)?.parse().ok().filter(|port| *port > 0)
}

/// The settings that sources suggest, each once.
pub(super) fn of_texts(texts: &[&str]) -> Vec<PortSetting> {
    let mut settings = Vec::new();
    for hint in &KNOWN.port_settings {
        let all = texts.iter().flat_map(|text| hint.names.captures_iter(text));
        let names: BTreeSet<String> = all.filter_map(|found| group(&found)).collect();
        let is_beside = hint.beside.as_ref().is_none_or(|other| names.contains(other));
        let is_meant = |name: &&String| is_beside && hint.only.is_match(name) && !is_match(&hint.unless, name);
        for name in names.iter().filter(is_meant) {
            let filled = |word: &String| word.replace("{name}", name).replace("{value}", value_of(name));
            let setting = match hint.args.as_slice() {
                [] => by_variable(name),
                args => by_args(args.iter().map(filled).collect()),
            };
            if !settings.contains(&setting) {
                settings.push(setting);
            }
        }
    }
    settings
}

/// The first group that took part.
fn group(found: &Captures) -> Option<String> {
    let mut groups = found.iter().skip(1).flatten();
    groups.next().map(|group| group.as_str().to_owned())
}

pub(super) fn by_args(args: Vec<String>) -> PortSetting {
    PortSetting {
        args,
        ..PortSetting::default()
    }
}

fn by_variable(name: &str) -> PortSetting {
    PortSetting::variable(name.to_owned(), value_of(name).to_owned())
}

/// The value for a flag or a variable of this name.
fn value_of(name: &str) -> &'static str {
    let name = name.to_ascii_uppercase();
    let is_port = name.contains("PORT") && !name.contains("ADDR");
    if is_port { "{port}" } else { "{address}" }
}

impl PortSetting {
    /// By an environment variable.
    pub(super) fn variable(name: String, value: String) -> Self {
        Self {
            env: [(name, value)].into(),
            ..Self::default()
        }
    }

    /// The same after other arguments.
    pub(super) fn after(&self, first: &[String]) -> Self {
        Self {
            first: first.to_vec(),
            ..self.clone()
        }
    }

    /// The same first arguments, and a port of the program's own choice.
    pub(super) fn at_own(&self, port: u16) -> Self {
        Self {
            first: self.first.clone(),
            ..Self::fixed(port)
        }
    }

    /// A port of the program's own choice.
    pub(super) fn fixed(port: u16) -> Self {
        Self {
            fixed: Some(port),
            ..Self::default()
        }
    }

    /// The name of the setting: `PORT`, `--addr`.
    pub(super) fn names(&self) -> String {
        let args = self.args.iter().filter(|arg| arg.starts_with('-'));
        let all: Vec<&str> = self.env.keys().chain(args).map(String::as_str).collect();
        if self.args.is_empty() && self.env.is_empty() {
            "its command".into()
        } else if all.is_empty() {
            "an argument".into()
        } else {
            all.join(" and ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::argv;
    use crate::recipes;

    impl std::fmt::Display for PortSetting {
        /// The setting as text: `PORT={port}`, `--addr {address}`.
        fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            let env = self.env.iter().map(|(name, value)| format!("{name}={value}"));
            let said: Vec<String> = env.chain(self.args.iter().cloned()).collect();
            write!(to, "{}", said.join(" "))
        }
    }

    #[test]
    fn a_flag_of_any_name_whose_default_is_an_address_is_tried() {
        let text = "package main\nvar (\n a = flag.String(\"insecure-addr\", \":9000\", \"\")\n b = flag.String(\"metrics-addr\", \":9001\", \"\")\n)\n\
                    func main() { net.Listen(\"tcp\", *a); grpc.NewServer() }\n";
        let files = Files::of(&[("go.mod", "module x\n"), ("main.go", text)]);
        let program = recipes::programs(&files).remove(0);
        let told: Vec<String> = of(&files, &program).iter().map(PortSetting::to_string).collect();
        assert_eq!(told, ["--insecure-addr {address}", "PORT={port}"]);
    }

    #[test]
    fn a_flag_of_any_library_of_go_is_tried() {
        for (text, expected) in [
            (
                "fs := pflag.NewFlagSet(\"x\", 0)\nfs.Int(\"port\", 9898, \"HTTP port\")",
                "--port {port}",
            ),
            (
                "fs.StringVarP(&options.listen, \"listen\", \"l\", \"\", \"\")",
                "--listen {address}",
            ),
            ("cmd.Flags().Uint16(\"port\", 80, \"\")", "--port {port}"),
            ("flag.Int(\"p\", 0, \"Port on which to listen.\")", "--p {port}"),
            (
                "app.Flag(\"web.listen-on\", \"Where\").Default(\":9091\").String()",
                "--web.listen-on {address}",
            ),
            (
                "import webflag \"github.com/prometheus/exporter-toolkit/web/kingpinflag\"\nwebflag.AddFlags(app, \":9091\")",
                "--web.listen-address {address}",
            ),
        ] {
            let told: Vec<String> = of_texts(&[text]).iter().map(PortSetting::to_string).collect();
            assert_eq!(told, [expected], "{text}");
        }
        assert!(of_texts(&["viper.GetString(\"port\")"]).is_empty());
    }

    #[test]
    fn beside_a_flag_for_the_port_a_flag_for_the_address_takes_a_host() {
        let text = "fs.StringP(\"address\", \"a\", \"127.0.0.1\", \"\")\nfs.StringP(\"port\", \"p\", \"8080\", \"\")";
        let told: Vec<String> = of_texts(&[text]).iter().map(PortSetting::to_string).collect();
        let expected = ["--address {host} --port {port}", "--address {address}", "--port {port}"];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_port_of_its_own_keeps_the_command_or_the_folder() {
        let told = by_args(argv(&["--port", "{port}"]));
        let own = told.after(&argv(&["serve", "a.yml"])).at_own(80);
        assert_eq!((own.first, own.args), (argv(&["serve", "a.yml"]), argv(&[])));
    }

    #[test]
    fn what_the_sources_read_is_tried_before_what_frameworks_read() {
        let text = "package main\nvar a = flag.String(\"http-port\", \"\", \"\")\nfunc main() { os.Getenv(\"LISTEN_ADDR\"); \
                    os.Getenv(\"HOME\"); http.ListenAndServe(\":8080\", nil) }\n";
        let files = Files::of(&[("go.mod", "module x\n"), ("main.go", text)]);
        let program = recipes::programs(&files).remove(0);
        let told: Vec<String> = of(&files, &program).iter().map(PortSetting::to_string).collect();
        assert_eq!(told, ["LISTEN_ADDR={address}", "--http-port {port}", "PORT={port}"]);
    }

    fn port_of(text: &str) -> String {
        likeliest(&[text]).map_or_else(String::new, |setting| match setting.fixed {
            Some(port) => port.to_string(),
            None => setting.to_string(),
        })
    }

    #[test]
    fn a_flag_goes_before_the_environment_and_that_before_a_number() {
        for (text, expected) in [
            ("flag.String(\"addr\", \":8080\", \"\")", "--addr {address}"),
            ("flag.IntVar(&p, \"port\", 1, \"\")", "--port {port}"),
            (
                "#[arg(long, default_value = \"1\")]\n    pub listen: SocketAddr,",
                "--listen {address}",
            ),
            ("parser.add_argument('--port')", "--port {port}"),
            ("process.env.PORT ?? 3000", "PORT={port}"),
            ("os.Getenv(\"PORT\")", "PORT={port}"),
            ("int(os.environ.get(\"PORT\", 8000))", "PORT={port}"),
            ("environ.get(\"REMOTE_ADDR\"), environ[\"HTTP_X_FORWARDED_PORT\"]", ""),
            (
                "os.Getenv(\"DB_PORT\"), os.Getenv(\"APP_REDIS_ADDR\"), os.Getenv(\"EMAIL_FROM_ADDRESS\")",
                "",
            ),
            ("std::env::var(\"PORT\")", "PORT={port}"),
            ("app.listen({ host: 'x', port: 3000 })", "3000"),
            ("app.listen(3001)", "3001"),
            ("http.ListenAndServe(\":8080\", nil)", "8080"),
            ("net.Listen(\"tcp\", \"127.0.0.1:9090\")", "9090"),
            ("TcpListener::bind(\"0.0.0.0:7000\")", "7000"),
            ("const PORT = 4000", "4000"),
            ("listen(99999)", ""),
            ("nothing here", ""),
        ] {
            assert_eq!(port_of(text), expected, "{text}");
        }
    }

    #[test]
    fn a_variable_with_the_port_that_a_container_exposes_is_tried() {
        let of = |text: &str| -> Vec<String> {
            let files = Files::of(&[("Dockerfile", text), ("example.md", "PORT=8000")]);
            of_container(&files).iter().map(PortSetting::to_string).collect()
        };
        let docker = "EXPOSE 8000\nENV APP_HOST=0.0.0.0 \\\n    APP_PORT=8000 \\\n    X=80001\nENV SERVER__ADDRESS=0.0.0.0:8000\n";
        assert_eq!(of(docker), ["APP_PORT={port}", "SERVER__ADDRESS={address}"]);
        assert!(of("ENV APP_PORT=8000\n").is_empty());
        let constant = "const ADDRESS_PORT: &str = \"BIN_ADDRESS_PORT\"; const SIZE: &str = \"BIN_SIZE\";";
        let told: Vec<String> = of_texts(&[constant]).iter().map(PortSetting::to_string).collect();
        assert_eq!(told, ["BIN_ADDRESS_PORT={address}"]);
    }

    #[test]
    fn a_container_exposes_a_port() {
        let of = |text: &str| exposed(&Files::of(&[("deploy/Dockerfile", text)]));
        assert_eq!(of("FROM x\nexpose 8080/tcp\n"), Some(8080));
        assert_eq!(of("EXPOSE $PORT\n"), None);
        assert_eq!(of("EXPOSE 99999\n"), None);
    }
}
