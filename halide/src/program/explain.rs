//! The text that says how a compiled program runs.

use super::compile::{CompiledProgram, Memory, Parts};
use super::node::{Count, Node};
use super::slots::{Extent, SlotSize};
use std::fmt::Write;

impl CompiledProgram {
    /// Says of each slot what region it has, and of each step in which memory it computes its outputs. What was done
    /// for a step itself [`Compiled::explain`](crate::Compiled::explain) says, of those that
    /// [`CompiledProgram::steps`] gives.
    pub fn explain(&self) -> String {
        let parts = &self.parts;
        let mut text = format!("program `{}`\n", parts.name);
        for slot in &parts.slots {
            let size = match &slot.size {
                SlotSize::Given => "given by the call".to_string(),
                SlotSize::Fixed(_) if slot.dims == 0 => "one value".to_string(),
                SlotSize::Fixed(region) => format!("over {region}"),
                SlotSize::Like(other) => format!("over the region of `{}`", parts.slots[other.0].name),
                SlotSize::Readers => "over what steps read of it".to_string(),
                SlotSize::Sized(extents) => {
                    let extents = extents.iter().map(|extent| match extent {
                        Extent::Fixed(extent) => extent.to_string(),
                        Extent::Slot(slot) => format!("`{}`", parts.slots[slot.0].name),
                    });
                    let extents: Vec<String> = extents.collect();
                    format!("of {} coordinates, asked on the host before each write", extents.join(" x "))
                }
            };
            // A text takes whatever is written.
            let _ = writeln!(text, "  slot `{}`: {}, {size}", slot.name, slot.ty);
        }
        nodes(parts, &parts.body, 1, &mut text);
        text
    }
}

fn nodes(parts: &Parts, body: &[Node], depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    for node in body {
        // As above.
        let _ = match node {
            Node::Step(number) => {
                step(parts, *number, &indent, text);
                Ok(())
            }
            Node::Once { when, body } => {
                let written = writeln!(text, "{indent}{} iteration only", when.word());
                nodes(parts, body, depth + 1, text);
                written
            }
            Node::Repeat { times, body, .. } => {
                let times = match times {
                    Count::Constant(times) => format!("{times} times"),
                    Count::Param(param) => format!("`{param}` times"),
                    Count::While { slot, every, most } => {
                        let asked = if *every == 1 { String::new() } else { format!(", asked every {every} times") };
                        format!("while `{}`{asked}, at most {most} times", parts.slots[slot.0].name)
                    }
                };
                let written = writeln!(text, "{indent}repeat {times}");
                nodes(parts, body, depth + 1, text);
                written
            }
        };
    }
}

fn step(parts: &Parts, number: usize, indent: &str, text: &mut String) {
    let step = &parts.steps[number];
    let _ = writeln!(text, "{indent}step `{}` at {}", step.bound.step.name(), step.bound.step.at);
    for (output, memory) in step.bound.outputs.iter().zip(&step.memory) {
        let slot = &parts.slots[output.slot.0].name;
        let memory = match memory {
            Memory::Own => "written".to_string(),
            Memory::InPlace(_) => "written in place".to_string(),
            Memory::Second { why } => format!("written into a second buffer: {why}"),
        };
        let _ = writeln!(text, "{indent}  `{slot}`: {memory}");
    }
}
