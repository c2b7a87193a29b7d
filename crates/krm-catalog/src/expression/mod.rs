//! CEL expressions: conditions of pipeline functions, and policies of `gatekeeper`.
//!
//! The interpreter checks nothing before it evaluates, and has no limits. So an expression is checked and rewritten when it is
//! compiled: unknown functions and variables are errors even where they are not evaluated, as in the type checker of the
//! originals, and every loop is charged for its elements.

mod budget;
mod kubernetes;
mod network;
mod quantity;
mod rewrite;
mod values;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use cel::common::ast::IdedExpr;
use cel::{Context, Env, ExecutionError};

use crate::interpreter::{MAX_NESTING, Syntax, check_nesting};

pub use budget::STEP_LIMIT;
/// A value of an expression.
pub use cel::Value;
pub use values::{from_json, from_yaml};

/// What nests in CEL.
const SYNTAX: Syntax = Syntax {
    comment: "//",
    quotes: "'\"",
    has_triple_quotes: true,
    has_raw_prefix: true,
    raw_quote: None,
    keywords: &["in"],
    prefixes: &[],
    is_indented: false,
    max_brackets: MAX_NESTING,
};

/// The functions and types that expressions can use.
#[derive(Clone)]
pub struct Environment {
    env: Arc<Env>,
    functions: Vec<&'static str>,
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment").field("functions", &self.functions).finish()
    }
}

impl Environment {
    /// The standard library of CEL, for conditions.
    ///
    /// # Errors
    /// If the interpreter refuses a function.
    pub fn standard() -> Result<Self, String> {
        Self::with(Env::stdlib(), rewrite::STANDARD.to_vec())
    }

    /// The library of Kubernetes' admission policies.
    ///
    /// # Errors
    /// If the interpreter refuses a function.
    pub fn kubernetes() -> Result<Self, String> {
        let mut env = Env::stdlib();
        kubernetes::extend(&mut env).map_err(|error| error.to_string())?;
        let functions = [rewrite::STANDARD, kubernetes::FUNCTIONS].concat();
        Self::with(env, functions)
    }

    fn with(mut env: Env, functions: Vec<&'static str>) -> Result<Self, String> {
        rewrite::register(&mut env).map_err(|error| error.to_string())?;
        Ok(Self { env: Arc::new(env), functions })
    }

    /// Compiles an expression that uses these variables. A variable `variables.NAME` is a field of `variables`.
    ///
    /// # Errors
    /// One line that says what is wrong.
    pub fn compile(&self, source: &str, variables: &[&str]) -> Result<Expression, String> {
        check_nesting(source, &SYNTAX).map_err(|at| {
            let (line, column) = (at.line + 1, at.column + 1);
            format!("nested more than {} levels deep at {line}:{column}", at.limit)
        })?;
        // The generated parser panics on some invalid expressions.
        let parsed = catch_unwind(AssertUnwindSafe(|| self.env.parser().parse(source)));
        let parsed = parsed.map_err(|_| "the expression is not valid CEL".to_owned())?;
        let mut parsed = parsed.map_err(|error| one_line(&error.to_string()))?;
        rewrite::rewrite(&mut parsed, &self.functions, variables)?;
        Ok(Expression { parsed })
    }

    /// The values of variables, none yet.
    pub fn scope(&self) -> Scope {
        Scope { context: Context::with_env(Arc::clone(&self.env)) }
    }
}

/// The values of variables.
pub struct Scope {
    context: Context<'static, 'static>,
}

impl std::fmt::Debug for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

impl Scope {
    /// Sets a variable.
    pub fn set(&mut self, name: &str, value: Value) {
        self.context.add_variable_from_value(name, value);
    }
}

/// An expression that was checked.
#[derive(Clone, Debug)]
pub struct Expression {
    parsed: IdedExpr,
}

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvaluationError {
    /// The values do not fit the expression: a missing key, a division by zero.
    Failed(String),
    /// A variable without a value was used.
    NoValue(String),
    /// There is no function for these types, which may be a limit of the interpreter.
    NoOverload(String),
    /// The expression needs too many steps.
    TooManySteps,
}

impl std::fmt::Display for EvaluationError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Failed(reason) | Self::NoOverload(reason) => f.write_str(reason),
            Self::NoValue(name) => write!(f, "undeclared reference to `{name}`"),
            Self::TooManySteps => write!(f, "exceeded the limit of {STEP_LIMIT} steps"),
        }
    }
}

impl Expression {
    /// Evaluates the expression.
    ///
    /// # Errors
    /// If it has no value.
    pub fn evaluate(&self, scope: &Scope) -> Result<Value, EvaluationError> {
        let (value, is_exceeded) = budget::run(|| Value::resolve(&self.parsed, &scope.context));
        if is_exceeded {
            return Err(EvaluationError::TooManySteps);
        }
        value.map_err(|error| {
            let reason = one_line(&error.to_string());
            match error {
                ExecutionError::UndeclaredReference(name) => {
                    EvaluationError::NoValue(name.to_string())
                }
                ExecutionError::NoSuchKey(_)
                | ExecutionError::FunctionError { .. }
                | ExecutionError::DivisionByZero(_)
                | ExecutionError::RemainderByZero(_)
                | ExecutionError::Overflow(..)
                | ExecutionError::IndexOutOfBounds(_)
                | ExecutionError::DuplicateKey(_) => EvaluationError::Failed(reason),
                _ => EvaluationError::NoOverload(reason),
            }
        })
    }
}

