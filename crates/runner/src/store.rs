//! Results that are named by what they are made of, in a directory that many machines share.
//!
//! Below the directory of a sweep, `runs/XX/...` holds a directory of results under the fingerprint of its resolved
//! scenario (the seed is part of it), of the files that this names, of the version and of the build. It is made under
//! another name and renamed when it is whole, so that it is there or not, whoever else works on the same: the first to
//! finish wins, and both have the same bytes. The directory of a point and a seed is a link to it.

use crate::destination::{self, Claim, RUNS};
use crate::run::{Keep, run_into};
use crate::sweep::{Done, Job, finished};
use crate::{Error, ScenarioFile, cannot_write};
use forebay_results::directory::{has_tables, is_run, read_run};
use forebay_results::summary::BUILD;
use forebay_results::{Fingerprint, Summary};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What temporary names begin with.
const TEMPORARY: &str = ".forebay-";

/// The results of a scenario's runs in the directory of a sweep.
pub struct Store<'f> {
    file: &'f ScenarioFile,
    out: PathBuf,
    /// Of files that scenarios name, what is in them; `None` for texts that name no file.
    contents: Mutex<BTreeMap<PathBuf, Option<Fingerprint>>>,
}

impl<'f> Store<'f> {
    /// Of the runs of a scenario, in the directory of a sweep.
    pub fn new(file: &'f ScenarioFile, out: &Path) -> Self {
        Self { file, out: out.to_owned(), contents: Mutex::default() }
    }

    /// Claims the directory of the sweep together with others that work on it, and makes it one that has results of
    /// this kind.
    pub fn open(&self) -> Result<Claim, Error> {
        let claim = Claim::share(&self.out)?;
        let runs = self.out.join(RUNS);
        fs::create_dir_all(&runs).map_err(|error| cannot_write(&runs.display().to_string(), &error))?;
        Ok(claim)
    }

    /// What a run is made of.
    pub fn key(&self, resolved: &str) -> Result<Fingerprint, Error> {
        let mut key = Fingerprint::of([env!("CARGO_PKG_VERSION"), BUILD, resolved]);
        let mut contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        for path in self.file.may_name(resolved) {
            let known = match contents.get(&path) {
                Some(known) => *known,
                None => *contents.entry(path.clone()).or_insert(content(&path)?),
            };
            known.iter().for_each(|content| key.add(&content.to_string()));
        }
        Ok(key)
    }

    /// Where the result of a key is.
    fn place(&self, key: Fingerprint) -> PathBuf {
        self.out.join(relative(key))
    }

    /// Whether the result of a key is there.
    pub fn has(&self, key: Fingerprint, keep: Keep) -> bool {
        is_complete(&self.place(key), keep)
    }

    /// The result of a job, if it is there: in the store, or where a sweep on one machine has put it. A job's own
    /// directory leads to it then.
    pub fn find(&self, job: &Job, keep: Keep) -> Result<Option<Summary>, Error> {
        let resolved = self.file.resolve(&job.sets)?;
        self.find_resolved(job, &resolved, self.key(&resolved)?, keep)
    }

    fn find_resolved(&self, job: &Job, resolved: &str, key: Fingerprint, keep: Keep) -> Result<Option<Summary>, Error> {
        if self.has(key, keep) {
            // One that is damaged is made again.
            if let Ok(run) = read_run(&self.place(key)) {
                self.link(job, key)?;
                return Ok(Some(run.summary));
            }
        }
        Ok(finished(&job.directory, resolved, keep))
    }

