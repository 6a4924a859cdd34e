// Concurrent calls: different containers on one address range, the same container, GC and ADD.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { containerByte, locksPath } from "../../../host/engine/call/call-locks.ts";
import { leases } from "../../lab/namespaces.ts";
import type { Answer, Serving } from "../../lab/plexus.ts";
import { callsInOrder, installRecorder, type RecorderPlugin } from "../../lab/recorder.ts";
import { bridgeStep, missingForMixed, mixedInstallation, mixedNetwork } from "../../lab/mixed-network.ts";
import { processesNaming } from "../../lab/processes.ts";
import { nothing, openStage, type Attaching, type Stage } from "../../lab/stage.ts";

/** A program that holds a lock until its stdin ends. */
const lockHolder = fileURLToPath(new URL("../../../host/store/locks/fixtures/holder.ts", import.meta.url));

/** The addresses of an answer to ADD, without prefix length. */
function addressesIn(answer: Answer): readonly string[] {
  const ips: unknown = answer.json?.["ips"];
  if (!Array.isArray(ips)) return [];
  return ips.map((ip: { address?: unknown }) => String(ip.address).replace(/\/.*/u, ""));
}

/** stdout and stderr of each failed call. */
function failures(answers: readonly Answer[]): readonly string[] {
  return answers.filter((answer) => answer.status !== 0).map((answer) => answer.stdout + answer.stderr);
}

/** Locks of one-shot engines are between processes; four engines run at once. */
const servings: readonly (readonly [Serving, number])[] = [
  ["daemon", 16],
  ["one-shot", 6],
];

