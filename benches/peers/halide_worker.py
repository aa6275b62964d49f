"""Runs one app in Halide in a process of its own (the thread count and the target are per process).

Reads one JSON command per line on stdin, answers one JSON object per line on stdout:
  {"do": "compile", app, schedule, target, width, height, seed, auto, threads}
      -> {"first_ms", "next_ms", "peak_mb", "autoscheduler_ms"}, or {"failed": why} where an autoscheduler does
  {"do": "run", "runs": N}                                        -> {"ms": [...]}
  {"do": "write", "path", "strict"}                               -> {}
  {"do": "save", "path"}                                          -> {"kind"}
"""

import json
import os
import re
import sys
import tempfile
import time

import halide as hl

import data
import halide_apps
import halide_auto
import halide_untuned


def target_named(name):
    return hl.get_host_target() if name == "host" else hl.Target(name)


class Session:
    def compile(self, app, schedule, target, width, height, seed, auto, threads):
        """`auto` names the autoscheduler that takes the place of `schedule`; it is asked once, as it takes its time."""
        self.app, self.target = (halide_apps.APPS | halide_untuned.APPS)[app], target_named(target)
        self.inputs = [
            data.aligned(shape, data.random(seed + number, kind, shape, white), kind)
            for number, (_, kind, shape, white) in enumerate(self.app.inputs(width, height))
        ]
        kind, shape, self.white = self.app.output(width, height)
        self.output = data.dense(shape, kind) if getattr(self.app, "dense", False) else data.aligned(shape, kind=kind)
        self.out = hl.Buffer(self.output, "output")
        times, thought = [], None
        if auto:
            try:
                self.func, self.images, thought = halide_auto.build(self.app, auto, self.target, width, height, threads)
                times.append(self.timed_compile())
            except hl.HalideError as error:
                return {"failed": " ".join(str(error).split())}
        else:
            self.build = lambda target: self.app.build(schedule, target)
            for _ in range(3):
                self.func, self.images = self.build(self.target)
                times.append(self.timed_compile())
        self.give(self.images)
        peak = None if auto else self.peak_mb()
        next_ms = min(times[1:], default=times[0])
        return {"first_ms": times[0], "next_ms": next_ms, "peak_mb": peak, "autoscheduler_ms": thought}

    def timed_compile(self):
        start = time.perf_counter()
        self.func.compile_jit(self.target)
        return (time.perf_counter() - start) * 1e3

    def give(self, images):
        for image, values in zip(images, self.inputs):
            image.set(hl.Buffer(values, image.name()))

    def peak_mb(self):
        """Peak of the pipeline's own heap in MB, as Halide's profiler counts it, from one run of an instrumented build."""
        target = self.target.with_feature(hl.TargetFeature.Profile)
        func, images = self.build(target)
        self.give(images)
        with tempfile.TemporaryFile() as report:
            sys.stdout.flush()
            kept = os.dup(1)
            os.dup2(report.fileno(), 1)
            try:
                func.realize(self.out, target)
            finally:
                os.dup2(kept, 1)
                os.close(kept)
            report.seek(0)
            found = re.search(r"peak heap usage: (\d+)", report.read().decode())
        return int(found[1]) / 1e6 if found else None

    def run(self, runs):
        times = []
        for _ in range(runs):
            start = time.perf_counter()
            self.func.realize(self.out, self.target)
            times.append((time.perf_counter() - start) * 1e3)
        return {"ms": times}

    def save(self, path):
        """Writes the output's elements as they are, the first dimension fastest, and says of what type they are."""
        self.output.tofile(path)
        return {"kind": str(self.output.dtype)}

    def write(self, path, strict):
        """Writes the output; with `strict`, that of a build without fast math, which may not reorder or fold floats."""
        output = self.output
        if strict:
            target = self.target.with_feature(hl.TargetFeature.StrictFloat)
            func, images = self.build(target)
            self.give(images)
            output = data.aligned(output.shape, kind=output.dtype)
            func.realize(hl.Buffer(output, "output"), target)
        data.write_pnm(path, data.sixteen_bits(output, self.white))
        return {}


def main():
    session = Session()
    # Halide prints warnings to stdout: they go to stderr.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        command = json.loads(line)
        answer = getattr(session, command.pop("do"))(**command)
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
