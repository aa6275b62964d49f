//! Machine code as lines: each instruction as text, with its place.

#[cfg(feature = "compile")]
use crate::shared::code_map::CodeSpan;
use halide_ir::code_place::CodePlace;
#[cfg(feature = "compile")]
use std::collections::BTreeMap;
use std::fmt;

/// One instruction of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeLine {
    /// Its offset in the function; `None` on other processors than x86-64.
    pub offset: Option<usize>,
    /// Its text: on x86-64 in Intel's syntax, with the name of the symbol whose address is filled in when it is linked.
    pub text: String,
    /// Its place; `None` where the code generator made it for no place in particular, and on other processors.
    pub place: Option<CodePlace>,
}

impl fmt::Display for CodeLine {
    /// The offset, if it is known, and the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offset {
            Some(offset) => write!(f, "{offset:6x}  {}", self.text),
            None => f.write_str(&self.text),
        }
    }
}

/// The instructions of a function.
///
/// `end` is the number of bytes in front of its constants, `symbols` are the names of what is linked, by the offset of
/// the field that is filled in. Bytes are read back on x86-64 alone.
#[cfg(feature = "compile")]
pub(crate) fn lines(bytes: &[u8], end: usize, spans: &[CodeSpan], symbols: &BTreeMap<usize, String>) -> Vec<CodeLine> {
    let mut all = instructions(&bytes[..end.min(bytes.len())], symbols);
    let mut rest = spans.iter().peekable();
    for line in &mut all {
        let offset = line.offset.unwrap_or(0) as u32;
        while rest.next_if(|span| span.end <= offset).is_some() {}
        line.place = rest.peek().filter(|span| span.start <= offset).map(|span| span.place);
    }
    all
}

#[cfg(all(feature = "compile", target_arch = "x86_64"))]
fn instructions(bytes: &[u8], symbols: &BTreeMap<usize, String>) -> Vec<CodeLine> {
    use iced_x86::{Decoder, DecoderOptions, Formatter, IntelFormatter};
    let mut decoder = Decoder::new(64, bytes, DecoderOptions::NONE);
    let mut formatter = IntelFormatter::new();
    let mut all = Vec::new();
    while decoder.can_decode() {
        let inst = decoder.decode();
        let (offset, next) = (inst.ip() as usize, inst.next_ip() as usize);
        let mut text = String::new();
        formatter.format(&inst, &mut text);
        if let Some((_, name)) = symbols.range(offset..next).next() {
            text += " = ";
            text += name;
        }
        all.push(CodeLine { offset: Some(offset), text, place: None });
    }
    all
}

#[cfg(all(feature = "compile", not(target_arch = "x86_64")))]
fn instructions(_bytes: &[u8], _symbols: &BTreeMap<usize, String>) -> Vec<CodeLine> {
    Vec::new()
}

/// The lines of code that Cranelift prints itself, where bytes are not read back.
pub(crate) fn lines_of_text(text: &str) -> Vec<CodeLine> {
    text.lines().map(|line| CodeLine { offset: None, text: line.to_string(), place: None }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use halide_ir::code_place::CodePart;

    #[test]
    fn text_of_the_code_generator_has_no_offsets() {
        let lines: Vec<String> = lines_of_text("block0:\n  ret\n").iter().map(CodeLine::to_string).collect();
        assert_eq!(lines, ["block0:", "  ret"]);
    }

    #[test]
    fn lines_have_the_places_of_their_bytes() {
        // push rbp; mov rax, imm64; ret; and a constant.
        let mut bytes = vec![0x55, 0x48, 0xb8];
        bytes.extend([0; 8]);
        bytes.extend([0xc3, 0xff, 0xff]);
        let place = CodePlace { part: CodePart::Check, ..CodePlace::default() };
        let symbols = BTreeMap::from([(3, "halide_fail".to_string())]);
        let made = lines(&bytes, 12, &[CodeSpan { start: 1, end: 11, place }], &symbols);
        if cfg!(not(target_arch = "x86_64")) {
            return assert!(made.is_empty());
        }
        let texts: Vec<(usize, &str, bool)> =
            made.iter().map(|l| (l.offset.unwrap(), l.text.as_str(), l.place == Some(place))).collect();
        assert_eq!(texts, [(0, "push rbp", false), (1, "mov rax,0 = halide_fail", true), (11, "ret", false)]);
    }
}
