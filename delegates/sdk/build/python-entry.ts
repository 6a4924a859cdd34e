// The Python module around the author's: it exports the verbs, gives print() to the log, and reports an exception with its places.

/** The verbs with their names in Python, where `del` is a keyword. */
const verbs = ["add", "del_", "check", "gc", "status"] as const;

/** The author's module, without `.py`. */
export const authorModule = "delegate";

/** The name of the module that componentize-py loads. */
export const entryModule = "plexus_entry";

/**
 * The module's text. `logs`: the delegate declares the capability `log`. The traceback is made here: Python's own module for it reads source
 * files, and a component has none.
 */
export function entryText(logs: boolean): string {
  const write = logs
    ? `from wit_world.imports import log


def write(level, text):
    log.write(log.Level[level], text)
`
    : `

def write(level, text):
    if level != "ERROR":
        raise RuntimeError("print(): declare the capability log in delegate.json")
`;
  return `import sys
import time
from componentize_py_types import Err
from wit_world import exports
${write}

class Lines:
    def __init__(self, level):
        self.level, self.rest = level, ""

    def write(self, text):
        *lines, self.rest = (self.rest + text).split("\\n")
        for line in lines:
            write(self.level, line)
        return len(text)

    def flush(self):
        if self.rest:
            rest, self.rest = self.rest, ""
            write(self.level, rest)


def traceback_of(error):
    lines = ["Traceback (most recent call last):"]
    at = error.__traceback__
    while at is not None:
        code = at.tb_frame.f_code
        if code.co_filename != __file__:
            lines.append(f'  File "{shown(code.co_filename)}", line {at.tb_lineno}, in {code.co_name}')
        at = at.tb_next
    return "\\n".join([*lines, f"{type(error).__name__}: {error}"])


def shown(file):
    return "src" + file[len(root) :] if file.startswith(root) else file


class LateImport:
    @staticmethod
    def find_spec(name, *_):
        raise ImportError(f"import {name} comes too late: import it at the top of a module, when the build can read files")


def refuse(message):
    def refused(*_args):
        raise RuntimeError(message)

    return refused


def begin():
    """Takes away what a delegate does not have: an exception has a place, the trap of a stub has none."""
    sys.meta_path[:] = [each for each in sys.meta_path if getattr(each, "__name__", "") != "PathFinder"] + [LateImport]
    for name in ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "sleep"):
        setattr(time, name, refuse(f"time.{name}(): a delegate has no clock"))


def verb_of(name):
    author = getattr(${authorModule}, name, None)
    if not callable(author):
        raise ImportError(f"src/${authorModule}.py does not define the function {name}")

    def call(_self, request):
        sys.stdout, sys.stderr = streams = Lines("INFO"), Lines("ERROR")
        try:
            begin()
            return author(request)
        except Err:
            raise
        except BaseException as error:
            write("ERROR", traceback_of(error))
            raise
        finally:
            for stream in streams:
                stream.flush()

    return call


import ${authorModule}

root = ${authorModule}.__file__.removesuffix("/${authorModule}.py")


class Plugin(exports.Plugin):
${verbs.map((verb) => `    ${verb} = verb_of("${verb}")\n`).join("")}`;
}
