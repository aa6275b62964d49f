//! Tests of the report's page in a browser, of the replay of runs, and of the pictures of it, on runs of few points
//! whose order is known.

mod counted;
mod page;
mod replays;
mod schema;
mod shown;
mod valid;
