import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { ok } from "../../../src/fault/result.ts";
import { type ScriptedApiServer, startScriptedApiServer } from "../testing/scripted-api-server.ts";
import { Connection } from "./connection.ts";
import { kubeconfigCredentials } from "./credentials.ts";
import { NodeCredentials } from "./node-credentials.ts";
import { type Clock, systemClock } from "../../system/clock.ts";
import { VirtualClock } from "../../system/testing/virtual-clock.ts";

const within = { interval: 20 };
const claims = { "kubernetes.io": { namespace: "plexus-system", serviceaccount: { name: "plexus" } } };
const podToken = (id: string): string => `e30.${Buffer.from(JSON.stringify({ ...claims, id })).toString("base64url")}.sig`;

describe("MO-22 credentials of one-shot engines", () => {
  let server: ScriptedApiServer;
  let directory = "";
  let token = "";
  let started: NodeCredentials | undefined;
  let connection: Connection;
  let clock: Clock;
  let warnings: string[] = [];
  let outcomes: string[] = [];
  beforeAll(async () => {
    server = await startScriptedApiServer();
  });
  afterAll(() => server.dispose());
  beforeEach(() => {
    directory = join(mkdtempSync(join(tmpdir(), "plexus-credentials-")), "credentials");
    [token, warnings, outcomes, clock] = [podToken("one"), [], [], systemClock];
  });
  afterEach(() => {
    vi.useRealTimers();
    started?.stop();
    connection?.close();
    rmSync(join(directory, ".."), { recursive: true });
  });

  /** Issues tokens with this lifetime, in ms; each is named after its request's number. */
  function issue(lifetimeMs: number): void {
    server.script = (_request, response, index) => {
      const status = {
        token: `token-${index}`,
        expirationTimestamp: new Date(clock.date().getTime() + lifetimeMs).toISOString(),
      };
      response.writeHead(201, { "content-type": "application/json" }).end(JSON.stringify({ kind: "TokenRequest", status }));
    };
  }

  function refuse(status: number): void {
    server.script = (_request, response) => {
      const body = { kind: "Status", status: "Failure", message: `scripted ${status}` };
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
  }

  function start(): NodeCredentials {
    connection = new Connection(clock);
    started = new NodeCredentials({
      directory,
      nodeName: "node",
      connection,
      sleep: async (ms) => void (clock instanceof VirtualClock ? clock.advance(ms) : await setTimeout(ms)),
      credentials: async () => {
        const found = await server.credentials();
        return found.ok ? ok({ ...found.value, token }) : found;
      },
      warn: (text) => void warnings.push(text),
      onOutcome: (outcome) => void outcomes.push(outcome),
    });
    void started.start();
    return started;
  }

  const written = async (): Promise<string | undefined> => {
    const read = await kubeconfigCredentials(join(directory, "kubeconfig"))();
    return read.ok ? read.value.token : undefined;
  };

  test("are one file of mode 0600 with server, authority and token", async () => {
    issue(3_600_000);
    const before = server.requests.length;
    const credentials = start();
    await expect.poll(written, within).toBe(`token-${before}`);
    expect(server.requests[before]).toMatchObject({
      method: "POST",
      path: "/api/v1/namespaces/plexus-system/serviceaccounts/plexus/token",
    });
    expect(statSync(join(directory, "kubeconfig")).mode & 0o777).toBe(0o600);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    const own = await server.credentials();
    expect(await kubeconfigCredentials(credentials.path)()).toMatchObject({
      value: own.ok ? { server: own.value.server, authority: own.value.authority } : {},
    });
    expect(credentials.state.problem).toBeUndefined();
  });

  test("are renewed after a third of the token's life", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    /** Waits without timers until there are so many outcomes. */
    const outcome = async (count: number): Promise<void> => {
      while (outcomes.length < count) await new Promise((resolve) => setImmediate(resolve));
    };
    issue(9000);
    const before = server.requests.length;
    start();
    await outcome(1);
    await vi.advanceTimersByTimeAsync(2999);
    expect(server.requests.length - before).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    await outcome(2);
    expect([server.requests.length - before, outcomes]).toEqual([2, ["renewed", "renewed"]]);
  });

  test("stay while the API is away, and are rotated once it is back, also after the token has ended", async () => {
    const virtual = new VirtualClock();
    clock = virtual;
    issue(1500);
    const credentials = start();
    await expect.poll(() => outcomes.length, within).toBe(1);
    refuse(503);
    virtual.advance(500);
    await expect.poll(() => outcomes.at(-1), { interval: 20 }).toBe("failed");
    expect(credentials.state.expiresAt).toBeLessThan(clock.date().getTime());
    const last = await written();
    expect(last).toMatch(/^token-/);
    issue(3_600_000);
    await expect.poll(written, within).not.toBe(last);
    expect(credentials.state).toMatchObject({ problem: undefined });
    expect(credentials.state.expiresAt).toBeGreaterThan(clock.date().getTime());
  });

  test("are not written without the right to request tokens, and one warning says so", async () => {
    clock = new VirtualClock();
    refuse(403);
    const credentials = start();
    await expect.poll(() => outcomes.length, { interval: 20 }).toBeGreaterThanOrEqual(2);
    expect(existsSync(join(directory, "kubeconfig"))).toBe(false);
    expect(credentials.state.problem).toContain("scripted 403");
    expect(warnings.filter((warning) => warning.startsWith("no credentials for one-shot engines"))).toHaveLength(1);
  });

  test.each([
    ["an answer without a token", '{"kind":"TokenRequest","status":{}}'],
    ["an answer that is no JSON", "<html>"],
  ])("are not written for %s", async (_, body) => {
    server.script = (_request, response) => void response.writeHead(201).end(body);
    const credentials = start();
    await expect.poll(() => credentials.state.problem, within).toBeDefined();
    expect(existsSync(join(directory, "kubeconfig"))).toBe(false);
  });

  test("are not requested with a token that is not that of a service account", async () => {
    token = "opaque";
    const before = server.requests.length;
    const credentials = start();
    await expect.poll(() => credentials.state.problem, within).toContain("not that of a service account");
    expect(server.requests.length).toBe(before);
  });

  test("never show the token in a warning", async () => {
    issue(3_600_000);
    // A file in the place of the directory: the write fails.
    writeFileSync(directory, "");
    start();
    await expect.poll(() => warnings.length, within).toBe(1);
    expect(warnings[0]).toContain(directory);
    expect(warnings[0]).not.toMatch(/token-\d/);
  });
});
