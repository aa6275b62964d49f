//! Arguments that are names of loops, dimensions, Funcs and stages, and messages.

use super::super::error::ParseError;
use super::super::func_name::FuncText;
use super::super::instruction::InstructionSet;
use super::super::text::{NameText, Quoted, Text, separated};
use super::super::values::{Align, Condition, Site};
use super::argument::{Argument, Draws, Reader, Written, several};
use super::words::one_of;
use std::fmt;

pub(crate) fn loop_name(text: &mut Text<'_>) -> Result<String, ParseError> {
    text.name("the name of a loop")
}

fn dim_name(text: &mut Text<'_>) -> Result<String, ParseError> {
    text.name("the name of a dimension")
}

fn func_name(text: &mut Text<'_>) -> Result<String, ParseError> {
    Ok(text.func("the name of a Func")?.name)
}

/// Declares kinds of one name.
macro_rules! name {
    ($($(#[$doc:meta])+ $kind:ident $words:literal $read:path, $text:ident, $draw:ident;)*) => {$(
        $(#[$doc])+
        pub(crate) struct $kind;

        impl Argument for $kind {
            type Value = String;
            const KIND: &'static str = $words;
            fn read(args: &mut Reader<'_, '_>) -> Result<String, ParseError> {
                $read(args.required()?)
            }
            fn write(name: &String, out: &mut Written<'_, '_>) -> fmt::Result {
                out.argument($text(name))
            }
            fn draw(from: &mut dyn Draws) -> String {
                from.$draw()
            }
        }
    )*};
}

name! {
    /// A loop of the stage.
    Loop "loop" loop_name, NameText, loop_name;
    /// The name of a loop that the directive makes.
    NewLoop "new loop" loop_name, NameText, new_name;
    /// A dimension of the Func.
    Dim "dimension" dim_name, NameText, dim;
    /// The name of a dimension of storage that the directive makes.
    NewDim "new dimension" dim_name, NameText, new_name;
    /// A Func or an input image.
    FuncOrImage "Func or image" func_or_image, FuncText, func_or_image;
    /// Text in quotes.
    Message "message" message, Quoted, new_name;
}

fn func_or_image(text: &mut Text<'_>) -> Result<String, ParseError> {
    Ok(text.func("the name of a Func or an image")?.name)
}

fn message(text: &mut Text<'_>) -> Result<String, ParseError> {
    text.string("the message in quotes")
}

/// Declares kinds of several names: the rest of the arguments, in brackets or not.
macro_rules! rest {
    ($($(#[$doc:meta])+ $kind:ident $words:literal $read:path, $text:ident, $draw:ident;)*) => {$(
        $(#[$doc])+
        pub(crate) struct $kind;

        impl Argument for $kind {
            type Value = Vec<String>;
            const KIND: &'static str = $words;
            fn read(args: &mut Reader<'_, '_>) -> Result<Vec<String>, ParseError> {
                args.required()?.list($read)
            }
            fn write(names: &Vec<String>, out: &mut Written<'_, '_>) -> fmt::Result {
                names.iter().try_for_each(|name| out.argument($text(name)))
            }
            fn draw(from: &mut dyn Draws) -> Vec<String> {
                several(from, |from| from.$draw())
            }
        }
    )*};
}

rest! {
    /// Loops of the stage.
    Loops "loops" loop_name, NameText, loop_name;
    /// Dimensions of the Func.
    Dims "dimensions" dim_name, NameText, dim;
    /// Funcs of the pipeline.
    Funcs "Funcs" func_name, FuncText, func;
}

/// Declares kinds of one name, or several in brackets.
macro_rules! one_or_several {
    ($($(#[$doc:meta])+ $kind:ident $words:literal $draw:ident;)*) => {$(
        $(#[$doc])+
        pub(crate) struct $kind;

        impl Argument for $kind {
            type Value = Vec<String>;
            const KIND: &'static str = $words;
            fn read(args: &mut Reader<'_, '_>) -> Result<Vec<String>, ParseError> {
                let text = args.required()?;
                if text.take("[") { text.items("]", loop_name) } else { Ok(vec![loop_name(text)?]) }
            }
            fn write(names: &Vec<String>, out: &mut Written<'_, '_>) -> fmt::Result {
                match &names[..] {
                    [name] if !out.brackets => out.argument(NameText(name)),
                    _ => {
                        out.brackets = true;
                        out.argument(format_args!("[{}]", separated(names.iter().map(|name| NameText(name)))))
                    }
                }
            }
            fn draw(from: &mut dyn Draws) -> Vec<String> {
                several(from, |from| from.$draw())
            }
        }
    )*};
}

one_or_several! {
    /// A loop of the stage, or several.
    LoopOrLoops "loop or [loops]" loop_name;
    /// The name of a loop that the directive makes, or several.
    NewLoopOrLoops "new loop or [new loops]" new_name;
}

impl Argument for Site {
    type Value = Site;
    const KIND: &'static str = "stage, loop `var`";
    fn read(args: &mut Reader<'_, '_>) -> Result<Site, ParseError> {
        let text = args.required()?;
        let (func, stage) = (func_name(text)?, text.update()?);
        Ok(Site { func, stage, var: loop_name(args.required()?)? })
    }
    fn write(site: &Site, out: &mut Written<'_, '_>) -> fmt::Result {
        out.argument(site)
    }
    fn draw(from: &mut dyn Draws) -> Site {
        from.site()
    }
}

/// Alignments of loops by name: `[y, AlignStart]`.
pub(crate) struct LoopAligns;

impl Argument for LoopAligns {
    type Value = Vec<(String, Align)>;
    const KIND: &'static str = "[loop, alignment], ...";
    const OPTIONAL: bool = true;
    fn read(args: &mut Reader<'_, '_>) -> Result<Vec<(String, Align)>, ParseError> {
        let mut aligns = Vec::new();
        while let Some(text) = args.optional() {
            text.expect("[")?;
            let name = loop_name(text)?;
            text.expect(",")?;
            aligns.push((name, one_of(text)?));
            text.expect("]")?;
        }
        Ok(aligns)
    }
    fn write(aligns: &Vec<(String, Align)>, out: &mut Written<'_, '_>) -> fmt::Result {
        aligns.iter().try_for_each(|(name, align)| out.argument(format_args!("[{}, {align:?}]", NameText(name))))
    }
    fn draw(from: &mut dyn Draws) -> Vec<(String, Align)> {
        several(from, |from| (from.loop_name(), <Align as Argument>::draw(from)))
    }
}

/// The name of an instruction.
pub(crate) struct InstructionName;

impl Argument for InstructionName {
    type Value = String;
    const KIND: &'static str = "instruction";
    fn read(args: &mut Reader<'_, '_>) -> Result<String, ParseError> {
        args.required()?.name("the name of an instruction")
    }
    fn write(name: &String, out: &mut Written<'_, '_>) -> fmt::Result {
        out.argument(NameText(name))
    }
    fn draw(from: &mut dyn Draws) -> String {
        let names = InstructionSet::built_in();
        let at = from.below(names.names().count().max(1));
        names.names().nth(at).map_or_else(String::new, str::to_string)
    }
}

/// Loops for the axes of an instruction: `j=ci`.
pub(crate) struct AxisLoops;

impl Argument for AxisLoops {
    type Value = Vec<(String, String)>;
    const KIND: &'static str = "axis=loop, ...";
    const OPTIONAL: bool = true;
    fn read(args: &mut Reader<'_, '_>) -> Result<Vec<(String, String)>, ParseError> {
        let mut axes = Vec::new();
        while let Some(text) = args.optional() {
            let axis = text.name("the name of an axis")?;
            text.expect("=")?;
            axes.push((axis, loop_name(text)?));
        }
        Ok(axes)
    }
    fn write(axes: &Vec<(String, String)>, out: &mut Written<'_, '_>) -> fmt::Result {
        axes.iter().try_for_each(|(axis, name)| out.argument(format_args!("{}={}", NameText(axis), NameText(name))))
    }
    fn draw(from: &mut dyn Draws) -> Vec<(String, String)> {
        let axes = ["j", "k"];
        several(from, |from| (axes[from.below(axes.len())].to_string(), from.loop_name()))
    }
}

impl Argument for Condition {
    type Value = Condition;
    const KIND: &'static str = "condition";
    fn read(args: &mut Reader<'_, '_>) -> Result<Condition, ParseError> {
        super::super::condition::read(args.required()?)
    }
    fn write(condition: &Condition, out: &mut Written<'_, '_>) -> fmt::Result {
        out.argument(condition)
    }
    fn draw(from: &mut dyn Draws) -> Condition {
        from.condition()
    }
}
