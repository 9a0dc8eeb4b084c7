"""Counts the bytecodes that each function below one folder executes, and writes them when the process ends."""

import atexit
import dis
import filecmp
import functools
import glob
import importlib.machinery
import importlib.util
import json
import os
import signal
import sys
import threading
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.environ.get("WIREBENCH_COUNT_OUT")
ROOT = os.environ.get("WIREBENCH_COUNT_ROOT", "") + os.sep
OTHERS = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)

# Of each code object, by its identity: itself, so that it lives on; its calls; its bytecodes.
counts = {}


@functools.cache
def installed_from(packages):
    """The folders from which pip or uv installed what this folder has a copy of (PEP 610)."""
    folders = []
    for record in glob.glob(os.path.join(glob.escape(packages), "*.dist-info", "direct_url.json")):
        with open(record) as file:
            url = urllib.parse.urlparse(json.load(file).get("url", ""))
        if url.scheme == "file":
            folder = urllib.parse.unquote(url.path)
            folders += [folder, os.path.join(folder, "src")]
    return folders


@functools.cache
def source(path):
    """The file of the project that this one is, or is an equal copy of; None for others' code."""
    for other in OTHERS:
        packages, found, inside = path.rpartition(other)
        if found:
            originals = (os.path.join(folder, inside) for folder in installed_from(packages + other))
            own = (one for one in originals if one.startswith(ROOT) and os.path.isfile(one))
            return next((one for one in own if filecmp.cmp(one, path, shallow=False)), None)
    return path if path.startswith(ROOT) else None


def is_own(code):
    return source(code.co_filename) is not None


def monitor():
    monitoring = sys.monitoring
    tool, events = 4, monitoring.events

    def started(code, offset):
        if not is_own(code):
            return monitoring.DISABLE
        if id(code) not in counts:
            counts[id(code)] = [code, 0, 0]
            monitoring.set_local_events(tool, code, events.INSTRUCTION)
        counts[id(code)][1] += 1

    def executed(code, offset):
        counts[id(code)][2] += 1

    monitoring.use_tool_id(tool, "wirebench")
    monitoring.register_callback(tool, events.PY_START, started)
    monitoring.register_callback(tool, events.INSTRUCTION, executed)
    monitoring.set_events(tool, events.PY_START)


def trace():
    def called(frame, event, argument):
        code = frame.f_code
        if event != "call" or not is_own(code):
            return None
        count = counts.setdefault(id(code), [code, 0, 0])
        # A generator or coroutine that goes on is no call.
        count[1] += frame.f_lasti < 4
        frame.f_trace_opcodes, frame.f_trace_lines = True, False

        def executed(frame, event, argument):
            if event == "opcode":
                count[2] += 1
            return executed

        return executed

    sys.settrace(called)
    threading.settrace(called)


def write():
    functions = [
        {
            "name": getattr(code, "co_qualname", code.co_name),
            "file": source(code.co_filename),
            "line": code.co_firstlineno,
            "last": max((line for _, line in dis.findlinestarts(code) if line), default=code.co_firstlineno),
            "count": count,
            "calls": calls,
        }
        for code, calls, count in list(counts.values())
    ]
    with open(os.path.join(OUT, "%d.json" % os.getpid()), "w") as file:
        json.dump(functions, file)


def run_theirs():
    """Runs the sitecustomize that this one hides."""
    paths = [path for path in sys.path if os.path.abspath(path) != HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", paths)
    if spec is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


if OUT:
    # A process that a signal ends writes nothing. A server that handles SIGTERM itself replaces this.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    atexit.register(write)
    if hasattr(sys, "monitoring"):
        monitor()
    else:
        trace()
run_theirs()
