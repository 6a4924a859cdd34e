// The verbs of one attachment and their failures: DEL at any time, CHECK, a second ADD, GC and STATUS.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { filesBelow, leases } from "../../lab/namespaces.ts";
import { callsInOrder, installRecorder } from "../../lab/recorder.ts";
import {
  bridgeStep,
  missingForMixed,
  mixedInstallation,
  mixedNetwork,
  mixedSteps,
  shaperStep,
  tuningStep,
} from "../../lab/mixed-network.ts";
import { nothing, openStage, shown, type Attaching, type Stage } from "../../lab/stage.ts";

const valid = (...ids: string[]): object => ({
  "cni.dev/valid-attachments": ids.map((containerID) => ({ containerID, ifname: "eth0" })),
});

describe.skipIf(missingForMixed("an attachment's lifecycle"))("an attachment's lifecycle", () => {
  let stage: Stage;
  beforeEach(() => {
    stage = openStage(mixedInstallation);
  });
  afterEach(() => stage.dispose());

  /** An attachment of the mixed network to a new pod. */
  const attaching = (containerId: string): Attaching & { readonly pod: ReturnType<Stage["pod"]> } => ({
    config: mixedNetwork(stage),
    containerId,
    pod: stage.pod(),
  });

  describe("DEL", () => {
    test("L-36, L-47: repeated succeeds and prints nothing", async () => {
      const each = attaching("again");
      await stage.succeed("ADD", each);
      for (const _ of [1, 2, 3]) expect((await stage.succeed("DEL", each)).stdout).toBe("");
      expect([each.pod.links(), stage.left()]).toEqual([[], nothing]);
    });

    test("of a container that was never added succeeds", async () => {
      await stage.succeed("DEL", attaching("never"));
      expect(stage.left()).toEqual(nothing);
    });

    test("RT-09: with an empty CNI_NETNS releases the address; the link ends with its namespace", async () => {
      const each = attaching("empty");
      await stage.succeed("ADD", each);
      await stage.succeed("DEL", { ...each, pod: "" });
      expect(stage.left()).toEqual({ ...nothing, links: [expect.stringMatching(/^veth/)] });
      each.pod.dispose();
      await expect.poll(() => stage.left().links).toEqual([]);
    });

    test("RT-09: after the namespace was deleted releases the address", async () => {
      const each = attaching("deleted");
      await stage.succeed("ADD", each);
      each.pod.dispose();
      await stage.succeed("DEL", each);
      await expect.poll(() => stage.left()).toEqual(nothing);
    });

    test("removes the unfinished journal entry of a killed ADD", async () => {
      const each = attaching("torn");
      const journal = join(stage.plexus.state("cni"), "journal");
      mkdirSync(journal, { recursive: true });
      writeFileSync(join(journal, ".torn@cluster@eth0"), '{"kind":"plexusJ');
      await stage.succeed("DEL", each);
      expect(stage.left()).toEqual(nothing);
    });

    test("L-48: uses the configuration of the ADD, not the one that the runtime sends with DEL", async () => {
      const each = attaching("changed");
      await stage.succeed("ADD", each);
      stage.steps();
      await stage.succeed("DEL", { ...each, config: stage.network([{ type: "ptp" }]) });
      expect(shown(stage.steps())).toEqual(mixedSteps.DEL);
      expect([each.pod.links(), stage.left()]).toEqual([[], nothing]);
    });
  });

  describe("CHECK", () => {
    test("fails after the pod's link was deleted, and DEL still releases the address", async () => {
      const each = attaching("broken");
      await stage.succeed("ADD", each);
      expect(each.pod.exec(["ip", "link", "delete", "eth0"]).status).toBe(0);
      const checked = await stage.call("CHECK", each);
      expect([checked.status, checked.json?.["msg"]]).toEqual([
        1,
        expect.stringMatching(/^network default as eth0: plugin type="bridge" failed \(check\)/),
      ]);
      await stage.succeed("DEL", each);
      expect(stage.left()).toEqual(nothing);
    });

    test("fails after the lease was deleted, and names the delegate", async () => {
      const each = attaching("robbed");
      await stage.succeed("ADD", each);
      rmSync(join(stage.leases, "pods", "10.10.0.2"));
      const checked = await stage.call("CHECK", each);
      expect([checked.status, checked.json?.["msg"]]).toEqual([1, expect.stringMatching(/ipam-host-local/)]);
      await stage.succeed("DEL", each);
      expect([each.pod.links(), stage.left()]).toEqual([[], nothing]);
    });

    test("L-50: of a container that was never added fails with code 3", async () => {
      const checked = await stage.call("CHECK", attaching("never"));
      expect([checked.status, checked.json]).toMatchObject([
        1,
        { code: 3, msg: expect.stringMatching(/container never is not attached .*: it was never added/) },
      ]);
    });
  });

  describe("ADD", () => {
    test("of an attached interface is refused and changes nothing", async () => {
      const [each, other] = [attaching("twice"), attaching("other")];
      await stage.succeed("ADD", each);
      const before = { left: stage.left(), addresses: each.pod.addresses() };
      const again = await stage.call("ADD", each);
      expect([again.status, again.json]).toMatchObject([
        1,
        { code: 7, msg: expect.stringMatching(/twice.*already attached.*eth0/) },
      ]);
      expect({ left: stage.left(), addresses: each.pod.addresses() }).toEqual(before);
      await stage.succeed("CHECK", each);
      await stage.succeed("ADD", other);
      expect(each.pod.ping("10.10.0.3")).toBe(true);
      for (const one of [each, other]) await stage.succeed("DEL", one);
      expect([each.pod.links(), other.pod.links(), stage.left()]).toEqual([[], [], nothing]);
    });

    test("L-33, MO-09: with a failing last step leaves nothing and answers that step's error", async () => {
      const config = stage.network([bridgeStep(), shaperStep, tuningStep(stage, { sysctl: { "net.no.such.thing": "1" } })]);
      const each = { ...attaching("failing"), config };
      const added = await stage.call("ADD", each);
      expect([added.status, added.json?.["msg"]]).toEqual([
        1,
        expect.stringMatching(/^network default as eth0: plugin type="tuning" failed \(add\)/),
      ]);
      expect(shown(stage.steps())).toEqual([...mixedSteps.ADD.slice(0, 3), "ADD tuning native failed", ...mixedSteps.DEL]);
      expect([each.pod.links(), stage.left()]).toEqual([[], nothing]);
      await stage.succeed("DEL", each);
    });

    test("works after DEL of the same container, and for a second interface of that container", async () => {
      const each = attaching("thrice");
      const second = { ...each, ifname: "eth1" };
      for (const verb of ["ADD", "DEL", "ADD"]) await stage.succeed(verb, each);
      await stage.succeed("ADD", { ...second, config: stage.network([bridgeStep({ isDefaultGateway: false })]) });
      expect(each.pod.links().map((link) => link.name)).toEqual(["eth0", "eth1"]);
      await stage.succeed("DEL", each);
      expect([each.pod.links().map((link) => link.name), leases(stage.leases)]).toEqual([["eth1"], [expect.any(String)]]);
      await stage.succeed("DEL", second);
      expect([each.pod.links(), stage.left()]).toEqual([[], nothing]);
    });
  });

  describe("GC and STATUS, which plugins of CNI 1.0.0 do not support", () => {
    const ipam = { type: "ipam-host-local", ipam: { subnet: "10.13.0.0/24", rangeEnd: "10.13.0.4" } };
    const modern = (more: object = {}): object => stage.network([ipam, { type: "recorder" }], { cniVersion: "1.1.0", ...more });

    test("L-43: GC undoes stale attachments, then sends GC with the valid attachments to every plugin", async () => {
      const recorder = installRecorder(stage.plexus.cniPath, "recorder");
      const pod = stage.pod();
      for (const containerId of ["stays", "stale"]) await stage.succeed("ADD", { config: modern(), containerId, pod });
      // A further lease of a journalled container, and a lease of a container that another program attached.
      writeFileSync(join(stage.leases, "pods", "10.13.0.4"), "stale\r\neth9");
      const foreign = join(stage.leases, "pods", "10.13.0.5");
      writeFileSync(foreign, "foreign\r\neth0");
      recorder.clear();
      stage.steps();

      const answer = await stage.request({ verb: "GC", config: modern(valid("stays")) });
      expect([answer.status, answer.stdout]).toEqual([0, ""]);
      expect(shown(stage.steps())).toEqual([
        "DEL recorder native",
        "DEL ipam-host-local wasm",
        "GC ipam-host-local wasm",
        "GC recorder native",
      ]);
      expect(callsInOrder([recorder]).map(({ env }) => [env["CNI_COMMAND"], env["CNI_CONTAINERID"]])).toEqual([
        ["DEL", "stale"],
        ["GC", ""],
      ]);
      expect(JSON.parse(recorder.calls()[1]?.stdin ?? "{}")).toMatchObject(valid("stays"));
      expect(leases(stage.leases)).toEqual(["pods/10.13.0.2", "pods/10.13.0.5"]);
      expect(filesBelow(join(stage.plexus.directory, "state", "cni", "journal"))).toEqual(["stays@cluster@eth0"]);

      rmSync(foreign);
      await stage.succeed("DEL", { config: modern(), containerId: "stays", pod });
      expect(stage.left()).toEqual(nothing);
    });

    test("GC undoes an attachment whose namespace was deleted", async () => {
      const pod = stage.pod();
      const old = { config: mixedNetwork(stage), containerId: "gone", pod: pod.path };
      // Plugins below 1.1.0 do not get GC, but their stale attachments get DEL.
      await stage.succeed("ADD", old);
      pod.dispose();
      const answer = await stage.request({ verb: "GC", config: { ...mixedNetwork(stage), cniVersion: "1.1.0", ...valid() } });
      expect([answer.status, answer.stdout]).toEqual([0, ""]);
      // The kernel deletes the link of a deleted namespace asynchronously.
      await expect.poll(() => stage.left()).toEqual(nothing);
    });

    test("L-43: GC without a list of valid attachments is refused and deletes nothing", async () => {
      installRecorder(stage.plexus.cniPath, "recorder");
      const each = { config: modern(), containerId: "kept", pod: stage.pod() };
      await stage.succeed("ADD", each);
      const answer = await stage.request({ verb: "GC", config: modern() });
      expect([answer.status, answer.json]).toMatchObject([
        1,
        { code: 7, msg: expect.stringMatching(/cni\.dev\/valid-attachments/) },
      ]);
      expect(leases(stage.leases)).toEqual(["pods/10.13.0.2"]);
      await stage.succeed("DEL", each);
    });

    test("STATUS succeeds until the range is full, then fails with code 50", async () => {
      installRecorder(stage.plexus.cniPath, "recorder");
      const status = (): ReturnType<Stage["request"]> => stage.request({ verb: "STATUS", config: modern() });
      const idle = await status();
      expect([idle.status, idle.stdout]).toEqual([0, ""]);
      expect(shown(stage.steps())).toEqual(["STATUS ipam-host-local wasm", "STATUS recorder native"]);
      const pod = stage.pod();
      const full = ["a", "b", "c"].map((containerId) => ({ config: modern(), containerId, pod }));
      for (const each of full) await stage.succeed("ADD", each);
      const busy = await status();
      expect([busy.status, busy.json]).toMatchObject([1, { code: 50, msg: expect.stringMatching(/10\.13\.0/) }]);
      for (const each of full) await stage.succeed("DEL", each);
      expect((await status()).status).toBe(0);
    });

    test("L-42: the answer has the code of a native plugin's failed STATUS", async () => {
      const recorder = installRecorder(stage.plexus.cniPath, "recorder");
      recorder.script("STATUS", { stdout: '{"cniVersion":"1.1.0","code":51,"msg":"half of it works"}', exit: 1 });
      const answer = await stage.request({ verb: "STATUS", config: modern() });
      expect([answer.status, answer.json]).toMatchObject([1, { code: 51, msg: expect.stringMatching(/half of it works/) }]);
    });
  });
});
