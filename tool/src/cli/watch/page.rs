//! The page that `--serve` shows: rows as they come, and the schedule and loop nest of the one that is chosen.

use super::super::failure::Failure;
use crate::serve::{Reporter, Server};

/// The page, with its style and script in it.
const PAGE: &str = include_str!("page.html");

/// Starts the server of the page.
pub(super) fn server(port: u16, reporter: Box<Reporter>) -> Result<Server, Failure> {
    Server::start(port, PAGE, reporter)
        .map_err(|error| Failure(format!("--serve {port}: {error}; name another port, or 0 for one that is free")))
}

#[cfg(test)]
mod tests {
    use super::PAGE;

    #[test]
    fn the_page_asks_nobody_and_writes_text_as_text() {
        for markup in ["innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "http:", "https:", "//"] {
            assert!(!PAGE.contains(markup), "{markup}");
        }
        for attribute in [" style=", "onclick=", "onload=", "onerror="] {
            assert!(!PAGE.contains(attribute), "the policy does not allow {attribute}");
        }
        assert_eq!((PAGE.matches("nonce=\"NONCE\"").count(), PAGE.matches("NONCE").count()), (2, 2));
    }
}
