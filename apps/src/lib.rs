//! Placeholder root; see ARCHITECTURE.md.
