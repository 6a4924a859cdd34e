// The server of the CRI Network API with clients that no library has: floods, unread answers, endless requests.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { framed } from "../../../src/grpc/grpc-wire.ts";
import { failed } from "../../../src/fault/result.ts";
import { fault } from "../../../src/fault/fault.ts";
import { systemClock } from "../../../host/system/clock.ts";
import { rpcMethods } from "./messages.ts";
import { networkSocket } from "./network-socket.ts";
import { networkRpcs } from "./network-rpcs.ts";
import { NetworkStatuses } from "./network-statuses.ts";
import { NodeNetworks } from "./node-networks.ts";
import { NetworkApiClient } from "./rpc-client.ts";
import { maxConnections } from "../../../host/node/grpc/rpc-connections.ts";
import { maxRequestBytes, RpcServer } from "../../../host/node/grpc/rpc-server.ts";
import {
  announced,
  connectFrames,
  data,
  headers,
  ping,
  preface,
  type RawConnection,
  reset,
  settings,
} from "./testing/raw-http2.ts";

const runtime = "/plexus.network.v1alpha1.RuntimeService";
const list = `${runtime}/ListPodNetwork`;
const set = `${runtime}/SetPodNetwork`;
const watch = "/plexus.network.v1alpha1.NetworkService/WatchPodNetwork";
const resourceExhausted = 8;

let directory: string;
let server: RpcServer;
let client: NetworkApiClient;
let connections: RawConnection[];
let warnings: string[];
const socket = (): string => join(directory, "network.sock");

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "plexus-rpc-"));
  connections = [];
  warnings = [];
  await start(400);
});

const warn = (text: string): void => void warnings.push(text);

async function start(clientMs: number): Promise<void> {
  const uids = [process.getuid?.() ?? -1];
  const listens = await RpcServer.listen({ socket: socket(), uids }, { ...networkSocket, clientMs }, systemClock, warn, () =>
    networkRpcs(
      new NodeNetworks(directory, directory, undefined, warn),
      new NetworkStatuses(
        () => undefined,
        directory,
        systemClock,
        async () => undefined,
      ),
      directory,
      () => ({
        attach: async () => failed(fault("HOT_PLUG_REFUSED", "not in this test")),
        detach: async () => failed(fault("HOT_PLUG_REFUSED", "not in this test")),
        repair: async () => failed(fault("HOT_PLUG_REFUSED", "not in this test")),
      }),
    ),
  );
  if (!listens.ok) throw new Error(listens.fault.msg);
  server = listens.value;
  client = new NetworkApiClient(socket());
}

/** Starts the server again, without a time limit that a test reaches. */
async function restart(): Promise<void> {
  client.close();
  server.close();
  await start(3_600_000);
}

afterEach(() => {
  for (const each of connections) each.close();
  client.close();
  server.close();
  rmSync(directory, { recursive: true });
});

async function raw(window?: number): Promise<RawConnection> {
  const connection = await connectFrames(socket());
  connections.push(connection);
  connection.send(preface(window));
  return connection;
}

/** A message of a network with a parameter of this length. */
function network(name: string, generation: number, length: number) {
  const plugin = { type: "bridge", parameters: { text: "x".repeat(length) } };
  return { config: { metadata: { name, generation }, cniv1_config: { cni_version: "1.0.0", plugins: [plugin, plugin] } } };
}

/** Sets networks that take this many MiB in an answer together. */
async function setMiB(mib: number): Promise<void> {
  for (let index = 0; index < mib * 32; index += 1)
    expect(await client.call("SetPodNetwork", network(`n${index}`, 1, 15_900))).toMatchObject({ ok: true });
}

const listing = () => client.call("ListPodNetwork", { without_status: true });
/** Watches until the first event. */
const watched = () => {
  const ended = new AbortController();
  return client.stream("WatchPodNetwork", {}, () => ended.abort(), ended.signal);
};
const listRequest = framed(rpcMethods.get("ListPodNetwork")?.request.encode({ without_status: true }) ?? new Uint8Array());

