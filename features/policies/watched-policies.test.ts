// Changes between a read of the API by a call and the first list of the watch which that call began.

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
