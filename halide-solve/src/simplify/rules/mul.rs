//! Products.

use super::*;

pub(super) const RULES: &[Rule] = rules! {
    Int "(x * c) * d": ((x * c) * d) => (x * (c * d));
    Int "x * -1": (x * (-1)) => (neg x);
    Int "-x * c": ((neg x) * c) => (x * (neg c));
    Number "-x * -y": ((neg x) * (neg y)) => (x * y);
    Int "-(x * c)": (neg (x * c)) => (x * (neg c));
    Float "x * 1": (x * 1) => x;
    Float "x * -1, floats": (x * (-1)) => (neg x);
};
