//! The origin of code, and the reasons that it was not read or not written.

use halide_cpu::CpuError;
use std::fmt;
use std::path::PathBuf;

/// The origin of the machine code of a variant.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodeOrigin {
    /// It was compiled, without a cache.
    Compiled,
    /// It was read.
    Read {
        /// The file.
        file: PathBuf,
    },
    /// It was compiled, and written for others.
    Written {
        /// The file.
        file: PathBuf,
        /// The reason that it was not read.
        because: CacheProblem,
    },
    /// It was compiled, and nobody else will find it.
    NotWritten {
        /// The reason.
        because: CacheProblem,
    },
}

impl fmt::Display for CodeOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CodeOrigin::Compiled => write!(f, "compiled"),
            CodeOrigin::Read { file } => write!(f, "read from {}", file.display()),
            CodeOrigin::Written { file, because } => {
                write!(f, "compiled, since {because}; written to {}", file.display())
            }
            CodeOrigin::NotWritten { because } => write!(f, "compiled and not written, since {because}"),
        }
    }
}

/// A reason that code was not read from a cache, or not written to it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CacheProblem {
    /// The folder does not have it yet.
    Absent,
    /// A file is not as it was written.
    Torn {
        /// The file.
        file: PathBuf,
    },
    /// A file or folder belongs to another user.
    Owner {
        /// The file or folder.
        path: PathBuf,
    },
    /// A file or folder may be written by others.
    Writable {
        /// The file or folder.
        path: PathBuf,
    },
    /// The system does not let a file or folder be read or written.
    System {
        /// The file or folder.
        path: PathBuf,
        /// The answer of the system.
        error: String,
    },
    /// The system does not say who may write a file.
    NoOwners,
    /// The program that this is part of cannot be read, by which code of other programs is told apart.
    Build {
        /// The answer of the system.
        error: String,
    },
    /// Code of profiles, and code that profilers or debuggers are told of, is not kept.
    Text,
    /// The code cannot be linked.
    Link {
        /// The reason.
        error: CpuError,
    },
}

impl fmt::Display for CacheProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CacheProblem::Absent => write!(f, "the cache does not have it"),
            CacheProblem::Torn { file } => write!(f, "{} is not as it was written", file.display()),
            CacheProblem::Owner { path } => write!(f, "{} belongs to another user", path.display()),
            CacheProblem::Writable { path } => {
                write!(f, "others may write {}; take that away by `chmod go-w`", path.display())
            }
            CacheProblem::System { path, error } => write!(f, "{} cannot be used: {error}", path.display()),
            CacheProblem::NoOwners => write!(f, "this system does not say who may write a file"),
            CacheProblem::Build { error } => write!(f, "the running program cannot be read: {error}"),
            CacheProblem::Text => write!(f, "code for profilers and debuggers is not kept"),
            CacheProblem::Link { error } => write!(f, "it cannot be linked: {error}"),
        }
    }
}
