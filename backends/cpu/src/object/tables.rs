//! The tables of an object: all that runs ask for beside code, and the data that leads to both.

use super::interface::{read, write};
use crate::abi::ArgLayout;
use crate::error::CpuError;
use crate::exec::{Code, Executable};
use crate::options::{CompileStats, CpuOptions, Texts};
use crate::runtime::{EntryFn, LinkedEntry};
use crate::tier::{Tier, missing};
use crate::words::{Reader, Writer};
use halide_core::pipeline::PipelineData;
use halide_ir::Program;
use halide_ir::features::CpuFeatures;
use halide_ir::footprint::Footprint;
use std::ffi::c_void;
use std::fmt;
use std::sync::atomic::AtomicPtr;

/// The version of this crate, whose runtime objects need.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The data that `NAME_pipeline` names.
#[repr(C)]
#[derive(Debug)]
pub struct Descriptor {
    /// The address of a symbol that only a runtime with these conventions has: others cannot be linked.
    pub abi: *const u8,
    /// The tables.
    pub tables: *const u8,
    /// The number of their bytes.
    pub bytes: usize,
    /// The entries of the variants.
    pub code: *const EntryFn,
    /// The number of variants.
    pub variants: usize,
    /// The runtime's own: null before the first run.
    pub loaded: AtomicPtr<c_void>,
}

/// The tables of an object: all that runs ask for beside code.
pub struct ObjectTables {
    /// The extensions of the processor that the code needs.
    pub needs: CpuFeatures,
    /// The parameters, images, outputs and rules that calls are checked against; nothing else of the pipeline.
    pub interface: PipelineData,
    /// The variants; runs begin with the first.
    pub variants: Vec<VariantTables>,
}

/// The tables of a variant.
pub struct VariantTables {
    /// The program, without statements but for those that print.
    pub program: Program,
    /// The memory that runs are known to need.
    pub footprint: Footprint,
    /// Bytes of stack that the code needs.
    pub stack: u64,
    /// For each fault of the program, the variant that serves a call which ended with it; `None` if none does.
    pub next: Vec<Option<usize>>,
}

/// The reason that tables cannot be used.
#[derive(Clone, PartialEq, Eq)]
pub enum TablesError {
    /// They were written by another version.
    Version {
        /// The version of the compiler.
        found: String,
    },
    /// They are not as they were written.
    Torn,
}

impl ObjectTables {
    /// Writes the tables.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.bytes(VERSION.as_bytes());
        out.bytes(self.needs.to_string().as_bytes());
        write(&self.interface, &mut out);
        out.list(&self.variants, |out, variant| {
            out.bytes(variant.program.to_string().as_bytes());
            out.bytes(variant.footprint.to_string().as_bytes());
            out.word(variant.stack);
            out.list(&variant.next, |out, next| out.option(*next, |out, next| out.word(next as u64)));
        });
        out.into_bytes()
    }

    /// Reads tables that [`ObjectTables::to_bytes`] wrote.
    ///
    /// # Errors
    /// The bytes are of another version, or no tables.
    pub fn from_bytes(bytes: &[u8]) -> Result<ObjectTables, TablesError> {
        let mut from = Reader::new(bytes);
        let found = from.text().ok_or(TablesError::Torn)?;
        if found != VERSION {
            return Err(TablesError::Version { found });
        }
        let tables = ObjectTables::behind_version(&mut from).filter(|_| from.is_empty());
        tables.filter(ObjectTables::is_whole).ok_or(TablesError::Torn)
    }

    fn behind_version(from: &mut Reader<'_>) -> Option<ObjectTables> {
        let needs = CpuFeatures::parse(&from.text()?).ok()?;
        let interface = read(from)?;
        let variants = from.list(|from| {
            let program = from.text()?.parse().ok()?;
            let footprint = from.text()?.parse().ok()?;
            let stack = from.word()?;
            let next = from.list(|from| from.option(Reader::count))?;
            Some(VariantTables { program, footprint, stack, next })
        })?;
        Some(ObjectTables { needs, interface, variants })
    }

    /// Returns true if there are variants, and each fault leads to one or to none.
    fn is_whole(&self) -> bool {
        let leads = |v: &VariantTables| v.next.iter().flatten().all(|next| *next < self.variants.len());
        let whole = |v: &VariantTables| v.next.len() == v.program.faults.len() && leads(v);
        !self.variants.is_empty() && self.variants.iter().all(whole)
    }

    /// Checks that this machine has the extensions that the code needs.
    ///
    /// # Errors
    /// It lacks some.
    pub fn check_machine(&self) -> Result<(), CpuError> {
        #[cfg(target_arch = "x86_64")]
        if !std::is_x86_feature_detected!("sse4.2") {
            return Err(CpuError::Host("x86-64 without SSE4.2".into()));
        }
        match missing(Tier::Baseline, Some(self.needs), CpuFeatures::host()) {
            Some(why) => Err(CpuError::Host(why)),
            None => Ok(()),
        }
    }
}

