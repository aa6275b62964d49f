//! Errors of machine files.

use std::fmt::{self, Display, Formatter};

/// An error of a machine file. Lines and columns count from 1.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MachineFileError {
    /// The bytes are no text in UTF-8.
    NotText {
        /// The line of the first wrong byte.
        line: usize,
        /// Its column.
        column: usize,
    },
    /// The file ends within a value, as torn files do, or is empty.
    Torn {
        /// The line of the end.
        line: usize,
        /// Its column.
        column: usize,
    },
    /// The text is no JSON.
    NotJson {
        /// The line of the first wrong letter.
        line: usize,
        /// Its column.
        column: usize,
    },
    /// A field is wrong.
    Field {
        /// The line of its value, or of the object that lacks it.
        line: usize,
        /// The column of the same.
        column: usize,
        /// The path of the field, such as `caches[1].ways`; empty for the file as a whole.
        field: String,
        /// The defect.
        defect: FieldDefect,
    },
}

/// A defect of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldDefect {
    /// It is not there.
    Missing,
    /// No machine has it.
    Unknown {
        /// The field with the nearest name, if one is near.
        near: Option<&'static str>,
    },
    /// It is there more than once.
    Twice,
    /// It is of another kind.
    Kind {
        /// The text that is there, or its beginning.
        found: String,
        /// The kind that it has to be: `a number`.
        wanted: &'static str,
    },
    /// It is outside of what machines have.
    OutOfRange {
        /// The text that is there, or its beginning.
        found: String,
        /// The least and the most that it may be.
        range: (String, String),
    },
    /// A number that has to be a power of two is none.
    NoPowerOfTwo {
        /// The text that is there, or its beginning.
        found: String,
    },
    /// A list has too few elements or too many.
    Length {
        /// The number of elements.
        found: usize,
        /// The least and the most that it may have.
        range: (usize, usize),
    },
    /// The file has the form of another version of halide.
    Version {
        /// The text of the version.
        found: String,
        /// The version that is read.
        known: u32,
    },
}

/// The way to a file that can be read.
const ANEW: &str = "write a new one by `halide machine -o FILE`";

impl Display for MachineFileError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (MachineFileError::NotText { line, column }
        | MachineFileError::Torn { line, column }
        | MachineFileError::NotJson { line, column }
        | MachineFileError::Field { line, column, .. }) = self;
        write!(f, "line {line}, column {column}: ")?;
        match self {
            MachineFileError::NotText { .. } => write!(f, "the machine file is no text in UTF-8; {ANEW}"),
            MachineFileError::Torn { .. } => write!(f, "the machine file ends within a value; {ANEW}"),
            MachineFileError::NotJson { .. } => write!(f, "the machine file is no JSON here; mend it, or {ANEW}"),
            MachineFileError::Field { field, defect, .. } => {
                if field.is_empty() {
                    write!(f, "the machine file {defect}")
                } else {
                    write!(f, "`{field}` {defect}")
                }
            }
        }
    }
}

impl Display for FieldDefect {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            FieldDefect::Missing => write!(f, "is missing; add it, or {ANEW}"),
            FieldDefect::Unknown { near: Some(near) } => write!(f, "is no field of a machine; did you mean `{near}`?"),
            FieldDefect::Unknown { near: None } => f.write_str("is no field of a machine; take it out"),
            FieldDefect::Twice => f.write_str("is there twice; take one out"),
            FieldDefect::Kind { found, wanted } => write!(f, "is {found}, not {wanted}; give {wanted}"),
            FieldDefect::OutOfRange { found, range: (least, most) } => {
                write!(f, "is {found}, which no machine has; give a number from {least} to {most}")
            }
            FieldDefect::NoPowerOfTwo { found } => write!(f, "is {found}, not a power of two; give one"),
            FieldDefect::Length { found, range: (least, most) } => {
                write!(f, "has {found} elements; give from {least} to {most}")
            }
            FieldDefect::Version { found, known } => {
                write!(f, "is {found}, but this halide reads version {known}; {ANEW}")
            }
        }
    }
}

halide_core::debug_is_display!(MachineFileError);

impl std::error::Error for MachineFileError {}
