//! A run as a GIF: fresh stores glow and fade, loads flash, and storage that was given back goes grey.

use super::canvas::{Place, Step};
use super::colour::{Colour, GLOW_STEPS, TIMES, TRANSPARENT, palette};
use super::error::OrderError;
use super::layout::{Layout, SCALE};
use super::raster::{Raster, Rect, text_height, text_width};
use super::replay::Replay;
use gif::{DisposalMethod, Encoder, EncodingError, Frame, Repeat};
use std::borrow::Cow;

/// The most frames with stores; longer runs show several steps in each.
pub const MOST_FRAMES: usize = 150;

/// The time of a frame, in hundredths of a second.
const DELAY: u16 = 9;

/// The time of the last frame, in hundredths of a second.
const LAST_DELAY: u16 = 250;

/// Draws the frames of a replay, all of one size: the empty canvases, then groups of steps, then the fading.
pub fn frames(replay: &Replay) -> Vec<Raster> {
    drawn(replay, None)
}

/// Draws the frames as [`frames`] does, below a title and a line that tells the step, the task and the loop.
pub fn titled_frames(replay: &Replay, title: &str) -> Vec<Raster> {
    drawn(replay, Some(title))
}

fn drawn(replay: &Replay, title: Option<&str>) -> Vec<Raster> {
    let layout = Layout::of(replay, title);
    let mut raster = layout.paper(replay);
    draw_legend(&mut raster, layout.legend(), layout.left_out());
    let [head, line] = layout.title();
    title.iter().for_each(|title| raster.text(head[0], head[1], title, SCALE, Colour::Ink));
    let mut states: Vec<Vec<State>> =
        replay.canvases.iter().map(|canvas| vec![State::default(); canvas.cells.len()]).collect();
    let mut all = vec![raster.clone()];
    let group = replay.steps.len().div_ceil(MOST_FRAMES).max(1);
    let fading = std::iter::repeat_n(&[] as &[Step], usize::from(GLOW_STEPS));
    let mut done = 0;
    for steps in replay.steps.chunks(group).chain(fading) {
        done += steps.len();
        if title.is_some() {
            draw_line(&mut raster, line, &told(replay, done));
        }
        states.iter_mut().flatten().for_each(State::fade);
        steps.iter().for_each(|step| apply(&mut states, step));
        for (canvas, cells) in states.iter_mut().enumerate() {
            for (cell, state) in cells.iter_mut().enumerate().filter(|(_, state)| state.has_changed) {
                if let Some(rect) = layout.inside(replay, canvas, cell) {
                    state.draw(&mut raster, rect);
                }
            }
        }
        all.push(raster.clone());
    }
    all
}

/// Encodes frames as an animation that repeats for ever.
///
/// # Errors
/// Frames that are larger than the format allows.
pub fn gif(frames: &[Raster]) -> Result<Vec<u8>, OrderError> {
    let failed = |message: String| OrderError::Encode { format: "GIF", message };
    let first = frames.first().ok_or(OrderError::Empty)?;
    let side = |n: usize| u16::try_from(n).map_err(|_| failed(format!("a side of {n} pixels is too long")));
    let (width, height) = (side(first.width())?, side(first.height())?);
    let mut bytes = Vec::new();
    let encode = |bytes: &mut Vec<u8>| -> Result<(), EncodingError> {
        let mut encoder = Encoder::new(bytes, width, height, &palette().concat())?;
        encoder.set_repeat(Repeat::Infinite)?;
        for (n, frame) in frames.iter().enumerate() {
            let before = n.checked_sub(1).map(|n| &frames[n]);
            let delay = if n + 1 == frames.len() { LAST_DELAY } else { DELAY };
            encoder.write_frame(&difference(before, frame, delay))?;
        }
        Ok(())
    };
    encode(&mut bytes).map_err(|error| failed(error.to_string()))?;
    Ok(bytes)
}

/// The state of a cell.
#[derive(Clone, Copy, Default)]
struct State {
    stores: u8,
    /// The age of the last store in frames, if it still glows.
    glow: Option<u8>,
    is_loaded: bool,
    is_freed: bool,
    has_changed: bool,
}

impl State {
    /// Goes on to the next frame.
    fn fade(&mut self) {
        self.has_changed = self.glow.is_some() || self.is_loaded;
        self.glow = self.glow.map(|age| age + 1).filter(|age| *age < GLOW_STEPS);
        self.is_loaded = false;
    }

