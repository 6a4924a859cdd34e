// Runs the compiler in its own thread: it blocks for seconds, and ends its thread when it crashes.

import { parentPort } from "node:worker_threads";
import { compile, type CompileInit } from "./compile.ts";

parentPort?.on("message", async (init: CompileInit) => {
  const answer = await compile(init).then(
    (module) => ({ module }),
    (error: unknown) => ({ message: error instanceof Error ? error.message : String(error) }),
  );
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's port has no origin
  parentPort?.postMessage(answer);
});
