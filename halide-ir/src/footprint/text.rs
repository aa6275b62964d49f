//! Footprints as text, a row a line, for files.
//!
//! ```text
//! name L3 = (b0.extent1 + 31) / 32
//! unless 4 0 < b0.extent1
//! check b0.extent0 < 1000
//! begin 7 4 b0.extent0 * 8
//! end 7
//! ```

use super::{Footprint, Step};
use crate::expr::Expr;
use crate::sym::{BufId, Sym};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

impl fmt::Display for Footprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in self.names.iter().collect::<BTreeMap<_, _>>() {
            writeln!(f, "name {name} = {value}")?;
        }
        for step in &self.steps {
            match step {
                Step::Begin { buf, count, size } => writeln!(f, "begin {} {size} {count}", buf.0)?,
                Step::End(buf) => writeln!(f, "end {}", buf.0)?,
                Step::Check(holds) => writeln!(f, "check {holds}")?,
                Step::Unless { holds, next } => writeln!(f, "unless {next} {holds}")?,
            }
        }
        Ok(())
    }
}

/// A text that is no footprint: the number of its first row that is none, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoFootprint {
    /// The row.
    pub row: usize,
}

impl FromStr for Footprint {
    type Err = NoFootprint;
    fn from_str(text: &str) -> Result<Footprint, NoFootprint> {
        let mut made = Footprint::default();
        for (i, line) in text.lines().enumerate() {
            row(line, &mut made).ok_or(NoFootprint { row: i + 1 })?;
        }
        Ok(made)
    }
}

fn row(line: &str, into: &mut Footprint) -> Option<()> {
    let (word, rest) = line.split_once(' ')?;
    let buf = |text: &str| text.parse().ok().map(BufId);
    let expr = |text: &str| text.parse::<Expr>().ok();
    into.steps.push(match word {
        "name" => {
            let (name, value) = rest.split_once(" = ")?;
            into.names.insert(name.parse::<Sym>().ok()?, expr(value)?);
            return Some(());
        }
        "begin" => {
            let mut parts = rest.splitn(3, ' ');
            let (id, size) = (buf(parts.next()?)?, parts.next()?.parse().ok()?);
            Step::Begin { buf: id, count: expr(parts.next()?)?, size }
        }
        "end" => Step::End(buf(rest)?),
        "check" => Step::Check(expr(rest)?),
        "unless" => {
            let (next, holds) = rest.split_once(' ')?;
            // A step that leads back would never end.
            let next = next.parse().ok().filter(|next| *next > into.steps.len())?;
            Step::Unless { holds: expr(holds)?, next }
        }
        _ => return None,
    });
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::footprint::text::*;
    use crate::program::Program;

    #[test]
    fn footprints_are_read_as_they_are_written() {
        let text = "program final
            param n#p0: u8
            buffer f#b0: u8 dims 1 output 0
            buffer g#b1: u16 dims 1 internal
            buffer h#b2: f32 dims 1 internal
            func f0 = (b0)
            loop f.x#L0
            loop f.y#L1
            fault fault0 = not_this_variant
            temps 9
            body {
                let t0 = f#b0.extent0 * 7
                let t1 = select(p0 < 3u8, t0, 9)
                assert 0 < t1 else fault0()
                for L0 from 0 extent f#b0.extent0 {
                    alloc b1[t1 + 100000] {
                        if n#p0 < 7u8 {
                            alloc b2[t0] {
                            }
                        }
                    }
                }
            }";
        let program: Program = text.parse().unwrap_or_else(|e| panic!("{e}"));
        let made = Footprint::new(&program);
        let written = made.to_string();
        assert_eq!(written.parse::<Footprint>().map(|read| read.to_string()), Ok(written.clone()));
        for kind in ["name t0 = ", "name t1 = ", "check ", "unless ", "begin 1 2 ", "begin 2 4 ", "end 1"] {
            assert!(written.contains(kind), "{kind}: {written}");
        }
    }

    #[test]
    fn rows_that_are_none_are_told() {
        for text in ["end b3", "begin 1 2", "check", "unless 0 true", "nothing at all", "name L3 = "] {
            let found = format!("check true\n{text}").parse::<Footprint>().map(|f| f.to_string());
            assert_eq!(found, Err(NoFootprint { row: 2 }), "{text}");
        }
    }
}
