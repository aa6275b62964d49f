//! A whole program as text: its tables, its tasks, its kernels, its body.

use super::{Printer, named};
use crate::buffer_info::Side;
use crate::buffer_info::{BufferInfo, BufferRole, Memory, Stream};
use crate::expr::Type;
use crate::fault::Fault;
use crate::kernel::{Kernel, KernelBuffer, Shared, Writes};
use crate::lanes::Held;
use crate::program::Program;
use crate::stmt::Task;
use crate::sym::{BufId, Sym};
use crate::typing::type_name;
use crate::words::{FIELDS, MEMORIES, SIDES, STAGES, STREAMS, WRITES, word};
use halide_core::pipeline::Piece;

impl Printer<'_> {
    pub(super) fn program(&mut self, p: &Program) {
        self.line(|out| out.push(&format!("program {}", word(&STAGES, &p.stage).unwrap_or("?"))));
        for (id, (name, ty)) in p.params.enumerate() {
            self.line(|out| out.push(&format!("param {}: {ty}", named(Some(name), format!("{id:?}")))));
        }
        for (id, info) in p.buffers.enumerate() {
            self.line(|out| out.buffer_row(id, info));
        }
        for (id, buf) in p.image_buffers.enumerate() {
            self.line(|out| out.push(&format!("image {id:?} = {buf:?}")));
        }
        for (id, bufs) in p.func_buffers.enumerate() {
            let bufs: Vec<String> = bufs.iter().map(|b| format!("{b:?}")).collect();
            self.line(|out| out.push(&format!("func {id:?} = ({})", bufs.join(", "))));
        }
        for (id, info) in p.loops.enumerate() {
            self.line(|out| out.push(&format!("loop {}", named(Some(&info.name), format!("{id:?}")))));
        }
        for (id, fault) in p.faults.enumerate() {
            self.line(|out| out.push(&format!("fault {id:?} = {}", fault_row(fault))));
        }
        for (id, pieces) in p.prints.enumerate() {
            let pieces: Vec<String> = pieces.iter().map(piece).collect();
            self.line(|out| out.push(&format!("print {id:?} = ({})", pieces.join(", "))));
        }
        for (id, callee) in p.callees.enumerate() {
            let params: Vec<String> = callee.params.iter().map(|p| self.param(*p)).collect();
            let buffers: Vec<String> = callee.buffers.iter().map(|b| format!("{b:?}")).collect();
            let (params, buffers) = (params.join(", "), buffers.join(", "));
            let updates = if callee.updates { " updates" } else { "" };
            let text = format!("({buffers}) results {}{updates} params ({params})", callee.results);
            self.line(|out| out.push(&format!("callee {id:?} = {:?} {text}", callee.name)));
        }
        for name in &p.counters {
            self.line(|out| out.push(&format!("counter {name:?}")));
        }
        self.line(|out| out.push(&format!("temps {}", p.next_temp)));
        for (id, task) in p.tasks.enumerate() {
            self.start();
            self.push(&format!("{id:?} "));
            self.task(task);
        }
        for (id, kernel) in p.kernels.enumerate() {
            self.start();
            self.push(&format!("{id:?} "));
            self.kernel(kernel);
        }
        self.start();
        self.push("body ");
        self.block(|out| out.list(&p.body));
    }

    fn buffer_row(&mut self, id: BufId, info: &BufferInfo) {
        let role = match info.role {
            BufferRole::Input(image) => format!("input {image:?}"),
            BufferRole::Output(n) => format!("output {n}"),
            BufferRole::Internal => "internal".to_string(),
        };
        let text =
            format!("buffer {}: {} dims {} {role}", named(Some(&info.name), format!("{id:?}")), info.elem, info.dims);
        self.push(&text);
        if !info.order.iter().copied().eq(0..info.dims) {
            self.push(&format!(" order {:?}", info.order));
        }
        if info.align.len() != info.dims || info.align.iter().any(|&a| a != 1) {
            self.push(&format!(" align {:?}", info.align));
        }
        if info.fold.len() != info.dims || info.fold.iter().any(Option::is_some) {
            let folds: Vec<String> =
                info.fold.iter().map(|f| f.map_or("none".to_string(), |n| n.to_string())).collect();
            self.push(&format!(" fold [{}]", folds.join(", ")));
        }
        if let Some(dim) = info.unit_stride {
            self.push(&format!(" unit_stride {dim}"));
        }
        if info.memory != Memory::Auto {
            self.push(&format!(" memory {}", word(&MEMORIES, &info.memory).unwrap_or("?")));
        }
        if info.keeps {
            self.push(" keeps");
        }
        if info.stream != Stream::Never {
            self.push(&format!(" stream {}", word(&STREAMS, &info.stream).unwrap_or("?")));
        }
        if info.side != Side::Host {
            self.push(&format!(" side {}", word(&SIDES, &info.side).unwrap_or("?")));
        }
    }

    fn task(&mut self, task: &Task) {
        let captures = self.captures(&task.captures);
        let buffers: Vec<String> = task.buffers.iter().map(|b| self.buf(*b)).collect();
        let head = format!("{} captures ({captures}) buffers ({}) ", self.loop_id(task.id), buffers.join(", "));
        self.push(&head);
        self.block(|out| out.list(&task.body));
    }

    fn kernel(&mut self, kernel: &Kernel) {
        let list = |items: Vec<String>| items.join(", ");
        let blocks = list(kernel.blocks.iter().map(|l| self.loop_id(*l)).collect());
        let [x, y, z] = kernel.threads;
        let params = list(kernel.params.iter().map(|p| self.param(*p)).collect());
        let captures = self.captures(&kernel.captures);
        let buffers = list(kernel.buffers.iter().map(|b| self.kernel_buffer(b)).collect());
        let row = |r: &Shared| format!("{} at {} words {}", self.buf(r.buf), r.first_word, r.words);
        let shared = list(kernel.shared.iter().map(row).collect());
        let head = format!(
            "{:?} blocks ({blocks}) threads ({x}, {y}, {z}) captures ({captures}) params ({params}) buffers ({buffers}) \
             shared ({shared}) words {} ",
            kernel.name, kernel.shared_words
        );
        self.push(&head);
        if let Some(held) = &kernel.lanes {
            let row = |h: &Held| format!("{} run {} each {}", self.buf(h.buf), h.run, h.each);
            let held = list(held.iter().map(row).collect());
            self.push(&format!("lanes ({held}) "));
        }
        self.block(|out| out.list(&kernel.body));
    }

    fn kernel_buffer(&self, b: &KernelBuffer) -> String {
        let mut text = self.buf(b.buf);
        if b.reads {
            text += " reads";
        }
        if b.writes != Writes::None {
            text += &format!(" {}", word(&WRITES, &b.writes).unwrap_or("?"));
        }
        if !b.word_strides.is_empty() {
            let strides: Vec<String> = b.word_strides.iter().map(|s| self.sym(*s)).collect();
            text += &format!(" strides ({})", strides.join(", "));
        }
        text
    }

    /// Returns the text of the captures of a body; their types are known from here on.
    fn captures(&mut self, captures: &[(Sym, Type)]) -> String {
        for (s, ty) in captures {
            if let Sym::Temp(n) = s {
                self.temps.insert(*n, *ty);
            }
        }
        let list: Vec<String> =
            captures.iter().map(|(s, ty)| format!("{}: {}", self.sym(*s), type_name(*ty))).collect();
        list.join(", ")
    }
}