test("a client that resets its requests at once, also one that is no gRPC, leaves a server that answers", async () => {
  const connection = await raw();
  for (let index = 0; index < 40; index += 1) {
    const stream = 1 + 4 * index;
    connection.send(headers(stream, "/", { ":method": "GET" }), reset(stream), headers(stream + 2, list), reset(stream + 2));
  }
  expect(await listing()).toMatchObject({ ok: true });
  const stranger = await connectFrames(socket());
  connections.push(stranger);
  stranger.send(Buffer.from("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
  await expect.poll(() => stranger.ended()).toBe(true);
  expect(await listing()).toMatchObject({ ok: true });
});

test.each([
  ["resets", (index: number) => [headers(1 + 2 * index, list), reset(1 + 2 * index)]],
  ["pings", () => [ping()]],
  ["settings", () => [settings()]],
])("a flood of %s ends its own connection only", async (_, frames) => {
  const connection = await raw();
  connection.read(false);
  // The kernel's buffer for answers is full soon, and the library bounds what waits.
  for (let index = 0; index < 60_000 && !connection.ended(); index += 100) {
    connection.send(...Array.from({ length: 100 }, (__, each) => frames(index + each)).flat());
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await listing()).toMatchObject({ ok: true });
  connection.read(true);
  await expect.poll(() => connection.ended()).toBe(true);
});

/** Sends requests that never end, of more than 4 MiB together, on connections of their own. */
async function sendUnfinished(): Promise<void> {
  for (let index = 0; index < 3; index += 1) {
    const connection = await raw();
    for (let stream = 1; stream < 32; stream += 2)
      connection.send(headers(stream, set), data(stream, announced(maxRequestBytes), false));
  }
}

test("requests that never end share 4 MiB: further ones are refused, and the time limit frees the memory", async () => {
  // A busy machine may not answer before the time limit of the first requests, so they are sent again.
  await expect
    .poll(async () => {
      await sendUnfinished();
      return client.call("SetPodNetwork", network("late", 1, 10));
    })
    .toMatchObject({
      ok: false,
      failure: { code: resourceExhausted, message: expect.stringContaining("unfinished requests") },
    });
  await expect
    .poll(async () => client.call("SetPodNetwork", network("late", 1, 10)), { interval: 100 })
    .toMatchObject({ ok: true });
});

test("a request of tiny pieces, and one of too many fields, are answered; the latter without an object for each field", async () => {
  const connection = await raw();
  const message = framed(rpcMethods.get("SetPodNetwork")?.request.encode(network("pieces", 1, 500)) ?? new Uint8Array());
  connection.send(
    headers(1, set),
    ...[...message].map((byte) => data(1, new Uint8Array([byte]), false)),
    data(1, new Uint8Array(), true),
  );
  await expect.poll(async () => JSON.stringify(await listing())).toContain('"pieces"');
  const plugins = Array.from({ length: 20_000 }, () => ({}));
  expect(await client.call("SetPodNetwork", { config: { cniv1_config: { plugins } } })).toMatchObject({
    ok: false,
    failure: { reason: "NETWORK_CONFIG_INVALID", message: expect.stringContaining("fields") },
  });
});

test("answers that clients do not read share 16 MiB: a further long answer is refused, and a short one is not", async () => {
  await restart();
  await setMiB(2);
  // node:http2 bounds each connection, so one is not enough.
  const unread = [await raw(0), await raw(0), await raw(0), await raw(0)];
  for (const each of unread)
    for (let stream = 1; stream < 6; stream += 2) each.send(headers(stream, list), data(stream, listRequest, true));
  await expect.poll(listing, { interval: 20 }).toMatchObject({
    ok: false,
    failure: { code: resourceExhausted, message: expect.stringContaining("have not read") },
  });
  expect(await client.call("SetPodNetwork", network("short", 1, 10))).toMatchObject({ ok: true });
  for (const each of unread) each.close();
  await expect.poll(listing, { interval: 20 }).toMatchObject({ ok: true });
});

test("an answer that its client does not read is dropped after the time limit", async () => {
  await setMiB(1);
  const connection = await raw(0);
  connection.send(headers(1, list), data(1, listRequest, true));
  const resetFrame = Buffer.from([0, 0, 4, 3, 0, 0, 0, 0, 1]);
  await expect.poll(() => connection.text().includes(resetFrame.toString("latin1"))).toBe(true);
});

test("a client that watches and does not read loses its stream, and its place among the watchers", async () => {
  // Without the time limit, only the bound of bytes ends a stream.
  await restart();
  const connection = await raw(0);
  for (let stream = 1; stream < 32; stream += 2) connection.send(headers(stream, watch), data(stream, announced(0), true));
  const other = await raw(0);
  for (let stream = 1; stream < 32; stream += 2) other.send(headers(stream, watch), data(stream, announced(0), true));
  await expect.poll(watched, { interval: 20 }).toMatchObject({ code: resourceExhausted });
  // 32 clients that watch share 16 MiB: they lose their streams soon after 512 KiB.
  for (let generation = 1; generation <= 20; generation += 1)
    expect(await client.call("SetPodNetwork", network("busy", generation, 15_900))).toMatchObject({ ok: true });
  await expect.poll(watched, { interval: 100 }).toBe(undefined);
});

test("clients that keep idle connections do not keep others out: the connection that is idle longest ends", async () => {
  const events: object[] = [];
  const ended = new AbortController();
  const watching = client.stream("WatchPodNetwork", {}, (event) => events.push(event), ended.signal);
  await expect.poll(() => events.length).toBe(1);
  for (let index = 0; index < maxConnections + 6; index += 1) connections.push(await connectFrames(socket()));
  const [first, second] = connections;
  await expect.poll(() => [first?.ended(), second?.ended()]).toEqual([true, true]);
  const late = new NetworkApiClient(socket());
  expect(await late.call("SetPodNetwork", network("late", 1, 10))).toMatchObject({ ok: true });
  late.close();
  await expect.poll(() => events.length).toBe(2);
  ended.abort();
  expect(await watching).toBe(undefined);
});

test("requests that are refused and never end keep their connections' places until the time limit only", async () => {
  client.close();
  client = new NetworkApiClient(socket());
  const open = { "content-type": "application/grpc-web" };
  for (let index = 0; index < maxConnections; index += 1) {
    const connection = await raw();
    connection.send(index % 2 === 0 ? headers(1, list, open) : headers(1, "/absent"));
  }
  await expect.poll(async () => (await listing()).ok, { interval: 50 }).toBe(true);
  expect(warnings.every((text) => text.includes("which is the maximum"))).toBe(true);
});

test("other content types are refused, and a long path is cut in the answer", async () => {
  const connection = await raw();
  connection.send(headers(1, `/${"%".repeat(7000)}`), headers(3, list, { "content-type": "application/grpc-web" }));
  await expect.poll(() => connection.text().length).toBeGreaterThan(60);
  expect(await listing()).toMatchObject({ ok: true });
  expect(connection.text().length).toBeLessThan(2000);
  expect(warnings).toEqual([]);
});
