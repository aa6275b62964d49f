//! The header of an object, for C and C++.

use halide_core::pipeline::{ParamDef, PipelineData};
use halide_core::types::ScalarType;
use halide_cpu::object::RUNTIME_HEADER;
use halide_ir::features::CpuFeatures;
use std::fmt::Write;

/// Words that C or C++ has a meaning for, which are no names.
const WORDS: [&str; 95] = [
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "compl",
    "concept",
    "const",
    "consteval",
    "constexpr",
    "constinit",
    "const_cast",
    "continue",
    "co_await",
    "co_return",
    "co_yield",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
    "main",
    "errno",
    "memcpy",
    "NULL",
];

/// Returns true if a function of C can have the name.
pub(super) fn is_identifier(name: &str) -> bool {
    let begins = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.chars().next().is_some_and(begins)
        && name.chars().all(|c| begins(c) || c.is_ascii_digit())
        && !WORDS.contains(&name)
}

/// Returns the header of the object `name`.
pub(super) fn header(name: &str, pipeline: &PipelineData, needs: CpuFeatures) -> String {
    let mut names = Names::new(name);
    let mut declared = Vec::new();
    let mut arguments = Vec::new();
    let mut comments = Vec::new();
    for param in pipeline.params.iter() {
        let own = names.new_name(&param.name);
        declared.push(format!("{} {own}", c_type(param.ty)));
        let (text, ty) = (literal(&param.name), constant(param.ty));
        arguments.push(format!("halide_param({text}, {ty}, &{own}, sizeof {own})"));
        comments.push(format!("{own}: parameter, {}", describe(param)));
    }
    for image in pipeline.images.iter() {
        let own = names.new_name(&image.name);
        declared.push(format!("const halide_buffer *{own}"));
        arguments.push(format!("halide_image({}, {own})", literal(&image.name)));
        comments.push(format!("{own}: image, {} dimensions of {}", image.dims, constant(image.ty)));
    }
    for func in pipeline.outputs.iter().map(|f| &pipeline.funcs[*f]) {
        for (element, ty) in func.types.iter().enumerate() {
            let own = match func.types.len() {
                1 => names.new_name(&func.name),
                _ => names.new_name(&format!("{}_{element}", func.name)),
            };
            declared.push(format!("const halide_buffer *{own}"));
            arguments.push(format!("halide_output({own})"));
            comments.push(format!("{own}: output, {} dimensions of {}", func.dims(), constant(*ty)));
        }
    }
    text(name, needs, &declared, &arguments, &comments)
}

fn text(name: &str, needs: CpuFeatures, declared: &[String], arguments: &[String], comments: &[String]) -> String {
    let guard = format!("HALIDE_PIPELINE_{name}_H");
    let needs = if needs == CpuFeatures::NONE { "no extensions".to_string() } else { needs.to_string() };
    let mut out = String::new();
    let lines = |all: &[String], indent: &str, end: &str| -> String {
        all.iter().fold(String::new(), |text, line| text + indent + line + end)
    };
    // Writing to a string does not fail.
    let _ = write!(
        out,
        "/* `{name}`, compiled by halide for x86-64 with {needs}. */\n#ifndef {guard}\n#define {guard}\n\n\
         {RUNTIME_HEADER}\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n\
         extern const halide_pipeline {name}_pipeline;\n\n\
         /* Computes the outputs. Returns HALIDE_OK, or another number and a message, as halide_run does.\n\n{}*/\n\
         static inline int {name}({}, char *message, size_t message_size)\n{{\n    \
         const halide_argument arguments[] = {{\n{}    }};\n    \
         return halide_run(&{name}_pipeline, arguments, {}, message, message_size);\n}}\n\n\
         #ifdef __cplusplus\n}}\n#endif\n\n#endif\n",
        lines(comments, "   ", "\n"),
        declared.join(", "),
        lines(arguments, "        ", ",\n"),
        arguments.len(),
    );
    out
}

/// Names of the parameters of the function: identifiers, each another one.
struct Names(Vec<String>);

impl Names {
    fn new(function: &str) -> Names {
        let pipeline = format!("{function}_pipeline");
        let runtime =
            ["halide_run", "halide_param", "halide_image", "halide_output", "halide_argument", "halide_buffer"];
        let own = ["arguments", "message", "message_size", function, &pipeline];
        Names(own.into_iter().chain(runtime).map(String::from).collect())
    }
    fn new_name(&mut self, like: &str) -> String {
        let spelled: String = like.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let mut name = if is_identifier(&spelled) { spelled } else { format!("{spelled}_") };
        if !is_identifier(&name) {
            name = format!("a{name}");
        }
        while self.0.contains(&name) {
            name.push('_');
        }
        self.0.push(name.clone());
        name
    }
}

/// The type of a parameter in C; 16-bit floats are their bits.
fn c_type(ty: ScalarType) -> &'static str {
    match ty {
        ScalarType::Bool | ScalarType::U8 => "uint8_t",
        ScalarType::I8 => "int8_t",
        ScalarType::I16 => "int16_t",
        ScalarType::I32 => "int32_t",
        ScalarType::I64 => "int64_t",
        ScalarType::U16 | ScalarType::F16 | ScalarType::BF16 => "uint16_t",
        ScalarType::U32 => "uint32_t",
        ScalarType::U64 => "uint64_t",
        ScalarType::F32 => "float",
        ScalarType::F64 => "double",
    }
}

fn constant(ty: ScalarType) -> String {
    format!("HALIDE_{}", ty.name().to_ascii_uppercase())
}

fn describe(param: &ParamDef) -> String {
    let mut text = constant(param.ty);
    let mut add = |what: &str, value: Option<halide_core::value::Scalar>| {
        if let Some(value) = value {
            text += &format!(", {what} {value}");
        }
    };
    add("at least", param.min);
    add("at most", param.max);
    add("usually", param.default);
    text
}

/// A text as a literal of C.
fn literal(text: &str) -> String {
    let byte = |b: u8| match b {
        b'"' | b'\\' => format!("\\{}", b as char),
        b'?' => "\\?".to_string(),
        b' '..=b'~' => (b as char).to_string(),
        b => format!("\\{b:03o}"),
    };
    format!("\"{}\"", text.bytes().map(byte).collect::<String>())
}

#[cfg(test)]
mod tests {
    use crate::object::header::*;

    #[test]
    fn names_become_identifiers_of_their_own() {
        let mut names = Names::new("blur");
        let made = ["r$1.x", "int", "2", "message", "r_1.x", "blur", "ä", "halide_run"].map(|n| names.new_name(n));
        assert_eq!(made, ["r_1_x", "int_", "a2_", "message_", "r_1_x_", "blur_", "_", "halide_run_"]);
    }

    #[test]
    fn literals_are_those_of_c() {
        assert_eq!(literal("a\"b\\c?\n"), "\"a\\\"b\\\\c\\?\\012\"");
    }
}
