//! Checking the names of an expression, charging its loops, and replacing what differs from the originals.

use cel::common::ast::{CallExpr, EntryExpr, Expr, IdedExpr, LiteralValue};
use cel::common::types::{CelBool, CelList, CelMap, DYN_TYPE, STRING_TYPE};
use cel::common::value::CowVal;
use cel::{DeclarationError, Env, ExecutionError, Value};

use super::budget;
use super::kubernetes::call;
use crate::go_regex;

/// The functions of the standard library.
pub(super) const STANDARD: &[&str] = &[
    "bool",
    "bytes",
    "contains",
    "double",
    "dyn",
    "endsWith",
    "hasValue",
    "int",
    "matches",
    "optional.none",
    "optional.of",
    "optional.ofNonZeroValue",
    "or",
    "orValue",
    "size",
    "startsWith",
    "string",
    "type",
    "uint",
    "value",
];

/// The types that an expression can name.
const TYPES: &[&str] = &[
    "bool",
    "bytes",
    "double",
    "dyn",
    "int",
    "list",
    "map",
    "null_type",
    "optional_type",
    "string",
    "type",
    "uint",
];

/// Charges for the loop over its argument, and returns it.
const CHARGE: &str = "@charge";
/// `matches` with the syntax of Go.
const MATCHES: &str = "@matches";
/// The variable whose fields are variables of their own.
const VARIABLES: &str = "variables";

/// Declares the functions that rewritten expressions call.
pub(super) fn register(env: &mut Env) -> Result<(), DeclarationError> {
    env.add_overload(CHARGE, "charge", vec![DYN_TYPE], charge)?;
    env.add_overload(MATCHES, "matches", vec![STRING_TYPE, STRING_TYPE], |args| {
        call(&args, |args| match args {
            [Value::String(text), Value::String(pattern)] => {
                Ok(go_pattern("matches", pattern)?.is_match(text).into())
            }
            _ => Err(ExecutionError::invalid_argument_count(2, args.len())),
        })
    })
}

/// A regular expression.
pub(super) fn go_pattern(function: &str, pattern: &str) -> Result<regex::Regex, ExecutionError> {
    go_regex::compile(pattern).map_err(|error| ExecutionError::function_error(function, error))
}

fn charge<'b, 'v>(mut args: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let range = args.pop().ok_or_else(ExecutionError::missing_argument_or_target)?;
    let list = range.downcast_ref::<CelList<'_>>().map(|it| it.inner().len());
    let map = || range.downcast_ref::<CelMap<'_>>().map(|it| it.inner().len());
    budget::charge(list.or_else(map).unwrap_or(1))?;
    Ok(range)
}

/// Rewrites an expression in place.
///
/// # Errors
/// It uses an unknown function or variable.
pub(super) fn rewrite(
    expression: &mut IdedExpr,
    functions: &[&str],
    variables: &[&str],
) -> Result<(), String> {
    let mut names = Names { functions, variables, locals: Vec::new() };
    names.expression(expression)
}

struct Names<'a> {
    functions: &'a [&'a str],
    variables: &'a [&'a str],
    /// The variables of loops.
    locals: Vec<String>,
}

impl Names<'_> {
    fn expression(&mut self, expression: &mut IdedExpr) -> Result<(), String> {
        match &mut expression.expr {
            Expr::Unspecified | Expr::Literal(_) => Ok(()),
            Expr::Ident(name) => self.identifier(name),
            Expr::Call(call) => self.call(call),
            Expr::Select(select) => {
                let is_variable =
                    matches!(&select.operand.expr, Expr::Ident(it) if it == VARIABLES);
                if !is_variable {
                    return self.expression(&mut select.operand);
                }
                let name = format!("{VARIABLES}.{}", select.field);
                if !self.variables.contains(&name.as_str()) {
                    return Err(undeclared(&name));
                }
                // A declared variable always exists; evaluating it may fail.
                expression.expr = match select.test {
                    true => Expr::Literal(LiteralValue::Boolean(CelBool::from(true))),
                    false => Expr::Ident(name),
                };
                Ok(())
            }
            Expr::List(list) => list.elements.iter_mut().try_for_each(|it| self.expression(it)),
            Expr::Map(map) => map.entries.iter_mut().try_for_each(|it| self.entry(&mut it.expr)),
            Expr::Struct(_) => Err("constructing objects is not supported".to_owned()),
            Expr::Comprehension(it) => {
                self.expression(&mut it.iter_range)?;
                self.expression(&mut it.accu_init)?;
                let range = std::mem::take(&mut it.iter_range);
                let id = range.id;
                let charged =
                    CallExpr { func_name: CHARGE.to_owned(), target: None, args: vec![range] };
                it.iter_range = IdedExpr { id, expr: Expr::Call(charged) };
                let outer = self.locals.len();
                self.locals.push(it.accu_var.clone());
                // The result may use the accumulator, but not the elements.
                let mut result = self.expression(&mut it.result);
                self.locals.push(it.iter_var.clone());
                self.locals.extend(it.iter_var2.clone());
                for part in [&mut it.loop_cond, &mut it.loop_step] {
                    result = result.and_then(|()| self.expression(part));
                }
                self.locals.truncate(outer);
                result
            }
        }
    }

    fn entry(&mut self, entry: &mut EntryExpr) -> Result<(), String> {
        match entry {
            EntryExpr::StructField(field) => self.expression(&mut field.value),
            EntryExpr::MapEntry(entry) => {
                self.expression(&mut entry.key)?;
                self.expression(&mut entry.value)
            }
        }
    }

    fn identifier(&self, name: &str) -> Result<(), String> {
        let is_known = self.locals.iter().any(|it| it == name)
            || self.variables.contains(&name)
            || TYPES.contains(&name)
            || name.starts_with('@');
        if is_known { Ok(()) } else { Err(undeclared(name)) }
    }

    fn call(&mut self, call: &mut CallExpr) -> Result<(), String> {
        // `sets.contains(a, b)` is one name; `object.size()` is a method.
        let qualified = match call.target.as_deref() {
            Some(IdedExpr { expr: Expr::Ident(namespace), .. }) => {
                Some(format!("{namespace}.{}", call.func_name))
            }
            _ => None,
        };
        let is_qualified = qualified.is_some_and(|name| self.functions.contains(&&*name));
        if !is_qualified {
            let name = call.func_name.as_str();
            // Operators and helpers of macros have names that cannot be written.
            let is_operator = !name.starts_with(|c: char| c.is_ascii_alphabetic());
            if !is_operator && !self.functions.contains(&name) {
                return Err(format!("unknown function `{name}`"));
            }
            if let Some(target) = &mut call.target {
                self.expression(target)?;
            }
        }
        call.args.iter_mut().try_for_each(|it| self.expression(it))?;
        if call.func_name == "matches" && !is_qualified {
            call.func_name = MATCHES.to_owned();
            if let Some(target) = call.target.take() {
                call.args.insert(0, *target);
            }
        }
        Ok(())
    }
}

fn undeclared(name: &str) -> String {
    format!("undeclared reference to `{name}`")
}
