// The chain traces of a dump: the list of all, and the newest ones whole.

import { join } from "node:path";
import { chainTraceVersion } from "../../../src/chain-trace/chain-trace.ts";
import { readChainTrace } from "../../../src/chain-trace/read-chain-trace.ts";
import { readRegularFile } from "../../store/files/regular-file.ts";
import { listTraces } from "../../store/traces/trace-directory.ts";
import { archiveName } from "./archive-name.ts";
import type { SuppliedDocument } from "./sysdump.ts";

/** Maximum traces that are listed, and that are taken whole. */
const maxListed = 1000;
const maxTaken = 5;

/** The documents: `traces.json`, and the newest traces, all of these in at most `maxBytes`. The reason for one that is not taken is in contents.json. */
export function dumpedTraces(directories: readonly string[], maxBytes: number): readonly SuppliedDocument[] {
  const listed = [...new Set(directories)].map((directory) => ({ directory, files: listTraces(directory) }));
  const files = listed
    .flatMap(({ directory, files: found }) =>
      found.ok ? found.value.map(({ name, bytes }) => ({ name, bytes, path: join(directory, name) })) : [],
    )
    .toSorted((one, other) => (one.name < other.name ? 1 : -1));
  const problems = listed.flatMap(({ files: found }) => (found.ok ? [] : [found.fault.msg]));
  const list = {
    traces: files.slice(0, maxListed).map(({ path, bytes }) => ({ path, bytes })),
    leftOut: Math.max(0, files.length - maxListed),
    problems,
  };
  let left = maxBytes;
  const newest = files.slice(0, maxTaken).map(({ path, bytes }): SuppliedDocument => {
    const fits = bytes <= left;
    if (fits) left -= bytes;
    return {
      name: archiveName("traces", path),
      compact: true,
      read: async () => {
        if (!fits) throw new Error(`has ${bytes} bytes: a dump of this size has ${maxBytes} bytes of traces`);
        return readTrace(path, bytes);
      },
    };
  });
  return [{ name: "traces.json", read: async () => list }, ...newest];
}

/** Traces are redacted when they are written. This file may be none, so it is read as a trace, and redacted as all documents are. */
function readTrace(path: string, maxBytes: number): object {
  const trace = readChainTrace(readRegularFile(path, { maxBytes, foreign: false }), path);
  if (!trace.ok) throw new Error(trace.fault.msg);
  // A number under this key would be taken for a secret in the text of the file.
  const { secrets: _, ...rest } = trace.value;
  return { ...chainTraceVersion, ...rest };
}