    /// Runs a job, unless its result is there. `None` if it was stopped: then nothing is left of it.
    pub fn run(
        &self,
        job: &Job,
        keep: Keep,
        force: bool,
        stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<Done>, Error> {
        let prepared = self.file.prepare(&job.sets)?;
        let key = self.key(&prepared.resolved)?;
        if let Some(summary) = self.find_resolved(job, &prepared.resolved, key, keep)? {
            return Ok(Some(Done { summary, before: true }));
        }
        if !job.directory.is_symlink() {
            destination::check(&job.directory, destination::Kind::Run, force)?;
            destination::keep_others(&job.directory, &prepared.resolved, force)?;
        }
        let place = self.place(key);
        let parent = place.parent().unwrap_or(&self.out);
        fs::create_dir_all(parent).map_err(|error| cannot_write(&parent.display().to_string(), &error))?;
        let work = Aside::new(parent)?;
        let Some(summary) = run_into(&prepared, &work.path, keep, &mut |_| !stopped())? else { return Ok(None) };
        if !is_complete(&place, keep) || read_run(&place).is_err() {
            // Without the tables that are wanted now, or damaged.
            discard(&place);
        }
        work.place(&place, keep)?;
        self.link(job, key)?;
        Ok(Some(Done { summary, before: false }))
    }

    /// Makes the directory of a job a link to its result.
    fn link(&self, job: &Job, key: Fingerprint) -> Result<(), Error> {
        // Seen from the directory of the point.
        let target = Path::new("..").join(relative(key));
        if fs::read_link(&job.directory).is_ok_and(|there| there == target) {
            return Ok(());
        }
        let point = job.directory.parent().unwrap_or(&self.out);
        let make = || {
            fs::create_dir_all(point)?;
            // A result of another build, or what is left of an attempt: ours to replace.
            if !job.directory.is_symlink() {
                discard(&job.directory);
            }
            let temporary = unused(point);
            symlink(&target, &temporary)?;
            fs::rename(&temporary, &job.directory).inspect_err(|_| drop(fs::remove_file(&temporary)))
        };
        make().map_err(|error| cannot_write(&job.directory.display().to_string(), &error))
    }

    /// Removes what processes that were killed have left behind, if nobody else works here.
    pub fn tidy(&self) {
        let Ok(_alone) = Claim::take(&self.out) else { return };
        for shelf in entries(&self.out.join(RUNS)) {
            for path in entries(&shelf).filter(|path| is_temporary(path)) {
                let _ = fs::remove_dir_all(path);
            }
        }
    }
}

/// A directory under a temporary name, which goes away unless it is put in its place.
struct Aside {
    path: PathBuf,
}

impl Aside {
    fn new(parent: &Path) -> Result<Self, Error> {
        // Others of a group may read results, too, if the umask lets them.
        let made = tempfile::Builder::new()
            .prefix(TEMPORARY)
            .permissions(fs::Permissions::from_mode(0o777))
            .tempdir_in(parent)
            .map_err(|error| cannot_write(&parent.display().to_string(), &error))?;
        Ok(Self { path: made.keep() })
    }

    /// Puts it in its place, unless somebody else was faster.
    fn place(self, place: &Path, keep: Keep) -> Result<(), Error> {
        match fs::rename(&self.path, place) {
            Err(error) if !is_complete(place, keep) => Err(cannot_write(&place.display().to_string(), &error)),
            _ => Ok(()),
        }
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        // There is nothing of that name if it was renamed.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Whether a directory has all that is to be kept of a run.
fn is_complete(directory: &Path, keep: Keep) -> bool {
    is_run(directory) && (keep == Keep::Summary || has_tables(directory, keep == Keep::Csv))
}

/// The place of a key, seen from the directory of the sweep. Names are spread over 256 directories.
fn relative(key: Fingerprint) -> PathBuf {
    let name = key.to_string();
    Path::new(RUNS).join(&name[..2]).join(&name[2..])
}

/// What is in a file; `None` if there is no such file.
fn content(path: &Path) -> Result<Option<Fingerprint>, Error> {
    if !path.is_file() {
        return Ok(None);
    }
    let bytes =
        fs::read(path).map_err(|error| crate::scenario_file::cannot_read(&path.display().to_string(), &error))?;
    let mut content = Fingerprint::new();
    content.add_bytes(&bytes);
    Ok(Some(content))
}

/// Removes a directory, if it is there: first its name, so that nobody sees half of it.
fn discard(directory: &Path) {
    let aside = unused(directory.parent().unwrap_or(Path::new(".")));
    if fs::rename(directory, &aside).is_ok() {
        let _ = fs::remove_dir_all(aside);
    }
}

/// A name that nobody has.
fn unused(directory: &Path) -> PathBuf {
    let unique = tempfile::Builder::new().prefix(TEMPORARY).make_in(directory, |path| {
        if path.symlink_metadata().is_ok() { Err(io::ErrorKind::AlreadyExists.into()) } else { Ok(()) }
    });
    // Only the name is wanted.
    unique.map_or_else(|_| directory.join(format!("{TEMPORARY}{}", std::process::id())), |name| name.path().to_owned())
}

fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn is_temporary(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(TEMPORARY))
}

/// Before a run is written into a directory of its own: it must not be written into the store by a link.
pub(crate) fn unlink(directory: &Path) -> Result<(), Error> {
    if !directory.is_symlink() {
        return Ok(());
    }
    fs::remove_file(directory).map_err(|error| cannot_write(&directory.display().to_string(), &error))
}