    fn draw(&self, raster: &mut Raster, rect: Rect) {
        let colour = match (self.glow, self.is_freed, self.stores) {
            (Some(age), _, _) => Colour::Glow(age),
            (None, true, _) => Colour::Freed,
            (None, false, 0) => Colour::Empty,
            (None, false, stores) => Colour::Stored(stores),
        };
        raster.fill(rect, colour);
        if self.is_loaded {
            raster.frame(rect, (rect.width / 5).max(1), Colour::Load);
        }
    }
}

fn apply(states: &mut [Vec<State>], step: &Step) {
    let mut change = |place: &Place, f: fn(&mut State)| {
        let state = &mut states[place.canvas][place.cell];
        f(state);
        state.has_changed = true;
    };
    step.loads.iter().for_each(|place| change(place, |state| state.is_loaded = true));
    step.store.iter().for_each(|place| {
        change(place, |state| {
            *state = State { stores: (state.stores + 1).min(TIMES), glow: Some(0), is_freed: false, ..*state };
        });
    });
    step.ended.iter().for_each(|place| change(place, |state| (state.is_freed, state.glow) = (true, None)));
}

/// The part of a frame that differs from the one before it.
fn difference(before: Option<&Raster>, frame: &Raster, delay: u16) -> Frame<'static> {
    let old = |i: usize| before.map(|before| before.pixels()[i]);
    let width = frame.width();
    let changed = (0..frame.pixels().len()).filter(|i| old(*i) != Some(frame.pixels()[*i]));
    // A frame has at least one pixel.
    let (mut low, mut high, mut is_first) = ([0, 0], [0, 0], true);
    for at in changed.map(|i| [i % width, i / width]) {
        low = if is_first { at } else { [0, 1].map(|d| low[d].min(at[d])) };
        high = if is_first { at } else { [0, 1].map(|d| high[d].max(at[d])) };
        is_first = false;
    }
    let rows = (low[1]..=high[1]).flat_map(|y| (low[0]..=high[0]).map(move |x| y * width + x));
    let pixel = |i: usize| if old(i) == Some(frame.pixels()[i]) { TRANSPARENT } else { frame.pixels()[i] };
    let buffer: Vec<u8> = rows.map(pixel).collect();
    Frame {
        delay,
        dispose: DisposalMethod::Keep,
        transparent: Some(TRANSPARENT),
        left: low[0] as u16,
        top: low[1] as u16,
        width: (high[0] - low[0] + 1) as u16,
        height: (high[1] - low[1] + 1) as u16,
        buffer: Cow::Owned(buffer),
        ..Frame::default()
    }
}

/// The step that a run has come to, with its task and its loop.
fn told(replay: &Replay, done: usize) -> String {
    let mut text = format!("step {done} of {}", replay.steps.len());
    let Some(step) = done.checked_sub(1).and_then(|last| replay.steps.get(last)) else { return text };
    if step.task > 0 {
        text += &format!(", task {} of {}", step.task, replay.tasks);
    }
    if let Some(name) = step.within.and_then(|within| replay.loops.get(within)) {
        text += &format!(", in {name}");
    }
    text
}

/// Writes a line in place of the one that was there.
fn draw_line(raster: &mut Raster, [x, y]: [usize; 2], text: &str) {
    raster.fill(Rect { x, y, width: raster.width(), height: text_height(SCALE) }, Colour::Paper);
    raster.text(x, y, text, SCALE, Colour::Faint);
}

/// The meaning of the colours, and the number of canvases that are not shown.
fn draw_legend(raster: &mut Raster, [mut x, y]: [usize; 2], left_out: usize) {
    let side = text_height(SCALE);
    for (text, colour) in [("new", Colour::Glow(0)), ("kept", Colour::Stored(1)), ("freed", Colour::Freed)] {
        raster.fill(Rect { x, y, width: side, height: side }, colour);
        x = label(raster, [x + side, y], text);
    }
    raster.frame(Rect { x, y, width: side, height: side }, side / 5, Colour::Load);
    x = label(raster, [x + side, y], "load");
    if left_out > 0 {
        raster.text(x, y, &format!("and {left_out} more, of fewer points"), SCALE, Colour::Faint);
    }
}

/// Writes a word behind its mark, and returns the column where the next mark begins.
fn label(raster: &mut Raster, [x, y]: [usize; 2], text: &str) -> usize {
    let (before, behind) = (6, 16);
    raster.text(x + before, y, text, SCALE, Colour::Faint);
    x + before + text_width(text, SCALE) + behind
}
