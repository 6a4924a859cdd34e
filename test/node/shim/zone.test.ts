// ZONE: the shim calls one method of firewalld on a bus. A real bus without firewalld, no bus, and servers in a bus' place that send what a bus does not.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { buildShim } from "../../../host/shim/build.ts";
import type { Done } from "../../../host/protocol/messages.ts";
import type { ZoneEffect } from "../../../host/protocol/shim.ts";
import { receivedMessages } from "../../../src/dbus/messages.ts";
import { command, missing } from "../../lab/requires.ts";
import { busConfiguration } from "../../lab/firewalld/firewalld.ts";
import { callWith } from "./testing/scripted-engine.ts";
import { openWorkshop, type Workshop } from "./testing/workshop.ts";

const add: ZoneEffect = { operation: "add", zone: "trusted", source: "10.1.0.5/32" };
const [ENOENT, ECONNRESET, POLICY_REFUSES] = [2, 104, 129];

describe("ZONE", () => {
  let shop: Workshop;
  const ended: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    shop = await openWorkshop();
  });
  afterEach(async () => {
    for (const end of ended.splice(0)) await end();
  });
  afterAll(() => shop.dispose());

  async function zone(socket: string, effect: ZoneEffect, shim = shop.shim): Promise<Done> {
    let done: Done | undefined;
    await callWith(
      async (engine) => {
        done = await engine.zone(effect);
      },
      { shim, env: { DBUS_SYSTEM_BUS_ADDRESS: `unix:path=${socket}` } },
    );
    if (done === undefined) throw new Error("the shim did not answer");
    return done;
  }

  /** A server in the bus' place that answers each connection's first bytes. */
  async function serve(name: string, answer: Uint8Array | "end"): Promise<string> {
    const path = join(shop.directory, name);
    const server: Server = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => (answer === "end" ? socket.end() : socket.write(answer)));
    });
    server.listen(path);
    await once(server, "listening");
    ended.push(async () => server.close());
    return path;
  }

  test("without a bus nothing is begun", async () => {
    expect(await zone(join(shop.directory, "absent"), add)).toMatchObject({ errno: ENOENT, sent: false });
  });

  test.skipIf(missing("ZONE on a real bus", command("dbus-daemon", "--version")))(
    "a bus accepts the shim's user and its call, and answers that nobody is firewalld",
    async () => {
      const socket = join(shop.directory, "bus");
      const file = join(shop.directory, "bus.conf");
      writeFileSync(file, busConfiguration(socket));
      const bus: ChildProcess = spawn("dbus-daemon", [`--config-file=${file}`, "--nofork", "--nopidfile"], { stdio: "ignore" });
      ended.push(async () => {
        bus.kill("SIGTERM");
        await once(bus, "close");
      });
      while (!existsSync(socket)) await setTimeout(20);
      for (const operation of ["add", "remove", "query", "zone-of"] as const) {
        const { errno, reply } = await zone(socket, { ...add, operation });
        expect([operation, errno]).toEqual([operation, 0]);
        const received = receivedMessages(reply.subarray(reply.indexOf(0x0a) + 1));
        expect(received).toMatchObject({
          ok: true,
          messages: expect.arrayContaining([
            expect.objectContaining({ kind: "error", serial: 2, name: "org.freedesktop.DBus.Error.NameHasNoOwner" }),
          ]),
        });
      }
    },
  );

  test("a bus that refuses the user, one that closes, and one that sends other bytes end the call", async () => {
    const refused = await zone(await serve("refuses", Buffer.from("REJECTED EXTERNAL\r\n")), add);
    expect([refused.errno, Buffer.from(refused.reply).toString()]).toEqual([0, "REJECTED EXTERNAL\r\n"]);
    expect(await zone(await serve("closes", "end"), add)).toMatchObject({ errno: ECONNRESET, sent: true });
    const large = Buffer.concat([
      Buffer.from("OK 1234\r\n"),
      Buffer.from([0x6c, 2, 1, 1, 255, 255, 255, 255, 1, 0, 0, 0, 255, 255, 255, 255]),
    ]);
    expect(await zone(await serve("claims-more", large), add)).toMatchObject({ errno: 0, reply: new Uint8Array(large) });
    const other = Buffer.concat([Buffer.from("OK 1234\r\n"), Buffer.alloc(64, 0x42)]);
    expect(await zone(await serve("other-order", other), add)).toMatchObject({ errno: 0 });
  });

  test("the node's policy bounds the zones, and nothing is sent to the bus", async () => {
    const policy = join(shop.directory, "policy.json");
    writeFileSync(policy, '{"firewalldZones":["pods-*"]}', { mode: 0o644 });
    const { path: shim } = await buildShim({ outDir: join(shop.directory, "bounded"), definitions: [`POLICY_FILE="${policy}"`] });
    const socket = join(shop.directory, "nobody");
    for (const operation of ["add", "remove", "query"] as const)
      expect(await zone(socket, { ...add, operation }, shim)).toMatchObject({ errno: POLICY_REFUSES, sent: false });
    expect(await zone(socket, { ...add, zone: "pods-1" }, shim)).toMatchObject({ errno: ENOENT });
    expect(await zone(socket, { operation: "zone-of", zone: "", source: add.source }, shim)).toMatchObject({ errno: ENOENT });
    expect(spawnSync("test", ["-e", socket]).status).toBe(1);
  });
});