fn one_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluate(environment: &Environment, source: &str) -> Result<String, String> {
        let names = ["object", "variables.n"];
        let expression = environment.compile(source, &names)?;
        let mut scope = environment.scope();
        scope.set("object", from_json("{\"a\": [1, 2, 3], \"s\": \"x1\", \"m\": \"100Mi\"}")?);
        scope.set("variables.n", Value::Int(2));
        let value = expression.evaluate(&scope).map_err(|error| error.to_string())?;
        Ok(format!("{value:?}"))
    }

    #[test]
    fn kubernetes_functions_have_their_values() {
        let environment = Environment::kubernetes().unwrap();
        for source in [
            "variables.n == 2 && has(variables.n) && has(object.a) && !has(object.b)",
            "object.s.matches('^[a-z]\\\\d$')",
            "matches(object.s, 'x')",
            "'a1b22'.find('[0-9]+') == '1' && 'ab'.find('[0-9]') == ''",
            "'a1b22'.findAll('[0-9]+') == ['1', '22'] && 'a1b22'.findAll('[0-9]+', 1) == ['1']",
            "object.a.sum() == 6 && object.a.min() == 1 && object.a.max() == 3 && object.a.isSorted()",
            "![2, 1].isSorted() && [1.5, 2.5].sum() == 4.0 && [].sum() == 0",
            "[1, 2, 1].indexOf(1) == 0 && [1, 2, 1].lastIndexOf(1) == 2 && [1].indexOf(5) == -1",
            "isQuantity('100Mi') && !isQuantity('100 Mi')",
            "quantity(object.m).isGreaterThan(quantity('99Mi')) && quantity('1k') == quantity('1000')",
            "quantity('1.5').compareTo(quantity('1500m')) == 0 && quantity('50k').add(20).asInteger() == 50020",
            "quantity('-5').sign() == -1 && quantity('1').sub(quantity('2')).isLessThan(quantity('0'))",
            "quantity('1.5').asApproximateFloat() == 1.5 && !quantity('1.5').isInteger()",
            "isIP('10.0.0.1') && !isIP('10.0.0') && ip('10.0.0.1').family() == 4",
            "cidr('10.0.0.0/8').containsIP('10.1.2.3') && !cidr('10.0.0.0/8').containsIP(ip('11.0.0.1'))",
            "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && cidr('10.0.0.0/8').prefixLength() == 8",
            "isCIDR('::/0') && ip('::1').isLoopback() && cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8')",
            "['a', 'b'].join(', ') == 'a, b' && 'a-b'.replace('-', '.') == 'a.b' && 'A'.lowerAscii() == 'a'",
            "object.?missing.orValue('x') == 'x' && object.?s.hasValue()",
            "sets.contains([1, 2], [1]) && sets.intersects([1], [1, 2]) && sets.equivalent([1, 1], [1])",
            "object.a.map(x, x * 2).filter(x, x > 2).exists(x, x == 4) && object.a.all(x, x > 0)",
        ] {
            assert_eq!(evaluate(&environment, source).as_deref(), Ok("Bool(true)"), "{source}");
        }
    }

    #[test]
    fn unknown_names_are_errors_even_where_they_are_not_evaluated() {
        let environment = Environment::kubernetes().unwrap();
        for (source, expected) in [
            ("true || url('x').getHost() == ''", "unknown function `getHost`"),
            ("true || object.a.format.x()", "unknown function `x`"),
            ("true || nothing", "undeclared reference to `nothing`"),
            ("true || variables.x", "undeclared reference to `variables.x`"),
            ("true || [1].exists(i, j > i)", "undeclared reference to `j`"),
            ("variables == null", "undeclared reference to `variables`"),
        ] {
            let error = evaluate(&environment, source).unwrap_err();
            assert!(error.starts_with(expected), "{source}: {error}");
        }
        let standard = Environment::standard().unwrap();
        assert!(evaluate(&standard, "true || quantity('1')").is_err());
    }

    #[test]
    fn loops_are_limited() {
        let environment = Environment::standard().unwrap();
        let ten = "[1,2,3,4,5,6,7,8,9,10]";
        let loops: String = ('a'..='h').map(|name| format!("{ten}.all({name}, ")).collect();
        let source = format!("{loops}true{}", ")".repeat(8));
        let limit = "exceeded the limit of 10000000 steps";
        assert_eq!(evaluate(&environment, &source), Err(limit.to_owned()));
        let absorbed = format!("{source} || true");
        assert_eq!(evaluate(&environment, &absorbed), Err(limit.to_owned()));
        assert_eq!(
            evaluate(&environment, &format!("{ten}.all(a, a > 0)")).as_deref(),
            Ok("Bool(true)")
        );
    }
}
