//! What fuzz targets share: files, for parsers that read them.

use std::fs;
use std::path::Path;

/// Hands over the path of a file of this name that holds these bytes.
///
/// # Panics
/// When the folder for temporary files cannot be written.
pub fn in_file(name: &str, bytes: &[u8], read: impl FnOnce(&Path)) {
    in_folder(&[(name, bytes)], |folder| read(&folder.join(name)));
}

/// Hands over a folder that holds these files and no others: path within it, and content.
///
/// # Panics
/// When the folder for temporary files cannot be written.
pub fn in_folder(files: &[(&str, &[u8])], read: impl FnOnce(&Path)) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for (name, bytes) in files {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().expect("a file lies in a folder")).expect("a folder can be made in it");
        fs::write(&file, bytes).expect("a file can be written in it");
    }
    read(folder.path());
}
