//! The directory of a switch: the user that it acts as writes there, and nobody else.

use crate::Failure;
use crate::output::cannot_write;
use forebay_live::backend::privileges::{self, Identity};
use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

/// What a switch writes, and what `forebay lab` puts beside it.
const OWN: [&str; 9] = [
    ".counters.json.new",
    ".switch.toml.new",
    "control.sock",
    "counters.json",
    "switch.toml",
    "timeline.csv",
    "timeline.1.csv",
    "log",
    "switch.log",
];

/// Makes the directory, and goes there.
pub(super) fn enter(out: &Path) -> Result<(), Failure> {
    fs::create_dir_all(out)
        .and_then(|()| std::env::set_current_dir(out))
        .map_err(|error| cannot_write(&out.display().to_string(), &error))
}

/// Names of what is in the directory.
fn names() -> io::Result<Vec<String>> {
    fs::read_dir(".")?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

/// Gives the working directory, which the file calls `out`, to whoever the switch acts as. A directory that has other
/// things is not the switch's, and is not given away.
pub(super) fn give_to(out: &Path, identity: Identity) -> Result<(), Failure> {
    let name = out.display().to_string();
    if identity.user == privileges::own_user() {
        return Ok(());
    }
    let found = fs::metadata(".").map_err(|error| cannot_write(&name, &error))?;
    let is_open = found.mode() & 0o1002 == 0o0002;
    if found.uid() == identity.user || is_open {
        return Ok(());
    }
    let names = names().map_err(|error| cannot_write(&name, &error))?;
    if let Some(other) = names.iter().find(|own| !OWN.contains(&own.as_str())) {
        let user = identity.user;
        let problem =
            format!("the switch acts as user {user}, which cannot write there, and there are other files (`{other}`)");
        let help = format!("give a directory of its own as live.out, `chown {user} {name}`, or set live.user");
        return Err(Failure::refused(name, problem, help));
    }
    chown(".", Some(identity.user), Some(identity.group)).map_err(|error| cannot_write(&name, &error))
}

/// Gives the switch's files to whoever it acts as: those of an earlier run may be another user's.
pub(super) fn give_files_to(identity: Identity) -> Result<(), Failure> {
    if identity.user == privileges::own_user() {
        return Ok(());
    }
    for name in ["counters.json", "switch.toml", "timeline.csv", "timeline.1.csv"] {
        match std::os::unix::fs::lchown(name, Some(identity.user), Some(identity.group)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(cannot_write(name, &error)),
            _ => {}
        }
    }
    Ok(())
}

/// A new file for its owner alone.
pub(super) fn private_file(path: &Path) -> Result<File, (PathBuf, io::Error)> {
    let open = || {
        let file = File::options().write(true).create(true).truncate(true).mode(0o600).open(path)?;
        // It may have been there before.
        file.set_permissions(Permissions::from_mode(0o600))?;
        Ok(file)
    };
    open().map_err(|error| (path.to_owned(), error))
}

/// A file of the working directory that is there whole or not at all, for its owner alone.
pub(super) fn write_whole(name: &str, text: &str) -> Result<(), Failure> {
    let beside = format!(".{name}.new");
    let write = || {
        let mut file = private_file(Path::new(&beside)).map_err(|(_, error)| error)?;
        file.write_all(text.as_bytes())?;
        fs::rename(&beside, name)
    };
    write().map_err(|error| {
        let _ = fs::remove_file(&beside);
        cannot_write(name, &error)
    })
}

/// Whether a file of the working directory can be written as things are now.
pub(super) fn check_writable(name: &str) -> Result<(), Failure> {
    let beside = format!(".{name}.new");
    let made = private_file(Path::new(&beside)).map_err(|(_, error)| error).and_then(|_| fs::remove_file(&beside));
    made.map_err(|error| cannot_write(name, &error))
}
