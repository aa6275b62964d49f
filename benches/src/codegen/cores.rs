//! The table of microarchitectures: execution ports, and the ports that each kind of instruction may go to.
//!
//! Figures are the best that a core does, so that bounds are lower bounds: instructions that are not known cost their
//! place at the front end only, gathers cost the loads of their lanes and nothing else, and where documents differ, the
//! smaller cost stands.

use super::operation::Kind;

/// A microarchitecture.
#[derive(Debug)]
pub struct Core {
    /// The name on the command line.
    pub name: &'static str,
    /// Processors that have it.
    pub about: &'static str,
    /// The origin of the figures.
    pub source: &'static str,
    /// Instructions that the front end starts in a cycle, of which a comparison and its jump are one.
    pub issue: f64,
    /// The width of its widest vectors in bits.
    pub bits: usize,
    /// Ports by number: the word for their group, and the letter of each.
    pub ports: &'static [(&'static str, &'static str)],
    /// The costs of kinds. A kind may have several rows, all of which count, or none.
    pub rows: &'static [Row],
}

/// The cost of a kind.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The kind.
    pub kind: Kind,
    /// The ports of which one takes it, as a set of bits, for vectors up to 256 bits and for those of 512.
    pub ports: [u16; 2],
    /// Cycles for which it takes the port, for vectors of 128, 256 and 512 bits.
    pub cycles: [f64; 3],
}

