"""Runs commands in turn and measures each run: wall time, CPU time of the whole process tree, and peak memory."""

import dataclasses
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time


@dataclasses.dataclass
class Goal:
    """What a contestant should reach, held against its median (or its best run): at most `limit`, or `limit` times another's."""

    quantity: str  # wall, cpu (seconds) or memory (bytes)
    limit: float
    of: str = None  # the name of that other
    best: bool = False


@dataclasses.dataclass
class Contestant:
    """One command line. Those of ours name the contestant that they are compared with, run by run."""

    name: str
    command: list
    peer: str = None
    goals: list = dataclasses.field(default_factory=list)
    prepare: callable = None  # before each run, not measured


@dataclasses.dataclass
class Result:
    contestant: Contestant
    wall: list = dataclasses.field(default_factory=list)
    cpu: list = dataclasses.field(default_factory=list)
    memory: int = 0

    def values(self, quantity):
        return {"wall": self.wall, "cpu": self.cpu, "memory": [self.memory]}[quantity]

    def ratios(self, quantity, peer):
        """Run by run, so that what slows the machine for a while slows both sides of a ratio."""
        return [ours / theirs for ours, theirs in zip(self.values(quantity), peer.values(quantity)) if theirs > 0]

    def reached(self, goal, results):
        """The value that a goal speaks of, and whether it is good enough."""
        values = self.ratios(goal.quantity, results[goal.of]) if goal.of else self.values(goal.quantity)
        value = min(values) if goal.best else statistics.median(values)
        return value, value <= goal.limit


def spawn(command, output):
    """Runs a command to its end; its exit code has to be 0."""
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, output.fileno(), 1),
        (os.POSIX_SPAWN_DUP2, output.fileno(), 2),
    ]
    begin = time.perf_counter()
    process = os.posix_spawnp(command[0], command, os.environ, file_actions=actions)
    _, status, usage = os.wait4(process, 0)
    wall = time.perf_counter() - begin
    if status != 0:
        output.seek(0)
        text = output.read()[-2000:].decode(errors="replace")
        sys.exit(f"benchmark: {' '.join(command)}: exit code {os.waitstatus_to_exitcode(status)}\n{text}")
    return wall, usage.ru_utime + usage.ru_stime


def run_once(contestant):
    if contestant.prepare:
        contestant.prepare()
    with tempfile.TemporaryFile() as output:
        return spawn(contestant.command, output)


def peak_memory(contestant):
    """In bytes. A child's record begins with what its parent occupied, so that a small parent is needed, and Python is none."""
    if contestant.prepare:
        contestant.prepare()
    with tempfile.NamedTemporaryFile() as report, tempfile.TemporaryFile() as output:
        spawn([shutil.which("time"), "-f", "%M", "-o", report.name, *contestant.command], output)
        return int(report.read().split()[-1]) * 1024


def measure(contestants, runs):
    """Each once to warm the page cache and to measure memory, then all in turn, `runs` times."""
    results = {contestant.name: Result(contestant) for contestant in contestants}
    for result in results.values():
        result.memory = peak_memory(result.contestant)
    for _ in range(runs):
        for result in results.values():
            wall, cpu = run_once(result.contestant)
            result.wall.append(wall)
            result.cpu.append(cpu)
    return results


def run_quietly(*command):
    """A step of the preparation."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"benchmark: {' '.join(command)}: exit code {done.returncode}\n{done.stderr[-2000:].decode(errors='replace')}")
    return done.stdout.decode()
