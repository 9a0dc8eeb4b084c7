//! How to install the programs that wirebench calls, as one command for this system.

use std::path::Path;

/// Program, package of Debian and Ubuntu, package of Homebrew.
const PACKAGES: [(&str, &str, &str); 16] = [
    ("git", "git", "git"),
    ("jq", "jq", "jq"),
    ("gnuplot", "gnuplot-nox", "gnuplot"),
    ("h2load", "nghttp2-client", "nghttp2"),
    ("hyperfine", "hyperfine", "hyperfine"),
    ("valgrind", "valgrind", "valgrind"),
    ("strace", "strace", "strace"),
    ("ab", "apache2-utils", "httpd"),
    ("wrk", "wrk", "wrk"),
    ("go", "golang-go", "go"),
    ("node", "nodejs", "node"),
    ("npm", "npm", "node"),
    ("python3", "python3", "python"),
    ("protoc", "protobuf-compiler", "protobuf"),
    ("java", "default-jdk-headless", "openjdk"),
    ("mvn", "maven", "maven"),
];

/// The command that installs a program; `None` if only its own documentation says how.
pub fn known(program: &str) -> Option<String> {
    let manager = if cfg!(target_os = "macos") {
        Some("brew")
    } else {
        Path::new("/usr/bin/apt-get").exists().then_some("apt-get")
    };
    command(program, manager)
}

/// The command of a package manager; without one, the packages' names.
fn command(program: &str, manager: Option<&str>) -> Option<String> {
    let (_, apt, brew) = PACKAGES.iter().find(|(known, ..)| *known == program)?;
    Some(match manager {
        Some(manager) => format!("{manager} install {}", if manager == "brew" { brew } else { apt }),
        None => format!("install {program} as this system does (Debian: {apt}, Homebrew: {brew})"),
    })
}

/// The same as a sentence, also for unknown programs.
pub fn of(program: &str) -> String {
    known(program).unwrap_or_else(|| format!("install {program}, and put it on PATH"))
}

/// The package that a command of [`known`] installs; `None` for any other command: drivers declare commands of their own.
pub fn package(how: &str) -> Option<&'static str> {
    if let Some(named) = how.strip_prefix("apt-get install ") {
        PACKAGES.iter().map(|(_, apt, _)| *apt).find(|apt| *apt == named)
    } else {
        let named = how.strip_prefix("brew install ")?;
        PACKAGES.iter().map(|(_, _, brew)| *brew).find(|brew| *brew == named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_system_has_its_own_command() {
        assert_eq!(
            command("h2load", Some("apt-get")).as_deref(),
            Some("apt-get install nghttp2-client")
        );
        assert_eq!(command("h2load", Some("brew")).as_deref(), Some("brew install nghttp2"));
        assert!(command("jq", None).is_some_and(|how| how.contains("Homebrew: jq")));
        assert_eq!(command("ours", Some("apt-get")), None);
        assert_eq!(package("apt-get install nghttp2-client"), Some("nghttp2-client"));
        assert_eq!(package("go install example.org/tool@v1"), None);
        for other in ["strange", "a b", "-oAPT::Update::Pre-Invoke::=sh", "jq ", "./jq.deb"] {
            assert_eq!(package(&format!("apt-get install {other}")), None, "{other}");
        }
    }
}
