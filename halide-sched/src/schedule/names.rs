//! The types that the builder takes as the name of a Func, of a stage, or of a loop.

use halide_core::{Func, ImageParam, RDom, RVar, Var};

/// Something that names a Func; an input image stands for the Func of its elements, which can be wrapped.
pub trait FuncName {
    /// The Func's name.
    fn func_name(&self) -> String;
}

impl FuncName for str {
    fn func_name(&self) -> String {
        self.to_string()
    }
}

impl FuncName for String {
    fn func_name(&self) -> String {
        self.clone()
    }
}

impl FuncName for Func {
    fn func_name(&self) -> String {
        self.name().to_string()
    }
}

impl FuncName for ImageParam {
    fn func_name(&self) -> String {
        self.name().to_string()
    }
}

impl<T: FuncName + ?Sized> FuncName for &T {
    fn func_name(&self) -> String {
        (**self).func_name()
    }
}

/// Some Funcs: one, or an array, slice or vector of them.
pub trait FuncNames {
    /// Their names.
    fn func_names(&self) -> Vec<String>;
}

impl<T: FuncName> FuncNames for T {
    fn func_names(&self) -> Vec<String> {
        vec![self.func_name()]
    }
}

impl<T: FuncName, const N: usize> FuncNames for [T; N] {
    fn func_names(&self) -> Vec<String> {
        self.iter().map(T::func_name).collect()
    }
}

impl<T: FuncName> FuncNames for &[T] {
    fn func_names(&self) -> Vec<String> {
        self.iter().map(T::func_name).collect()
    }
}

impl<T: FuncName> FuncNames for Vec<T> {
    fn func_names(&self) -> Vec<String> {
        self.iter().map(T::func_name).collect()
    }
}

/// Something that names a stage: a Func (its pure definition), or [`super::update`] of a Func.
pub trait StageName {
    /// The Func's name and the stage's number, 0 for the pure definition.
    fn stage_name(&self) -> (String, usize);
}

impl<T: FuncName> StageName for T {
    fn stage_name(&self) -> (String, usize) {
        (self.func_name(), 0)
    }
}

/// Something that names a loop.
pub trait LoopName {
    /// The loop's name.
    fn loop_name(&self) -> String;
}

impl LoopName for str {
    fn loop_name(&self) -> String {
        self.to_string()
    }
}

impl LoopName for String {
    fn loop_name(&self) -> String {
        self.clone()
    }
}

impl LoopName for Var {
    fn loop_name(&self) -> String {
        self.name()
    }
}

impl LoopName for RVar {
    fn loop_name(&self) -> String {
        self.name()
    }
}

impl LoopName for RDom {
    /// The first variable of the domain.
    fn loop_name(&self) -> String {
        self.x.name()
    }
}

impl<T: LoopName + ?Sized> LoopName for &T {
    fn loop_name(&self) -> String {
        (**self).loop_name()
    }
}

/// Some loops, innermost first: one, or an array, slice or vector of one kind of name, or a tuple of several.
pub trait LoopNames {
    /// Their names.
    fn loop_names(&self) -> Vec<String>;
}

impl<T: LoopName, const N: usize> LoopNames for [T; N] {
    fn loop_names(&self) -> Vec<String> {
        self.iter().map(T::loop_name).collect()
    }
}

impl<T: LoopName> LoopNames for &[T] {
    fn loop_names(&self) -> Vec<String> {
        self.iter().map(T::loop_name).collect()
    }
}

impl<T: LoopName> LoopNames for Vec<T> {
    fn loop_names(&self) -> Vec<String> {
        self.iter().map(T::loop_name).collect()
    }
}

macro_rules! single_loops {
    ($($ty:ty)*) => {$(
        impl LoopNames for $ty {
            fn loop_names(&self) -> Vec<String> {
                vec![self.loop_name()]
            }
        }
    )*};
}

single_loops!(&str String Var RVar);

macro_rules! tuples_of_loops {
    ($(($($name:ident $index:tt),*);)*) => {$(
        impl<$($name: LoopName),*> LoopNames for ($($name,)*) {
            fn loop_names(&self) -> Vec<String> {
                vec![$(self.$index.loop_name()),*]
            }
        }
    )*};
}

tuples_of_loops! {
    (A 0);
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
    (A 0, B 1, C 2, D 3, E 4);
    (A 0, B 1, C 2, D 3, E 4, F 5);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
}
