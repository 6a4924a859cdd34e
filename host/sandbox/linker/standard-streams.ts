// Answers of the WASI functions with which a language's runtime prints an error before it traps: the environment and the directories are empty,
// stdout and stderr are the guest's log. They give a guest no power that `log` does not give. All other WASI functions trap.

import type { Guest } from "../abi/guest.ts";
import type { GuestOutput, StreamName } from "./guest-output.ts";

/** The host's side of one function. `flat` are the core parameters, `memory` is the guest's memory; the answer is the core result, if any. */
export interface StreamFunction {
  /** Core signature, as `signature` writes it. */
  readonly core: string;
  readonly call: (memory: () => Guest, flat: readonly number[], output: GuestOutput) => number | undefined;
}

const streams: readonly StreamName[] = ["stdout", "stderr"];
/** Handles begin at 1. */
const handleOf = (stream: StreamName): number => streams.indexOf(stream) + 1;
/** Bytes that `check-write` permits; the size of a pipe's atomic write. */
const permittedBytes = 4096;

const emptyList: StreamFunction = {
  core: "i32>",
  call: (memory, [at = 0]) => {
    const guest = memory();
    const start = guest.zeros(at, 8, 4);
    // The address of no element: not null, and aligned.
    guest.storeU32(start, 4);
    return undefined;
  },
};
const none: StreamFunction = {
  core: "i32>",
  call: (memory, [at = 0]) => {
    memory().zeros(at, 1, 1);
    return undefined;
  },
};
const write: StreamFunction = {
  core: "i32,i32,i32,i32>",
  call: (memory, [handle = 0, pointer = 0, length = 0, at = 0], output) => {
    const guest = memory();
    const stream = streams[handle - 1];
    if (stream !== undefined) output.writeStream(guest, stream, pointer, length);
    // The discriminant of a success; the rest of the area is the error's.
    guest.zeros(at, 12, 4);
    return undefined;
  },
};

const functions: Readonly<Record<string, StreamFunction>> = {
  "cli/environment#get-environment": emptyList,
  "filesystem/preopens#get-directories": emptyList,
  "cli/terminal-stdin#get-terminal-stdin": none,
  "cli/terminal-stdout#get-terminal-stdout": none,
  "cli/terminal-stderr#get-terminal-stderr": none,
  "cli/stdout#get-stdout": { core: ">i32", call: () => handleOf("stdout") },
  "cli/stderr#get-stderr": { core: ">i32", call: () => handleOf("stderr") },
  "io/streams#[method]output-stream.check-write": {
    core: "i32,i32>",
    call: (memory, [, at = 0]) => {
      const guest = memory();
      const start = guest.zeros(at, 16, 8);
      guest.storeU32(start + 8, permittedBytes);
      return undefined;
    },
  },
  "io/streams#[method]output-stream.write": write,
  "io/streams#[method]output-stream.blocking-write-and-flush": write,
  "io/streams#[method]output-stream.blocking-flush": {
    core: "i32,i32>",
    call: (memory, [, at = 0]) => {
      memory().zeros(at, 12, 4);
      return undefined;
    },
  },
};

/**
 * The answer of an inert function `wasi:cli/stderr@0.2.12#get-stderr` whose core signature is `core`; undefined if the function traps.
 */
export function streamFunction(name: string, core: string | undefined): StreamFunction | undefined {
  const [, path = "", func = ""] = /^wasi:([a-z-]+\/[a-z-]+)@0\.2\.\d+#(.+)$/.exec(name) ?? [];
  const key = `${path}#${func}`;
  const found = Object.hasOwn(functions, key) ? functions[key] : undefined;
  return found?.core === core ? found : undefined;
}
