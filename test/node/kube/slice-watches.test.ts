// The daemon's watches of address slices, with a scripted server: a watch ends after the last pod that asked for it.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { beginPolicyRound } from "../../../features/policies/policy-changes.ts";
import { PolicyInformers } from "../../../features/policies/watched-policies.ts";
import { beginServiceRound } from "../../../features/services/service-changes.ts";
import { ServiceInformer } from "../../../features/services/watched-services.ts";
import { Connection } from "../../../host/cluster/kube/connection.ts";
import { type ScriptedApiServer, startScriptedApiServer } from "../../../host/cluster/testing/scripted-api-server.ts";
import { VirtualClock } from "../../../host/system/testing/virtual-clock.ts";
import { ok } from "../../../src/fault/result.ts";
import { command, missing } from "../../lab/requires.ts";

const needed = missing("a scripted API server", command("openssl", "version"));
let server: ScriptedApiServer;
let connection: Connection;
/** The paths of the open watches. */
const open = new Set<string>();
beforeAll(async () => {
  if (needed) return;
  server = await startScriptedApiServer();
  server.script = ({ path, query }, response) => {
    if (query.get("watch") !== "1") return void response.writeHead(200).end('{"metadata":{"resourceVersion":"1"},"items":[]}');
    open.add(path);
    response.on("close", () => open.delete(path));
    response.writeHead(200).flushHeaders();
  };
});
afterEach(() => connection?.close());
afterAll(() => server?.dispose());

function access(): ConstructorParameters<typeof PolicyInformers>[0] {
  const clock = new VirtualClock();
  connection = new Connection(clock);
  return { connection, credentials: server.credentials, warn: () => undefined };
}

describe.skipIf(needed)("watches of slices", () => {
  test("end when no pod of the namespace has asked for three rounds, and stay for a namespace whose pods ask", async () => {
    const informers = new PolicyInformers(access(), () => undefined);
    const source = informers.over({
      policies: async () => ok([]),
      networkPolicies: async () => ok([]),
      slices: async () => ok([]),
    });
    const ask = (namespace: string): Promise<unknown> => source.slices(namespace, ["a"]);
    await Promise.all(["one", "two"].map(ask));
    await expect.poll(() => open.size, { interval: 10 }).toBe(2);
    for (let round = 0; round < 3; round++) {
      beginPolicyRound();
      await ask("two");
    }
    await expect.poll(() => [...open], { interval: 10 }).toEqual([expect.stringContaining("/namespaces/two/")]);
    expect(informers.states).toHaveLength(1);
    await ask("one");
    await expect.poll(() => open.size, { interval: 10 }).toBe(2);
    informers.stop();
    await expect.poll(() => open.size, { interval: 10 }).toBe(0);
  });

  test("of Services end when no pod has asked for a network for three rounds", async () => {
    const informer = new ServiceInformer(access(), () => undefined);
    const source = informer.over({ slices: async () => ok([]) });
    await source.slices(["shop/red"]);
    await expect.poll(() => open.size, { interval: 10 }).toBe(1);
    for (let round = 0; round < 3; round++) beginServiceRound();
    await expect.poll(() => open.size, { interval: 10 }).toBe(0);
    expect(informer.states).toEqual([]);
    informer.stop();
  });
});
