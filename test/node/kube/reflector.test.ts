// The reflector with a scripted server.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { command, missing } from "../../lab/requires.ts";
import { type ScriptedApiServer, startScriptedApiServer } from "../../../host/cluster/testing/scripted-api-server.ts";
import { Connection } from "../../../host/cluster/kube/connection.ts";
import { VirtualClock } from "../../../host/system/testing/virtual-clock.ts";
import { Reflector, type ReflectorState } from "../../../host/cluster/kube/reflector.ts";
import { storedDefinition } from "../../../host/cluster/kube/stored-objects.ts";

const needed = missing("a scripted API server", command("openssl", "version"));
let server: ScriptedApiServer;
beforeAll(async () => {
  if (!needed) server = await startScriptedApiServer();
});
afterAll(() => server?.dispose());

const warnings: string[] = [];
let running: Reflector<unknown> | undefined;
let connection: Connection | undefined;
let clock: VirtualClock;
afterEach(() => {
  running?.stop();
  connection?.close();
  warnings.length = 0;
});

function definition(name: string, resourceVersion: string): object {
  return { metadata: { namespace: "shop", name, resourceVersion }, spec: { config: `{"name":"${name}"}` } };
}

function list(version: string, ...names: readonly string[]): string {
  const items = names.map((name) => definition(name, version));
  return JSON.stringify({ kind: "List", metadata: { resourceVersion: version }, items });
}

function event(type: string, object: object): string {
  return `${JSON.stringify({ type, object })}\n`;
}

function isWatch(query: URLSearchParams): boolean {
  return query.get("watch") === "1";
}

function start(silenceMs = 90_000): Reflector<unknown> {
  clock = new VirtualClock();
  connection = new Connection(clock);
  running = new Reflector<unknown>({
    what: "definitions",
    connection,
    credentials: server.credentials,
    path: "/apis/k8s.cni.cncf.io/v1/network-attachment-definitions",
    query: {},
    metadataOnly: false,
    consistent: true,
    bounds: { maxObject: 65_536, maxTotal: 1_048_576 },
    read: storedDefinition,
    warn: (text) => void warnings.push(text),
    random: () => 0,
    silenceMs,
  });
  running.start();
  return running;
}

/** Waits until `holds` is true for the reflector's state. */
async function expectState(reflector: Reflector<unknown>, holds: (state: ReflectorState) => boolean): Promise<void> {
  await expect.poll(() => holds(reflector.state), { interval: 10 }).toBe(true);
}

describe.skipIf(needed)("the reflector", () => {
  test("lists, watches from the list's version, applies events, and continues from the newest version after the watch ends", async () => {
    const versions: (string | null)[] = [];
    server.script = ({ query }, response) => {
      if (!isWatch(query)) return void response.writeHead(200).end(list("10", "blue", "red"));
      versions.push(query.get("resourceVersion"));
      response.writeHead(200);
      if (versions.length > 1) return response.flushHeaders();
      const line = event("ADDED", definition("green", "11"));
      response.write(line.slice(0, 40));
      setTimeout(() => {
        // The rest of the line, and two further lines in the same chunk.
        response.write(
          line.slice(40) +
            event("DELETED", definition("red", "12")) +
            event("BOOKMARK", { kind: "X", metadata: { resourceVersion: "15" } }),
        );
        // A shorter watch would count as a failure.
        setTimeout(() => {
          clock.advance(1_200);
          response.end();
        }, 50);
      }, 50);
    };
    const reflector = start();
    await expectState(reflector, ({ watches }) => watches === 2);
    expect(versions).toEqual(["10", "15"]);
    expect(reflector.live).toBe(false);
    clock.advance(1_000);
    expect(reflector.live).toBe(true);
    expect([reflector.get("shop", "green") !== undefined, reflector.get("shop", "red"), reflector.state.objects]).toEqual([
      true,
      undefined,
      2,
    ]);
    expect([reflector.state.lists, warnings]).toEqual([1, []]);
  });

  test.each(["status", "event"])("lists again if its version is gone (410 as a %s)", async (how) => {
    let watches = 0;
    server.script = ({ query }, response) => {
      if (!isWatch(query)) return void response.writeHead(200).end(list("20", "blue"));
      watches += 1;
      if (watches > 1) return response.writeHead(200).flushHeaders();
      if (how === "status") return void response.writeHead(410).end("{}");
      response.writeHead(200).end(event("ERROR", { kind: "Status", code: 410, message: "too old" }));
    };
    const reflector = start();
    await expectState(reflector, ({ lists, watches: opened }) => lists === 2 && opened === (how === "status" ? 1 : 2));
    clock.advance(1_000);
    expect(reflector.live).toBe(true);
    expect(warnings).toEqual([]);
  });

  test("is not live after a line that is not an event, with one warning", async () => {
    server.script = ({ query }, response) => {
      if (!isWatch(query)) return void response.writeHead(200).end(list("30", "blue"));
      response.writeHead(200).end("nonsense\n");
    };
    const reflector = start();
    await expectState(reflector, () => warnings.length > 0);
    expect([reflector.live, reflector.get("shop", "blue")]).toEqual([false, undefined]);
    expect(warnings).toEqual([
      "definitions: not watched, so each call reads its objects from the API: a line is not a watch event",
    ]);
  });

  test("is not live after a silence by the time of day, because the watch's timer stands still on a suspended machine", async () => {
    server.script = ({ query }, response) => {
      if (!isWatch(query)) return void response.writeHead(200).end(list("35", "blue"));
      response.writeHead(200).flushHeaders();
    };
    const reflector = start(90_000);
    await expectState(reflector, ({ watches }) => watches === 1);
    clock.advance(90_000);
    expect(reflector.live).toBe(true);
    clock.advance(1);
    expect([reflector.live, reflector.get("shop", "blue")]).toEqual([false, undefined]);
  });

  test("is not live with a time of day that was set back by more than the silence, which then cannot be told", async () => {
    server.script = ({ query }, response) => {
      if (!isWatch(query)) return void response.writeHead(200).end(list("35", "blue"));
      response.writeHead(200).flushHeaders();
    };
    const reflector = start(90_000);
    await expectState(reflector, ({ watches }) => watches === 1);
    clock.advance(60_000);
    clock.setMs = -3_600_000;
    expect([reflector.live, reflector.get("shop", "blue")]).toEqual([false, undefined]);
    clock.setMs = -100_000;
    expect(reflector.live).toBe(true);
  });

  test("ends a watch that is silent for too long", async () => {
    server.script = ({ query }, response) => {
      if (!isWatch(query)) return void response.writeHead(200).end(list("40", "blue"));
      response.writeHead(200).flushHeaders();
    };
    start(100);
    await expect
      .poll(() => warnings)
      .toContain("definitions: not watched, so each call reads its objects from the API: no data for 100 ms");
  });
});
