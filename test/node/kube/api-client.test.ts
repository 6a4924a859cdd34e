// The API client with a scripted server.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { command, missing } from "../../lab/requires.ts";
import { type ScriptedApiServer, startScriptedApiServer } from "../../../host/cluster/testing/scripted-api-server.ts";
import { ApiClient } from "../../../host/cluster/kube/api-client.ts";
import { systemClock } from "../../../host/system/clock.ts";

const needed = missing("a scripted API server", command("openssl", "version"));
let server: ScriptedApiServer;
beforeAll(async () => {
  if (!needed) server = await startScriptedApiServer();
});
afterAll(() => server?.dispose());

const path = "/api/v1/namespaces/shop/pods/web";

/** Lets the server answer with these statuses in turn, and with the last one to all further requests. */
function statuses(...answers: readonly (readonly [status: number, headers?: Record<string, string>])[]): void {
  const from = server.requests.length;
  server.script = (_request, response, index) => {
    const [status, headers = {}] = answers[Math.min(index - from, answers.length - 1)] ?? [500];
    response.writeHead(status, headers).end(JSON.stringify({ kind: "Status", message: `says ${status}` }));
  };
}

describe.skipIf(needed)("the API client", () => {
  const waits: number[] = [];
  const warnings: string[] = [];
  let client: ApiClient | undefined;
  afterEach(() => {
    client?.close();
    waits.length = 0;
    warnings.length = 0;
  });
  const ask = (budgetMs = 240_000) => {
    client = new ApiClient({
      credentials: server.credentials,
      budgetMs,
      clock: { ...systemClock, now: () => waits.reduce((sum, ms) => sum + ms, 0) },
      sleep: async (ms) => void waits.push(ms),
      warn: (text) => void warnings.push(text),
      random: () => 0.5,
    });
    return client.call({ method: "GET", path });
  };

  test.each([200, 201, 404, 409, 410, 422])("returns status %i without repetition; the request has the token", async (status) => {
    statuses([status]);
    expect(await ask()).toMatchObject({ ok: true, value: { status } });
    expect(server.requests.at(-1)?.headers["authorization"]).toBe("Bearer secret");
    expect(waits).toEqual([]);
  });

  test.each([408, 425, 429, 500, 502, 503, 504])(
    "repeats a request after status %i, and warns after the success",
    async (status) => {
      statuses([status], [200]);
      expect(await ask()).toMatchObject({ ok: true, value: { status: 200 } });
      expect(waits).toHaveLength(1);
      expect(warnings).toEqual([`GET ${path} worked after 2 attempts: HTTP ${status}: "says ${status}"`]);
    },
  );

  test("pauses for the time in Retry-After, and for a random part of it", async () => {
    statuses([429, { "Retry-After": "3" }], [200]);
    expect((await ask()).ok).toBe(true);
    expect(waits).toEqual([4500]);
  });

  test("fails if Retry-After exceeds its budget", async () => {
    statuses([429, { "Retry-After": "300" }]);
    expect(await ask()).toMatchObject({
      ok: false,
      fault: { kind: "API_UNREACHABLE", msg: expect.stringContaining("HTTP 429") },
    });
    expect(waits).toEqual([]);
  });

  test.each([
    [401, "API_UNAUTHENTICATED"],
    [403, "API_FORBIDDEN"],
  ])("repeats a request after status %i for a limited time, then fails with %s", async (status, kind) => {
    statuses([status]);
    expect(await ask()).toMatchObject({ ok: false, fault: { kind } });
    expect(waits.length).toBeGreaterThan(1);
    expect(waits.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(10_000);
  });

  test("does not repeat a request after status 400", async () => {
    statuses([400]);
    const before = server.requests.length;
    expect(await ask()).toMatchObject({ ok: false, fault: { kind: "API_REFUSED", msg: expect.stringContaining("says 400") } });
    expect(server.requests.length - before).toBe(1);
  });

  test("repeats a request whose answer breaks off", async () => {
    const from = server.requests.length;
    server.script = (_request, response, index) => {
      if (index > from) return void response.writeHead(200).end("{}");
      response.writeHead(200, { "Content-Length": "100" }).write('{"half":');
      setTimeout(() => response.destroy(), 20);
    };
    expect(await ask()).toMatchObject({ ok: true, value: { body: "{}" } });
    expect(waits).toHaveLength(1);
  });
});
