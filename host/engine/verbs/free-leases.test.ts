// Addresses that plugins leave after their DEL: the DEL of the call frees them itself, and no lease of another attachment.

import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CallStage, type StagedAnswer } from "../testing/call-stage.ts";
import { attaching, failing } from "../testing/scripted-shim.ts";

let stage: CallStage;
let leases: string;
beforeEach(() => {
  stage = new CallStage();
  leases = join(stage.directory, "leases");
  mkdirSync(join(leases, "pods"), { recursive: true });
  stage.shim.install("host-device", attaching("10.0.0.2/24"));
  stage.shim.install("bridge", attaching("10.0.0.2/24"));
  stage.shim.install("host-local", () => ({}));
  stage.shim.install("whereabouts", () => ({}));
  stage.shim.install("static", () => ({}));
  network("host-device");
});
afterEach(() => stage.dispose());

/** The default network, whose IPAM plugin keeps its leases in the stage's directory. */
function network(type: string, ipam: object = { type: "host-local", dataDir: leases }): void {
  stage.delegates = [{ name: "pods", cniVersion: "1.0.0", plugins: [{ type, ipam }] }];
}
function lease(address: string, owner: string): void {
  writeFileSync(join(leases, "pods", address), owner);
}
const held = (): readonly string[] => readdirSync(join(leases, "pods")).filter((name) => name.startsWith("10."));
const calls = ({ log }: StagedAnswer): readonly string[] => log.filter((line) => line.startsWith("DEL"));
const own = "c1\r\neth0";

describe("a lease that the plugins' DEL left", () => {
  test("goes by the DEL of the IPAM plugin, with a warning that names address, network and attachment", async () => {
    await stage.succeed({ verb: "ADD" });
    lease("10.0.0.2", own);
    stage.shim.on("host-local", "DEL", () => {
      rmSync(join(leases, "pods", "10.0.0.2"));
      return {};
    });
    const deleted = await stage.succeed({ verb: "DEL", netns: "" });
    expect(calls(deleted)).toEqual(["DEL host-device eth0", "DEL host-local eth0"]);
    expect(deleted.warnings).toContain(
      "DEL of plugin host-device left address 10.0.0.2 of network pods reserved for container c1, eth0: host-local's DEL is called by itself",
    );
    expect(held()).toEqual([]);
  });

  test("goes as a file if the IPAM plugin succeeds and leaves it, and also if the IPAM plugin fails", async () => {
    for (const script of [() => ({}), failing(11, "busy")]) {
      await stage.succeed({ verb: "ADD" });
      lease("10.0.0.2", own);
      stage.shim.on("host-local", "DEL", script);
      await stage.succeed({ verb: "DEL" });
      expect(held()).toEqual([]);
      expect(stage.stateFiles().filter((name) => name.startsWith("journal/"))).toEqual([]);
    }
  });

  test("is found whatever its address is if the plugin may skip its IPAM plugin", async () => {
    await stage.succeed({ verb: "ADD" });
    lease("10.0.0.77", own);
    await stage.succeed({ verb: "DEL" });
    expect(held()).toEqual([]);
  });

  test("is looked for at the result's addresses only if the plugin always calls its IPAM plugin", async () => {
    network("bridge");
    await stage.succeed({ verb: "ADD" });
    lease("10.0.0.77", own);
    expect(calls(await stage.succeed({ verb: "DEL" }))).toEqual(["DEL bridge eth0"]);
    expect(held()).toEqual(["10.0.0.77"]);
    await stage.succeed({ verb: "ADD" });
    lease("10.0.0.2", own);
    expect(calls(await stage.succeed({ verb: "DEL" }))).toEqual(["DEL bridge eth0", "DEL host-local eth0"]);
    expect(held()).toEqual([]);
  });

  test("of another container or another interface stays, and no DEL of the IPAM plugin is called", async () => {
    await stage.succeed({ verb: "ADD" });
    lease("10.0.0.2", "c2\r\neth0");
    lease("10.0.0.3", "c1\r\nnet1");
    const deleted = await stage.succeed({ verb: "DEL" });
    expect(calls(deleted)).toEqual(["DEL host-device eth0"]);
    expect(held()).toEqual(["10.0.0.2", "10.0.0.3"]);
  });

  test("fails the DEL if it can't be removed, and the fault names address, attachment and the IPAM plugin's own failure", async () => {
    await stage.succeed({ verb: "ADD" });
    lease("10.0.0.2", own);
    // The lock of native host-local is a file: a directory in its place can't be locked.
    mkdirSync(join(leases, "pods", "lock"));
    stage.shim.on("host-local", "DEL", failing(11, "busy"));
    const deleted = await stage.call({ verb: "DEL" });
    expect(deleted.status).not.toBe(0);
    expect(deleted.stdout).toContain("address 10.0.0.2 of network pods stays reserved for container c1, eth0");
    expect(deleted.stdout).toContain("busy");
    rmSync(join(leases, "pods", "lock"), { recursive: true });
    await stage.succeed({ verb: "DEL" });
    expect(held()).toEqual([]);
  });

  test("is not removed through a link in place of the network's directory", async () => {
    await stage.succeed({ verb: "ADD" });
    const elsewhere = join(stage.directory, "elsewhere");
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, "10.0.0.2"), own);
    rmSync(join(leases, "pods"), { recursive: true });
    symlinkSync(elsewhere, join(leases, "pods"));
    await stage.call({ verb: "DEL" });
    expect(existsSync(join(elsewhere, "10.0.0.2"))).toBe(true);
  });
});

