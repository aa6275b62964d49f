//! Places of the lines of a shader: the definition and the loop of each statement, whose span is the number of its
//! place.
//!
//! naga's writer of WGSL does not say which statement a line is of. So the shader is written twice, as it is and with a
//! marker in front of each statement: a store of the number of its place to a variable of its own. Without the markers
//! the second text is the first.

use super::builder::NOWHERE;
use super::state::Gen;
use halide_ir::code_place::{CodePart, CodePlace, PlaceTable, definition_begun};
use halide_ir::{Stmt, visit::deep};
use naga::back::wgsl;
use naga::valid::ModuleInfo;
use naga::{Arena, Block, Expression, Handle, Literal, LocalVariable, Module, Scalar, Statement, Type, TypeInner};

impl Gen<'_> {
    /// Goes on in the definition and the loop that a statement begins; gives the place around it.
    pub(super) fn begin_place(&mut self, s: &Stmt) -> CodePlace {
        let around = self.code_places.current;
        let definition = definition_begun(self.program, s).or(around.definition);
        let within = if let Stmt::For(l) = s { Some(l.id) } else { around.within };
        self.set_place(CodePlace { definition, within, part: CodePart::Body });
        around
    }
    /// Goes on at a place.
    pub(super) fn set_place(&mut self, place: CodePlace) {
        self.code_places.current = place;
        let number = self.code_places.number(place);
        self.code.set_place(number);
    }
}

/// Says what naga finds about a module.
type Validate<'a> = &'a dyn Fn(&Module) -> Result<ModuleInfo, String>;

/// The lines of a shader whose text is known, each with the place of its statement.
pub(super) fn lines(
    (module, places): (&Module, &PlaceTable),
    text: &str,
    validate: Validate<'_>,
) -> Result<Vec<(String, Option<CodePlace>)>, String> {
    let name = (0..).map(|n| format!("at_{n}_")).find(|name| !text.contains(name)).unwrap_or_default();
    let marked = marked(module, validate, &name)?;
    let (stores, declares) = (format!("{name} = "), format!("var {name}: "));
    let mut place = None;
    let mut placed = Vec::new();
    for line in marked.lines() {
        let content = line.trim_start();
        if let Some(number) = content.strip_prefix(&stores) {
            place = number.trim_end_matches("u;").parse().ok().and_then(|number| places.place(number));
        } else if !content.is_empty() && !content.starts_with(&declares) {
            // What begins a line is of the module, or ends a function.
            let is_inside = content.len() < line.len();
            placed.push((line, place.filter(|_| is_inside)));
        }
    }
    // An empty line stands behind the variables of a function, if it has any.
    let mut placed = placed.into_iter();
    let of_text = |line: &str| match line.is_empty() {
        true => Some((String::new(), None)),
        false => placed.next().filter(|(other, _)| *other == line).map(|(_, place)| (line.to_string(), place)),
    };
    let all: Option<Vec<(String, Option<CodePlace>)>> = text.lines().map(of_text).collect();
    all.ok_or_else(|| "its text with places is another than its text".to_string())
}

/// The shader with a marker in front of each statement, as text.
fn marked(module: &Module, validate: Validate<'_>, name: &str) -> Result<String, String> {
    let mut module = module.clone();
    let word = module.types.insert(Type { name: None, inner: TypeInner::Scalar(Scalar::U32) }, NOWHERE);
    for entry in &mut module.entry_points {
        let function = &mut entry.function;
        let variable = LocalVariable { name: Some(name.to_string()), ty: word, init: None };
        let variable = function.local_variables.append(variable, NOWHERE);
        let pointer = function.expressions.append(Expression::LocalVariable(variable), NOWHERE);
        let mut marker = Marker { pointer, expressions: &mut function.expressions };
        function.body = marker.block(&function.body);
    }
    let info = validate(&module)?;
    wgsl::write_string(&module, &info, wgsl::WriterFlags::empty()).map_err(|e| e.to_string())
}

struct Marker<'m> {
    pointer: Handle<Expression>,
    expressions: &'m mut Arena<Expression>,
}

impl Marker<'_> {
    fn block(&mut self, block: &Block) -> Block {
        let mut made = Block::new();
        for (statement, span) in block.span_iter() {
            if let Some(range) = span.to_range() {
                let value = self.expressions.append(Expression::Literal(Literal::U32(range.start as u32)), NOWHERE);
                made.push(Statement::Store { pointer: self.pointer, value }, NOWHERE);
            }
            made.push(deep(|| self.statement(statement)), *span);
        }
        made
    }
    fn statement(&mut self, statement: &Statement) -> Statement {
        let mut made = statement.clone();
        match &mut made {
            Statement::Block(inner) => *inner = self.block(inner),
            Statement::If { accept, reject, .. } => (*accept, *reject) = (self.block(accept), self.block(reject)),
            Statement::Loop { body, continuing, .. } => {
                (*body, *continuing) = (self.block(body), self.block(continuing));
            }
            Statement::Switch { cases, .. } => cases.iter_mut().for_each(|case| case.body = self.block(&case.body)),
            _ => {}
        }
        made
    }
}
