//! Memory of a process that builds and drops pipelines for ever. Alone in its process, whose memory it measures.

use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Param, Pipeline, RDom, Var, live_names, live_nodes};
use halide_skips::{Need, skip};

#[test]
fn pipelines_with_everything_built_for_ever_do_not_grow_memory() {
    let (mut most_nodes, mut most_names, mut before) = (0, 0, None);
    // The first half fills the arena to where it is swept.
    for i in 0..20_000 {
        // Every name is new, and some are long.
        let input = ImageParam::new(&format!("input{i}"), U8, 2);
        let gain = Param::<f32>::new(&format!("the_gain_of_this_pipeline_{i}"));
        let (x, y) = (Var::new(format!("x{i}")), Var::new(format!("a_vertical_coordinate_{i}")));
        let r = RDom::named(&format!("domain{i}"), [(0, 3), (0, 3)]);
        r.where_(r.x.ne(r.y));
        let mut f = Func::new(format!("f{i}"));
        f[(x, y)] = halide_core::reduce::sum(input[(x + r.x, y + r.y)].cast(F32) * gain);
        let mut hist = Func::new("hist");
        hist[halide_core::boundary::repeat_edge(&input)[(r.x, r.y)]] += 1;
        let mut g = Func::new("g");
        g[(x, y)] = f[(x, y)] + hist[i % 256];
        assert_eq!(Pipeline::new([&g]).unwrap().funcs.len(), 5);
        // A Func that is read by itself, and one that is never frozen.
        let mut lone = Func::new("lone");
        lone[x] = x + 0;
        lone[r.x] = lone[r.x - 1] + 1;
        (most_nodes, most_names) = (most_nodes.max(live_nodes()), most_names.max(live_names()));
        if i == 10_000 {
            before = resident_bytes();
        }
    }
    assert!(most_nodes < 650_000, "{most_nodes} nodes alive");
    assert!(most_names < 50_000, "{most_names} names alive");
    // Seen: 100 MB after 10,000 pipelines, 1 MB more after 20,000.
    let (Some(before), Some(after)) = (before, resident_bytes()) else {
        return skip(Need::File(STATM), "memory that is not of nodes and names");
    };
    let grown = after.saturating_sub(before);
    assert!(grown < 8 << 20, "grew by {grown} bytes over the last 10000 pipelines");
}

/// The file of Linux that says how many pages a process has.
const STATM: &str = "/proc/self/statm";

/// The memory that the process has; `None` where the system does not tell in this way.
fn resident_bytes() -> Option<usize> {
    let pages = std::fs::read_to_string(STATM).ok()?;
    Some(pages.split_whitespace().nth(1)?.parse::<usize>().ok()? * 4096)
}
