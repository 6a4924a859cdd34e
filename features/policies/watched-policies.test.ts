// Changes between a read of the API by a call and the first list of the watch which that call began, and lookups beside objects that are too large.

import { afterEach, beforeEach, expect, test } from "vitest";
import { Connection } from "../../host/cluster/kube/connection.ts";
import { type ScriptedApiServer, startScriptedApiServer } from "../../host/cluster/testing/scripted-api-server.ts";
import { systemClock } from "../../host/system/clock.ts";
import { ok } from "../../src/fault/result.ts";
import { onPolicyChange } from "./policy-changes.ts";
import { PolicyInformers } from "./watched-policies.ts";

let server: ScriptedApiServer;
let connection: Connection;
const changes: (string | undefined)[] = [];
let unsubscribe: () => void;
let informers: PolicyInformers;

beforeEach(async () => {
  server = await startScriptedApiServer();
  server.script = ({ query }, response) => {
    if (query.get("watch") === "1") return void response.writeHead(200);
    response.writeHead(200).end(JSON.stringify({ metadata: { resourceVersion: "1" }, items: [] }));
  };
  connection = new Connection(systemClock);
  changes.length = 0;
  unsubscribe = onPolicyChange((namespace) => changes.push(namespace));
  informers = new PolicyInformers({ connection, credentials: server.credentials, warn: () => {} }, () => {});
});
afterEach(async () => {
  unsubscribe();
  informers.stop();
  connection.close();
  await server.dispose();
});

const source = { policies: async () => ok([]), networkPolicies: async () => ok([]), slices: async () => ok([]) };
const patience = { timeout: 60_000 };

test("a policy that is deleted before the first list of the watch is a change of all namespaces", async () => {
  await informers.over(source).policies("shop");
  await expect.poll(() => changes, patience).toEqual([undefined]);
});

test("a NetworkPolicy, and a PodNetwork that asks for them, that are deleted before the first list are changes of all namespaces", async () => {
  await informers.over(source).networkPolicies("shop");
  await expect.poll(() => changes, patience).toEqual([undefined]);
});

test("a slice that is deleted before the first list of a watch is a change of its namespace, also when the watch is made anew", async () => {
  await informers.over(source).slices("shop", ["one"]);
  await expect.poll(() => changes, patience).toEqual(["shop"]);
  await informers.over(source).slices("shop", ["two"]);
  await expect.poll(() => changes, patience).toEqual(["shop", "shop"]);
});

const policy = (namespace: string, cidrs: number): object => ({
  metadata: { namespace, name: "one", annotations: { "k8s.v1.cni.cncf.io/policy-for": "red" } },
  spec: {
    podSelector: {},
    ingress: Array.from({ length: cidrs / 128 }, () => ({
      from: Array.from({ length: 128 }, (_, index) => ({ ipBlock: { cidr: `10.0.${index}.0/24` } })),
    })),
  },
});

test("PO-17: a policy that is too large for the memory makes lookups of its own namespace alone ask the API", async () => {
  server.script = ({ query, path }, response) => {
    if (query.get("watch") === "1") return void response.writeHead(200).flushHeaders();
    const items = path.includes("multi-networkpolicies") ? [policy("hostile", 128 * 64), policy("shop", 128)] : [];
    response.writeHead(200).end(JSON.stringify({ metadata: { resourceVersion: "1" }, items }));
  };
  const held: boolean[] = [];
  informers.stop();
  informers = new PolicyInformers({ connection, credentials: server.credentials, warn: () => {} }, (isHeld) => held.push(isHeld));
  const over = informers.over(source);
  await expect.poll(async () => (await over.policies("shop")).ok && held.at(-1), patience).toBe(true);
  expect(await over.policies("shop")).toMatchObject({ value: [{ policy: { namespace: "shop" } }] });
  await over.policies("hostile");
  expect(held.at(-1)).toBe(false);
});