impl VariantTables {
    /// Returns the code at `entry`, ready to run. It is that of these tables, as its maker has promised.
    pub fn executable(&self, entry: LinkedEntry) -> Executable {
        let (texts, stats) = (Texts::default(), CompileStats { stack: self.stack, ..CompileStats::default() });
        let about = (ArgLayout::new(&self.program), Vec::new());
        Executable::new(&self.program, Code::Linked(entry), about, &CpuOptions::default(), texts, stats)
    }
}

impl fmt::Display for TablesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TablesError::Version { found } => write!(
                f,
                "the object was compiled by halide {found}, and this is the runtime of halide {VERSION}; compile it again, or \
                 link the other runtime"
            ),
            TablesError::Torn => write!(f, "the tables of the object are not as they were written; compile it again"),
        }
    }
}

halide_core::debug_is_display!(TablesError);

impl std::error::Error for TablesError {}

#[cfg(test)]
mod tests {
    use crate::object::tables::*;
    use halide_core::{Func, ImageParam, Param, Pipeline, types, vars};
    use halide_ir::{Fault, Stage};

    /// The tables of a pipeline with all that an interface may say, and a program that does nothing.
    fn tables() -> ObjectTables {
        let (a, b) = (ImageParam::new("a", types::I16, 2), ImageParam::new("ä b", types::U8, 1));
        a.promise_values(-3, 9);
        a.promise_growing(1);
        a.promise_coordinates(&b, 0);
        b.promise_distinct();
        b.set_host_alignment(64);
        let gain = Param::<f32>::new("gain").with_range(-0.5, 2.0).with_default(1.0);
        let (mut f, mut g) = (Func::new("f"), Func::new("g"));
        let (x, y) = vars!(x, y);
        f[(x, y)] = halide_core::expr::tuple([a[(x, y)] + 1, halide_core::expr::cast::<i16>(b[x] * gain)]);
        g[x] = f[(x, 0)].at(0);
        f.output().set_host_alignment(16);
        let interface = halide_core::pipeline::PipelineData::clone(&Pipeline::new([&g, &f]).unwrap());
        let mut program = Program::empty(Stage::Final);
        program.faults.push(Fault::NotThisVariant);
        program.faults.push(Fault::Require { what: "all \"is\" well".into() });
        let variant = |next| {
            let (program, footprint) = (program.clone(), Footprint::new(&program));
            VariantTables { program, footprint, stack: 77, next: vec![next, None] }
        };
        ObjectTables { needs: CpuFeatures::NONE, interface, variants: vec![variant(Some(1)), variant(None)] }
    }

    #[test]
    fn tables_are_read_as_they_were_written() {
        let (written, bytes) = (tables(), tables().to_bytes());
        let read = ObjectTables::from_bytes(&bytes).unwrap();
        assert_eq!(read.to_bytes(), bytes);
        let (old, new) = (&written.interface, &read.interface);
        assert_eq!((&old.outputs.len(), old.params.len()), (&new.outputs.len(), new.params.len()));
        for (old, new) in old.images.iter().zip(new.images.iter()) {
            assert_eq!((&old.name, old.ty, old.dims, old.values), (&new.name, new.ty, new.dims, new.values));
            assert_eq!(old.coordinates, new.coordinates);
        }
        let dims = |data: &PipelineData| -> Vec<(String, usize, usize)> {
            let funcs = data.outputs.iter().map(|f| &data.funcs[*f]);
            funcs.map(|f| (f.name.clone(), f.dims(), f.types.len())).collect()
        };
        assert_eq!((dims(old), dims(new)), (dims(new), vec![("g".into(), 1, 1), ("f".into(), 2, 2)]));
        assert_eq!(read.variants[0].next, [Some(1), None]);
        assert_eq!(read.variants[1].program, written.variants[1].program);
    }

    #[test]
    fn bytes_that_are_no_tables_are_told() {
        let bytes = tables().to_bytes();
        for end in 0..bytes.len() {
            assert!(ObjectTables::from_bytes(&bytes[..end]).is_err(), "the first {end} bytes");
        }
        for at in 0..bytes.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut changed = bytes.clone();
                changed[at] = value;
                let _ = ObjectTables::from_bytes(&changed);
            }
        }
        let mut other = bytes.clone();
        other[8] = b'9';
        let found = ObjectTables::from_bytes(&other).err().map(|error| error.to_string()).unwrap();
        assert!(found.contains("compiled by halide 9.1.0, and this is the runtime of halide 0.1.0"), "{found}");
        let mut lost = tables();
        lost.variants[0].next[0] = Some(2);
        assert_eq!(ObjectTables::from_bytes(&lost.to_bytes()).err(), Some(TablesError::Torn));
    }
}
