//! Functions of the language that differ from those of the interpreter.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use starlark::environment::GlobalsBuilder;
use starlark::starlark_module;
use starlark::syntax::AstModule;
use starlark::values::none::NoneType;
use starlark::values::tuple::UnpackTuple;
use starlark::values::{Heap, Value};

use super::{display, interpolation};

/// The name of the function that replaces the operator `%`.
const PERCENT: &str = "__percent__";

thread_local! {
    /// The printed lines, and how many bytes may still be printed. The interpreter offers functions no place for it without
    /// unsafe code.
    static PRINTED: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static LEFT: Cell<usize> = const { Cell::new(0) };
    static LIMIT: Cell<usize> = const { Cell::new(0) };
}

/// Forgets printed lines, and sets the number of bytes that a script may print.
pub(super) fn start_printing(limit: usize) {
    PRINTED.take();
    LEFT.set(limit);
    LIMIT.set(limit);
}

/// The printed lines.
pub(super) fn take_printed() -> Vec<String> {
    PRINTED.take()
}

fn print_line(line: String) -> anyhow::Result<()> {
    match LEFT.get().checked_sub(line.len() + 1) {
        Some(left) => LEFT.set(left),
        None => anyhow::bail!("printed more than {} bytes", LIMIT.get()),
    }
    PRINTED.with_borrow_mut(|lines| lines.push(line));
    Ok(())
}

/// Replaces the operators of a script that are functions here.
pub(super) fn replace_operators(script: &mut AstModule) {
    script.replace_binary_operators(&HashMap::from([("%".to_owned(), PERCENT.to_owned())]));
}

fn joined<'v>(values: &[Value<'v>], separator: &str, heap: Heap<'v>) -> anyhow::Result<String> {
    let texts = values.iter().map(|it| display::str(*it, heap));
    Ok(texts.collect::<anyhow::Result<Vec<String>>>()?.join(separator))
}

#[starlark_module]
pub(super) fn overrides(builder: &mut GlobalsBuilder) {
    /// `a % b`
    fn __percent__<'v>(
        #[starlark(require = pos)] left: Value<'v>,
        #[starlark(require = pos)] right: Value<'v>,
        heap: Heap<'v>,
    ) -> starlark::Result<Value<'v>> {
        match left.unpack_str() {
            Some(format) => Ok(heap.alloc(interpolation::interpolate(format, right, heap)?)),
            None => left.percent(right, heap),
        }
    }

    fn fail<'v>(
        #[starlark(args)] args: UnpackTuple<Value<'v>>,
        #[starlark(require = named, default = " ")] sep: &str,
        heap: Heap<'v>,
    ) -> starlark::Result<NoneType> {
        let message = joined(&args.items, sep, heap)?;
        // The interpreter writes `fail:` before it.
        let message = anyhow::anyhow!(" {message}");
        Err(starlark::Error::new_kind(starlark::ErrorKind::Fail(message)))
    }

    fn print<'v>(
        #[starlark(args)] args: UnpackTuple<Value<'v>>,
        #[starlark(require = named, default = " ")] sep: &str,
        heap: Heap<'v>,
    ) -> anyhow::Result<NoneType> {
        print_line(joined(&args.items, sep, heap)?)?;
        Ok(NoneType)
    }

    fn repr<'v>(#[starlark(require = pos)] x: Value<'v>, heap: Heap<'v>) -> anyhow::Result<String> {
        display::repr(x, heap)
    }

    fn str<'v>(#[starlark(require = pos)] x: Value<'v>, heap: Heap<'v>) -> anyhow::Result<String> {
        display::str(x, heap)
    }
}
