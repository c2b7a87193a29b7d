//! Images that a server evaluates. What the server is and how it is reached is up to the caller: nothing here uses the network.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Instant;

use crate::{Execution, ExecutionEnd, Function, Invocation, RunKind, Tail};

/// Evaluates functions elsewhere.
pub trait RemoteEvaluator: Debug + Send + Sync {
    /// Evaluates the function of an image, within the limits of the invocation.
    ///
    /// # Errors
    /// Why there is no answer: one of the kinds of remote runtimes, or that of a limit.
    fn evaluate(&self, image: &str, invocation: &Invocation<'_>) -> Result<RemoteAnswer, RunKind>;

    /// How many functions are evaluated at the same time. They need no processor of this machine.
    fn concurrency(&self) -> usize;
}

/// What a server answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemoteAnswer {
    /// The output of the function, also of one that failed.
    pub output: Vec<u8>,
    /// Its standard error.
    pub log: Vec<u8>,
    /// Its exit code.
    pub exit_code: i32,
}

/// The function of an image on a server.
#[derive(Debug)]
pub(crate) struct RemoteFunction {
    image: Box<str>,
    evaluator: Arc<dyn RemoteEvaluator>,
}

impl RemoteFunction {
    pub(crate) fn new(image: &str, evaluator: Arc<dyn RemoteEvaluator>) -> Self {
        Self { image: image.into(), evaluator }
    }
}

/// It has no identity, so its results are not cached: which program a server has for a name is up to the server.
impl Function for RemoteFunction {
    fn name(&self) -> &str {
        &self.image
    }

    fn run(&self, invocation: &mut Invocation<'_>) -> Execution {
        let start = Instant::now();
        if invocation.interrupt.is_interrupted() {
            return Execution::not_started(RunKind::Interrupted);
        }
        let answer = self.evaluator.evaluate(&self.image, invocation);
        let duration = start.elapsed();
        match answer {
            Ok(answer) => {
                let mut stderr = Tail::new(invocation.limits.stderr);
                stderr.push(&answer.log);
                let limit = invocation.limits.output;
                let end = match answer.output.len() > limit {
                    true => ExecutionEnd::Stopped(RunKind::OutputTooLarge { limit }),
                    false => ExecutionEnd::Exited(answer.exit_code),
                };
                Execution { stdout: answer.output, stderr, duration, image: None, end }
            }
            Err(kind) => Execution { duration, ..Execution::not_started(kind) },
        }
    }
}
