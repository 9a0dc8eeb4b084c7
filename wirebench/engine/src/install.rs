//! How to install the programs that wirebench calls, as one command for this system.

use std::path::Path;

/// Program, package of Debian and Ubuntu.
const PACKAGES: [(&str, &str); 16] = [
    ("git", "git"),
    ("jq", "jq"),
    ("gnuplot", "gnuplot-nox"),
    ("h2load", "nghttp2-client"),
    ("hyperfine", "hyperfine"),
    ("valgrind", "valgrind"),
    ("strace", "strace"),
    ("ab", "apache2-utils"),
    ("wrk", "wrk"),
    ("go", "golang-go"),
    ("node", "nodejs"),
    ("npm", "npm"),
    ("python3", "python3"),
    ("protoc", "protobuf-compiler"),
    ("java", "default-jdk-headless"),
    ("mvn", "maven"),
];

/// The command that installs a program; `None` if only its own documentation says how.
pub fn known(program: &str) -> Option<String> {
    command(program, Path::new("/usr/bin/apt-get").exists())
}

/// The command of apt; without it, the package's name.
fn command(program: &str, has_apt: bool) -> Option<String> {
    let (_, package) = PACKAGES.iter().find(|(known, _)| *known == program)?;
    Some(if has_apt {
        format!("apt-get install {package}")
    } else {
        format!("install {program} as this system does (Debian: {package})")
    })
}

/// The same as a sentence, also for unknown programs.
pub fn of(program: &str) -> String {
    known(program).unwrap_or_else(|| format!("install {program}, and put it on PATH"))
}

/// The package that a command of [`known`] installs; `None` for any other command: drivers declare commands of their own.
pub fn package(how: &str) -> Option<&'static str> {
    let named = how.strip_prefix("apt-get install ")?;
    PACKAGES
        .iter()
        .map(|(_, package)| *package)
        .find(|known| *known == named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_system_has_its_own_command() {
        assert_eq!(
            command("h2load", true).as_deref(),
            Some("apt-get install nghttp2-client")
        );
        assert!(command("gnuplot", false).is_some_and(|how| how.ends_with("(Debian: gnuplot-nox)")));
        assert_eq!(command("ours", true), None);
        assert_eq!(package("apt-get install nghttp2-client"), Some("nghttp2-client"));
        assert_eq!(package("go install example.org/tool@v1"), None);
        for other in ["strange", "a b", "-oAPT::Update::Pre-Invoke::=sh", "jq ", "./jq.deb"] {
            assert_eq!(package(&format!("apt-get install {other}")), None, "{other}");
        }
    }
}
