//! `site serve`: who is answered, and with which files.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::bench::wirebench;

struct Served {
    child: Child,
    address: String,
}

impl Served {
    fn start(site: &Path) -> Self {
        let mut command = wirebench(&["site", "serve"]);
        let mut child = command.arg(site).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line
            .trim()
            .trim_start_matches("http://")
            .trim_end_matches('/')
            .to_owned();
        Self { child, address }
    }

    /// Status line and body.
    fn ask(&self, path: &str, headers: &str) -> String {
        let mut to = TcpStream::connect(&self.address).unwrap();
        to.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        write!(to, "GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        to.read_to_string(&mut answer).unwrap();
        answer
    }

    fn get(&self, path: &str) -> String {
        self.ask(path, &format!("Host: {}\r\n", self.address))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_site_is_served_to_this_machine_alone_and_no_link_leads_out_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let (site, outside) = (folder.path().join("site"), folder.path().join("outside"));
    for made in [site.join("data"), site.join("inner"), outside.clone()] {
        fs::create_dir_all(made).unwrap();
    }
    fs::write(site.join("index.html"), "front page").unwrap();
    fs::write(site.join("data/a b.json"), "{}").unwrap();
    fs::write(outside.join("index.html"), "secret").unwrap();
    fs::write(outside.join("key"), "secret").unwrap();
    symlink(outside.join("key"), site.join("data/key.json")).unwrap();
    symlink(&outside, site.join("linked")).unwrap();
    symlink(outside.join("index.html"), site.join("inner/index.html")).unwrap();
    symlink(site.join("index.html"), site.join("data/again.html")).unwrap();
    let served = Served::start(&site);

    for good in ["/", "/index.html", "/data/a%20b.json", "/data/again.html"] {
        assert!(
            served.get(good).starts_with("HTTP/1.1 200"),
            "{good}: {}",
            served.get(good)
        );
    }
    for bad in [
        "/data/key.json",
        "/data/k%65y.json",
        "/linked/key",
        "/linked/",
        "/linked/index.html",
        "/inner/",
        "/../outside/key",
        "/%2e%2e/outside/key",
        "/nothing",
        "/%",
        "/%zz",
        "/%ff",
    ] {
        let answer = served.get(bad);
        assert!(
            answer.starts_with("HTTP/1.1 4") && !answer.contains("secret"),
            "{bad}: {answer}"
        );
    }

    let port = served.address.rsplit_once(':').unwrap().1;
    for ours in [
        "localhost".to_owned(),
        format!("LOCALHOST:{port}"),
        "127.0.0.1".into(),
        "[::1]:8".into(),
    ] {
        let answer = served.ask("/", &format!("Host: {ours}\r\n"));
        assert!(answer.starts_with("HTTP/1.1 200"), "{ours}: {answer}");
    }
    for other in [
        "Host: evil.example\r\n",
        "Host: localhost.evil.example\r\n",
        "Host: evil.example:1\r\n",
        "",
    ] {
        let answer = served.ask("/", other);
        assert!(
            answer.starts_with("HTTP/1.1 4") && !answer.contains("front page"),
            "{other}: {answer}"
        );
    }
}
