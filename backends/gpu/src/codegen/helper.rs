//! Functions of a shader that its kernel calls: each is made when it is first needed.

use super::builder::{Builder, NOWHERE, V};
use super::types::Reg;
use naga::{Expression, Function, FunctionArgument, FunctionResult, Handle, Statement};

/// A function on registers.
pub(super) struct Helper<'a> {
    /// Its name, which tells it from all others.
    pub(super) name: String,
    /// The types of its arguments.
    pub(super) args: &'a [Reg],
    /// The type of its result.
    pub(super) result: Reg,
}

impl Builder<'_> {
    /// Emits a call of `helper` with `args`; `body` emits the function when it is first needed.
    pub(super) fn helper(
        &mut self,
        helper: Helper<'_>,
        args: &[V],
        body: impl FnOnce(&mut Builder<'_>, &[V]) -> V,
    ) -> V {
        let function = match self.shader.helpers.get(&helper.name) {
            Some(&known) => known,
            None => self.make(&helper, body),
        };
        let mut arguments: Vec<V> = helper.args.iter().zip(args).map(|(&reg, &v)| self.settled(reg, v)).collect();
        arguments.push(self.zero);
        self.call(function, arguments)
    }

    /// Adds the function to the module. Its last argument is the opaque zero.
    fn make(&mut self, helper: &Helper<'_>, body: impl FnOnce(&mut Builder<'_>, &[V]) -> V) -> Handle<Function> {
        let regs: Vec<(String, Reg)> =
            helper.args.iter().zip(["a", "b", "c"]).map(|(&reg, name)| (name.to_string(), reg)).collect();
        let mut arguments = Vec::new();
        for (name, reg) in regs.into_iter().chain([("zero".to_string(), Reg::U32)]) {
            arguments.push(FunctionArgument { name: Some(name), ty: self.shader.reg(reg), binding: None });
        }
        let result = Some(FunctionResult { ty: self.shader.reg(helper.result), binding: None });
        let function = Function { name: Some(helper.name.clone()), arguments, result, ..Function::default() };
        let count = helper.args.len() as u32;
        let mut code = Builder::new(self.shader, function, |c| c.unevaluated(Expression::FunctionArgument(count)));
        let args: Vec<V> = (0..count).map(|i| code.unevaluated(Expression::FunctionArgument(i))).collect();
        let value = body(&mut code, &args);
        let value = code.settled(helper.result, value);
        code.push_stmt(Statement::Return { value: Some(value) });
        let function = code.finish();
        let handle = self.shader.module.functions.append(function, NOWHERE);
        self.shader.helpers.insert(helper.name.clone(), handle);
        handle
    }
}
