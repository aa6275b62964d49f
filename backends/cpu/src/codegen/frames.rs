//! Stack use of compiled code: the frames of its functions, summed along calls.
//!
//! A task counts as a callee of whoever launches it, though it may run on another thread: a parallel loop of one thread
//! is a loop of calls. What functions of the runtime take comes on top (`runtime::stack`).

use crate::error::CpuError;
use cranelift_module::FuncId;
use halide_ir::hash::Map;
use halide_ir::visit::deep;

/// The frame of a function.
pub(super) struct Frame {
    pub(super) id: FuncId,
    /// The loop that the function runs, or its own name.
    pub(super) name: String,
    /// Its size, from the return address to its end.
    pub(super) bytes: u64,
    /// The compiled functions that it calls.
    pub(super) calls: Vec<FuncId>,
}

/// The most stack below a function, and the largest frame on the way.
#[derive(Clone, Copy)]
struct Depth {
    bytes: u64,
    largest: usize,
}

/// Returns the bytes of stack of the deepest chain of calls.
///
/// # Errors
/// [`CpuError::Stack`] if that is more than `most`; functions that call themselves.
pub(super) fn deepest(frames: &[Frame], most: u64) -> Result<u64, CpuError> {
    let mut search = Search {
        frames,
        numbers: frames.iter().enumerate().map(|(i, frame)| (frame.id, i)).collect(),
        known: vec![None; frames.len()],
    };
    let mut bytes = 0;
    for i in 0..frames.len() {
        let depth = search.depth(i)?;
        bytes = bytes.max(depth.bytes);
        if depth.bytes > most {
            let Frame { name, bytes: frame, .. } = &frames[depth.largest];
            return Err(CpuError::Stack { function: name.clone(), frame: *frame, bytes: depth.bytes, most });
        }
    }
    Ok(bytes)
}

struct Search<'f> {
    frames: &'f [Frame],
    numbers: Map<FuncId, usize>,
    /// `Some(None)` while the callees of a function are looked at.
    known: Vec<Option<Option<Depth>>>,
}

impl Search<'_> {
    fn depth(&mut self, of: usize) -> Result<Depth, CpuError> {
        match self.known[of] {
            Some(Some(known)) => return Ok(known),
            Some(None) => return Err(CpuError::Program(format!("`{}` calls itself", self.frames[of].name))),
            None => self.known[of] = Some(None),
        }
        let frames = self.frames;
        let frame = &frames[of];
        let mut below: Option<Depth> = None;
        for id in &frame.calls {
            let Some(&callee) = self.numbers.get(id) else { continue };
            let depth = deep(|| self.depth(callee))?;
            below = Some(below.filter(|b| b.bytes >= depth.bytes).unwrap_or(depth));
        }
        let largest = below.map(|b| b.largest).filter(|l| frames[*l].bytes > frame.bytes).unwrap_or(of);
        let depth = Depth { bytes: frame.bytes + below.map_or(0, |b| b.bytes), largest };
        self.known[of] = Some(Some(depth));
        Ok(depth)
    }
}

#[cfg(test)]
mod tests {
    use crate::codegen::frames::*;

    /// Functions with these frames, each with the numbers of those that it calls.
    fn frames(all: &[(u64, &[u32])]) -> Vec<Frame> {
        let one = |(i, (bytes, calls)): (usize, &(u64, &[u32]))| Frame {
            id: FuncId::from_u32(i as u32),
            name: format!("f{i}"),
            bytes: *bytes,
            calls: calls.iter().map(|c| FuncId::from_u32(*c)).collect(),
        };
        all.iter().enumerate().map(one).collect()
    }

    #[test]
    fn the_deepest_chain_of_calls_counts() {
        let all = frames(&[(100, &[1, 2]), (50, &[3]), (300, &[]), (400, &[])]);
        assert_eq!(deepest(&all, 550).map_err(|e| e.to_string()), Ok(550));
        let refused = deepest(&all, 549).map_err(|e| e.to_string()).unwrap_err();
        assert_eq!(
            refused,
            "`f3` keeps 400 bytes of values on the stack, with what calls it 550, more than the 549 allowed"
        );
    }

    #[test]
    fn functions_that_call_themselves_are_refused() {
        let all = frames(&[(100, &[1]), (50, &[0])]);
        assert!(matches!(deepest(&all, u64::MAX), Err(CpuError::Program(_))));
    }
}
