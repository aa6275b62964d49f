//! Reports of versions, made when somebody asks and nothing is measured; the last few are kept.

use super::super::failure::Failure;
use super::super::report::compared::compared;
use super::super::report::figures::{Figures, figures};
use super::super::report::subject::{Made, Maker, Scheduled};
use super::history::{Fate, Found, History, Known};
use super::kept::Version;
use super::setting::Setting;
use crate::files;
use crate::serve::path::{Form, Wanted};
use serde_json::{Value, json};
use std::collections::VecDeque;

/// The most reports that are kept.
const MOST: usize = 4;

/// A reason that there is no report.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoReport {
    /// Something better to do came in between; it can be asked for again.
    Ended,
    /// There is none: why.
    Missing(String),
}

/// The rows so far, and the reports that were made of them.
#[derive(Default)]
pub(super) struct Reports {
    history: History,
    made: VecDeque<(u64, Value)>,
    /// The machine, once a report has asked for it: it may have to be measured.
    figures: Option<Option<Figures>>,
}

impl Reports {
    /// Adds a row, of which there may be a report.
    pub(super) fn add(&mut self, number: u64, fate: Fate) {
        self.history.add(number, fate);
    }

    /// The data of a report; `find` gives the code of a version by its schedule.
    ///
    /// # Errors
    /// There is no such version, or its code is not kept; a save came in between.
    pub(super) fn report(
        &mut self,
        wanted: Wanted,
        setting: &Setting<'_>,
        find: &mut dyn FnMut(&str) -> Option<Version>,
    ) -> Result<Value, NoReport> {
        let found = self.history.find(wanted).map_err(NoReport::Missing)?;
        let mut reports = Vec::new();
        for known in &found.versions {
            reports.push(self.of_version(known, setting, find)?);
        }
        let mut reports = reports.into_iter();
        let mut data = reports.next().unwrap_or_else(|| nothing(setting));
        if let Some(second) = reports.next() {
            data["compare"] = compared(&data, second);
        }
        data["live"] = live(wanted, &found, setting);
        Ok(data)
    }

    /// The data of the report on one version.
    fn of_version(
        &mut self,
        known: &Known,
        setting: &Setting<'_>,
        find: &mut dyn FnMut(&str) -> Option<Version>,
    ) -> Result<Value, NoReport> {
        if let Some((_, data)) = self.made.iter().find(|(number, _)| *number == known.number) {
            return Ok(data.clone());
        }
        let number = known.number;
        let version = find(&known.key).ok_or_else(|| {
            let text = "its code is not kept any more; save its schedule again";
            NoReport::Missing(format!("version {number} has no report: {text}"))
        })?;
        let file = files::shown(&setting.args.schedule);
        let name = format!("{file}, version {number}");
        if self.figures.is_none() {
            let found = figures(setting.common(), setting.args.backend, None);
            self.figures = Some(found.map_err(|Failure(text)| NoReport::Missing(text))?);
        }
        let maker = Maker {
            app: setting.app,
            job: setting.job,
            runner: setting.runner,
            common: setting.common(),
            figures: self.figures.as_ref().and_then(Option::as_ref),
            is_checked: false,
            has_source: true,
            is_quiet: true,
            cancel: Some(setting.mailbox.run()),
        };
        let (compiled, compile_ms) = (&version.compiled, version.compile_ms);
        let made = maker.made(&Scheduled { name: &name, file: &file, text: &known.text, compiled, compile_ms });
        let Made { data, .. } = made.map_err(|Failure(text)| match setting.mailbox.is_busy() {
            true => NoReport::Ended,
            false => NoReport::Missing(format!("version {number} has no report: {text}")),
        })?;
        self.made.push_back((number, data.clone()));
        if self.made.len() > MOST {
            self.made.pop_front();
        }
        Ok(data)
    }
}

/// The data of a report where nothing ran yet.
fn nothing(setting: &Setting<'_>) -> Value {
    let title = format!("{} \u{b7} {}", setting.job.app.name, files::shown(&setting.args.schedule));
    json!({"version": 1, "title": title, "facts": [["report", "no version ran yet"]]})
}

/// The part of the data that a page follows the watch by.
fn live(wanted: Wanted, found: &Found, setting: &Setting<'_>) -> Value {
    let versions: Vec<u64> = found.versions.iter().map(|known| known.number).collect();
    json!({
        "versions": versions,
        "of": files::shown(&setting.args.schedule),
        "follows": wanted == Wanted::Newest,
        "data": wanted.path(Form::Data),
        "notice": found.notice,
    })
}
