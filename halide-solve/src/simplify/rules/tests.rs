//! Every row of every table against the laws: both sides have one value on exhaustive small inputs, and the right side
//! comes after the left one in the order that makes rewriting end.

use super::*;
use crate::simplify::testing::{Lane, binary, unary};
use halide_core::types::ScalarType::*;
use halide_ir::{Sym, Type};

/// Values that rules are tried on.
fn values(elem: Elem) -> Vec<Lane> {
    let Elem::Data(ty) = elem else { return [-9, -3, -1, 0, 1, 2, 8].map(Lane::Index).to_vec() };
    if ty.is_float() {
        let list = [0.0, -0.0, 1.0, -1.5, 4.0, 0.125, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        return list.iter().map(|v| Lane::Data(Scalar::float(ty, *v))).collect();
    }
    let list: &[i128] = match ty {
        Bool => &[0, 1],
        _ if ty.is_signed_int() => &[-128, -127, -8, -3, -2, -1, 0, 1, 2, 3, 7, 8, 64, 126, 127],
        _ => &[0, 1, 2, 3, 7, 8, 64, 127, 128, 253, 254, 255],
    };
    list.iter().map(|v| Lane::Data(Scalar::int(ty, *v))).collect()
}

fn types(class: Class) -> Vec<Elem> {
    let data: &[halide_core::types::ScalarType] = match class {
        Class::Int | Class::Whole => &[I8, U8],
        Class::Signed => &[I8],
        Class::Unsigned => &[U8],
        Class::Float => &[F32, F16],
        Class::Number => &[I8, U8, F32],
        Class::Any => &[I8, F32, Bool],
    };
    let index = class.holds(Elem::Index).then_some(Elem::Index);
    data.iter().map(|t| Elem::Data(*t)).chain(index).collect()
}

/// Counts the uses of each name: the expressions, then the constants.
fn count(p: &Pattern, into: &mut [usize; 8]) {
    match p {
        Pattern::Any(i) => into[*i] += 1,
        Pattern::Constant(i) => into[6 + i] += 1,
        Pattern::Value(_) | Pattern::Truth(_) => {}
        Pattern::Unary(_, a) => count(a, into),
        Pattern::Binary(_, a, b) => [a, b].into_iter().for_each(|p| count(p, into)),
        Pattern::Select(c, a, b) => [c, a, b].into_iter().for_each(|p| count(p, into)),
    }
}

/// The value of a side, given those of the names.
fn value(p: &Pattern, names: &[Lane; 8], elem: Elem) -> Lane {
    let of = |p| value(p, names, elem);
    match p {
        Pattern::Any(i) => names[*i],
        Pattern::Constant(i) => names[6 + i],
        Pattern::Value(v) => match elem {
            Elem::Index => Lane::Index(*v as i128),
            Elem::Data(ty) => Lane::Data(Scalar::int(ty, *v as i128)),
        },
        Pattern::Truth(v) => Lane::Data(Scalar::bool(*v)),
        Pattern::Unary(op, a) => unary(*op, of(a)),
        Pattern::Binary(op, a, b) => binary(*op, of(a), of(b)),
        Pattern::Select(c, a, b) => {
            if of(c).index() == 1 {
                of(a)
            } else {
                of(b)
            }
        }
    }
}

/// Ranges to which `x` and `y` are kept, for conditions that ask for them.
const BOXES: [(Option<i64>, Option<i64>); 5] =
    [(None, None), (Some(0), Some(1)), (Some(0), Some(7)), (Some(-3), Some(3)), (Some(8), Some(8))];

fn check_values(rule: &Rule) {
    let mut used = [0; 8];
    count(&rule.left, &mut used);
    let mut met = false;
    for elem in types(rule.class) {
        if used[0] == 0 && elem != Elem::Data(I8) && rule.class == Class::Any {
            continue; // Only conditions.
        }
        for (x_box, y_box) in BOXES.iter().flat_map(|x| BOXES.iter().map(move |y| (*x, *y))) {
            if used[1] == 0 && y_box != BOXES[0] {
                continue;
            }
            met |= check_in_box(rule, elem, &used, [x_box, y_box]);
        }
    }
    assert!(met, "{}: its condition never holds", rule.name);
}

/// Checks all values of the names in their ranges; whether the rule's condition held for any.
fn check_in_box(rule: &Rule, elem: Elem, used: &[usize; 8], boxes: [(Option<i64>, Option<i64>); 2]) -> bool {
    let mut facts = Facts::new();
    let symbol = |i: usize| {
        let ty = if i < FIRST_CONDITION { Type { elem, lanes: 1 } } else { Type::BOOL };
        build::typed_sym(Sym::Temp(i as u32), ty)
    };
    let float = matches!(elem, Elem::Data(t) if t.is_float());
    for (i, (min, max)) in boxes.into_iter().enumerate().filter(|(_, b)| *b != (None, None)) {
        if float {
            return false;
        }
        facts.assume_range(&symbol(i), min, max);
    }
    let domain = |i: usize| match i {
        _ if used[i] == 0 => vec![Lane::Index(0)],
        3..=5 => values(Elem::Data(Bool)),
        _ => {
            let (min, max) = boxes.get(i).copied().unwrap_or_default();
            let inside =
                |v: &Lane| min.is_none_or(|m| v.index() >= m as i128) && max.is_none_or(|m| v.index() <= m as i128);
            values(elem).into_iter().filter(inside).collect()
        }
    };
    let domains: Vec<Vec<Lane>> = (0..8).map(domain).collect();
    let constant = |i: usize, v: Lane| {
        (used[i] > 0).then(|| match v {
            Lane::Index(v) => build::int(v as i64),
            Lane::Data(v) => build::constant(v),
        })
    };
    let mut met = false;
    for (c, d) in domains[6].iter().flat_map(|c| domains[7].iter().map(move |d| (*c, *d))) {
        let any: [Option<Expr>; 6] = std::array::from_fn(|i| (used[i] > 0).then(|| symbol(i)));
        let constants = [constant(6, c), constant(7, d)];
        let m = Match {
            any: any.each_ref().map(Option::as_ref),
            constants: constants.each_ref().map(Option::as_ref),
            facts: &facts,
        };
        if !(rule.when)(&m) {
            continue;
        }
        met = true;
        let mut at = [0; 6];
        'values: loop {
            if domains[..6].iter().any(Vec::is_empty) {
                break;
            }
            let mut names = [Lane::Index(0); 8];
            (0..6).for_each(|i| names[i] = domains[i][at[i]]);
            (names[6], names[7]) = (c, d);
            let (left, right) = (value(&rule.left, &names, elem), value(&rule.right, &names, elem));
            assert!(left.same(right), "{} on {elem:?} at {names:?}: {left:?} became {right:?}", rule.name);
            for i in 0..6 {
                at[i] += 1;
                if at[i] < domains[i].len() {
                    continue 'values;
                }
                at[i] = 0;
            }
            break;
        }
    }
    met
}

