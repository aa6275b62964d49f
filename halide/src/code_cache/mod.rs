//! A code cache: a folder of machine code that outlives the process.
//!
//! ```
//! use halide::prelude::*;
//! let folder = std::env::temp_dir().join(format!("halide-doc-{}", std::process::id()));
//! let cache = CodeCache::in_folder(&folder);
//!
//! let x = Var::new("x");
//! let mut squares = Func::new("squares");
//! squares[x] = x * x;
//! let pipeline = Pipeline::new([&squares])?;
//! for _ in 0..2 {
//!     let compiled = Compiler::new(&pipeline).code_cache(&cache).compile()?;
//!     assert_eq!(compiled.inputs().realize::<i32>([4])?.to_vec(), [0, 1, 4, 9]);
//! }
//! // Another process that is the same program would read it both times.
//! let counts = cache.counts();
//! assert_eq!(counts.read + counts.compiled, 2);
//! # #[cfg(unix)]
//! assert_eq!((counts.read, counts.compiled, counts.written), (1, 1, 1));
//! # let _ = std::fs::remove_dir_all(folder);
//! # Ok::<(), Error>(())
//! ```
//!
//! A file is found by a hash (`key`) of all that its code depends on: the algorithm, the schedule and the target, the
//! extensions of the processor, the variant, and the program that this is part of (`build`). It is run only if it is
//! whole (`entry`), and if nobody else can have written it (`folder`); otherwise code is compiled as without a
//! cache, and [`Compiled::code_origins`](crate::Compiled::code_origins) says why.

mod build;
mod entry;
mod folder;
mod key;
mod origin;

pub use origin::{CacheProblem, CodeOrigin};

use build::Build;
use entry::Entry;
use folder::Folder;
use halide_cpu::{CpuOptions, Executable, compile, compile_to_image};
use halide_ir::Program;
use halide_ir::footprint::Footprint;
use halide_sched::lower::Lowered;
use key::Key;
pub(crate) use key::Subject;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::error::Error;

/// The bytes that a folder may hold unless somebody says otherwise.
const MOST_BYTES: u64 = 256 << 20;

/// A folder of machine code that outlives the process; clones share their counts.
///
/// Given to [`Compiler::code_cache`](crate::Compiler::code_cache). Any number of processes may use a folder at once.
/// Where a folder cannot be used, pipelines are compiled as without it.
#[derive(Clone, Debug)]
pub struct CodeCache(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: Folder,
    most_bytes: u64,
    /// The program that this is part of, found when it is first asked for.
    build: OnceLock<Result<Build, CacheProblem>>,
    read: AtomicU64,
    compiled: AtomicU64,
    written: AtomicU64,
}

/// The work of a cache so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheCounts {
    /// The variants of code that were read.
    pub read: u64,
    /// The variants of code that were compiled.
    pub compiled: u64,
    /// The variants of these that were written.
    pub written: u64,
}

/// A cache, and the schedule of the pipeline that is compiled with it.
#[derive(Clone)]
pub(crate) struct Keeping {
    pub(crate) cache: CodeCache,
    pub(crate) schedule: Arc<str>,
}

/// The parts of a variant, with the place that it comes from.
pub(crate) struct CachedCode {
    /// Without statements, if it was read.
    pub(crate) program: Program,
    pub(crate) footprint: Footprint,
    pub(crate) code: Executable,
    pub(crate) origin: CodeOrigin,
}

impl CodeCache {
    /// Returns the cache in a folder. It is made, with those around it, when code is first written; only the user who
    /// runs this may enter it then.
    pub fn in_folder(folder: impl Into<PathBuf>) -> CodeCache {
        CodeCache::new(folder.into(), MOST_BYTES)
    }

    /// The same folder, in which no more than about `bytes` are kept, 256 MiB otherwise: the files that were not used
    /// for the longest time are deleted when new ones are written.
    #[must_use]
    pub fn most_bytes(&self, bytes: u64) -> CodeCache {
        CodeCache::new(self.folder().to_path_buf(), bytes)
    }

    fn new(folder: PathBuf, most_bytes: u64) -> CodeCache {
        CodeCache(Arc::new(Inner {
            folder: Folder::new(folder),
            most_bytes,
            build: OnceLock::new(),
            read: AtomicU64::new(0),
            compiled: AtomicU64::new(0),
            written: AtomicU64::new(0),
        }))
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        self.0.folder.path()
    }

    /// Returns what this cache and its clones have done so far.
    pub fn counts(&self) -> CacheCounts {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        CacheCounts { read: count(&self.0.read), compiled: count(&self.0.compiled), written: count(&self.0.written) }
    }

    /// The code of a variant: read, or else compiled of what `lower` gives, and written.
    pub(crate) fn code(
        &self,
        subject: Subject<'_>,
        lower: impl FnOnce() -> Result<Lowered, Error>,
    ) -> Result<CachedCode, Error> {
        let key = self.key(subject);
        let because = match key.as_ref().map_err(CacheProblem::clone).and_then(|key| self.read(key, subject.options)) {
            Ok(code) => {
                self.0.read.fetch_add(1, Ordering::Relaxed);
                return Ok(code);
            }
            Err(because) => because,
        };
        let Lowered { program, causes, .. } = lower()?;
        let failed = |error| Error::Cpu(error).caused_by(&causes);
        let footprint = Footprint::new(&program);
        self.0.compiled.fetch_add(1, Ordering::Relaxed);
        let Ok(key) = key else {
            let code = compile(&program, subject.options).map_err(failed)?;
            return Ok(CachedCode { program, footprint, code, origin: CodeOrigin::NotWritten { because } });
        };
        let (code, image) = compile_to_image(&program, subject.options).map_err(failed)?;
        let entry = Entry { tables: program.without_statements().to_string(), footprint: footprint.to_string(), image };
        let origin = match self.0.folder.write(&key, &entry.to_bytes(&key), self.0.most_bytes) {
            Ok(file) => {
                self.0.written.fetch_add(1, Ordering::Relaxed);
                CodeOrigin::Written { file, because }
            }
            Err(problem) => CodeOrigin::NotWritten { because: problem },
        };
        Ok(CachedCode { program, footprint, code, origin })
    }

    fn key(&self, subject: Subject<'_>) -> Result<Key, CacheProblem> {
        let build = self.0.build.get_or_init(Build::find).as_ref().map_err(CacheProblem::clone)?;
        if subject.options.keep_text || subject.options.marks {
            return Err(CacheProblem::Text);
        }
        Key::new(build, subject)
    }

    /// Reads and links the code of a key.
    fn read(&self, key: &Key, options: &CpuOptions) -> Result<CachedCode, CacheProblem> {
        let (file, bytes) = self.0.folder.read(key)?;
        let torn = || CacheProblem::Torn { file: file.clone() };
        let Entry { tables, footprint, image } = Entry::from_bytes(&bytes, key).ok_or_else(torn)?;
        let program: Program = tables.parse().map_err(|_| torn())?;
        let footprint: Footprint = footprint.parse().map_err(|_| torn())?;
        let code = image.link(&program, options).map_err(|error| CacheProblem::Link { error })?;
        Ok(CachedCode { program, footprint, code, origin: CodeOrigin::Read { file } })
    }
}
