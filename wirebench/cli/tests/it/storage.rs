//! A server of object storage for tests, and its objects as another client sees them.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path as Key;
use object_store::{ObjectStoreExt as _, PutPayload};

use crate::bench::{Ended, ended, free_port};
use crate::jobs::tool;
use crate::made::Place;

const BUCKET: &str = "benchmarks";
pub(crate) const SECRET: &str = "secret-of-a-test";
/// A server with one empty bucket, which stops with this value, or after two minutes.
pub(crate) struct Store {
    child: Child,
    endpoint: String,
    _data: tempfile::TempDir,
}

impl Drop for Store {
    fn drop(&mut self) {
        let id = i32::try_from(self.child.id()).unwrap();
        // `timeout` hands it on to the server.
        kill(Pid::from_raw(id), Signal::SIGTERM).unwrap();
        self.child.wait().unwrap();
    }
}

/// A program that is stopped after two minutes.
fn bounded(program: &Command) -> Command {
    let mut command = Command::new("timeout");
    command.arg("120").arg(program.get_program()).args(program.get_args());
    command.stdin(Stdio::null());
    command
}

impl Store {
    pub(crate) fn start() -> Self {
        let data = tempfile::tempdir().unwrap();
        let Some(minio) = std::env::var_os("WIREBENCH_MINIO") else {
            return Self::gofakes3(data);
        };
        let address = format!("127.0.0.1:{}", free_port());
        fs::create_dir(data.path().join(BUCKET)).unwrap();
        let mut server = Command::new(minio);
        server
            .args(["server", "--quiet", "--address", &address])
            .arg(data.path());
        let mut server = bounded(&server);
        server
            .env("MINIO_ROOT_USER", "test-user")
            .env("MINIO_ROOT_PASSWORD", SECRET)
            .env("MINIO_BROWSER", "off");
        let store = Self {
            child: server.stdout(Stdio::null()).spawn().unwrap(),
            endpoint: format!("http://{address}"),
            _data: data,
        };
        let until = Instant::now() + Duration::from_secs(180);
        while store.write("ready", "").is_err() {
            assert!(Instant::now() < until, "MinIO does not answer");
            std::thread::sleep(Duration::from_millis(200));
        }
        store
    }

    fn gofakes3(data: tempfile::TempDir) -> Self {
        let mut server = tool("gofakes3");
        server.args([
            "-backend",
            "memory",
            "-initialbucket",
            BUCKET,
            "-host",
            "127.0.0.1:0",
            "-quiet",
        ]);
        let spawned = bounded(&server).stderr(Stdio::piped()).spawn();
        let mut child = spawned.expect("timeout: install coreutils");
        let mut said = String::new();
        let mut lines = BufReader::new(child.stderr.take().unwrap())
            .lines()
            .map_while(Result::ok);
        let port = lines.find_map(|line| {
            said += &line;
            line.split_once("using port: ").map(|(_, port)| port.trim().to_owned())
        });
        let port = port.unwrap_or_else(|| panic!("gofakes3, which scripts/setup.sh --dev installs: {said}"));
        Self {
            child,
            endpoint: format!("http://127.0.0.1:{port}"),
            _data: data,
        }
    }

    /// This server's endpoint and credentials, as the command line takes them.
    pub(crate) fn environment(&self) -> [(&str, &str); 5] {
        [
            ("AWS_ENDPOINT_URL", self.endpoint.as_str()),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_ACCESS_KEY_ID", "test-user"),
            ("AWS_SECRET_ACCESS_KEY", SECRET),
            ("AWS_REGION", "us-east-1"),
        ]
    }

    /// The command line with this server's endpoint and credentials.
    pub(crate) fn command(&self, place: &Place, args: &[&str]) -> Command {
        let mut command = crate::bench::wirebench(args);
        command.current_dir(place.path("")).envs(self.environment());
        command
    }

    pub(crate) fn run(&self, place: &Place, args: &[&str]) -> Ended {
        let ended = ended(&mut self.command(place, args));
        assert!(!ended.stderr.contains(SECRET), "{}", ended.stderr);
        ended
    }

    #[track_caller]
    pub(crate) fn done(&self, place: &Place, args: &[&str]) -> Ended {
        let ended = self.run(place, args);
        assert_eq!(ended.code, 0, "{args:?}: {}", ended.stderr);
        ended
    }

    pub(crate) fn start_of(&self, place: &Place, args: &[&str]) -> Child {
        let mut command = self.command(place, args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Another client of the same bucket.
    fn client(&self) -> AmazonS3 {
        let _ = rustls::crypto::ring::default_provider().install_default();
        AmazonS3Builder::new()
            .with_endpoint(&self.endpoint)
            .with_allow_http(true)
            .with_access_key_id("test-user")
            .with_secret_access_key(SECRET)
            .with_bucket_name(BUCKET)
            .build()
            .unwrap()
    }

    pub(crate) fn write(&self, key: &str, content: &str) -> Result<(), object_store::Error> {
        let payload = PutPayload::from(content.to_owned());
        let client = self.client();
        runtime().block_on(client.put(&Key::from(key), payload)).map(|_| ())
    }

    pub(crate) fn read(&self, key: &str) -> String {
        let client = self.client();
        let content = runtime().block_on(async { client.get(&Key::from(key)).await.unwrap().bytes().await });
        String::from_utf8(content.unwrap().to_vec()).unwrap()
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}
