//! The files of a slot's folder.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::measure::request::Request;

/// The driver's standard output.
pub const STDOUT: &str = "stdout";
/// The driver's standard error.
pub const STDERR: &str = "stderr";
/// The file that the driver writes to {raw}.
pub const RAW: &str = "raw";
/// The body of the request.
pub const BODY: &str = "body";
/// A gRPC method's descriptors, if they come from server reflection.
pub const PROTOSET: &str = "protoset";
/// On another host: the driver's own folder.
pub const DRIVER: &str = "driver";
/// On another host: the project's folder, which contains only .proto files.
pub const PROJECT: &str = "project";

/// The files below a folder whose names have this ending, each with its path below `under`.
///
/// # Errors
/// When a folder cannot be read.
pub fn below(folder: &Path, ending: &str, under: &str) -> io::Result<Vec<(PathBuf, String)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = format!("{under}/{}", path.file_name().unwrap_or_default().to_string_lossy());
        if path.is_dir() {
            found.extend(below(&path, ending, &name)?);
        } else if name.ends_with(ending) {
            found.push((path, name));
        }
    }
    Ok(found)
}

/// Writes the files that drivers read.
///
/// # Errors
/// When one cannot be written.
pub fn write(request: &Request, folder: &Path) -> io::Result<()> {
    fs::write(folder.join(BODY), &request.wire.body)?;
    match request.protoset() {
        Some(protoset) => fs::write(folder.join(PROTOSET), protoset),
        None => Ok(()),
    }
}
