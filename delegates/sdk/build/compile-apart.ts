// The compiler in worker threads, so that several delegates compile in parallel.

import { Worker } from "node:worker_threads";
import type { CompileInit } from "./compile.ts";
import { compileWorker } from "./kit-files.ts";

type Answer = { readonly module: Uint8Array } | { readonly message: string };

/** Loading the compiler costs as much as a small compilation, so its threads are reused. */
const idle: Worker[] = [];

/** Compiles to a core module in a worker thread. Rejects with the compiler's messages. */
export async function compileApart(init: CompileInit): Promise<Uint8Array> {
  const worker = idle.pop() ?? new Worker(compileWorker);
  worker.ref();
  const answer = await ask(worker, init);
  // An idle thread must not keep the process alive.
  worker.unref();
  idle.push(worker);
  if ("module" in answer) return answer.module;
  throw new Error(answer.message);
}

function ask(worker: Worker, init: CompileInit): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const ended = (code: number): void => reject(new Error(`the compiler ended with ${code}`));
    worker.once("error", reject);
    worker.once("exit", ended);
    worker.once("message", (answer: Answer) => {
      worker.off("error", reject);
      worker.off("exit", ended);
      resolve(answer);
    });
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
    worker.postMessage(init);
  });
}