describe("an IPAM plugin whose leases can't be seen", () => {
  test("is called by itself when the namespace is gone, because the plugin may have skipped it", async () => {
    network("host-device", { type: "whereabouts" });
    await stage.succeed({ verb: "ADD" });
    const deleted = await stage.succeed({ verb: "DEL", netns: "" });
    expect(calls(deleted)).toEqual(["DEL host-device eth0", "DEL whereabouts eth0"]);
  });

  test("is not called while the namespace lives, nor for a plugin that always calls it, nor if its DEL can't be repeated", async () => {
    const cases = [
      { type: "host-device", ipam: "whereabouts", netns: "/run/netns/a" },
      { type: "bridge", ipam: "whereabouts", netns: "" },
      { type: "host-device", ipam: "static", netns: "" },
    ];
    for (const { type, ipam, netns } of cases) {
      network(type, { type: ipam });
      await stage.succeed({ verb: "ADD" });
      expect(calls(await stage.succeed({ verb: "DEL", netns }))).toEqual([`DEL ${type} eth0`]);
    }
  });

  test("fails the DEL with its own code", async () => {
    network("host-device", { type: "whereabouts" });
    await stage.succeed({ verb: "ADD" });
    stage.shim.on("whereabouts", "DEL", failing(123, "the backend is away"));
    const deleted = await stage.call({ verb: "DEL", netns: "" });
    expect(deleted.json).toMatchObject({ code: 123 });
    expect(deleted.stdout).toContain("the backend is away");
  });
});

describe("leases without an owner", () => {
  test("go at the DEL after an ADD that failed, with a warning that counts them", async () => {
    stage.shim.on("host-device", "ADD", failing(11, "the pool is full"));
    lease("10.0.0.8", "");
    lease("10.0.0.9", "");
    await stage.call({ verb: "ADD" });
    lease("10.0.0.8", "");
    lease("10.0.0.9", "");
    const deleted = await stage.succeed({ verb: "DEL" });
    expect(held()).toEqual([]);
    expect(deleted.warnings.filter((text) => text.includes("without an owner"))).toEqual([
      `leases of network pods in ${join(leases, "pods")}: 2 leases without an owner were freed`,
    ]);
  });

  test("stay at the DEL of an attachment that has a result", async () => {
    await stage.succeed({ verb: "ADD" });
    lease("10.0.0.8", "");
    await stage.succeed({ verb: "DEL" });
    expect(held()).toEqual(["10.0.0.8"]);
  });
});

/** Makes the directory known to the node: an earlier network has used it. A DEL without a record assumes today's network. */
async function used(): Promise<void> {
  await stage.succeed({ verb: "ADD", containerId: "earlier" });
  await stage.succeed({ verb: "DEL", containerId: "earlier" });
  stage.delegates = [{ name: "today", cniVersion: "1.0.0", plugins: [{ type: "bridge" }] }];
}

describe("leases of a container without a record", () => {
  test("go when the namespace is gone, and those of other containers stay", async () => {
    await used();
    lease("10.0.0.2", own);
    lease("10.0.0.3", "c2\r\neth0");
    const deleted = await stage.succeed({ verb: "DEL", netns: "" });
    expect(held()).toEqual(["10.0.0.3"]);
    expect(deleted.warnings.some((text) => text.endsWith("1 were freed"))).toBe(true);
  });

  test("stay while the namespace lives, because a link may have the address", async () => {
    await used();
    lease("10.0.0.2", own);
    await stage.succeed({ verb: "DEL" });
    expect(held()).toEqual(["10.0.0.2"]);
  });

  test("stay while another call has a record of the container", async () => {
    await used();
    await stage.succeed({ verb: "ADD", ifname: "eth1" });
    lease("10.0.0.2", own);
    await stage.succeed({ verb: "DEL", netns: "" });
    expect(held()).toEqual(["10.0.0.2"]);
  });
});
