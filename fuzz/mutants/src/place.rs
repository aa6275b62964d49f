//! Places of a source file that can be broken, and what stands there instead.

use crate::operators;
use std::ops::Range;
use syn::visit::{self, Visit};

/// One way to break one place.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Bytes of the file.
    pub(crate) range: Range<usize>,
    pub(crate) line: usize,
    /// The sort of mistake.
    pub(crate) operator: &'static str,
    /// The expression, condition or statement as it is.
    pub(crate) right: String,
    /// The same, broken.
    pub(crate) wrong: String,
    /// The code around both.
    pub(crate) form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// An expression stands in place of another one.
    Expr,
    /// A statement is left out.
    Statement,
    /// The value of a field that is written as its name only.
    Field,
}

impl Place {
    /// The text with both versions, of which the number of the mutant says which one runs.
    pub(crate) fn schema(&self, number: usize) -> String {
        let Place { right, wrong, .. } = self;
        match self.form {
            Form::Expr => format!("(if crate::mutant({number}) {{ {wrong} }} else {{ {right} }})"),
            Form::Statement => format!("if !crate::mutant({number}) {{ {right} }}"),
            Form::Field => format!("{right}: (if crate::mutant({number}) {{ {wrong} }} else {{ {right} }})"),
        }
    }
}

/// Reads all places off the text of a file.
pub(crate) fn places(text: &str) -> Result<Vec<Place>, syn::Error> {
    let file = syn::parse_file(text)?;
    let mut finder = Finder { text, places: Vec::new() };
    finder.visit_file(&file);
    Ok(finder.places)
}

pub(crate) struct Finder<'t> {
    text: &'t str,
    places: Vec<Place>,
}

impl Finder<'_> {
    /// The text of a node.
    pub(crate) fn source(&self, node: &impl syn::spanned::Spanned) -> String {
        self.text[node.span().byte_range()].to_string()
    }

    pub(crate) fn add(&mut self, node: &impl syn::spanned::Spanned, operator: &'static str, wrong: String, form: Form) {
        let span = node.span();
        let (range, line) = (span.byte_range(), span.start().line);
        self.places.push(Place { right: self.text[range.clone()].to_string(), range, line, operator, wrong, form });
    }
}

/// Functions that only tell people what was done, or that compute nothing when the program runs.
fn tells(name: &str) -> bool {
    ["explain", "report", "describe", "sentence", "hint", "message", "text", "fmt", "note", "name", "const_"]
        .iter()
        .any(|word| name.contains(word))
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|a| match &a.meta {
        syn::Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string().contains("test"),
        meta => meta.path().is_ident("test"),
    })
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) && !tells(&item.sig.ident.to_string()) && item.sig.constness.is_none() {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !tells(&item.sig.ident.to_string()) && item.sig.constness.is_none() {
            visit::visit_impl_item_fn(self, item);
        }
    }

    // A constant is no place: it is computed before any mutant is chosen.
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_type(&mut self, _: &'ast syn::Type) {}
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}

    fn visit_expr(&mut self, e: &'ast syn::Expr) {
        operators::expression(self, e);
        // What is told to people is computed here, and the element that an index names is another sort of mistake.
        match e {
            syn::Expr::MethodCall(call) if tells_method(&call.method.to_string()) => self.visit_expr(&call.receiver),
            syn::Expr::Index(index) => self.visit_expr(&index.expr),
            _ => visit::visit_expr(self, e),
        }
    }

    fn visit_stmt(&mut self, s: &'ast syn::Stmt) {
        operators::statement(self, s);
        visit::visit_stmt(self, s);
    }

    fn visit_field_value(&mut self, field: &'ast syn::FieldValue) {
        operators::field(self, field);
        // A name alone stands for a field and its value.
        if field.colon_token.is_some() {
            visit::visit_field_value(self, field);
        }
    }
}

/// Methods that only tell people what was done.
fn tells_method(name: &str) -> bool {
    ["did", "did_not", "expect", "begin", "finish", "to_string", "to_owned", "with_capacity"].contains(&name)
}
