// The fate of a stopping daemon, asked of a server that a real API server would not imitate at a given moment.

import { setTimeout } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type ScriptedApiServer, startScriptedApiServer } from "../testing/scripted-api-server.ts";
import { Connection } from "./connection.ts";
import { OwnDaemonSet } from "./own-daemon-set.ts";
import { systemClock } from "../../system/clock.ts";

let server: ScriptedApiServer;
let connection: Connection;
beforeAll(async () => {
  server = await startScriptedApiServer();
});
afterEach(() => connection.close());
afterAll(() => server.dispose());

function daemonSet(more: Partial<ConstructorParameters<typeof OwnDaemonSet>[0]> = {}): OwnDaemonSet {
  connection = new Connection(systemClock);
  const names = { namespace: "kube-system", name: "plexus", nodeName: "node", podName: undefined };
  return new OwnDaemonSet({
    ...names,
    connection,
    credentials: server.credentials,
    warn: () => undefined,
    sleep: setTimeout,
    ...more,
  });
}

/** Answers the first `count` requests for the DaemonSet with this status, and no request after them. */
function answerFirst(count: number, status: number): void {
  let left = count;
  server.script = ({ path }, response) => {
    if (!path.includes("/daemonsets/")) return void response.writeHead(403).end('{"kind":"Status"}');
    if (left-- > 0) response.writeHead(status).end('{"kind":"Status"}');
  };
}

test("MO-26 a refusal counts although the last attempt got no answer in the rest of the time", async () => {
  answerFirst(1, 403);
  expect(await daemonSet().fate(1_500)).toMatchObject({ stays: false, why: expect.stringContaining("HTTP 403") });
});

test("MO-26 learns its identity after refusals of a server that has not read its rights yet, with one warning", async () => {
  let left = 3;
  server.script = (_, response) => {
    if (left-- > 0) response.writeHead(left === 1 ? 404 : 403).end('{"kind":"Status"}');
    else response.writeHead(200).end('{"kind":"DaemonSet","metadata":{"uid":"one","generation":2}}');
  };
  const warnings: string[] = [];
  const pauses: number[] = [];
  const set = daemonSet({ warn: (text) => void warnings.push(text), sleep: async (ms) => pauses.push(ms) });
  expect(await set.learn()).toBe("one/2");
  expect([pauses, warnings]).toEqual([[10_000, 10_000, 10_000], [expect.stringContaining("HTTP 403")]]);
});

test("MO-26 the last answer counts, and without an answer the configuration stays", async () => {
  answerFirst(1, 503);
  expect(await daemonSet().fate(1_500)).toMatchObject({ stays: true, why: expect.stringContaining("HTTP 503") });
  answerFirst(0, 403);
  expect(await daemonSet().fate(600)).toMatchObject({ stays: true, why: expect.stringContaining("no answer") });
});
