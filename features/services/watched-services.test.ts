// Changes between a read of the API by a call and the first list of the watch which that call began.

import { expect, test } from "vitest";
import { Connection } from "../../host/cluster/kube/connection.ts";
import { startScriptedApiServer } from "../../host/cluster/testing/scripted-api-server.ts";
import { systemClock } from "../../host/system/clock.ts";
import { ok } from "../../src/fault/result.ts";
import { onServiceChange } from "./service-changes.ts";
import { ServiceInformer } from "./watched-services.ts";

test("a slice that is deleted before the first list of the watch is a change of each watched network", async () => {
  const server = await startScriptedApiServer();
  server.script = ({ query }, response) => {
    if (query.get("watch") === "1") return void response.writeHead(200);
    response.writeHead(200).end(JSON.stringify({ metadata: { resourceVersion: "1" }, items: [] }));
  };
  const connection = new Connection(systemClock);
  const changes: string[] = [];
  const unsubscribe = onServiceChange((network) => changes.push(network));
  const informer = new ServiceInformer({ connection, credentials: server.credentials, warn: () => {} }, () => {});
  try {
    await informer.over({ slices: async () => ok([]) }).slices(["shop/red", "shop/blue"]);
    await expect.poll(() => changes.toSorted(), { timeout: 60_000 }).toEqual(["shop/blue", "shop/red"]);
  } finally {
    unsubscribe();
    informer.stop();
    connection.close();
    await server.dispose();
  }
});
