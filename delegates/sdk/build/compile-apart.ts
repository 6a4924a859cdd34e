// The compiler in worker threads: as many as the machine has processors, since a thread that compiles takes up to 300 MB.

import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { CompileInit } from "./compile.ts";
import { compileWorker } from "./kit-files.ts";

type Answer = { readonly module: Uint8Array } | { readonly message: string };

const maxThreads = availableParallelism();
/** Loading the compiler costs as much as a small compilation, so its threads are reused. */
const idle: Worker[] = [];
let threads = 0;
/** Compilations that wait for a thread, in order. */
const waiting: ((worker: Worker) => void)[] = [];

/** Compiles to a core module in a worker thread. Rejects with the compiler's messages. */
export async function compileApart(init: CompileInit): Promise<Uint8Array> {
  const worker = await takeThread();
  let answer: Answer;
  try {
    answer = await ask(worker, init);
  } catch (error) {
    threads -= 1;
    void worker.terminate();
    const next = waiting.shift();
    if (next !== undefined) next(newThread());
    throw error;
  }
  giveThread(worker);
  if ("module" in answer) return answer.module;
  throw new Error(answer.message);
}

function newThread(): Worker {
  threads += 1;
  return new Worker(compileWorker);
}

function takeThread(): Worker | Promise<Worker> {
  const worker = idle.pop() ?? (threads < maxThreads ? newThread() : undefined);
  worker?.ref();
  return worker ?? new Promise((resolve) => waiting.push(resolve));
}

function giveThread(worker: Worker): void {
  const next = waiting.shift();
  if (next !== undefined) {
    next(worker);
    return;
  }
  // An idle thread must not keep the process alive.
  worker.unref();
  idle.push(worker);
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
