"""Halide's autoschedulers on our Halide peers: what an app is with no schedule of ours.

The apps' `build` makes algorithm and schedule together, so directives do nothing while `without_schedules` is entered. The
autoschedulers need estimates of every size and parameter; they get the true ones.
"""

import contextlib
import time
from pathlib import Path

import halide as hl

# Name: plugin, its parameters.
AUTOSCHEDULERS = {
    "mullapudi2016": ("Mullapudi2016", {}),
    # One candidate at a time: the search for more takes minutes on the larger apps.
    "adams2019": ("Adams2019", {"beam_size": "1"}),
    "li2018": ("Li2018", {}),
}
_FUNC = """align_bounds align_extent align_storage allow_race_conditions always_partition always_partition_all atomic bound
bound_extent bound_storage clone_in compute_at compute_inline compute_root compute_with fold_storage fuse hoist_storage
hoist_storage_root in_ memoize never_partition never_partition_all parallel partition prefetch reorder reorder_storage serial
specialize split store_at store_in store_root tile unroll vectorize""".split()
_STAGE = """allow_race_conditions always_partition always_partition_all atomic compute_with fuse never_partition
never_partition_all parallel partition prefetch reorder rfactor serial specialize split tile unroll vectorize""".split()


@contextlib.contextmanager
def without_schedules():
    """Directives of Funcs and stages do nothing; parameters get their values as estimates."""
    kept = [(owner, name, getattr(owner, name)) for owner, names in ((hl.Func, _FUNC), (hl.Stage, _STAGE)) for name in names]
    param = hl.Param

    def estimated(kind, name, value):
        made = param(kind, name, value)
        made.set_estimate(value)
        return made

    try:
        for owner, name, _ in kept:
            setattr(owner, name, lambda self, *args, **more: self)
        hl.Param = estimated
        yield
    finally:
        hl.Param = param
        for owner, name, directive in kept:
            setattr(owner, name, directive)


def ranges(shape):
    """`shape` has the slowest dimension first."""
    return [hl.Range(0, n) for n in reversed(shape)]


def build(app, name, target, width, height, threads):
    """The app as the autoscheduler has it: (output Func, its ImageParams, milliseconds that it thought)."""
    plugin, params = AUTOSCHEDULERS[name]
    hl.load_plugin(str(Path(hl.__file__).parent / "lib64" / f"libautoschedule_{name}.so"))
    with without_schedules():
        func, images = app.build(app.schedules[0], target)
    for image, (_, _, shape, _) in zip(images, app.inputs(width, height)):
        image.set_estimates(ranges(shape))
    func.set_estimates(ranges(app.output(width, height)[1]))
    start = time.perf_counter()
    params = params | {"parallelism": str(threads)}
    hl.Pipeline(func).apply_autoscheduler(target, hl.AutoschedulerParams(plugin, params))
    return func, images, (time.perf_counter() - start) * 1e3
