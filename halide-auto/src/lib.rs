//! Schedules that nobody has to write.
//!
//! Pure: no clock, input or output, threads, globals or order of hash tables, so equal questions have equal answers
//! wherever they are asked. The first part is [`tss`], which chooses the sizes of tiles.

pub mod tss;
