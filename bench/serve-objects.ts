// The process of a stand-in API server: `object-server-process.ts` starts it, and sends objects and questions.

import type { ServedObject } from "../test/lab/kube/object-collections.ts";
import { type ObjectServer, startObjectServer } from "../test/lab/kube/object-server.ts";

/** A change of the objects. */
export type ObjectChange =
  | { readonly put: ServedObject; readonly collection: string }
  | { readonly patch: object; readonly collection: string; readonly key: string };

/** A message to the process. The process answers each question, behind all changes before it. */
export type ObjectMessage =
  | { readonly begin: { readonly directory: string; readonly collections: readonly string[] } }
  | { readonly changes: readonly ObjectChange[] }
  | { readonly ask: "writes" };

let server: ObjectServer | undefined;

const changed = (api: ObjectServer, change: ObjectChange): void => {
  if ("put" in change) api.put(change.collection, change.put);
  else api.change(change.collection, change.key, change.patch);
};

process.on("message", async (message: ObjectMessage) => {
  if ("begin" in message) {
    server = await startObjectServer(message.begin.directory, message.begin.collections);
    return void process.send?.({ kubeconfig: server.kubeconfig });
  }
  if (server === undefined) throw new Error("the server has not begun");
  if ("changes" in message) for (const each of message.changes) changed(server, each);
  else process.send?.({ writes: server.writes.splice(0) });
});
process.on("disconnect", () => process.exit());
