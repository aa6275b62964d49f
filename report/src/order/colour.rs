//! Colours of pictures, as indices of one palette.

/// The steps of the gradient from the first store to the last one.
pub const ORDER_STEPS: u8 = 32;

/// The steps in which a fresh store fades.
pub const GLOW_STEPS: u8 = 6;

/// The largest number of computations of a point that has a colour of its own.
pub const TIMES: u8 = 3;

/// A colour of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// The background.
    Paper,
    /// Letters and digits.
    Ink,
    /// Letters of less weight.
    Faint,
    /// The lines of a grid.
    Grid,
    /// A point without a value.
    Empty,
    /// A point whose storage was given back.
    Freed,
    /// The mark of a load.
    Load,
    /// A point that holds a value, by the times that it was computed: 1 to [`TIMES`].
    Stored(u8),
    /// A fresh store, from 0 (new) up to below [`GLOW_STEPS`].
    Glow(u8),
    /// The place in the order of stores, from 0 up to below [`ORDER_STEPS`].
    Order(u8),
}

/// The colours that are no steps of a gradient, in the order of their indices.
const PLAIN: [[u8; 3]; 10] = [
    [255, 255, 255],
    [32, 36, 44],
    [120, 126, 138],
    [208, 212, 220],
    [244, 245, 248],
    [196, 198, 202],
    [40, 92, 220],
    [122, 196, 176],
    [66, 148, 140],
    [28, 100, 104],
];

/// The ends of the gradient of fresh stores.
const GLOW: [[u8; 3]; 2] = [[255, 94, 20], [226, 190, 130]];

/// Colours of the gradient of the order, which grows lighter all along, so that it reads in grey, too.
const ORDER: [[u8; 3]; 5] = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

impl Colour {
    /// Returns the index in [`palette`]. Steps beyond the last one are the last one.
    pub fn index(self) -> u8 {
        let glow = PLAIN.len() as u8;
        match self {
            Colour::Paper => 0,
            Colour::Ink => 1,
            Colour::Faint => 2,
            Colour::Grid => 3,
            Colour::Empty => 4,
            Colour::Freed => 5,
            Colour::Load => 6,
            Colour::Stored(times) => 6 + times.clamp(1, TIMES),
            Colour::Glow(step) => glow + step.min(GLOW_STEPS - 1),
            Colour::Order(step) => glow + GLOW_STEPS + step.min(ORDER_STEPS - 1),
        }
    }

    /// Returns true if light letters are legible on it.
    pub fn is_dark(self) -> bool {
        match self {
            Colour::Ink | Colour::Load => true,
            Colour::Stored(times) => times >= TIMES,
            Colour::Order(step) => step < ORDER_STEPS / 2,
            _ => false,
        }
    }
}

/// The index of no colour: what is transparent in a frame of an animation.
pub const TRANSPARENT: u8 = PLAIN.len() as u8 + GLOW_STEPS + ORDER_STEPS;

/// Returns the colours by index, the transparent one last.
pub fn palette() -> Vec<[u8; 3]> {
    let mut all = PLAIN.to_vec();
    all.extend((0..GLOW_STEPS).map(|step| between(&GLOW, step, GLOW_STEPS)));
    all.extend((0..ORDER_STEPS).map(|step| between(&ORDER, step, ORDER_STEPS)));
    all.push([0, 0, 0]);
    all
}

/// The colour of a step of a gradient through `anchors`.
fn between(anchors: &[[u8; 3]], step: u8, steps: u8) -> [u8; 3] {
    let (last, parts) = (usize::from(steps) - 1, anchors.len() - 1);
    let along = usize::from(step) * parts;
    let (from, rest) = ((along / last).min(parts - 1), along - (along / last).min(parts - 1) * last);
    [0, 1, 2].map(|c| {
        let (a, b) = (usize::from(anchors[from][c]), usize::from(anchors[from + 1][c]));
        ((a * (last - rest) + b * rest) / last) as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_colour_has_an_index_of_its_own() {
        let colours = palette();
        assert_eq!(colours.len(), usize::from(TRANSPARENT) + 1);
        assert_eq!(colours[usize::from(Colour::Order(0).index())], ORDER[0]);
        assert_eq!(colours[usize::from(Colour::Order(ORDER_STEPS).index())], ORDER[4]);
        assert_eq!(colours[usize::from(Colour::Glow(0).index())], GLOW[0]);
        assert_eq!(colours[usize::from(Colour::Stored(TIMES).index())], PLAIN[9]);
    }
}
