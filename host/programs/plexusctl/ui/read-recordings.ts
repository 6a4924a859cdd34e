// Reads the latest chain traces of the node. A file is read once: a trace is never changed.

import { join } from "node:path";
import { readChainTrace } from "../../../../src/chain-trace/read-chain-trace.ts";
import { readRegularFile } from "../../../store/files/regular-file.ts";
import { listTraces } from "../../../store/traces/trace-directory.ts";
import type { Recording } from "./recorded-calls.ts";

/** Maximum traces, and maximum bytes of each: the page shows the last calls, and plexusctl trace shows all. */
const maxRecordings = 25;
const maxBytes = 2 * 1024 * 1024;

/** Makes the reader of the traces in these directories, the latest first. Unreadable traces are left out: plexusctl trace names the reason. */
export function recordingReader(): (directories: readonly string[]) => readonly Recording[] {
  let known = new Map<string, Recording | undefined>();
  return (directories) => {
    const files = [...new Set(directories)].flatMap((directory) => {
      const listed = listTraces(directory);
      return listed.ok ? listed.value.map(({ name, bytes }) => ({ name, bytes, path: join(directory, name) })) : [];
    });
    const latest = files.filter(({ bytes }) => bytes <= maxBytes).toSorted((one, other) => (one.name < other.name ? 1 : -1));
    const seen = new Map(
      latest.slice(0, maxRecordings).map(({ name, path }) => [path, known.get(path) ?? readTrace(path, name)]),
    );
    known = seen;
    return [...seen.values()].filter((each) => each !== undefined);
  };
}

function readTrace(path: string, name: string): Recording | undefined {
  try {
    const trace = readChainTrace(readRegularFile(path, { maxBytes, foreign: false }), path);
    return trace.ok ? { name, trace: trace.value } : undefined;
  } catch {
    return undefined;
  }
}
