// A stand-in API server in a process of its own: the objects and requests of a large cluster must not delay the benchmark's clock, nor count as its memory.

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

import type { ObjectServer, ServedWrite } from "../test/lab/kube/object-server.ts";
import type { ObjectChange, ObjectMessage } from "./serve-objects.ts";

/** The server's objects, as the benchmarks change them. */
export type ObjectChanges = Pick<ObjectServer, "put" | "change">;

/** The server. Changes are sent at once, in their order. */
export interface ObjectServerProcess extends ObjectChanges {
  readonly kubeconfig: string;
  /** Resolves when the server has all changes so far, with the writes of clients since the last question, without Leases. */
  takeWrites(): Promise<readonly ServedWrite[]>;
  dispose(): Promise<void>;
}

/** Changes of one message. */
const maxChanges = 500;

/** Starts the server with these collections, by their paths for all namespaces. The directory gets certificates and the kubeconfig. */
export async function startObjectServerProcess(directory: string, collections: readonly string[]): Promise<ObjectServerProcess> {
  const child: ChildProcess = fork(join(import.meta.dirname, "serve-objects.ts"), {
    execArgv: ["--disable-warning=ExperimentalWarning", "--max-old-space-size=4096"],
  });
  const send = (message: ObjectMessage): void => void child.send(message);
  const answer = async (message: ObjectMessage): Promise<object> => {
    const answered = once(child, "message", { signal: AbortSignal.timeout(300_000) });
    send(message);
    const [value]: unknown[] = await answered;
    if (typeof value !== "object" || value === null) throw new Error("the stand-in API server answered nothing");
    return value;
  };
  let waiting: ObjectChange[] = [];
  const flush = (): void => {
    if (waiting.length > 0) send({ changes: waiting });
    waiting = [];
  };
  const change = (each: ObjectChange): void => {
    waiting.push(each);
    if (waiting.length === 1) queueMicrotask(flush);
    if (waiting.length >= maxChanges) flush();
  };
  const kubeconfig: unknown = Reflect.get(await answer({ begin: { directory, collections } }), "kubeconfig");
  return {
    kubeconfig: String(kubeconfig),
    put: (collection, put) => change({ collection, put }),
    change: (collection, key, patch) => change({ collection, key, patch }),
    async takeWrites() {
      flush();
      const writes: unknown = Reflect.get(await answer({ ask: "writes" }), "writes");
      if (!Array.isArray(writes)) throw new Error("the stand-in API server answered no writes");
      return writes;
    },
    async dispose() {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}
