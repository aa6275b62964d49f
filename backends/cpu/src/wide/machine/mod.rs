//! Machine code for x86-64: instructions on virtual registers ([`inst`]), made fewer ([`clean`]), addresses that
//! share pointers where registers run out ([`strength_reduction`]), counters in the units of addresses
//! ([`scale_counters`]), tests moved out of loops ([`unswitch`]), short loops unrolled ([`unroll`]), registers chosen
//! ([`allocate`], with blocks in the order of [`block_order`]), moves made fewer ([`redundant_moves`],
//! [`propagate_copies`], and [`sink_stores`] and [`hoist_reloads`] out of [`inner_loops`]), the result checked in
//! debug builds ([`check`]), bytes ([`encode`]). Knows nothing of loops of programs or of lanes.

mod allocate;
mod block_order;
mod broadcast_loads;
mod check;
mod clean;
mod counted_loop;
mod definitions;
mod encode;
mod hoist_reloads;
mod inner_loops;
mod inst;
mod liveness;
mod local_values;
mod locations;
mod loop_copies;
#[cfg(test)]
mod loop_for_tests;
mod operands;
mod preheader;
mod propagate_copies;
mod redundant_moves;
mod rename;
mod scale_counters;
mod simple_loop;
mod sink_stores;
mod slice_loads;
mod strength_reduction;
mod unroll;
mod unswitch;
mod value;

pub(super) use encode::{ALIGN, Encoded};
pub(super) use inst::{Arg, Base, BlockId, Body, CapturedSum, Condition, End, Inst, Mem, Right, View};

/// Turns a function into bytes; what is wrong with it, if anything.
pub(super) fn finish(mut body: Body) -> Result<Encoded, String> {
    clean::clean(&mut body);
    if strength_reduction::reduce(&mut body) {
        clean::eliminate(&mut body);
    }
    if scale_counters::scale_counters(&mut body) {
        clean::eliminate(&mut body);
    }
    if unswitch::unswitch(&mut body) {
        clean::eliminate(&mut body);
    }
    let unrolled = unroll::unroll(&mut body);
    if !unrolled.is_empty() {
        clean::eliminate(&mut body);
    }
    let laid = allocate::Laid::new(&body);
    let mut output = allocate::allocate(&laid).map_err(|e| format!("choosing registers: {e:?}"))?;
    redundant_moves::remove(&laid, &mut output);
    propagate_copies::propagate(&laid, &mut output);
    sink_stores::sink(&laid, &mut output);
    if hoist_reloads::hoist(&laid, &mut output) {
        propagate_copies::propagate(&laid, &mut output);
    }
    redundant_moves::remove_unread(&mut output);
    if cfg!(debug_assertions) {
        check::check(&laid, &output);
    }
    let encoded = encode::encode(&laid, &output).map_err(|e| format!("encoding: {e}"))?;
    Ok(Encoded { unrolled, ..encoded })
}
