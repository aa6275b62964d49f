"""What `run.py` measured, as text."""

import math


def show(rows, pairs):
    """One table for one app and thread count; ratios are of our time to Halide's with the paired schedule."""
    by_key = {(r["engine"], r["schedule"]): r for r in rows}
    print(f"\n{rows[0]['app']} {rows[0]['size'][0]}x{rows[0]['size'][1]}, {rows[0]['threads']} thread(s)")
    head = f"  {'engine':22}{'schedule':14}{'min ms':>9}{'median':>9}{'compile ms':>12}{'peak MB':>9}"
    print(head + "   ours/this: min, median, compile")
    partner = {theirs: mine for mine, theirs in pairs}
    for row in rows:
        peak = "-" if row.get("peak_mb") is None else "%.1f" % row["peak_mb"]
        line = f"  {row['engine']:22}{row['schedule']:14}{row['min_ms']:9.2f}{row['median_ms']:9.2f}"
        line += f"{row['compile_ms']:12.1f}{peak:>9}"
        mine = by_key.get(("ours", partner.get(row["schedule"])))
        if row["engine"] != "ours" and mine:
            ratio = {k: mine[k] / row[k] for k in ("min_ms", "median_ms", "compile_ms")}
            row["ours_over_this"] = ratio
            line += f"   {ratio['min_ms']:.2f}  {ratio['median_ms']:.2f}  {ratio['compile_ms']:.4f}"
        elif "agrees" in row:
            strict, fast = row["strict"], row["fast_math"]
            line += "   agrees" if row["agrees"] else "   DOES NOT AGREE"
            line += f": differs by {strict['largest']} at most, on {strict['share']:.3%} of values"
            line += f" (fast math: {fast['largest']}, {fast['share']:.3%}, {fast['share_beyond']:.4%} beyond tolerance)"
        print(line)
    best = {}
    for row in rows:
        best[row["engine"]] = min(best.get(row["engine"], row), row, key=lambda r: r["min_ms"])
    for engine, row in best.items():
        if engine != "ours" and "ours" in best:
            ratio = best["ours"]["min_ms"] / row["min_ms"]
            print(f"  best of ours ({best['ours']['schedule']}) / best of {engine} ({row['schedule']}): {ratio:.2f}")


def best(rows, app, threads, engines):
    """The fastest row of an app among some engines, or None."""
    found = [r for r in rows if r.get("app") == app and r["threads"] == threads and engines(r)]
    return min(found, key=lambda r: r["min_ms"], default=None)


def mean(ratios):
    ratios = [r for r in ratios if r]
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def two(number):
    return "-" if number is None else f"{number:.2f}"


def summary(rows):
    """Markdown: one line per app, ours beside the best of Halide's targets with our Halide schedules, and beside its
    autoschedulers; then one per kernel beside what is no Halide."""
    apps = list(dict.fromkeys(r["app"] for r in rows if "app" in r))
    text = []
    for threads in dict.fromkeys(r["threads"] for r in rows if "app" in r):
        text += [f"### {threads} thread(s): ours / Halide", ""]
        text += ["| app | ours ms | Halide ms | min | median | autoscheduled ms | min | compile ms | later | first |"]
        text += ["|---|---|---|---|---|---|---|---|---|---|"]
        columns = [[], [], [], [], []]
        for app in apps:
            ours = best(rows, app, threads, lambda r: r["engine"] == "ours")
            hand = best(rows, app, threads, lambda r: r["engine"] != "ours" and r["schedule"] != "auto")
            auto = best(rows, app, threads, lambda r: r["schedule"] == "auto")
            if not ours or not hand:
                continue
            # Both for the first time in a process, and both again.
            built = [r for r in rows if r.get("app") == app and r["threads"] == threads and r.get("first_compile_ms")]
            built = [r for r in built if r["engine"] != "ours" and r["schedule"] == hand["schedule"]]
            ratios = [
                ours["min_ms"] / hand["min_ms"],
                ours["median_ms"] / hand["median_ms"],
                ours["min_ms"] / auto["min_ms"] if auto else None,
                ours["compile_ms"] / min(r["compile_ms"] for r in built),
                ours["first_compile_ms"] / min(r["first_compile_ms"] for r in built),
            ]
            for column, ratio in zip(columns, ratios):
                column.append(ratio)
            least, median, other, later, first = ratios
            where = f"{hand['min_ms']:.2f} ({hand['engine'].removeprefix('halide-')})"
            found = f"{auto['min_ms']:.2f} ({auto['engine'].removeprefix('halide-')})" if auto else "-"
            text.append(
                f"| {app} | {ours['min_ms']:.2f} | {where} | {least:.2f} | {median:.2f} | {found} | {two(other)} "
                f"| {ours['compile_ms']:.0f} | 1/{1 / later:.1f} | 1/{1 / first:.1f} |"
            )
        least, median, other, later, first = map(mean, columns)
        if least:
            text.append(
                f"| geometric mean | | | {least:.2f} | {median:.2f} | | {two(other)} | | 1/{1 / later:.1f} | 1/{1 / first:.1f} |"
            )
        text.append("")
    beside = [r for r in rows if "kernel" in r and "ours_over_this" in r]
    if beside:
        text += ["### Ours / other libraries", "", "| kernel | size | threads | peer | min | median | the peer |"]
        text += ["|---|---|---|---|---|---|---|"]
        for r in beside:
            size = "x".join(map(str, r["size"]))
            ratio = r["ours_over_this"]
            line = f"| {r['kernel']} | {size} | {r['threads']} | {r['engine']} "
            text.append(line + f"| {ratio['min_ms']:.2f} | {ratio['median_ms']:.2f} | {r['differs']} |")
    return "\n".join(text)
