//! Random procs: the interpreter of procs against every engine of pipelines.
//!
//! `HALIDE_FUZZ_CASES` makes it a long run, from seed `HALIDE_FUZZ_SEED` on.

use crate::agree::Everywhere;
use halide_seq::Data;
use halide_testing::pipelines::Random;

/// The types that are drawn.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Int,
    Bool,
    Seq,
    Rows,
}

/// A proc under construction.
struct Draw {
    random: Random,
    /// Names in scope.
    names: Vec<(String, Kind)>,
    next: usize,
}

impl Draw {
    fn name(&mut self, kind: Kind) -> Option<String> {
        let all: Vec<String> = self.names.iter().filter(|(_, k)| *k == kind).map(|(n, _)| n.clone()).collect();
        (!all.is_empty()).then(|| self.random.pick(&all.iter().map(String::as_str).collect::<Vec<_>>()).to_string())
    }

    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("v{}", self.next)
    }

    /// A lambda of parameters, whose body is of a kind.
    fn lambda(&mut self, params: &[Kind], body: Kind, depth: usize) -> String {
        let around = self.names.len();
        let names: Vec<String> = params.iter().map(|_| self.fresh()).collect();
        self.names.extend(names.iter().cloned().zip(params.iter().copied()));
        let body = self.expr(body, depth);
        self.names.truncate(around);
        format!("lambda {}: {body}", names.join(", "))
    }

    fn expr(&mut self, kind: Kind, depth: usize) -> String {
        match kind {
            Kind::Int => self.int(depth),
            Kind::Bool => self.bool(depth),
            Kind::Seq => self.seq(depth),
            Kind::Rows => self.rows(depth),
        }
    }

    fn int(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.one_in(5) {
            return match self.name(Kind::Int).filter(|_| !self.random.one_in(4)) {
                Some(name) => name,
                None => self.random.pick(&["0", "1", "2", "3", "-4", "7"]).to_string(),
            };
        }
        let d = depth - 1;
        match self.random.below(11) {
            0 => format!("({} + {})", self.int(d), self.int(d)),
            1 => format!("({} - {})", self.int(d), self.int(d)),
            2 => format!("({} * {})", self.int(d), self.int(d)),
            3 => format!("({} % {})", self.int(d), self.int(d)),
            4 => format!("op_min({}, {})", self.int(d), self.int(d)),
            5 => format!("({} if {} else {})", self.int(d), self.bool(d), self.int(d)),
            6 => format!("sum({})", self.seq(d)),
            7 => format!("length({})", self.seq(d)),
            8 => format!("reduce({}, {}, {})", self.operator(d), self.seq(d), self.int(0)),
            9 => {
                // An index that is none where the sequence is empty.
                let name = self.name(Kind::Seq).unwrap_or_else(|| "x".into());
                let index = self.int(d);
                format!("({name}[({index}) % length({name})] if length({name}) > 0 else {})", self.int(0))
            }
            _ => format!("abs({})", self.int(d)),
        }
    }

    fn operator(&mut self, depth: usize) -> String {
        match self.random.below(5) {
            0 => "op_add".into(),
            // A def of the proc, which other elements may be given to, too.
            4 => "mixed".into(),
            1 => "op_max".into(),
            2 => "lambda p, q: p * 3 + q".into(),
            _ => {
                let around = std::mem::take(&mut self.names);
                let text = self.lambda(&[Kind::Int, Kind::Int], Kind::Int, depth.min(1));
                self.names = around;
                // No sequence is in scope there.
                if text.contains("x[") || text.contains("(x)") { "op_sub".into() } else { text }
            }
        }
    }

    fn bool(&mut self, depth: usize) -> String {
        let d = depth.saturating_sub(1);
        match self.random.below(if depth == 0 { 2 } else { 5 }) {
            0 => format!("{} < {}", self.int(d), self.int(d)),
            1 => format!("{} == {}", self.int(d), self.int(d)),
            2 => format!("({} and {})", self.bool(d), self.bool(d)),
            3 => format!("(not {})", self.bool(d)),
            _ => format!("({} or {})", self.bool(d), self.bool(d)),
        }
    }

    fn seq(&mut self, depth: usize) -> String {
        let variable = self.name(Kind::Seq).unwrap_or_else(|| "x".into());
        if depth == 0 || self.random.one_in(6) {
            return variable;
        }
        let d = depth - 1;
        match self.random.below(18) {
            0 | 1 => format!("map({}, {})", self.lambda(&[Kind::Int], Kind::Int, d), self.seq(d)),
            2 => {
                let other = self.lambda(&[Kind::Int], Kind::Int, 1);
                let both = self.lambda(&[Kind::Int, Kind::Int], Kind::Int, d);
                format!("map({both}, {variable}, map({other}, {variable}))")
            }
            3 => format!("scan({}, {})", self.operator(d), self.seq(d)),
            4 => format!("rscan({}, {})", self.operator(d), self.seq(d)),
            5 => format!("exclusive_scan(op_add, {}, {})", self.int(0), self.seq(d)),
            6 => format!("filter({}, {})", self.lambda(&[Kind::Int], Kind::Bool, d), self.seq(d)),
            7 => format!("reverse({})", self.seq(d)),
            8 => format!("rotate({}, {})", self.seq(d), self.int(0)),
            9 => format!("shift({}, {}, {})", self.seq(d), self.int(0), self.int(0)),
            10 => format!("indices({})", self.seq(d)),
            11 => format!("range({})", self.random.pick(&["0", "1", "3", "5"])),
            12 => format!("replicate({}, {})", self.int(d), self.random.pick(&["0", "2", "4"])),
            13 => format!("adjacent_difference({})", self.seq(d)),
            14 => format!("permute({variable}, reverse(indices({variable})))"),
            15 => format!("gather({}, map({}, {}))", self.seq(d), self.lambda(&[Kind::Int], Kind::Int, 1), self.seq(d)),
            16 => match self.name(Kind::Rows) {
                Some(rows) => format!("map({}, {rows})", self.lambda(&[Kind::Seq], Kind::Int, d)),
                None => variable,
            },
            _ => format!("take({}, {})", self.seq(d), self.int(0)),
        }
    }

    fn rows(&mut self, depth: usize) -> String {
        let rows = self.name(Kind::Rows).unwrap_or_else(|| "v".into());
        if depth == 0 {
            return rows;
        }
        match self.random.below(4) {
            0 => format!("map(lambda row: map({}, row), {rows})", self.lambda(&[Kind::Int], Kind::Int, depth - 1)),
            1 => format!("map(lambda row: scan({}, row), {rows})", self.operator(1)),
            2 => format!("map(lambda row: reverse(row), {rows})"),
            _ => format!("map(lambda row: map(lambda a: a + sum(row), row), {rows})"),
        }
    }

    /// A proc of a scalar, a sequence and a sequence of sequences.
    fn proc(&mut self) -> String {
        self.names = [("n", Kind::Int), ("x", Kind::Seq), ("v", Kind::Rows)].map(|(n, k)| (n.to_string(), k)).to_vec();
        let mut text = "def f(n, x, v):\n    def mixed(a, b): return a * 3 - op_min(a, b)\n".to_string();
        for _ in 0..1 + self.random.below(3) {
            let kind = self.random.pick(&[Kind::Int, Kind::Seq, Kind::Seq, Kind::Rows]);
            let value = self.expr(kind, 3);
            let name = self.fresh();
            text += &format!("    {name} = {value}\n");
            self.names.push((name, kind));
        }
        let last = self.names.last().map_or("x", |(name, _)| name).to_string();
        let other = self.seq(2);
        // All parameters have a type in every proc.
        text += "    reals = scan(mixed, map(lambda a: float32(a) * 0.5, x))\n";
        text + &format!("    return {last}, {other}, n + sum(x) + sum(map(sum, v)), reduce(mixed, reals, 0.25)\n")
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn random_procs() {
    let (first, count) = (number("HALIDE_FUZZ_SEED", 0), number("HALIDE_FUZZ_CASES", 40));
    let (mut values, mut refused, mut faults) = (0, 0, 0);
    for seed in first..first + count {
        let text = Draw { random: Random::new(seed), names: Vec::new(), next: 0 }.proc();
        let everywhere = Everywhere::one_of_each(&text, seed);
        for case in 0..3 {
            let mut random = Random::new(seed * 3 + case);
            let mut numbers = |count: usize| (0..count).map(|_| random.below(13) as i32 - 4).collect::<Vec<i32>>();
            let x = numbers([7, 0, 20][case as usize]);
            let lengths = [vec![3, 0, 2, 4], vec![0, 0], vec![1, 17, 0, 5, 2]][case as usize].clone();
            let mut offsets = vec![0];
            lengths.iter().for_each(|length| offsets.push(offsets[offsets.len() - 1] + length));
            let elements = numbers(offsets[offsets.len() - 1] as usize);
            let v = Data::rows(Data::values(&elements).unwrap(), &offsets).unwrap();
            match everywhere.outcome(&[3.into(), Data::values(&x).unwrap(), v]) {
                Ok(_) => values += 1,
                Err(error) if error.contains("cannot be a pipeline") => refused += 1,
                Err(_) => faults += 1,
            }
        }
    }
    println!("{values} values agree, {faults} faults agree, {refused} are refused");
    assert!(count < 40 || values > count && refused < count, "{values} values, {faults} faults, {refused} refused");
}
