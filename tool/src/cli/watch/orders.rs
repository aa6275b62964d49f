//! Orders of a supervisor to the program that watches: lines of JSON on its stdin, whose end is the end of the watch.

use super::ask::Ask;
use super::keys::Key;
use super::mailbox::Mailbox;
use serde_json::{Value, json};
use std::io::BufRead;
use std::sync::Arc;

/// An order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The machine is busy: nothing is to be timed.
    Pause,
    /// Times are worth something again.
    GoOn,
    /// A row for a defect that is not of the schedule.
    Defect(String),
    /// Another program goes on with the rows.
    HandOver,
    /// A key was pressed.
    Press(Key),
}

impl Order {
    /// The order as a line.
    pub(super) fn json(&self) -> Value {
        match self {
            Order::Pause => json!({"order": "pause"}),
            Order::GoOn => json!({"order": "go_on"}),
            Order::Defect(text) => json!({"order": "defect", "text": text}),
            Order::HandOver => json!({"order": "hand_over"}),
            Order::Press(Key::Revert) => json!({"order": "revert"}),
            Order::Press(Key::Report) => json!({"order": "report"}),
            Order::Press(Key::Quit) => json!({"order": "quit"}),
        }
    }

    /// The order in a line; `None` for lines that are none.
    fn read(line: &str) -> Option<Order> {
        let value: Value = serde_json::from_str(line).ok()?;
        Some(match value["order"].as_str()? {
            "pause" => Order::Pause,
            "go_on" => Order::GoOn,
            "defect" => Order::Defect(value["text"].as_str()?.to_string()),
            "hand_over" => Order::HandOver,
            "revert" => Order::Press(Key::Revert),
            "report" => Order::Press(Key::Report),
            "quit" => Order::Press(Key::Quit),
            _ => return None,
        })
    }
}

/// Does what a key is for.
pub(super) fn press(key: Key, mailbox: &Mailbox) {
    match key {
        Key::Revert => mailbox.revert(),
        // Too many that wait are enough reports.
        Key::Report => {
            mailbox.ask(Ask::Write);
        }
        Key::Quit => {
            mailbox.end();
        }
    }
}

/// Follows orders until there are no more, which ends the watch. The process ends while this still reads.
pub(super) fn follow(lines: impl BufRead, mailbox: &Arc<Mailbox>) {
    for line in lines.lines() {
        // A broken line is the end, as is one that is no text.
        let Ok(line) = line else { break };
        match Order::read(&line) {
            Some(Order::Pause) => mailbox.pause(true),
            Some(Order::GoOn) => mailbox.pause(false),
            Some(Order::Defect(text)) => mailbox.post_defect(text),
            Some(Order::HandOver) => mailbox.hand_over(),
            Some(Order::Press(key)) => press(key, mailbox),
            None => {}
        }
    }
    mailbox.end();
}

#[cfg(test)]
mod tests {
    use super::super::content::Seen;
    use super::*;

    #[test]
    fn orders_are_read_as_they_are_written() {
        let keys = [Key::Revert, Key::Report, Key::Quit].map(Order::Press);
        let defect = Order::Defect("src/main.rs:1:2: \"no\"\nnext".to_string());
        for order in [Order::Pause, Order::GoOn, defect, Order::HandOver].into_iter().chain(keys) {
            let line = order.json().to_string();
            assert_eq!((Order::read(&line), line.lines().count()), (Some(order), 1));
        }
        for line in ["", "pause", "{}", "{\"order\": 1}", "{\"order\": \"x\"}", "{\"order\": \"defect\"}", "[]"] {
            assert_eq!(Order::read(line), None, "{line}");
        }
    }

    #[test]
    fn the_end_of_orders_ends_the_watch() {
        let mailbox = Arc::new(Mailbox::default());
        let orders = "{\"order\": \"pause\"}\nnonsense\n{\"order\": \"revert\"}\n{\"order\": \"report\"}\n\
                      {\"order\": \"defect\", \"text\": \"a\"}\n{\"order\": \"go_on\"}\n";
        follow(orders.as_bytes(), &mailbox);
        assert!(mailbox.take_revert() && mailbox.is_over() && !mailbox.is_handed_over() && !mailbox.is_paused());
        assert_eq!(mailbox.take().map(|saved| saved.seen), Some(Seen::Defect("a".to_string())));
        let mailbox = Arc::new(Mailbox::default());
        follow(&b"{\"order\": \"hand_over\"}\n\xff\n"[..], &mailbox);
        assert!(mailbox.is_handed_over());
        let mailbox = Arc::new(Mailbox::default());
        follow(&b"{\"order\": \"quit\"}"[..], &mailbox);
        assert!(mailbox.is_over());
    }
}
