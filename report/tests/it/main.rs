//! Tests of the replay of runs and of the pictures of it, on runs of few points whose order is known.

mod replays;
mod shown;
