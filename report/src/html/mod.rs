//! The report as one HTML file: its data, what draws it, and tables for where no program runs.

mod assets;
mod escape;
mod tables;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use escape::Escaped;
use miniz_oxide::deflate::compress_to_vec;
use serde_json::Value;

/// The JSON Schema of a report's data, of version 2020-12.
pub const SCHEMA: &str = include_str!("../../schema.json");

/// The level of compression: higher ones take longer than they save.
const LEVEL: u8 = 8;

/// A square of three steps, for the tab of a browser.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E\
    %3Crect width='16' height='16' rx='3' fill='%232f54d0'/%3E\
    %3Cpath d='M4 4h8M6 8h6M8 12h4' stroke='white' stroke-width='2' stroke-linecap='round'/%3E%3C/svg%3E";

/// Makes the page of a report: one file that asks for nothing else, and is not allowed to. `data` is as `schema.json`
/// says; what is missing leaves its pane out.
///
/// ```
/// let data = serde_json::json!({"version": 1, "title": "blur · <tiles>", "facts": [["size", "640x480"]]});
/// let page = halide_report::html::html(&data);
/// assert!(page.starts_with("<!doctype html>") && page.contains("<title>blur · &lt;tiles&gt;</title>"));
/// assert!(page.contains("<dt><bdi>size</bdi></dt><dd><bdi>640x480</bdi></dd>"));
/// ```
pub fn html(data: &Value) -> String {
    page(data, assets::script(), assets::style(), "")
}

/// Makes the page of a report that a server of its own keeps up to date. It may ask this server, and does so if `data`
/// has `live`: `versions` (of what is watched, those that are shown), `of` (the name of what is watched), `data` (the
/// path of the newest data), `follows` (true if newer versions take its place) and `notice` (a text or null). The
/// server tells of versions by the events `row` at `/events`.
///
/// ```
/// let live = serde_json::json!({"versions": [4], "of": "my.sched", "data": "/report.json", "follows": true});
/// let page = halide_report::html::live(&serde_json::json!({"version": 1, "title": "blur", "live": live}));
/// assert!(page.contains("connect-src 'self'"));
/// ```
pub fn live(data: &Value) -> String {
    let (script, style) = assets::LIVE;
    page(data, assets::script() + script, assets::style() + style, "connect-src 'self'; ")
}

/// Makes the page of a program and a style; `policy` is what it may do beside running them.
fn page(data: &Value, script: String, style: String, policy: &str) -> String {
    let packed = STANDARD.encode(compress_to_vec(data.to_string().as_bytes(), LEVEL));
    let nonce = nonce(&[&script, &style, &packed]);
    let title = data["title"].as_str().unwrap_or("report");
    let tables = tables::tables(data);
    // The class hides the tables before they are seen; where the program cannot run, it is not set.
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'nonce-{nonce}'; \
         style-src 'nonce-{nonce}'; {policy}img-src data:; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<title>{title}</title>\n\
         <link rel=\"icon\" href=\"{ICON}\">\n<style nonce=\"{nonce}\">\n{style}</style>\n\
         <script nonce=\"{nonce}\">\
         \"DecompressionStream\" in window && document.documentElement.classList.add(\"live\")\
         </script>\n</head>\n<body>\n<div id=\"static\">{tables}\
         <p class=\"why\">The rest of this report needs JavaScript and a browser of 2023 or later.</p></div>\n\
         <script type=\"text/plain\" id=\"data\">{packed}</script>\n\
         <script nonce=\"{nonce}\">\n{script}</script>\n</body>\n</html>\n",
        title = Escaped(title),
    )
}

/// A word that only the page's own elements carry. It follows from the content, so that equal reports are equal files.
fn nonce(parts: &[&str]) -> String {
    // FNV-1a, once from each of two offsets.
    let hash = |offset: u64| {
        let bytes = parts.iter().flat_map(|part| part.bytes());
        bytes.fold(offset, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    };
    format!("{:016x}{:016x}", hash(0xcbf2_9ce4_8422_2325), hash(0x9747_b28c_8f3d_11a7))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pages_of_anything_are_made() {
        for data in
            [json!(null), json!([]), json!({"title": 3, "facts": {"a": 1}, "profile": [], "storage": [null, 1]})]
        {
            assert!(html(&data).ends_with("</html>\n"));
        }
    }

    #[test]
    fn the_schema_is_json_and_describes_each_part_of_a_report() {
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        let parts = |schema: &Value| schema["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        let mut all = parts(&schema["$defs"]["report"]);
        all.push("compare".into());
        all.sort();
        let mut top = parts(&schema);
        top.sort();
        assert_eq!(top, all);
    }

    #[test]
    fn equal_reports_are_equal_files() {
        let data = json!({"title": "a", "facts": [["b", "c"]]});
        assert_eq!(html(&data), html(&data));
    }

    #[test]
    fn pages_that_nobody_serves_ask_nobody() {
        let data = json!({"title": "a", "live": {"versions": [1], "notice": "version 2: <b>"}});
        assert!(!html(&data).contains("connect-src") && !html(&data).contains("EventSource"));
        assert!(live(&data).contains("version 2: &lt;b&gt;</p>"), "also where no program runs");
        assert!(live(&data).contains("connect-src 'self'; ") && live(&data).contains("new EventSource(\"/events\")"));
    }

    #[test]
    fn names_with_markup_stay_text() {
        let page = html(&json!({"title": "</title><script>alert(1)</script>", "storage": [{"name": "<img src=x>"}]}));
        assert!(!page.contains("<script>alert") && !page.contains("<img"));
    }
}
