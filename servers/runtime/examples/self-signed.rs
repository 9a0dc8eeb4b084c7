//! Makes a certificate for localhost, its key and the authority that signed it, for trying a server with TLS.

use std::env;
use std::path::Path;
use std::process::ExitCode;

use server_runtime::testing::Pair;

fn main() -> ExitCode {
    let Some(folder) = env::args_os().nth(1) else {
        eprintln!("usage: self-signed FOLDER: writes cert.pem, key.pem and authority.pem there");
        return ExitCode::from(2);
    };
    let pair = Pair::make(Path::new(&folder));
    println!("--tls-cert {} --tls-key {}", pair.cert.display(), pair.key.display());
    println!("clients trust {}", pair.authority.display());
    ExitCode::SUCCESS
}
