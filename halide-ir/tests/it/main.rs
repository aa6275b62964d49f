//! Random loop IR as text and back.

mod round_trips;
