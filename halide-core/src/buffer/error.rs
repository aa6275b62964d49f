//! Errors in the shape of a buffer or in access to it.

use crate::layout::error::LayoutError;
use crate::types::ScalarType;
use std::fmt;

/// A reason that a buffer could not be made, viewed or accessed.
#[derive(Clone, PartialEq, Eq)]
pub enum BufferError {
    /// An extent below zero.
    NegativeExtent {
        /// The dimension.
        dim: usize,
        /// The extent that was asked for.
        extent: i64,
    },
    /// A dimension with coordinates that are not i32.
    CoordinateRange {
        /// The dimension.
        dim: usize,
        /// Its first coordinate.
        min: i64,
        /// Its number of coordinates.
        extent: i64,
    },
    /// More bytes than a 64-bit address space holds.
    TooLarge {
        /// The extents asked for.
        extents: Vec<i64>,
        /// The element type.
        ty: ScalarType,
    },
    /// The allocator had no memory.
    OutOfMemory {
        /// The size asked for.
        bytes: usize,
    },
    /// A number of coordinates or dimensions that is not the buffer's.
    WrongDims {
        /// Dimensions of the buffer.
        expected: usize,
        /// Dimensions given.
        found: usize,
    },
    /// A coordinate or region outside the buffer.
    Outside {
        /// The dimension.
        dim: usize,
        /// First coordinate asked for.
        min: i64,
        /// Number of coordinates asked for.
        extent: i64,
        /// First coordinate there is.
        buffer_min: i64,
        /// Number of coordinates there are.
        buffer_extent: i64,
    },
    /// A number of elements that does not fill the shape.
    WrongLength {
        /// Elements of the shape.
        expected: u64,
        /// Elements given.
        found: u64,
    },
    /// An element type that is not the buffer's.
    WrongType {
        /// The buffer's.
        expected: ScalarType,
        /// The one given.
        found: ScalarType,
    },
    /// Strides that are not at least 1, or that put two elements at one place.
    Strides {
        /// The strides given.
        strides: Vec<i64>,
    },
    /// A list that is not an order of the dimensions.
    NotAPermutation {
        /// The list given.
        order: Vec<usize>,
        /// Number of dimensions.
        dims: usize,
    },
    /// A dimension that does not begin and end at multiples of the size of blocks, or a size below 1.
    Split {
        /// The dimension.
        dim: usize,
        /// Its first coordinate.
        min: i64,
        /// Its number of coordinates.
        extent: i64,
        /// The size of blocks.
        factor: i64,
    },
    /// Two dimensions that are not the places in blocks and the blocks of one.
    Join {
        /// The dimension of the places in a block.
        dim: usize,
        /// Its first coordinate.
        min: i64,
        /// The distance in elements between blocks if they followed each other.
        expected: i64,
        /// The distance in elements between blocks.
        found: i64,
    },
    /// A layout that makes no sense, or that the buffer does not have.
    Layout {
        /// The reason.
        error: Box<LayoutError>,
    },
}

impl fmt::Display for BufferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BufferError::NegativeExtent { dim, extent } => {
                write!(f, "the extent of dimension {dim} is {extent}; use 0 or more")
            }
            BufferError::CoordinateRange { dim, min, extent } => write!(
                f,
                "dimension {dim} from {min} with extent {extent} has coordinates outside i32; use a smaller extent \
                 or a min nearer to 0"
            ),
            BufferError::TooLarge { extents, ty } => {
                write!(f, "{extents:?} elements of {ty} do not fit an address space; use smaller extents")
            }
            BufferError::OutOfMemory { bytes } => {
                write!(f, "the system has no memory for a buffer of {bytes} bytes; use smaller extents")
            }
            BufferError::WrongDims { expected, found } => {
                write!(f, "the buffer has {expected} dimensions, but {found} were given; give one value per dimension")
            }
            BufferError::Outside { dim, min, extent, buffer_min, buffer_extent } => write!(
                f,
                "dimension {dim} was asked for {}, but the buffer has {}; stay inside or make the buffer larger",
                coordinates(*min, *extent),
                coordinates(*buffer_min, *buffer_extent)
            ),
            BufferError::WrongLength { expected, found } => {
                write!(
                    f,
                    "the shape has {expected} elements, but {found} were given; give exactly one value per element"
                )
            }
            BufferError::WrongType { expected, found } => {
                write!(f, "the buffer holds {expected}, not {found}; name its own type or convert the elements")
            }
            BufferError::Strides { strides } => write!(
                f,
                "with strides {strides:?} two elements would be at one place; make each stride at least 1 and larger \
                 than all that smaller strides reach"
            ),
            BufferError::NotAPermutation { order, dims } => {
                write!(f, "{order:?} is not an order of {dims} dimensions; name each of 0..{dims} once")
            }
            BufferError::Split { dim, factor: factor @ ..1, .. } => {
                write!(f, "dimension {dim} cannot be split into blocks of {factor}; use 1 or more")
            }
            BufferError::Split { dim, min, extent, factor } => write!(
                f,
                "dimension {dim} has {}, which are not whole blocks of {factor}; split where min and extent are \
                 multiples, or copy with a layout",
                coordinates(*min, *extent)
            ),
            BufferError::Join { dim, min: 0, expected, found } => write!(
                f,
                "blocks of dimension {dim} are {found} elements apart, where {expected} would make it one dimension \
                 with the next; copy with a layout",
            ),
            BufferError::Join { dim, min, .. } => {
                write!(
                    f,
                    "dimension {dim} begins at {min}, where places in blocks begin at 0; move it with `with_mins`"
                )
            }
            BufferError::Layout { error } => error.fmt(f),
        }
    }
}

crate::error::debug_is_display!(BufferError);

impl std::error::Error for BufferError {}

impl From<LayoutError> for BufferError {
    fn from(error: LayoutError) -> BufferError {
        BufferError::Layout { error: Box::new(error) }
    }
}

fn coordinates(min: i64, extent: i64) -> String {
    match extent {
        i64::MIN..=0 => "no coordinates".to_string(),
        1 => format!("coordinate {min}"),
        _ => format!("coordinates {min}..={}", min.saturating_add(extent - 1)),
    }
}
