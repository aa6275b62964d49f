//! Random programs: those that `verify` accepts, at every stage.

use super::expr::expr;
use super::vocabulary::{BufferWord, Random, Vocabulary};
use halide_core::ids::{FuncId, Id};
use halide_core::ids::{IdVec, ImageId};
use halide_core::types::ScalarType::{self, *};
use halide_core::value::Scalar;
use halide_ir::build::*;
use halide_ir::*;

/// Every buffer has this extent in each dimension, from 0; the caller's too.
const EXTENT: i64 = 4;

/// A random program of a stage with about `size` statements. It has one input of u8 in two dimensions, two outputs (of
/// u16 in two dimensions, of f32 in one), and two parameters (i32, f32). All coordinates are from 0 to 3.
pub fn program(random: &mut Random, stage: Stage, size: u32) -> Program {
    drawn(random, stage, size, false)
}

/// A program as [`program`] draws it, in which places that are in memory may be outside of their buffers.
pub fn wild(random: &mut Random, stage: Stage, size: u32) -> Program {
    drawn(random, stage, size, true)
}

fn drawn(random: &mut Random, stage: Stage, size: u32, wild: bool) -> Program {
    let program = tables(random, stage);
    let externals = program.buffers.enumerate().filter(|(_, b)| b.role != BufferRole::Internal);
    let fields = [DimField::Min, DimField::Extent, DimField::Stride];
    let mut words = Vocabulary {
        params: program.params.enumerate().map(|(id, (_, ty))| (id, *ty)).collect(),
        linear: stage >= Stage::Flat,
        ..Vocabulary::default()
    };
    for (buf, info) in externals {
        words.buffers.push(word_of(buf, info, stage));
        let fields = (0..info.dims as u16).flat_map(|dim| fields.map(|field| Sym::Buffer { buf, dim, field }));
        words.symbols.extend(fields.map(|s| (s, Type::INDEX)));
    }
    let mut g = Gen { random, program, words, fresh: 0, made: Vec::new(), wild };
    if stage == Stage::Nest {
        for _ in 0..3 {
            let s = g.fresh_sym();
            g.words.symbols.push((s, Type::INDEX));
        }
    }
    g.program.body = g.stmt(size);
    g.program
}

fn tables(random: &mut Random, stage: Stage) -> Program {
    let names =
        ["f", "f.x", "f$1", "a name", "g.in(f)", "\"quoted\" \\ \n", "\u{e9}t\u{e9}", "", "true", "b2", "x8", "#"];
    let name = |random: &mut Random, i: usize| format!("{}{i}", *random.pick(&names));
    let roles = [
        (BufferRole::Input(ImageId(0)), U8, 2),
        (BufferRole::Output(0), U16, 2),
        (BufferRole::Output(1), F32, 1),
        (BufferRole::Internal, U16, 2),
        (BufferRole::Internal, I32, 1),
        (BufferRole::Internal, Bool, 0),
    ];
    let mut buffers = IdVec::new();
    for (i, (role, elem, dims)) in roles.into_iter().enumerate() {
        buffers.push(BufferInfo {
            name: name(random, i),
            elem,
            dims,
            role,
            order: if random.one_in(2) { (0..dims).collect() } else { (0..dims).rev().collect() },
            align: (0..dims).map(|_| *random.pick(&[1, 1, 8])).collect(),
            fold: (0..dims)
                .map(|_| (role == BufferRole::Internal && random.one_in(4)).then(|| random.between(2, 5)))
                .collect(),
            unit_stride: (dims > 0 && random.one_in(2)).then_some(0),
            memory: *random.pick(&[Memory::Auto, Memory::Heap, Memory::Stack, Memory::Register]),
            keeps: false,
            stream: *random.pick(&[Stream::Never, Stream::IfLarge, Stream::Always]),
            side: Side::Host,
        });
    }
    let text = names[random.below(names.len())].to_string();
    let (buf, dim) = (BufId(0), 1);
    let faults = [
        Fault::InputTooSmall { buf, dim },
        Fault::OutputRegion { buf, dim, reason: text.clone() },
        Fault::Stride { buf, dim },
        Fault::Rule { buf, dim, field: DimField::Stride, multiple: true, at: text.clone() },
        Fault::Rule { buf, dim, field: DimField::Min, multiple: false, at: text.clone() },
        Fault::IndexOverflow { name: text.clone(), dim },
        Fault::OutOfMemory { buf },
        Fault::Promise { what: text.clone() },
        Fault::Require { what: text.clone() },
        Fault::NotThisVariant,
    ];
    Program {
        buffers,
        image_buffers: [BufId(0)].into_iter().collect(),
        func_buffers: [vec![BufId(1), BufId(2)], vec![BufId(3)], vec![BufId(4)], vec![BufId(5)]].into_iter().collect(),
        params: [(name(random, 0), I32), (name(random, 1), F32)].into_iter().collect(),
        faults: faults.into_iter().collect(),
        prints: [vec![Piece::Value], vec![Piece::Text(text), Piece::Value, Piece::Value]].into_iter().collect(),
        counters: vec![name(random, 0), name(random, 1)],
        ..Program::empty(stage)
    }
}

