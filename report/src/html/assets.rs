//! The program and the style of the page, as they stand in `assets`.

/// The program, in the order in which its parts are read.
const SCRIPTS: [&str; 20] = [
    include_str!("../../assets/base.js"),
    include_str!("../../assets/model.js"),
    include_str!("../../assets/select.js"),
    include_str!("../../assets/ruler.js"),
    include_str!("../../assets/list.js"),
    include_str!("../../assets/shell.js"),
    include_str!("../../assets/graph.js"),
    include_str!("../../assets/source.js"),
    include_str!("../../assets/nest.js"),
    include_str!("../../assets/code.js"),
    include_str!("../../assets/tables.js"),
    include_str!("../../assets/roofline.js"),
    include_str!("../../assets/memory.js"),
    include_str!("../../assets/threads.js"),
    include_str!("../../assets/states.js"),
    include_str!("../../assets/overlays.js"),
    include_str!("../../assets/order.js"),
    include_str!("../../assets/cells.js"),
    include_str!("../../assets/compare.js"),
    include_str!("../../assets/main.js"),
];

const STYLES: [&str; 3] = [
    include_str!("../../assets/page.css"),
    include_str!("../../assets/panes.css"),
    include_str!("../../assets/charts.css"),
];

/// The program and the style that a served page has in addition.
pub(super) const LIVE: (&str, &str) = (include_str!("../../assets/live.js"), include_str!("../../assets/live.css"));

/// The whole program.
pub(super) fn script() -> String {
    SCRIPTS.concat()
}

/// The whole style.
pub(super) fn style() -> String {
    STYLES.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn served_pages_ask_their_server_alone_and_write_text_as_text() {
        let (script, style) = LIVE;
        for word in ["innerHTML", "outerHTML", "insertAdjacent", "eval(", "import(", "http:", "https:", "</", "<!--"] {
            assert!(!script.contains(word) && !style.contains(word), "{word}");
        }
        assert!(!style.contains("url("));
    }

    #[test]
    fn nothing_in_the_assets_ends_their_elements() {
        assert!(!script().to_lowercase().contains("</script") && !script().contains("<!--"));
        assert!(!style().to_lowercase().contains("</style"));
    }

    #[test]
    fn the_program_uses_nothing_that_the_policy_forbids() {
        let words = ["eval(", "new Function", "fetch(", "XMLHttpRequest", "WebSocket", "import(", "innerHTML", "http:"];
        for word in words {
            // The name of SVG is no address.
            assert!(!script().replace("http://www.w3.org/2000/svg", "").contains(word), "{word}");
        }
        assert!(!style().contains("url("));
    }
}
