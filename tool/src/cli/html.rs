//! `--html`: what was compiled and what it took, as one page that needs nothing else. Every name of a Func leads to its
//! row, and from there to each section that speaks of it.

use super::args::Backend;
use super::failure::Failure;
use super::gpu;
use halide::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A part of the page: its title and its text.
pub(crate) struct Section {
    pub(crate) title: &'static str,
    pub(crate) text: String,
}

const STYLE: &str = "body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:75em;padding:0 1em;color:#222}\
pre{background:#f5f5f2;padding:.8em;overflow:auto;max-height:40em;font:13px/1.4 ui-monospace,monospace}\
table{border-collapse:collapse}td,th{border-bottom:1px solid #ddd;padding:.2em .8em .2em 0;text-align:left}\
a{color:#0b5394;text-decoration:none}a:hover{text-decoration:underline}:target{background:#fff2b3}nav a{margin-right:1em}";

/// The page. `facts` are names and values of the run; `more` are sections behind those of every pipeline.
pub(crate) fn page(
    compiled: &Compiled,
    schedule: &Schedule,
    backend: Backend,
    facts: &[(&str, String)],
    more: Vec<Section>,
) -> Result<String, Failure> {
    let mut sections = vec![
        Section { title: "Schedule", text: schedule.to_string() },
        Section { title: "Loop nest", text: compiled.loops()? },
        Section { title: "Storage", text: storage(compiled)? },
        Section { title: "What passes did", text: compiled.explain()? },
    ];
    sections.extend(more);
    sections.push(Section { title: "Loop IR", text: compiled.ir()? });
    match backend {
        Backend::Gpu => sections.push(Section { title: "Kernels", text: gpu::wgsl(compiled)? }),
        Backend::Cpu => sections.push(Section { title: "Machine code", text: compiled.asm()? }),
        _ => {}
    }
    let names: BTreeSet<String> = compiled.plan().pipeline.funcs.iter().map(|f| f.name.clone()).collect();
    Ok(Page { names, seen: Vec::new() }.html(facts, &sections))
}

/// A line per buffer.
fn storage(compiled: &Compiled) -> Result<String, Failure> {
    let mut text = String::new();
    for row in compiled.storage()? {
        let size = row.elements.map_or(String::new(), |n| format!(", {n} elements"));
        let folds: String = row.folds.iter().map(|(d, n)| format!(", keeps {n} of dimension {d}")).collect();
        // Writing to a String does not fail.
        _ = writeln!(text, "{}: {} {}{size}{folds}", row.name, row.ty, row.place);
    }
    Ok(text)
}

struct Page {
    names: BTreeSet<String>,
    /// For each section its anchor, its title, and the names that occur in it.
    seen: Vec<(String, &'static str, BTreeSet<String>)>,
}

impl Page {
    fn html(mut self, facts: &[(&str, String)], sections: &[Section]) -> String {
        let mut parts = String::new();
        for section in sections {
            let anchor = section.title.to_lowercase().replace(' ', "-");
            let text = self.linked(&anchor, section);
            _ = write!(parts, "<h2 id=\"{anchor}\">{}</h2>\n<pre>{text}</pre>\n", section.title);
        }
        let title = facts.first().map_or(String::new(), |(_, value)| escaped(value));
        let facts: String = facts
            .iter()
            .map(|(name, value)| format!("<tr><th>{name}</th><td>{}</td></tr>\n", escaped(value)))
            .collect();
        let menu: String =
            self.seen.iter().map(|(anchor, title, _)| format!("<a href=\"#{anchor}\">{title}</a>")).collect();
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title><style>{STYLE}</style>\
             </head><body>\n<h1>{title}</h1>\n<nav>{menu}</nav>\n<table>{facts}</table>\n<h2>Funcs</h2>\n<table>{}</table>\n\
             {parts}</body></html>\n",
            self.funcs()
        )
    }
    /// A row for each Func, with links to its first place in each section.
    fn funcs(&self) -> String {
        let row = |name: &String| {
            let of = self.seen.iter().filter(|(_, _, names)| names.contains(name));
            let link =
                |(anchor, title, _): &(String, &str, _)| format!("<a href=\"#{anchor}.{}\">{title}</a>", escaped(name));
            let links: Vec<String> = of.map(link).collect();
            let name = escaped(name);
            format!("<tr id=\"func.{name}\"><th>{name}</th><td>{}</td></tr>\n", links.join(" &middot; "))
        };
        self.names.iter().map(row).collect()
    }
    /// The text of a section, in which names of Funcs are links; the first of each can be linked to.
    fn linked(&mut self, anchor: &str, section: &Section) -> String {
        let mut found = BTreeSet::new();
        let mut html = String::with_capacity(section.text.len() * 2);
        for word in words(&section.text) {
            if !self.names.contains(word) {
                html += &escaped(word);
                continue;
            }
            let name = escaped(word);
            let id = if found.insert(word.to_string()) { format!(" id=\"{anchor}.{name}\"") } else { String::new() };
            _ = write!(html, "<a{id} href=\"#func.{name}\">{name}</a>");
        }
        self.seen.push((anchor.to_string(), section.title, found));
        html
    }
}

/// The text in pieces: names, and what is between them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = rest.find(|c| is_name(c) != is_name(first)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_linked_and_nothing_else_is_markup() {
        let names = BTreeSet::from(["f".to_string(), "blur_x".to_string()]);
        let mut page = Page { names, seen: Vec::new() };
        let section = Section { title: "Code", text: "f#b1[x] < blur_x.y & off f".to_string() };
        assert_eq!(
            page.linked("code", &section),
            "<a id=\"code.f\" href=\"#func.f\">f</a>#b1[x] &lt; <a id=\"code.blur_x\" href=\"#func.blur_x\">blur_x</a>.y \
             &amp; off <a href=\"#func.f\">f</a>"
        );
        assert!(page.funcs().contains("<a href=\"#code.blur_x\">Code</a>"));
    }
}
