//! Paths of the server: the page, its events, and reports.

/// A thing that a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Path {
    /// The page of rows.
    Page,
    /// The stream of events.
    Events,
    /// A report.
    Report(Wanted, Form),
}

/// The versions of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The newest that runs.
    Newest,
    /// The one with this number.
    One(u64),
    /// Two that are compared.
    Two(u64, u64),
}

/// The form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A page.
    Page,
    /// The data of a page, as JSON.
    Data,
}

impl Wanted {
    /// The path of the report in a form.
    pub(crate) fn path(self, form: Form) -> String {
        let end = match form {
            Form::Page => "",
            Form::Data => ".json",
        };
        match self {
            Wanted::Newest => format!("/report{end}"),
            Wanted::One(number) => format!("/report/{number}{end}"),
            Wanted::Two(a, b) => format!("/report/{a},{b}{end}"),
        }
    }
}

/// Reads a path; `None` where nothing is.
pub(super) fn read(path: &str) -> Option<Path> {
    match path {
        "/" => return Some(Path::Page),
        "/events" => return Some(Path::Events),
        _ => {}
    }
    let rest = path.strip_prefix("/report")?;
    let (rest, form) = match rest.strip_suffix(".json") {
        Some(rest) => (rest, Form::Data),
        None => (rest, Form::Page),
    };
    let wanted = match (rest, rest.strip_prefix('/')) {
        ("", _) => Wanted::Newest,
        (_, None) => return None,
        (_, Some(numbers)) => match numbers.split_once(',') {
            Some((a, b)) => Wanted::Two(number(a)?, number(b)?),
            None => Wanted::One(number(numbers)?),
        },
    };
    Some(Path::Report(wanted, form))
}

/// A number of digits alone, such as rows have.
fn number(text: &str) -> Option<u64> {
    let is_plain = text.bytes().all(|b| b.is_ascii_digit()) && !text.starts_with('0');
    text.parse().ok().filter(|_| is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_as_they_are_written() {
        assert_eq!((read("/"), read("/events")), (Some(Path::Page), Some(Path::Events)));
        for wanted in [Wanted::Newest, Wanted::One(3), Wanted::Two(3, 5), Wanted::Two(u64::MAX, 1)] {
            for form in [Form::Page, Form::Data] {
                assert_eq!(read(&wanted.path(form)), Some(Path::Report(wanted, form)));
            }
        }
        assert_eq!(Wanted::Two(3, 5).path(Form::Data), "/report/3,5.json");
    }

    #[test]
    fn nothing_is_at_other_paths() {
        for path in [
            "/report/",
            "/report/0",
            "/report/01",
            "/report/-1",
            "/report/+1",
            "/report/x",
            "/report/1,",
            "/report/1,2,3",
            "/report/1/",
            "/report/99999999999999999999",
            "/report.html",
            "/report.json.json",
            "/reports",
            "/report?1",
            "//report",
            "/events/",
            "",
        ] {
            assert_eq!(read(path), None, "{path}");
        }
    }
}
