// The compiler from outside its thread: several delegates compile side by side.

import { Worker } from "node:worker_threads";
import type { CompileInit } from "./compile.ts";

type Answer = { readonly module: Uint8Array } | { readonly message: string };

/** Compiles to a core module in a worker thread. Rejects with the compiler's messages. */
export function compileApart(init: CompileInit): Promise<Uint8Array> {
  const worker = new Worker(new URL("./compile-worker.ts", import.meta.url), { workerData: init });
  return new Promise((resolve, reject) => {
    worker.once("message", (answer: Answer) => {
      if ("module" in answer) resolve(answer.module);
      else reject(new Error(answer.message));
    });
    worker.once("error", reject);
    worker.once("exit", (code) => reject(new Error(`the compiler ended with ${code}`)));
  });
}