/// A text, or `_` for a value.
fn piece(piece: &Piece) -> String {
    match piece {
        Piece::Text(text) => format!("{text:?}"),
        Piece::Value => "_".to_string(),
    }
}

fn fault_row(fault: &Fault) -> String {
    match fault {
        Fault::InputTooSmall { buf, dim } => format!("input_too_small {buf:?} dim {dim}"),
        Fault::OutputRegion { buf, dim, reason } => format!("output_region {buf:?} dim {dim} {reason:?}"),
        Fault::Stride { buf, dim } => format!("stride {buf:?} dim {dim}"),
        Fault::Rule { buf, dim, field, multiple, at } => {
            let what = if *multiple { "multiple" } else { "value" };
            format!("rule {buf:?} dim {dim} {} {what} {at:?}", word(&FIELDS, field).unwrap_or("?"))
        }
        Fault::IndexOverflow { name, dim } => format!("index_overflow {name:?} dim {dim}"),
        Fault::OutOfMemory { buf } => format!("out_of_memory {buf:?}"),
        Fault::Promise { what } => format!("promise {what:?}"),
        Fault::Require { what } => format!("require {what:?}"),
        Fault::Unproved => "unproved".to_string(),
        Fault::Access { buf, at } => format!("access {buf:?} {at:?}"),
        Fault::NotThisVariant => "not_this_variant".to_string(),
    }
}
