//! The frozen form of an algorithm: what `Pipeline::new` makes of the Funcs that outputs reach.
//!
//! A `Pipeline` owns a compact copy of every expression (hash-consed; a node's children stand before it), so it is
//! `Send + Sync`, immutable and cheap to clone. Interpreter and lowering read it; nothing here knows how it was built.

mod data;
mod index_table;
pub(crate) mod node;
pub(crate) mod note;

pub use data::{FuncDef, ImageDef, ParamDef, Pipeline, PipelineData, RDomDef, RVarDef, StageDef};
pub use index_table::IndexTable;
pub use node::{DimField, Kind, Node};
pub use note::{NoteDef, NoteKind, Piece, note_text};
