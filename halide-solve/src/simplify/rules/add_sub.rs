//! Sums and differences. Wrapping integers are a ring, so sums of them may be reordered; those of floats may not.

use super::*;

pub(super) const RULES: &[Rule] = rules! {
    Int "(x + c) + d": ((x + c) + d) => (x + (c + d));
    Int "(x - c) + d, up": ((x - c) + d) => (x + (d - c)) if |m| m.c() < m.d();
    Int "(x - c) + d, down": ((x - c) + d) => (x - (c - d)) if |m| m.c() >= m.d();
    Int "(c - x) + d": ((c - x) + d) => ((c + d) - x);
    Int "(x + c) - d, up": ((x + c) - d) => (x + (c - d)) if |m| m.c() >= m.d();
    Int "(x + c) - d, down": ((x + c) - d) => (x - (d - c)) if |m| m.c() < m.d();
    Int "(x - c) - d": ((x - c) - d) => (x - (c + d));
    Int "(c - x) - d": ((c - x) - d) => ((c - d) - x);
    Int "c - (x + d)": (c - (x + d)) => ((c - d) - x);
    Int "c - (x - d)": (c - (x - d)) => ((c + d) - x);
    Int "c - (d - x)": (c - (d - x)) => (x + (c - d));
    Int "x - x": (x - x) => 0;
    Int "0 - x": (0 - x) => (neg x);
    Number "-(-x)": (neg (neg x)) => x;
    Int "-(x - y)": (neg (x - y)) => (y - x);
    Int "x + -y": (x + (neg y)) => (x - y);
    Float "x + -y, floats": (x + (neg y)) => (x - y);
    Number "x - -y": (x - (neg y)) => (x + y);
    Int "(x + y) - y": ((x + y) - y) => x;
    Int "(x - y) + y": ((x - y) + y) => x;
    Int "x - (x - y)": (x - (x - y)) => y;
    Int "(x - y) - x": ((x - y) - x) => (neg y);
    Int "x - (x + y)": (x - (x + y)) => (neg y);
    Int "x + x * c": (x + (x * c)) => (x * (c + 1));
    Int "x * c - x": ((x * c) - x) => (x * (c - 1));
    Int "x * c + x * d": ((x * c) + (x * d)) => (x * (c + d));
    Int "x * c - x * d": ((x * c) - (x * d)) => (x * (c - d));
    Float "x - 0": (x - 0) => x;
    Float "x + -0": (x + c) => x if |m| m.float() == 0.0 && m.float().is_sign_negative();
};
