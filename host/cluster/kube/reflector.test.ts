// A reflector before a server with answers that a real API server does not give: those of a proxy.

import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../system/clock.ts";
import { type ScriptedApiServer, startScriptedApiServer } from "../testing/scripted-api-server.ts";
import { ApiObjects } from "./api-objects.ts";
import { Connection } from "./connection.ts";
import { Reflector } from "./reflector.ts";

let server: ScriptedApiServer;
let connection: Connection;
beforeEach(async () => {
  server = await startScriptedApiServer();
  connection = new Connection(systemClock);
});
afterEach(async () => {
  connection.close();
  await server.dispose();
});

const proxy = { status: 404, body: "<html><h1>404 Not Found</h1></html>" };
const unserved = { status: 404, body: "404 page not found\n" };

/** A reflector of one collection, for which no collection is an empty one. */
function reflect(): Reflector<string> {
  return new Reflector<string>({
    what: "policies",
    connection,
    credentials: server.credentials,
    path: "/apis/example.org/v1/policies",
    query: {},
    metadataOnly: false,
    consistent: true,
    absentIsEmpty: true,
    bounds: { maxObject: 1000, maxTotal: 100_000 },
    read: () => ({ namespace: "a", name: "b", value: "held", size: 4 }),
    warn: () => {},
    random: () => 0,
  });
}

test("a proxy's 404 empties no collection; the API server's does", async () => {
  let answer = { status: 200, body: JSON.stringify({ metadata: { resourceVersion: "1" }, items: [{}] }) };
  server.script = ({ query }, response) => {
    // Each watch ends, so that a list follows.
    if (query.get("watch") === "1") return void response.writeHead(410).end();
    response.writeHead(answer.status).end(answer.body);
  };
  const reflector = reflect();
  reflector.start();
  try {
    await expect.poll(() => reflector.lastSeen("a", "b"), { timeout: 60_000 }).toBe("held");
    answer = proxy;
    const before = server.requests.length;
    await expect.poll(() => server.requests.length, { timeout: 60_000 }).toBeGreaterThan(before + 4);
    expect(reflector.lastSeen("a", "b")).toBe("held");
    answer = unserved;
    await expect.poll(() => reflector.lastSeen("a", "b"), { timeout: 60_000 }).toBeUndefined();
  } finally {
    reflector.stop();
  }
});

test("a proxy's 404 is no absence of an object; the API server's is", async () => {
  const objects = new ApiObjects({ credentials: server.credentials, connection });
  server.script = (_request, response) => void response.writeHead(proxy.status).end(proxy.body);
  expect(await objects.get("/api/v1/namespaces/shop/pods/web")).toMatchObject({
    kind: "failed",
    why: expect.stringContaining("proxy"),
  });
  const status = { kind: "Status", reason: "NotFound", message: 'pods "web" not found', code: 404 };
  server.script = (_request, response) => void response.writeHead(404).end(JSON.stringify(status));
  expect(await objects.get("/api/v1/namespaces/shop/pods/web")).toMatchObject({ kind: "absent" });
});

test("a pause of months is a pause: the server gets no request after the other", async () => {
  server.script = (_request, response) => void response.writeHead(429, { "retry-after": "99999999" }).end();
  const reflector = reflect();
  reflector.start();
  try {
    await expect.poll(() => server.requests.length, { timeout: 60_000 }).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(server.requests.length).toBe(1);
  } finally {
    reflector.stop();
  }
});
