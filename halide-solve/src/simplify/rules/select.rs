//! Selects. Both arms are values, so arms may be exchanged and joined freely.

use super::*;

pub(super) const RULES: &[Rule] = rules! {
    Any "not in the condition": (select (not p) x y) => (select p y x);
    Any "same condition in the first arm": (select p (select p x y) z) => (select p x z);
    Any "same condition in the second arm": (select p x (select p y z)) => (select p x z);
    Any "same arm inside the first": (select p (select q x y) y) => (select (p & q) x y);
    Any "same arm inside the second": (select p x (select q x y)) => (select (p | q) x y);
    Any "other arm inside the first": (select p (select q x y) x) => (select (p & (not q)) y x);
    Any "truth where p": (select p true false) => p;
    Any "truth where not p": (select p false true) => (not p);
    Any "p and q": (select p q false) => (p & q);
    Any "p or q": (select p true q) => (p | q);
    Any "not p and q": (select p false q) => ((not p) & q);
    Any "not p or q": (select p q true) => ((not p) | q);
    Whole "smaller of x < y": (select (x < y) x y) => (x min y);
    Whole "smaller of x <= y": (select (x <= y) x y) => (x min y);
    Whole "larger of x > y": (select (x > y) x y) => (x max y);
    Whole "larger of x >= y": (select (x >= y) x y) => (x max y);
    Whole "larger of x < y": (select (x < y) y x) => (x max y);
    Whole "larger of x <= y": (select (x <= y) y x) => (x max y);
    Whole "smaller of x > y": (select (x > y) y x) => (x min y);
    Whole "smaller of x >= y": (select (x >= y) y x) => (x min y);
    Whole "equal or other": (select (x == y) x y) => y;
    Whole "unequal or other": (select (x != y) x y) => x;
    Number "shared addend": (select p (x + y) (x + z)) => (x + (select p y z));
    Number "shared minuend": (select p (x - y) (x - z)) => (x - (select p y z));
    Number "shared subtrahend": (select p (y - x) (z - x)) => ((select p y z) - x);
    Number "shared factor": (select p (x * y) (x * z)) => (x * (select p y z));
};
