//! A program that watches, and gets its orders on stdin.

use super::super::orders::Order;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The time in which a program ends when another one takes over.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program that was started.
pub(super) struct Program {
    child: Child,
    orders: Option<ChildStdin>,
    /// The end of the time in which it is to end.
    deadline: Option<Instant>,
}

impl Program {
    /// Starts a program with the arguments of this one; a variable names the file for the rows.
    ///
    /// # Errors
    /// Errors of the system.
    pub(super) fn start(exe: &Path, (variable, state): (&str, &Path)) -> io::Result<Program> {
        let mut command = Command::new(exe);
        command.args(std::env::args_os().skip(1)).env(variable, state).stdin(Stdio::piped());
        let mut child = command.spawn()?;
        let orders = child.stdin.take();
        Ok(Program { child, orders, deadline: None })
    }

    /// Gives an order. A program that has ended gets none.
    pub(super) fn order(&mut self, order: &Order) {
        if *order == Order::HandOver {
            self.deadline = Some(Instant::now() + PATIENCE);
        }
        if let Some(pipe) = &mut self.orders
            && writeln!(pipe, "{}", order.json()).and_then(|()| pipe.flush()).is_err()
        {
            self.orders = None;
        }
    }

    /// The status of a program that has ended. One that should have is ended here.
    pub(super) fn status(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.deadline.is_some_and(|deadline| Instant::now() > deadline) {
            self.child.kill()?;
        }
        self.child.try_wait()
    }

    /// Tells it to end, and waits for that.
    ///
    /// # Errors
    /// Errors of the system.
    pub(super) fn end(&mut self) -> io::Result<ExitStatus> {
        self.orders = None;
        self.child.wait()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It ends by itself when there are no more orders.
        self.orders = None;
    }
}
