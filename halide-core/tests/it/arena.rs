//! Memory: expressions are freed, and only those that nobody can miss.

use halide_core::expr::*;
use halide_core::{Func, Param, Pipeline, RDom, Var, live_names, live_nodes, vars};

/// Makes garbage until the arena has certainly been swept, several times over.
fn churn() {
    let x = vars!(x);
    for i in 0..200_000 {
        let _ = x + i;
    }
}

fn on_its_own_thread(test: impl FnOnce() + Send) {
    std::thread::scope(|s| s.spawn(test).join().unwrap());
}

#[test]
fn long_names_that_nobody_uses_are_forgotten() {
    on_its_own_thread(|| {
        let kept = Var::new("a_variable_with_a_very_long_name");
        let mut f = Func::new("f");
        f[kept] = kept + 1;
        let idle = Var::new("another_variable_with_a_long_name");
        for i in 0..400_000 {
            let _ = Var::new(format!("a_variable_with_a_long_name_{i}"));
        }
        assert!(live_names() < 200_000, "{} names", live_names());
        assert_eq!(Var::new("a_variable_with_a_very_long_name"), kept);
        assert!(Pipeline::new([&f]).is_ok());
        let mut g = Func::new("g");
        g[vars!(x)] = idle.expr();
        let errors = Pipeline::new([&g]).unwrap_err();
        assert!(errors.to_string().contains("is used after it was freed"), "{errors}");
    });
}

#[test]
fn what_funcs_and_domains_hold_survives() {
    on_its_own_thread(|| {
        let x = vars!(x);
        let r = RDom::new([(1, Param::<i32>::new("n") + 2)]);
        r.where_(r.x.gt(3));
        let mut inner = Func::new("inner");
        inner[x] = x * 3;
        let mut f = Func::new("f");
        f[x] = inner[x] + 1;
        drop(inner);
        let last = &mut Func::new("last");
        last[x] = f[x] * 2;
        churn();
        f[x] += r.x;
        churn();
        let mut open = Func::new("open");
        open[x] = f[x - 1] + 5;
        churn();
        let text = Pipeline::new([&open]).unwrap().to_string();
        assert!(text.contains("inner(x) = x * 3\n"), "{text}");
        assert!(text.contains("r.x from 1 for n + 2 where r.x > 3\n"), "{text}");
        assert!(text.contains("open(x) = f(x - 1) + 5\n"), "{text}");
    });
}

#[test]
fn garbage_is_bounded_by_twice_what_is_kept() {
    on_its_own_thread(|| {
        let mut most = 0;
        let x = vars!(x);
        for i in 0..200_000 {
            let _ = x + i;
            most = most.max(live_nodes());
        }
        // What the youngest reach may be older.
        let few = (2 << 16) + 100;
        assert!(most <= few, "{most} nodes");
        // A large program, once dropped, leaves no large arena behind.
        let mut large = Func::new("large");
        let mut sum = x * 1;
        (0..100_000).for_each(|i| sum += i);
        large[x] = sum;
        churn();
        assert!(live_nodes() > 200_000, "{} nodes", live_nodes());
        drop(large);
        (0..3).for_each(|_| churn());
        assert!(live_nodes() <= few, "{} nodes", live_nodes());
    });
}

#[test]
fn handles_live_longer_in_large_programs() {
    on_its_own_thread(|| {
        let x = vars!(x);
        let mut large = Func::new("large");
        let mut sum = x * 1;
        (0..200_000).for_each(|i| sum += i);
        large[x] = sum;
        let held = x * 7;
        for i in 0..100_000 {
            let _ = x + i;
        }
        let mut f = Func::new("f");
        f[x] = held + large[x];
        assert!(Pipeline::new([&f]).is_ok());
    });
}

#[test]
fn an_open_left_side_keeps_its_value() {
    on_its_own_thread(|| {
        let x = vars!(x);
        let mut f = Func::new("f");
        let value = x * 7;
        f[x] = value;
        // Nothing looks at `f` meanwhile, so only the Func's slot knows the value.
        churn();
        churn();
        assert!(Pipeline::new([&f]).unwrap().to_string().contains("f(x) = x * 7\n"));
    });
}

#[test]
fn a_stale_expression_is_a_mistake_at_its_use() {
    on_its_own_thread(|| {
        let x = vars!(x);
        let old = x * 7;
        churn();
        let mut f = Func::new("f");
        let line = line!() + 1;
        f[x] = old + 1;
        let mut g = Func::new("g");
        g[x] = old;
        let errors = Pipeline::new([&f, &g]).unwrap_err();
        let lines: Vec<u32> = errors.0.iter().map(|e| e.at.line).collect();
        assert_eq!(lines, [line, line + 2], "{errors}");
        assert_eq!(
            errors.0[0].to_string(),
            format!(
                "halide-core/tests/it/arena.rs:{line}:16: an expression is used after it was freed: it is old, and no Func or RDom \
                 holds it\n  help: make it anew, or keep the Func or RDom that it belongs to"
            )
        );
    });
}

#[test]
fn names_are_kept_once_and_variables_never_go_stale() {
    on_its_own_thread(|| {
        let x = Var::new("x");
        churn();
        assert_eq!((x.name().as_str(), Var::new("x") == x), ("x", true));
        let mut f = Func::new("f");
        f[x] = x + 1;
        assert!(Pipeline::new([&f]).is_ok());
    });
}

#[test]
fn a_million_funcs_without_definitions_cost_nothing() {
    on_its_own_thread(|| {
        let before = live_nodes();
        for _ in 0..1_000_000 {
            Func::new("f");
        }
        assert_eq!(live_nodes(), before);
    });
}

#[test]
fn a_pipeline_may_go_to_other_threads_and_mistakes_too() {
    fn sendable<T: Send + Sync + 'static>() {}
    sendable::<Pipeline>();
    sendable::<halide_core::error::AlgorithmErrors>();
}