/// The order: the weight of the operations first, then what stands where it should not.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Measure {
    weight: usize,
    /// Constants on the left, and maxima inside of minima.
    disorder: usize,
}

fn measure(p: &Pattern) -> Measure {
    Measure { weight: weight(p), disorder: disorder(p, 0) }
}

fn is_constant(p: &Pattern) -> bool {
    let mut used = [0; 8];
    count(p, &mut used);
    used[..6].iter().all(|n| *n == 0)
}

fn weight(p: &Pattern) -> usize {
    match p {
        _ if is_constant(p) => 1,
        Pattern::Any(_) | Pattern::Constant(_) | Pattern::Value(_) | Pattern::Truth(_) => 1,
        Pattern::Unary(_, a) => 1 + weight(a),
        Pattern::Binary(op, a, b) => {
            let own = match op {
                BinOp::Mul => 4,
                BinOp::Div | BinOp::Mod => 8,
                BinOp::DivToZero | BinOp::ModToZero => 9,
                BinOp::Eq | BinOp::Ne => 2,
                BinOp::Lt | BinOp::Gt | BinOp::Le | BinOp::Ge => 3,
                _ => 2,
            };
            own + weight(a) + weight(b)
        }
        Pattern::Select(c, a, b) => 4 + weight(c) + weight(a) + weight(b),
    }
}

fn disorder(p: &Pattern, depth: usize) -> usize {
    match p {
        _ if is_constant(p) => 0,
        Pattern::Any(_) | Pattern::Constant(_) | Pattern::Value(_) | Pattern::Truth(_) => 0,
        Pattern::Unary(_, a) => disorder(a, depth + 1),
        Pattern::Binary(op, a, b) => {
            let left = is_constant(a) && !is_constant(b);
            let deep = if *op == BinOp::Max { depth } else { 0 };
            // A constant below the top could be joined with others; an addend most of all.
            let addend = matches!(op, BinOp::Add | BinOp::Sub) as usize;
            let buried = if is_constant(b) { depth * (1 + addend) } else { 0 };
            left as usize + deep + buried + disorder(a, depth + 1) + disorder(b, depth + 1)
        }
        Pattern::Select(c, a, b) => [c, a, b].into_iter().map(|p| disorder(p, depth + 1)).sum(),
    }
}

fn check_order(rule: &Rule) {
    let (mut left, mut right) = ([0; 8], [0; 8]);
    count(&rule.left, &mut left);
    count(&rule.right, &mut right);
    let grows = (0..6).any(|i| right[i] > left[i]);
    assert!(!grows, "{}: a name occurs more often on the right", rule.name);
    let unknown = (0..8).any(|i| right[i] > 0 && left[i] == 0);
    assert!(!unknown, "{}: a name occurs only on the right", rule.name);
    let (before, after) = (measure(&rule.left), measure(&rule.right));
    assert!(after < before, "{}: {before:?} does not fall: {after:?}", rule.name);
}

#[test]
fn every_rule_keeps_values() {
    TABLES.into_iter().flatten().for_each(check_values);
}

#[test]
fn every_rule_descends() {
    TABLES.into_iter().flatten().for_each(check_order);
}

#[test]
fn every_rule_is_found() {
    for (place, rule) in TABLES.into_iter().enumerate().flat_map(|(i, table)| table.iter().map(move |rule| (i, rule))) {
        let root = match rule.left {
            Pattern::Unary(op, _) => Root::Unary(op),
            Pattern::Binary(op, ..) => Root::Binary(op),
            Pattern::Select(..) => Root::Select,
            _ => panic!("{}: matches everything", rule.name),
        };
        assert!(tables(root).contains(&place), "{}: {root:?} is looked up in {:?}", rule.name, tables(root));
    }
}

#[test]
fn names_are_unique() {
    for table in TABLES {
        let mut names: Vec<&str> = table.iter().map(|r| r.name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), table.len());
    }
}
