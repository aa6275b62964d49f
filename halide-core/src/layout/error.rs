//! Errors in layouts.

use std::fmt;

/// A reason that a layout makes no sense, or does not fit a buffer.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum LayoutError {
    /// Two dimensions of one name.
    RepeatedDim {
        /// The name.
        name: String,
    },
    /// A split of a dimension that the layout does not have.
    UnknownDim {
        /// The name given.
        name: String,
        /// The names of the dimensions.
        dims: Vec<String>,
    },
    /// Two splits of one dimension.
    SplitTwice {
        /// The dimension.
        name: String,
    },
    /// Blocks of less than one coordinate, or of more than there are.
    Factor {
        /// The dimension.
        name: String,
        /// The size of blocks given.
        factor: i64,
    },
    /// An order that does not name each part once.
    Order {
        /// The names given.
        order: Vec<String>,
        /// The parts of the layout.
        parts: Vec<String>,
    },
    /// A dimension of a packed buffer that does not have just the places of a block.
    Block {
        /// The part.
        name: String,
        /// The first coordinate of the buffer along it.
        min: i64,
        /// The extent of the buffer along it.
        extent: i64,
        /// The size of blocks.
        factor: i64,
    },
}

impl LayoutError {
    /// Returns one sentence: the subject and its defect.
    pub fn reason(&self) -> String {
        match self {
            LayoutError::RepeatedDim { name } => format!("the layout has two dimensions `{name}`"),
            LayoutError::UnknownDim { name, dims } => {
                format!("the layout has no dimension `{name}`; its dimensions: {}", names(dims))
            }
            LayoutError::SplitTwice { name } => format!("dimension `{name}` of the layout is split twice"),
            LayoutError::Factor { name, factor } => format!("blocks along `{name}` have {factor} coordinates"),
            LayoutError::Order { order, parts } => {
                format!("the order {} does not name each part of the layout once: {}", names(order), names(parts))
            }
            LayoutError::Block { name, min, extent, factor } => {
                format!("`{name}` of the buffer is {extent} coordinates from {min}, not {factor} from 0")
            }
        }
    }

    /// Returns the remedy.
    pub fn help(&self) -> String {
        match self {
            LayoutError::RepeatedDim { .. } => "give each dimension a name of its own".into(),
            LayoutError::UnknownDim { .. } => "split one of its dimensions".into(),
            LayoutError::SplitTwice { .. } => "split each dimension once".into(),
            LayoutError::Factor { .. } => format!("use 1 to {} coordinates", i32::MAX),
            LayoutError::Order { .. } => "list every part once; `c.i` and `c.o` are those of a split `c`".into(),
            LayoutError::Block { .. } => "give a buffer in whole blocks, as `pack` makes them".into(),
        }
    }
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.reason(), self.help())
    }
}

// Not by way of `crate::error`, whose table of diagnostics imports this file.
crate::error::debug::debug_is_display!(LayoutError);

impl std::error::Error for LayoutError {}

fn names(list: &[String]) -> String {
    let quoted: Vec<String> = list.iter().map(|name| format!("`{name}`")).collect();
    if quoted.is_empty() { "none".to_string() } else { quoted.join(", ") }
}
