"""The Markdown of a benchmark: the machine, and one table a scenario."""

import datetime
import json
import os
import platform
import statistics
import subprocess


def seconds(value):
    for limit, factor, unit in ((0.1, 1000, "ms"), (float("inf"), 1, "s")):
        if value < limit:
            scaled = value * factor
            return f"{scaled:.2f} {unit}" if scaled < 10 else f"{scaled:.1f} {unit}"
    return f"{value} s"


def size(value):
    for limit, factor, unit in ((1_000_000, 1000, "kB"), (1_000_000_000, 1_000_000, "MB"), (float("inf"), 1_000_000_000, "GB")):
        if value < limit:
            return f"{value / factor:.1f} {unit}"
    return f"{value} bytes"


def spread(values, form):
    return f"{form(statistics.median(values))} ({form(min(values))}–{form(max(values))})"


def ratio(value):
    return f"{value:.2f} ×"


def goal_text(result, goal, results):
    value, good = result.reached(goal, results)
    form = ratio if goal.of else size if goal.quantity == "memory" else seconds
    quantity = {"wall": "wall", "cpu": "CPU", "memory": "memory"}[goal.quantity]
    beside = "" if not goal.of else " beside its peer" if goal.of == result.contestant.peer else f" beside {goal.of}"
    what = ("best " if goal.best else "") + quantity + beside
    return f"{what} ≤ {form(goal.limit)}: {'reached' if good else f'missed ({form(value)})'}"


def table(results):
    lines = ["| command | wall | CPU | peak memory | wall beside its peer | CPU beside its peer | goal |"]
    lines.append("|" + " --- |" * 7)
    for result in results.values():
        contestant = result.contestant
        peer = results.get(contestant.peer)
        cells = [contestant.name, spread(result.wall, seconds), spread(result.cpu, seconds), size(result.memory)]
        cells += [spread(result.ratios(quantity, peer), ratio) if peer else "" for quantity in ("wall", "cpu")]
        cells.append("; ".join(goal_text(result, goal, results) for goal in contestant.goals))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def output_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL).stdout.strip()
    except FileNotFoundError:
        return ""


def first_value(path, name):
    """Of a file of lines `name: value`."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            key, _, value = line.partition(":")
            if key.strip() == name:
                return value.strip()
    return "unknown"


def os_name():
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    except OSError:
        return platform.system()


def machine(root, python):
    commit = output_of("git", "-C", root, "rev-parse", "--short=12", "HEAD") or "unknown"
    if output_of("git", "-C", root, "status", "--porcelain", "--untracked-files=no"):
        commit += " with changes"
    flags = first_value("/proc/cpuinfo", "flags").split()
    wanted = [name for name in ("sha_ni", "avx2", "avx512f") if name in flags]
    memory = int(first_value("/proc/meminfo", "MemTotal").split()[0]) * 1024
    swift = output_of("swift", "--version").splitlines()
    tuf = output_of(python, "-c", "import tuf; print(tuf.__version__)") or "absent"
    fsverity = output_of("fsverity", "--version").replace(" v", " ")
    coreutils = " ".join(output_of("sha256sum", "--version").split()[:4:3]) or "no sha256sum"
    b3sum = output_of("b3sum", "--version") or "no b3sum"
    signing = output_of(
        os.path.join(root, ".build", "benchmark-peers", "bin", "python3"), "-c",
        "import importlib.metadata; print(importlib.metadata.version('model-signing'))")
    model_signing = f"model_signing {signing}" if signing else "no model_signing"
    openssl = " ".join(output_of("openssl", "version").split()[:2])
    lines = [
        ("date", datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")),
        ("commit", commit),
        ("CPU", f"{first_value('/proc/cpuinfo', 'model name')}, {os.cpu_count()} cores ({', '.join(wanted)})"),
        ("memory", size(memory)),
        ("system", f"{os_name()}, Linux {platform.release()}"),
        ("compiler", next((line for line in swift if "Swift version" in line), "unknown").strip()),
        ("peers", ", ".join((openssl, fsverity, coreutils, b3sum, model_signing, f"python-tuf {tuf}", output_of(python, "--version")))),
        ("average load before", f"{os.getloadavg()[0]:.1f}"),
    ]
    return "\n".join(["| | |", "| --- | --- |"] + [f"| {name} | {value} |" for name, value in lines])


INTRODUCTION = """# Speed and memory, beside the peers
What `make benchmark` measured on one machine; `Benchmarks/run --write` wrote this page. In each table every command ran once to warm the
page cache, which is also when its peak memory was taken, and then all of them in turn. Given are the median and, in brackets, the least and
the greatest. A ratio is formed run by run, the command's value divided by its peer's: below 1 is less than the peer needs. CPU is user and
system time of all of a command's processes. Commands that write do so to a real file system, and wait for the disk where they promise to
survive a crash.
"""


# Run by the Python that has matplotlib: bars of the medians, one picture a scenario, all in one file.
_PLOT = r"""
import json, sys
import matplotlib
matplotlib.use("svg")
import matplotlib.pyplot as plt
matplotlib.rcParams["svg.hashsalt"] = "signed-manifest"
scenarios = json.load(sys.stdin)
figure, axes = plt.subplots(len(scenarios), 1, figsize=(9, sum(1.1 + 0.34 * len(rows) for _, rows in scenarios)), squeeze=False,
                            height_ratios=[1 + len(rows) * 0.34 for _, rows in scenarios])
for (title, rows), axis in zip(scenarios, axes[:, 0]):
    places = range(len(rows))
    colours = ["#2a6fbb" if row["ours"] else "#9a9a9a" for row in rows]
    axis.barh(places, [row["wall"] for row in rows], height=0.6, color=colours, label="wall time")
    axis.plot([row["cpu"] for row in rows], places, "k|", markersize=9, label="CPU time")
    axis.set_yticks(list(places), [row["name"].replace("$", "") for row in rows], fontsize=8)
    axis.invert_yaxis()
    axis.set_title(title + " (seconds; bars: wall time, ours blue; marks: CPU time)", fontsize=9, loc="left")
    axis.tick_params(axis="x", labelsize=8)
figure.tight_layout()
figure.savefig(sys.argv[1], metadata={"Date": None})
"""


def plot(measured, environment, path):
    """Draws the medians as an SVG. Returns whether it could: matplotlib may not be installed."""
    scenarios = []
    for title, results in measured.values():
        rows = [
            {
                "name": result.contestant.name.replace("\\|", "|"), "ours": result.contestant.name.startswith("manifest-"),
                "wall": statistics.median(result.wall), "cpu": statistics.median(result.cpu),
            }
            for result in results.values()
        ]
        scenarios.append((title, rows))
    python = os.path.join(environment, "bin", "python3")
    if not os.access(python, os.X_OK):
        return False
    return subprocess.run([python, "-c", _PLOT, path], input=json.dumps(scenarios), text=True).returncode == 0