describe.skipIf(missingForMixed("concurrency")).each(servings)("concurrent calls, %s, %i containers", (serving, containers) => {
  let stage: Stage;
  beforeEach(() => {
    stage = openStage({ ...mixedInstallation, serving });
  });
  afterEach(() => stage.dispose());

  /** Attachments that share one range, one lease directory and one network name. */
  const crowd = (rangeEnd: string): readonly (Attaching & { readonly pod: ReturnType<Stage["pod"]> })[] =>
    Array.from({ length: containers }, (_, index) => {
      const type = index % 2 === 0 ? "ipam-host-local" : "host-local";
      const ipam = { type, subnet: "10.10.0.0/24", rangeEnd, dataDir: stage.leases };
      return { config: stage.network([bridgeStep({ ipam })]), containerId: `crowd-${index}`, pod: stage.pod() };
    });

  /** GC whose valid attachments are eth0 of these containers. */
  const gc = (config: object, ...valid: string[]): Promise<Answer> =>
    stage.request({
      verb: "GC",
      config: {
        ...config,
        cniVersion: "1.1.0",
        "cni.dev/valid-attachments": valid.map((containerID) => ({ containerID, ifname: "eth0" })),
      },
    });

  describe(`containers, half of them with WASM ipam-host-local and half with native host-local`, () => {
    test("get distinct addresses and release all of them, twice", async () => {
      const all = crowd("10.10.0.254");
      for (const _ of ["once", "again"]) {
        const added = await Promise.all(all.map((each) => stage.call("ADD", each)));
        expect(failures(added)).toEqual([]);
        const addresses = added.flatMap(addressesIn);
        expect(new Set(addresses).size).toBe(containers);
        expect(leases(stage.leases)).toEqual(addresses.map((address) => `pods/${address}`).toSorted());
        expect(all.map((each) => each.pod.addresses()[0]?.address)).toEqual(addresses.map((address) => `${address}/24`));

        const deleted = await Promise.all(all.map((each) => stage.call("DEL", each)));
        expect(failures(deleted)).toEqual([]);
        expect([all.flatMap((each) => each.pod.links()), stage.left()]).toEqual([[], nothing]);
      }
    });

    test("each get an address of a range that has exactly as many", async () => {
      const all = crowd(`10.10.0.${containers + 1}`);
      const added = await Promise.all(all.map((each) => stage.call("ADD", each)));
      expect(failures(added)).toEqual([]);
      expect(added.flatMap(addressesIn).length).toBe(containers);
      const [last] = all;
      // Both IPAM plugins refuse one more container, and the leases stay.
      const late = await stage.call("ADD", { ...last, config: last?.config ?? {}, containerId: "late", pod: stage.pod() });
      expect([late.status, late.json?.["msg"]]).toEqual([
        1,
        expect.stringMatching(/no IP addresses available|no address is free/),
      ]);
      expect(leases(stage.leases)).toHaveLength(containers);

      // Half of the containers are deleted while as many new ones are added: no address is assigned twice.
      const [leaving, staying] = [all.slice(0, containers / 2), all.slice(containers / 2)];
      expect(failures(await Promise.all(leaving.map((each) => stage.call("DEL", each))))).toEqual([]);
      const replacements = leaving.map((each) => ({ ...each, containerId: `${each.containerId}-new` }));
      const [going, arriving] = await Promise.all([
        Promise.all(staying.map((each) => stage.call("DEL", each))),
        Promise.all(replacements.map((each) => stage.call("ADD", each))),
      ]);
      expect([...failures(going), ...failures(arriving)]).toEqual([]);
      expect(leases(stage.leases)).toEqual(
        arriving
          .flatMap(addressesIn)
          .map((address) => `pods/${address}`)
          .toSorted(),
      );
      expect(failures(await Promise.all(replacements.map((each) => stage.call("DEL", each))))).toEqual([]);
      expect(stage.left()).toEqual(nothing);
    });
  });

  describe("two calls for one container", () => {
    let recorder: RecorderPlugin;
    let same: Attaching;
    beforeEach(() => {
      recorder = installRecorder(stage.plexus.cniPath, "slow");
      same = { config: stage.network([{ type: "slow" }]), containerId: "same", pod: stage.pod() };
    });

    const verbs = (): readonly (string | undefined)[] => callsInOrder([recorder]).map((call) => call.env["CNI_COMMAND"]);
    const callsInProgress = (count: number): Promise<void> => expect.poll(() => recorder.calls().length).toBe(count);

    test("N1-67, A-08: an ADD during an ADD waits and is then refused", async () => {
      recorder.script("ADD", { sleepMs: 700 });
      const answers = await Promise.all([stage.call("ADD", same), stage.call("ADD", same)]);
      expect(answers.map((answer) => answer.status).toSorted()).toEqual([0, 1]);
      expect(answers.find((answer) => answer.status !== 0)?.json).toMatchObject({
        code: 7,
        msg: expect.stringMatching(/already attached/),
      });
      expect(verbs()).toEqual(["ADD"]);
      await stage.succeed("DEL", same);
      expect(stage.left()).toEqual(nothing);
    });

    test("N1-67, A-08: a DEL during an ADD waits for that ADD and undoes it", async () => {
      recorder.script("ADD", { sleepMs: 1000 });
      const adding = stage.call("ADD", same);
      await callsInProgress(1);
      const deleted = await stage.call("DEL", same);
      const added = await adding;
      expect([added.status, deleted.status]).toEqual([0, 0]);
      expect(verbs()).toEqual(["ADD", "DEL"]);
      const [first, second] = recorder.calls();
      expect((second?.time ?? 0) - (first?.time ?? 0)).toBeGreaterThanOrEqual(1);
      expect(stage.left()).toEqual(nothing);
    });

    test("with different interface names do not wait for each other", async () => {
      const release = recorder.hold("ADD");
      const adding = stage.call("ADD", same);
      await callsInProgress(1);
      const other = stage.call("ADD", { ...same, ifname: "eth1" });
      await callsInProgress(2);
      release();
      expect(failures(await Promise.all([adding, other]))).toEqual([]);
      for (const ifname of ["eth0", "eth1"]) await stage.succeed("DEL", { ...same, ifname });
      expect(stage.left()).toEqual(nothing);
    });
  });

  test("a call that waits for its container's lock ends with its shim and executes no plugin", async () => {
    const recorder = installRecorder(stage.plexus.cniPath, "slow");
    const config = stage.network([{ type: "slow" }]);
    const waiting = { config, containerId: "waiting", pod: stage.pod() };
    const network = JSON.parse(JSON.stringify(config)) as { readonly name: string };
    const byte = containerByte({ containerId: "waiting", network: network.name, ifname: "eth0" });
    const lock = [locksPath(stage.plexus.state("cni")), "0", "exclusive", String(byte)];
    const holder = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", lockHolder, ...lock], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    await once(holder.stdout, "data");
    const engines = (): readonly string[] => processesNaming(stage.plexus.directory).filter((line) => line.includes("--once"));
    const killed = await stage.request({
      verb: "ADD",
      containerId: "waiting",
      netns: waiting.pod.path,
      ifname: "eth0",
      config,
      deadlineMs: 1500,
    });
    expect(killed.status).toBe(137);
    await expect.poll(engines).toEqual([]);
    holder.stdin.end("\n");
    await once(holder, "close");
    expect(recorder.calls()).toEqual([]);
    await stage.succeed("DEL", waiting);
    expect(stage.left()).toEqual(nothing);
  });

  test("STATUS waits neither for another STATUS nor for a GC", async () => {
    const recorder = installRecorder(stage.plexus.cniPath, "slow");
    const releases = ["STATUS", "GC"].map((verb) => recorder.hold(verb));
    const config = stage.network([{ type: "slow" }], { cniVersion: "1.1.0" });
    const requests = [gc(config), ...Array.from({ length: 3 }, () => stage.request({ verb: "STATUS", config }))];
    // No plugin ends before all four are there.
    await expect.poll(() => recorder.calls().length).toBe(4);
    for (const release of releases) release();
    expect(failures(await Promise.all(requests))).toEqual([]);
    expect(stage.left()).toEqual(nothing);
  });

  describe("GC and ADD", () => {
    test("L-46, A-08: GC waits for an ADD in progress, and ADDs of other containers wait for GC", async () => {
      const recorder = installRecorder(stage.plexus.cniPath, "slow");
      recorder.script("ADD", { sleepMs: 1000 }, 1);
      recorder.script("GC", { sleepMs: 1000 });
      const config = stage.network([{ type: "slow" }], { cniVersion: "1.1.0" });
      const pod = stage.pod();
      const adding = stage.call("ADD", { config, containerId: "first", pod });
      await expect.poll(() => recorder.calls().length).toBe(1);
      const collecting = gc(config, "first");
      await expect.poll(() => recorder.calls().length).toBe(2);
      const second = stage.call("ADD", { config, containerId: "second", pod });
      expect(failures(await Promise.all([adding, collecting, second]))).toEqual([]);
      const calls = callsInOrder([recorder]);
      expect(calls.map(({ env }) => `${env["CNI_COMMAND"]} ${env["CNI_CONTAINERID"]}`)).toEqual([
        "ADD first",
        "GC ",
        "ADD second",
      ]);
      const gaps = calls.slice(1).map((call, index) => call.time - (calls[index]?.time ?? 0));
      for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(1);
      for (const containerId of ["first", "second"]) await stage.succeed("DEL", { config, containerId, pod });
      expect(stage.left()).toEqual(nothing);
    });

    test("GCs during ADDs and DELs keep the leases of valid attachments and remove all stale ones", async () => {
      const config = mixedNetwork(stage);
      const valid = Array.from({ length: 4 }, (_, index) => ({ config, containerId: `valid-${index}`, pod: stage.pod() }));
      const stale = { config, containerId: "stale", pod: stage.pod() };
      await stage.succeed("ADD", stale);
      const names = valid.map((each) => each.containerId);
      const answers = await Promise.all(valid.flatMap((each) => [stage.call("ADD", each), gc(config, ...names)]));
      expect(failures(answers)).toEqual([]);
      expect([leases(stage.leases).length, stale.pod.links()]).toEqual([4, []]);
      for (const each of valid) await stage.succeed("CHECK", each);
      const deleted = await Promise.all(valid.flatMap((each) => [stage.call("DEL", each), gc(config, ...names)]));
      expect(failures(deleted)).toEqual([]);
      expect(stage.left()).toEqual(nothing);
    });

    test("GC of the WASM delegate removes a stale lease that native host-local wrote for a container of the journal, and no other's", async () => {
      const ipam = { type: "ipam-host-local", ipam: { subnet: "10.10.0.0/24" } };
      const config = stage.network([ipam], { cniVersion: "1.1.0" });
      const kept = { config, containerId: "kept", pod: stage.pod() };
      await stage.succeed("ADD", kept);
      writeFileSync(join(stage.leases, "pods", "10.10.0.98"), "kept\r\neth9");
      writeFileSync(join(stage.leases, "pods", "10.10.0.99"), "a-pod-of-another-program\r\neth0");
      expect(failures([await gc(config, "kept")])).toEqual([]);
      expect(leases(stage.leases)).toEqual(["pods/10.10.0.2", "pods/10.10.0.99"]);
      await stage.succeed("DEL", kept);
    });
  });
});