fn word_of(buf: BufId, info: &BufferInfo, stage: Stage) -> BufferWord {
    let extent = if stage >= Stage::Flat { EXTENT.pow(info.dims as u32) } else { EXTENT };
    BufferWord { buf, elem: info.elem, dims: info.dims, extent }
}

struct Gen<'a> {
    random: &'a mut Random,
    program: Program,
    /// The vocabulary of expressions at the current place.
    words: Vocabulary,
    /// For symbols that must differ.
    fresh: u16,
    /// Expressions that may stand at the current place too, with the symbols and buffers that were known at theirs.
    made: Vec<(Expr, usize, usize)>,
    /// True if places that are in memory may be anything.
    wild: bool,
}

impl Gen<'_> {
    fn stmt(&mut self, size: u32) -> Stmt {
        if size == 0 {
            return self.leaf();
        }
        match self.random.below(9) {
            0 | 1 => {
                let count = 2 + self.random.below(3) as u32;
                block((0..count).map(|_| self.stmt((size - 1) / count)).collect::<Vec<_>>())
            }
            2 | 3 => self.let_in(size - 1),
            4 => self.for_in(size - 1),
            5 => {
                let cond = self.value(Type::BOOL);
                let then = Box::new(self.stmt((size - 1) / 2));
                let otherwise = if self.random.one_in(2) { nothing() } else { self.stmt((size - 1) / 2) };
                Stmt::If { cond, then, otherwise: Box::new(otherwise) }
            }
            6 => {
                let func = FuncId::new(self.random.below(4));
                Stmt::Produce { func, body: Box::new(self.stmt(size - 1)) }
            }
            7 if self.program.stage == Stage::Final => self.launch(size - 1),
            8 if self.words.linear && self.random.one_in(2) => self.accumulation(size - 1),
            _ => self.storage(size - 1),
        }
    }

    /// An expression of a type; one in eight is one that stands elsewhere, too.
    fn value(&mut self, ty: Type) -> Expr {
        let known: Vec<&Expr> = self.made.iter().map(|(e, ..)| e).filter(|e| e.ty() == ty).collect();
        if !known.is_empty() && self.random.one_in(8) {
            return (*self.random.pick(&known)).clone();
        }
        let size = self.random.below(10) as u32;
        let made = expr(self.random, &self.words, ty, size);
        self.made.push((made.clone(), self.words.symbols.len(), self.words.buffers.len()));
        made
    }

    /// Forgets expressions with names or buffers that are not known any more.
    fn leave(&mut self) {
        let (symbols, buffers) = (self.words.symbols.len(), self.words.buffers.len());
        self.made.retain(|(_, s, b)| *s <= symbols && *b <= buffers);
    }

    /// An Index value from 0 to `max`.
    fn small(&mut self, max_value: i64, lanes: u16) -> Expr {
        let e = self.value(Type::INDEX.with_lanes(lanes));
        min(max(e, int(0)), int(max_value))
    }

    fn lanes(&mut self) -> u16 {
        if self.program.stage >= Stage::Shaped { *self.random.pick(&[1, 1, 2, 3, 4]) } else { 1 }
    }

    fn leaf(&mut self) -> Stmt {
        match self.random.below(8) {
            2 => {
                let line = PrintId::new(self.random.below(2));
                let args = (0..=line.0).map(|_| self.value(Type::data(I32))).collect();
                Stmt::Print { line, when: self.value(Type::BOOL), args }
            }
            0 => {
                let counter = self.random.below(2) as u32;
                Stmt::Count { counter, amount: self.small(3, 1) }
            }
            1 => {
                let fault = FaultId::new(self.random.below(self.program.faults.len()));
                let count = self.program.faults[fault].arity().unwrap_or(self.random.below(3));
                let args = (0..count).map(|_| self.value(Type::INDEX)).collect();
                let cond = or(self.value(Type::BOOL), ge(self.value(Type::INDEX), int(-1)));
                Stmt::Assert { cond, fault, args }
            }
            3 => self.prefetch(),
            4 if self.words.linear && self.random.one_in(2) => self.reread(),
            _ => self.write(),
        }
    }

    /// Generates a prefetch of any buffer in scope, at any place.
    fn prefetch(&mut self) -> Stmt {
        let words = self.words.buffers.clone();
        let word = *self.random.pick(&words);
        let places = if self.words.linear { 1 } else { word.dims };
        let at = (0..places).map(|_| self.value(Type::INDEX)).collect();
        Stmt::Prefetch { buf: word.buf, at, cache: *self.random.pick(&[Cache::First, Cache::Second]) }
    }

    /// An element whose place is in memory, stored, and stored again after that memory may have changed.
    fn reread(&mut self) -> Stmt {
        let numbers: Vec<BufferWord> = self.words.buffers[1..].iter().filter(|w| w.elem.bits() > 1).copied().collect();
        let places: Vec<BufferWord> = numbers.iter().filter(|w| w.elem.is_int()).copied().collect();
        let (table, place) = (*self.random.pick(&numbers), *self.random.pick(&places));
        let cell = self.small(place.extent - 1, 1);
        let at = to_index(load(place.buf, place.elem, cell.clone(), None));
        let at = if self.wild { at } else { min(max(at, int(0)), int(table.extent - 1)) };
        let shared = load(table.buf, table.elem, at, None);
        let keep = |g: &mut Self| {
            let to = *g.random.pick(&numbers);
            let value = cast_data(to.elem, shared.clone());
            Stmt::Store { buf: to.buf, index: g.small(to.extent - 1, 1), value, mask: None }
        };
        // Of what is always there: an index that was never written is anything, each time that it is read.
        let mut given = self.words.clone();
        given.buffers.truncate(1);
        given.symbols.retain(|(s, _)| matches!(s, Sym::Buffer { .. }));
        let [written, changed] = [(); 2].map(|()| {
            let value = match self.random.below(3) {
                0 => expr(self.random, &given, Type::data(place.elem), 4),
                n => constant(Scalar::int(place.elem, self.random.between(0, if n == 1 { 3 } else { 900 }).into())),
            };
            Stmt::Store { buf: place.buf, index: cell.clone(), value, mask: None }
        });
        let (first, second) = (keep(self), keep(self));
        block([written, first, changed, second])
    }

    /// A store to an output or an internal buffer in scope.
    fn write(&mut self) -> Stmt {
        let targets: Vec<BufferWord> = self.words.buffers[1..].to_vec();
        let word = *self.random.pick(&targets);
        let lanes = self.lanes();
        let mask = if self.random.one_in(3) { Some(self.value(Type::BOOL.with_lanes(lanes))) } else { None };
        let ty = |elem: ScalarType| Type::data(elem).with_lanes(lanes);
        if self.words.linear {
            let (index, value) = (self.small(word.extent - 1, lanes), self.value(ty(word.elem)));
            return Stmt::Store { buf: word.buf, index, value, mask };
        }
        let args = (0..word.dims).map(|_| self.small(EXTENT - 1, 1)).collect();
        let funcs = self.program.func_buffers.enumerate();
        let func = funcs.filter(|(_, bufs)| bufs.contains(&word.buf)).map(|(f, _)| f).next().unwrap_or(FuncId(0));
        let values = if self.random.one_in(10) { vec![] } else { vec![(word.buf, self.value(ty(word.elem)))] };
        Stmt::Provide { func, args, values, mask }
    }

    fn let_in(&mut self, size: u32) -> Stmt {
        let outer = self.words.symbols.len();
        let mut bindings = Vec::new();
        for _ in 0..1 + self.random.below(3) {
            let (s, ty) = match self.random.below(3) {
                0 => (self.fresh_sym(), Type::INDEX),
                _ => {
                    let elem = match self.random.below(3) {
                        0 => Elem::Index,
                        _ => Elem::Data(*self.random.pick(&ScalarType::ALL)),
                    };
                    (self.fresh_temp(), Type { elem, lanes: self.lanes() })
                }
            };
            bindings.push((s, self.value(ty)));
            self.words.symbols.push((s, ty));
        }
        let body = self.stmt(size);
        self.words.symbols.truncate(outer);
        self.leave();
        let_in(bindings, body)
    }

    fn fresh_temp(&mut self) -> Sym {
        self.program.next_temp += 1;
        Sym::Temp(self.program.next_temp - 1)
    }

    /// A bound that no other statement binds.
    fn fresh_sym(&mut self) -> Sym {
        self.fresh += 1;
        let (func, dim) = (FuncId(1), self.fresh);
        let edge = *self.random.pick(&[Edge::Min, Edge::Max]);
        let loops = self.program.loops.len();
        let at = if loops == 0 || self.random.one_in(2) {
            Scope::Root
        } else {
            Scope::Body(LoopId::new(self.random.below(loops)))
        };
        if self.random.one_in(2) {
            Sym::Bound { func, stage: self.random.below(3) as u16, dim, edge, at }
        } else {
            Sym::Stored { func, dim, edge, at }
        }
    }

    fn fresh_loop(&mut self) -> LoopId {
        let name = ["f.x", "f.y in", "loop"][self.random.below(3)];
        let name = format!("{name}{}", self.program.loops.len());
        self.program.loops.push(name.into())
    }

    fn for_in(&mut self, size: u32) -> Stmt {
        use ForKind::*;
        let kinds: &[ForKind] = match self.program.stage {
            Stage::Final => &[Serial],
            Stage::Shaped => &[Serial, Parallel],
            _ => &[Serial, Parallel, Vectorized, Unrolled],
        };
        let kind = *self.random.pick(kinds);
        let (min, extent) = (self.value(Type::INDEX), self.small(3, 1));
        let id = self.fresh_loop();
        self.words.symbols.push((Sym::Loop(id), Type::INDEX));
        let body = self.stmt(size);
        self.words.symbols.pop();
        self.leave();
        for_loop(id, kind, min, extent, body)
    }

    /// A loop that changes elements whose places are known in front of it, beside other statements: most read what they
    /// store, in two buffers at most, next to each other or over each other.
    fn accumulation(&mut self, size: u32) -> Stmt {
        let numbers = self.words.buffers[1..].iter().filter(|w| w.elem != Bool).copied().collect::<Vec<_>>();
        let mut places = Vec::new();
        for _ in 0..1 + self.random.below(2) {
            let (word, lanes) = (*self.random.pick(&numbers), self.lanes());
            let room = word.extent - i64::from(lanes);
            let count = 1 + self.random.below(3);
            let steps: Vec<i64> = [0, i64::from(lanes), 1].into_iter().take(count).filter(|s| *s <= room).collect();
            let most = room - steps.iter().copied().max().unwrap_or(0);
            let base = if self.random.one_in(2) { self.small(most, 1) } else { int(self.random.between(0, most)) };
            for step in steps {
                let from = offset(base.clone(), step);
                places.push((word, if lanes == 1 { from } else { ramp(from, int(1), lanes) }));
            }
        }
        let (low, extent) = (self.value(Type::INDEX), self.small(3, 1));
        let id = self.fresh_loop();
        self.words.symbols.push((Sym::Loop(id), Type::INDEX));
        let mut list = Vec::new();
        for (word, index) in places {
            if self.random.one_in(6) {
                list.push(self.stmt(size / 4));
            }
            let ty = Type::data(word.elem).with_lanes(index.lanes());
            let old = load(word.buf, word.elem, index.clone(), None);
            let value = self.value(ty);
            let value = match self.random.below(6) {
                0 => value,
                1 => max(old, value),
                _ => add(old, value),
            };
            let mask = self.random.one_in(8).then(|| self.value(Type::BOOL.with_lanes(index.lanes())));
            list.push(Stmt::Store { buf: word.buf, index, value, mask });
        }
        if self.random.one_in(3) {
            list.push(self.stmt(size / 4));
        }
        self.words.symbols.pop();
        self.leave();
        for_loop(id, ForKind::Serial, low, extent, block(list))
    }

    /// Storage of an internal buffer that has none yet.
    fn storage(&mut self, size: u32) -> Stmt {
        let func = FuncId(1 + self.random.below(3) as u32);
        let buf = self.program.func_buffers[func][0];
        if self.words.buffers.iter().any(|w| w.buf == buf) {
            return self.stmt(size);
        }
        let word = word_of(buf, &self.program.buffers[buf], self.program.stage);
        self.words.buffers.push(word);
        let body = Box::new(self.stmt(size));
        self.words.buffers.pop();
        self.leave();
        if self.words.linear {
            let count = int(word.extent);
            let constant = self.random.one_in(2).then_some(word.extent as u64 + 1);
            return Stmt::Alloc { buf, count, constant, body };
        }
        Stmt::Realize { func, bounds: vec![(int(0), int(EXTENT)); word.dims], when: None, body }
    }

    /// A task that captures all that is in scope.
    fn launch(&mut self, size: u32) -> Stmt {
        let (min, extent) = (self.value(Type::INDEX), self.small(3, 1));
        let id = self.fresh_loop();
        let given = |s: &Sym| matches!(s, Sym::Buffer { .. });
        let captures = self.words.symbols.iter().filter(|(s, _)| !given(s)).copied().collect();
        let internal = |w: &&BufferWord| self.program.buffers[w.buf].role == BufferRole::Internal;
        let buffers = self.words.buffers.iter().filter(internal).map(|w| w.buf).collect();
        self.words.symbols.push((Sym::Loop(id), Type::INDEX));
        let body = self.stmt(size);
        self.words.symbols.pop();
        self.leave();
        let task = self.program.tasks.push(Task { id, captures, buffers, body });
        Stmt::Launch { task, min, extent }
    }
}