impl Core {
    /// Every microarchitecture of the table.
    pub const ALL: [&'static Core; 3] = [&GOLDEN_COVE, &ZEN3, &ZEN4];

    /// The ports and cycles that an operation of a kind on vectors of so many bits costs.
    pub fn costs(&self, kind: Kind, bits: usize) -> impl Iterator<Item = (u16, f64)> {
        let width = usize::from(bits > 128) + usize::from(bits > 256);
        let rows = self.rows.iter().filter(move |row| row.kind == kind);
        rows.map(move |row| (row.ports[width / 2], row.cycles[width]))
    }
    /// The name of a set of ports: `p05`, `load 23B`.
    pub fn label(&self, ports: u16) -> String {
        let mut text = String::new();
        let mut last = "";
        for (_, (group, letter)) in self.ports.iter().enumerate().filter(|(i, _)| ports >> i & 1 == 1) {
            if last != *group {
                text += if text.is_empty() { "" } else { "+" };
                text += group;
                last = group;
            }
            text += letter;
        }
        text
    }
}

const fn row(kind: Kind, ports: u16) -> Row {
    Row { kind, ports: [ports; 2], cycles: [1.0; 3] }
}
/// A row whose 512-bit vectors have other ports.
const fn wide(kind: Kind, ports: u16, of_512: u16) -> Row {
    Row { kind, ports: [ports, of_512], cycles: [1.0; 3] }
}
/// A row whose 512-bit vectors take a port twice as long.
const fn twice(kind: Kind, ports: u16) -> Row {
    Row { kind, ports: [ports; 2], cycles: [1.0, 1.0, 2.0] }
}
const fn times(kind: Kind, ports: u16, cycles: [f64; 3]) -> Row {
    Row { kind, ports: [ports; 2], cycles }
}

/// Intel's Golden Cove as servers have it, with a second 512-bit multiplier at port 5.
const GOLDEN_COVE: Core = Core {
    name: "golden-cove",
    about: "Intel Sapphire Rapids and Emerald Rapids",
    source: "Intel 64 and IA-32 Architectures Optimization Reference Manual, Golden Cove (6 wide; loads 3 x 256 or 2 x \
             512 bits, stores 2 x 256 or 1 x 512 bits a cycle); ports as LLVM's X86SchedSapphireRapids.td and \
             uops.info (Alder Lake P) have them; throughputs of 512-bit arithmetic, of which client cores have half, \
             and of loads and stores measured on family 6 model 207 by loops of one instruction",
    issue: 6.0,
    bits: 512,
    ports: &[
        ("p", "0"),
        ("p", "1"),
        ("p", "5"),
        ("p", "6"),
        ("p", "A"),
        ("load ", "2"),
        ("load ", "3"),
        ("load ", "B"),
        ("store ", "4"),
        ("store ", "9"),
        ("divider", ""),
    ],
    rows: &[
        row(Kind::Load, 0b000_1110_0000),
        wide(Kind::VectorLoad, 0b000_1110_0000, 0b000_0110_0000),
        row(Kind::Store, 0b011_0000_0000),
        twice(Kind::VectorStore, 0b011_0000_0000),
        row(Kind::General, 0b1_1111),
        row(Kind::GeneralMultiply, 0b0_0010),
        row(Kind::Jump, 0b0_1001),
        wide(Kind::Multiply, 0b011, 0b101),
        wide(Kind::FloatAdd, 0b110, 0b101),
        wide(Kind::FloatCompare, 0b011, 0b101),
        wide(Kind::Convert, 0b011, 0b101),
        row(Kind::Divide32, 0b001),
        times(Kind::Divide32, 0b100_0000_0000, [3.0, 5.0, 10.0]),
        row(Kind::Divide64, 0b001),
        times(Kind::Divide64, 0b100_0000_0000, [4.0, 8.0, 16.0]),
        row(Kind::Root32, 0b001),
        times(Kind::Root32, 0b100_0000_0000, [3.0, 6.0, 12.0]),
        row(Kind::Root64, 0b001),
        times(Kind::Root64, 0b100_0000_0000, [6.0, 9.0, 18.0]),
        wide(Kind::IntMultiply, 0b011, 0b101),
        Row { kind: Kind::LongMultiply, ports: [0b011, 0b101], cycles: [2.0; 3] },
        wide(Kind::IntAdd, 0b111, 0b101),
        wide(Kind::IntCompare, 0b011, 0b001),
        wide(Kind::Logic, 0b111, 0b101),
        wide(Kind::Shift, 0b011, 0b001),
        wide(Kind::Shuffle, 0b110, 0b100),
        row(Kind::Cross, 0b100),
        row(Kind::ToGeneral, 0b001),
        row(Kind::MaskCompare, 0b100),
        row(Kind::Mask, 0b101),
    ],
};

/// The kinds that both of AMD's cores treat alike, by pipe: 0 to 3 are those of vectors, 4 to 7 those of general
/// registers, 8 jumps, 9 to 11 addresses, 12 and 13 stores.
const ZEN_ROWS: &[Row] = &[
    row(Kind::Load, 0b00_1110_0000_0000),
    twice(Kind::VectorLoad, 0b00_0110_0000_0000),
    row(Kind::Store, 0b00_1110_0000_0000),
    row(Kind::Store, 0b11_0000_0000_0000),
    row(Kind::VectorStore, 0b00_1110_0000_0000),
    twice(Kind::VectorStore, 0b01_0000_0000_0000),
    row(Kind::General, 0b1111_0000),
    row(Kind::GeneralMultiply, 0b0010_0000),
    row(Kind::Jump, 0b1_0001_0000),
    twice(Kind::Multiply, 0b0011),
    twice(Kind::FloatAdd, 0b1100),
    twice(Kind::FloatCompare, 0b0011),
    twice(Kind::Convert, 0b1100),
    times(Kind::Divide32, 0b0010, [3.0, 3.0, 6.0]),
    times(Kind::Divide64, 0b0010, [5.0, 5.0, 10.0]),
    times(Kind::Root32, 0b0010, [5.0, 5.0, 10.0]),
    times(Kind::Root64, 0b0010, [9.0, 9.0, 18.0]),
    twice(Kind::IntMultiply, 0b1001),
    twice(Kind::LongMultiply, 0b1001),
    twice(Kind::IntAdd, 0b1111),
    twice(Kind::IntCompare, 0b1111),
    twice(Kind::Logic, 0b1111),
    twice(Kind::Shift, 0b0110),
    twice(Kind::Shuffle, 0b0110),
    twice(Kind::Cross, 0b0110),
    twice(Kind::MaskCompare, 0b1111),
    row(Kind::Mask, 0b1111),
];

const ZEN_PORTS: &[(&str, &str)] = &[
    ("fp", "0"),
    ("fp", "1"),
    ("fp", "2"),
    ("fp", "3"),
    ("alu", "0"),
    ("alu", "1"),
    ("alu", "2"),
    ("alu", "3"),
    ("jump", ""),
    ("load/store ", "0"),
    ("load/store ", "1"),
    ("load/store ", "2"),
    ("store ", "0"),
    ("store ", "1"),
];

/// AMD's Zen 3.
const ZEN3: Core = Core {
    name: "zen3",
    about: "AMD Ryzen 5000 and EPYC 7003",
    source: "AMD Software Optimization Guide for the AMD Family 19h Processors (56665): 6 macro-ops a cycle, 3 memory \
             operations of which 2 may be 256-bit loads and 1 a 256-bit store; pipes as LLVM's X86ScheduleZnver3.td",
    issue: 6.0,
    bits: 256,
    ports: ZEN_PORTS,
    rows: ZEN_ROWS,
};

/// AMD's Zen 4, whose 512-bit operations pass its 256-bit pipes twice.
const ZEN4: Core = Core {
    name: "zen4",
    about: "AMD Ryzen 7000 and EPYC 9004",
    source: "AMD Software Optimization Guide for the AMD Zen 4 Microarchitecture (57647): 6 macro-ops a cycle, 1 \
             512-bit load a cycle and a 512-bit store in 2; pipes as LLVM's X86ScheduleZnver4.td",
    issue: 6.0,
    bits: 512,
    ports: ZEN_PORTS,
    rows: ZEN_ROWS,
};
