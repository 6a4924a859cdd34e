// GC as a whole call: the DEL of stale attachments, each network's list of valid attachments, and the limits of GC.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { containerByte } from "../call/call-locks.ts";
import { CallStage, type StagedAnswer } from "../testing/call-stage.ts";
import { attaching, failing, gone } from "../testing/scripted-shim.ts";
import { ShimGone } from "../../protocol/shim.ts";

let stage: CallStage;
beforeEach(() => {
  stage = new CallStage();
  stage.shim.install("bridge", attaching("10.0.0.2/24"));
  stage.shim.install("portmap", attaching("10.0.0.2/24"));
  stage.shim.install("macvlan", attaching("10.1.0.2/24"));
  stage.delegates = [
    { name: "pods", cniVersion: "1.1.0", plugins: [{ type: "bridge" }, { type: "portmap" }] },
    { name: "storage", cniVersion: "1.1.0", plugins: [{ type: "macvlan" }] },
  ];
});
afterEach(() => stage.dispose());

const steps = ({ log }: Pick<StagedAnswer, "log">): readonly string[] => log.filter((line) => /^[A-Z]/.test(line));
const broken = failing(105, "the backend is gone");
const undoing = ["DEL macvlan net1", "DEL portmap eth0", "DEL bridge eth0"];

/** Runs GC with these containers as valid, each with its eth0. */
function collect(valid: readonly string[], more: Readonly<Record<string, unknown>> = {}): Promise<StagedAnswer> {
  const list = valid.map((containerID) => ({ containerID, ifname: "eth0" }));
  return stage.call({ verb: "GC", config: { "cni.dev/valid-attachments": list, ...more } });
}

/** The list of valid attachments that each plugin got: its type, then `container/interface`. */
function validLists(): readonly (readonly string[])[] {
  return stage.shim.calls
    .filter(({ verb }) => verb === "GC")
    .map(({ type, configuration }) => {
      const list = configuration["cni.dev/valid-attachments"];
      expect(configuration["cni.dev/attachments"]).toEqual(list);
      const ids: readonly { containerID: string; ifname: string }[] = Array.isArray(list) ? list : [];
      return [type, ...ids.map(({ containerID, ifname }) => `${containerID}/${ifname}`).toSorted()];
    });
}

describe("GC's list of valid attachments", () => {
  test.each([
    ["is missing", {}, /^GC needs cni\.dev\/valid-attachments: a list of \{containerID, ifname\}$/],
    ["is not a list", { "cni.dev/valid-attachments": {} }, /^GC needs cni\.dev\/valid-attachments/],
    [
      "contains a string",
      { "cni.dev/valid-attachments": ["c1"] },
      /^cni\.dev\/valid-attachments\[0\] must have a containerID and an ifname/,
    ],
    [
      "lacks an ifname",
      { "cni.dev/valid-attachments": [{ containerID: "c1", ifname: "eth0" }, { containerID: "c2" }] },
      /^cni\.dev\/valid-attachments\[1\] must have/,
    ],
    ["has an empty containerID", { "cni.dev/valid-attachments": [{ containerID: "", ifname: "eth0" }] }, /\[0\] must have/],
    ["has an empty ifname", { "cni.dev/valid-attachments": [{ containerID: "c1", ifname: "" }] }, /\[0\] must have/],
  ])("that %s makes GC fail without a step", async (_what, config, msg) => {
    await stage.succeed({ verb: "ADD" });
    const before = stage.stateFiles();
    const answer = await stage.call({ verb: "GC", config });
    expect([answer.json["code"], answer.json["msg"], steps(answer)]).toEqual([7, expect.stringMatching(msg), []]);
    expect(stage.stateFiles()).toEqual(before);
  });

  // A node without a pod: GCArgs of Go without an element.
  test.each([{ "cni.dev/valid-attachments": null }, { "cni.dev/valid-attachments": null, "cni.dev/attachments": null }])(
    "FI-27 that libcni sends as %j has no element",
    async (config) => {
      await stage.succeed({ verb: "ADD" });
      const answer = await stage.call({ verb: "GC", config });
      expect([answer.status, steps(answer)]).toEqual([0, [...undoing, "GC bridge", "GC portmap"]]);
      expect(stage.stateFiles()).toEqual([]);
    },
  );

  test("is also read under the key cni.dev/attachments", async () => {
    await stage.succeed({ verb: "ADD" });
    const answer = await stage.call({ verb: "GC", config: { "cni.dev/attachments": [{ containerID: "c1", ifname: "eth0" }] } });
    expect([answer.status, steps(answer)]).toEqual([0, ["GC bridge", "GC portmap", "GC macvlan"]]);
  });
});

describe("GC's DEL of stale attachments", () => {
  test("runs for journalled attachments that are not in the list, with the namespace of the ADD; valid ones stay", async () => {
    await stage.succeed({ verb: "ADD", containerId: "stale", netns: "/run/netns/a" });
    await stage.succeed({ verb: "ADD", containerId: "valid" });
    const answer = await collect(["valid"]);
    expect([answer.status, answer.stdout]).toEqual([0, ""]);
    expect(steps(answer)).toEqual([...undoing, "GC bridge", "GC portmap", "GC macvlan"]);
    const deletions = stage.shim.calls.filter(({ verb }) => verb === "DEL");
    expect(deletions.map(({ containerId, netns }) => [containerId, netns])).toEqual(
      deletions.map(() => ["stale", "/run/netns/a"]),
    );
    expect(stage.stateFiles()).toEqual(["journal/valid@cluster@eth0", "results/pods-valid-eth0", "results/storage-valid-net1"]);
  });

  test("has an empty CNI_NETNS after a reboot", async () => {
    await stage.succeed({ verb: "ADD" });
    stage.edit("journal/c1@cluster@eth0", (text) => text.replace(/"bootId":"[^"]*"/, '"bootId":"earlier"'));
    await collect([]);
    expect(stage.shim.calls.filter(({ verb }) => verb === "DEL").map(({ netns }) => netns)).toEqual(["", "", ""]);
  });

  test("leaves other configurations alone", async () => {
    await stage.succeed({ verb: "ADD", config: { name: "other" } });
    const answer = await collect([]);
    expect(steps(answer)).toEqual(["GC bridge", "GC portmap", "GC macvlan"]);
    // Both configurations share the networks, in which the other configuration's attachments are valid.
    expect(validLists()).toEqual([
      ["bridge", "c1/eth0"],
      ["portmap", "c1/eth0"],
      ["macvlan", "c1/net1"],
    ]);
  });

  test("leaves networks with disableGC to the runtime's DEL", async () => {
    stage.delegates = [
      { name: "pods", cniVersion: "1.1.0", plugins: [{ type: "bridge" }] },
      { name: "storage", cniVersion: "1.1.0", disableGC: true, plugins: [{ type: "macvlan" }] },
    ];
    await stage.succeed({ verb: "ADD" });
    const answer = await collect([]);
    expect([answer.status, steps(answer)]).toEqual([0, ["DEL bridge eth0", "GC bridge"]]);
    expect(stage.entry().at(-1)).toEqual({ undone: 0 });
    expect(steps(await stage.succeed({ verb: "DEL" }))).toEqual(["DEL macvlan net1"]);
  });

  test("FI-11: follows disableGC of the current list, not of the list at ADD", async () => {
    const pods = { name: "pods", cniVersion: "1.1.0", plugins: [{ type: "bridge" }] };
    const storage = { name: "storage", cniVersion: "1.1.0", plugins: [{ type: "macvlan" }] };
    stage.delegates = [pods, { ...storage, disableGC: true }];
    await stage.succeed({ verb: "ADD", containerId: "a" });
    stage.delegates = [{ ...pods, disableGC: "True" }, storage];
    await stage.succeed({ verb: "ADD", containerId: "b" });
    const answer = await collect([]);
    expect([answer.status, steps(answer)]).toEqual([0, ["DEL macvlan net1", "DEL macvlan net1"]]);
    stage.delegates = [pods, storage];
    expect(steps(await collect([]))).toEqual(["DEL bridge eth0", "DEL bridge eth0", "GC bridge"]);
  });

  test("FI-11: follows disableGC of Plexus' own configuration, and at ADD's time for a network that is no longer configured", async () => {
    const kept = { name: "storage", cniVersion: "1.1.0", disableGC: true, plugins: [{ type: "macvlan" }] };
    stage.delegates = [...stage.delegates.slice(0, 1), kept];
    await stage.succeed({ verb: "ADD" });
    expect(steps(await collect([], { disableGC: true }))).toEqual([]);
    stage.delegates = stage.delegates.slice(0, 1);
    expect(steps(await collect([]))).toEqual(["DEL portmap eth0", "DEL bridge eth0", "GC bridge", "GC portmap"]);
  });

  test("FI-11: follows disableGC of a definition as it is now; while it is unreadable, as it was at ADD", async () => {
    const define = (disableGC: boolean): void => {
      const list = { name: "storage", cniVersion: "1.1.0", disableGC, plugins: [{ type: "macvlan" }] };
      stage.manifests.definition("storage", { config: JSON.stringify(list) });
    };
    stage.delegates = stage.delegates.slice(0, 1);
    stage.config = { manifests: stage.manifests.directory };
    stage.manifests.pod("web", "storage");
    define(false);
    await stage.succeed({ verb: "ADD", args: stage.manifests.argsOf("web") });
    define(true);
    expect(steps(await collect([]))).toEqual(["DEL portmap eth0", "DEL bridge eth0", "GC bridge", "GC portmap"]);
    define(false);
    expect(steps(await collect([], { manifests: undefined, kubeconfig: "/nowhere" }))).toEqual([
      "DEL macvlan net1",
      "GC bridge",
      "GC portmap",
    ]);
  });

  test("knows a default network of the API before the first ADD", async () => {
    const list = { name: "pods", cniVersion: "1.1.0", plugins: [{ type: "bridge" }] };
    stage.manifests.definition("pods", { config: JSON.stringify(list) }, { namespace: "kube-system" });
    const answer = await collect([], { clusterNetwork: "pods", delegates: undefined, manifests: stage.manifests.directory });
    expect([answer.status, steps(answer)]).toEqual([0, ["GC bridge"]]);
  });

  test("goes on after a failure, and names each failed container", async () => {
    for (const containerId of ["a", "b"]) await stage.succeed({ verb: "ADD", containerId });
    stage.shim.on("macvlan", "DEL", ({ containerId }) => ({
      outcome: { kind: "exited", status: 1 },
      stdout: JSON.stringify({ code: containerId === "a" ? 105 : 106, msg: `no ${containerId}` }),
    }));
    const { json, log } = await collect([]);
    expect([json["code"], json["msg"]]).toEqual([
      105,
      'failed to delete stale attachment a net1: plugin type="macvlan" failed (delete): no a',
    ]);
    expect(json["details"]).toContain("also: failed to delete stale attachment b net1");
    expect(steps({ log })).toEqual([...undoing, ...undoing, "GC bridge", "GC portmap"]);
    // A failed attachment is still stale, so it is in no network's list.
    expect(validLists()).toEqual([["bridge"], ["portmap"]]);
  });

  test("skips a container whose lock another call holds for too long, and goes on with the others", async () => {
    for (const containerId of ["a", "b"]) await stage.succeed({ verb: "ADD", containerId });
    stage.holdLock({ byte: containerByte({ containerId: "a", network: "cluster", ifname: "eth0" }), shared: false });
    const { takeLock } = stage;
    stage.takeLock = (request) => takeLock({ ...request, deadlineMs: 0 });
    const answer = await collect([]);
    expect([answer.json["code"], answer.json["msg"]]).toEqual([
      11,
      expect.stringContaining("another call held the lock of container a, eth0"),
    ]);
    expect(steps(answer).slice(0, 3)).toEqual(undoing);
    expect(stage.stateFiles()).toContain("journal/a@cluster@eth0");
    expect(stage.stateFiles()).not.toContain("journal/b@cluster@eth0");
  });

  test("leaves an entry that a new ADD replaced since GC began", async () => {
    for (const containerId of ["a", "b"]) await stage.succeed({ verb: "ADD", containerId });
    // While GC undoes a, the runtime deletes b and attaches it again. Its list of valid attachments is older.
    stage.shim.on("macvlan", "DEL", async ({ containerId }) => {
      if (containerId === "a") {
        await stage.succeed({ verb: "DEL", containerId: "b" });
        stage.aheadMs += 5000;
        await stage.succeed({ verb: "ADD", containerId: "b" });
      }
      return {};
    });
    const answer = await collect([]);
    expect(answer.status).toBe(0);
    expect(stage.stateFiles()).toEqual(["journal/b@cluster@eth0", "results/pods-b-eth0", "results/storage-b-net1"]);
    expect(validLists()).toEqual([
      ["bridge", "b/eth0"],
      ["portmap", "b/eth0"],
      ["macvlan", "b/net1"],
    ]);
  });

  test("abandons an unreadable entry, and reports it once", async () => {
    await stage.succeed({ verb: "ADD" });
    stage.edit("journal/c1@cluster@eth0", () => "nonsense\n");
    const answer = await collect([]);
    expect(answer.json["msg"]).toMatch(/does not contain the plan for its name; the entry is moved to .*1@c1@cluster@eth0$/);
    expect((await collect([])).status).toBe(0);
  });

  test("of an unknown container is only a warning if it fails", async () => {
    stage.shim.on("bridge", "DEL", broken);
    await stage.call({ verb: "DEL" });
    const answer = await collect([]);
    expect([answer.status, answer.warnings]).toEqual([
      0,
      [expect.stringMatching(/^failed to delete stale attachment c1 eth0: .*the backend is gone/)],
    ]);
  });

  test("is given up like a DEL of the runtime", async () => {
    await stage.succeed({ verb: "ADD" });
    stage.shim.on("macvlan", "DEL", broken);
    stage.shim.namespaces.clear();
    const terms = { del: { tries: 2, seconds: 3600 } };
    expect((await collect([], terms)).status).toBe(1);
    const last = await collect([], terms);
    expect([last.status, last.warnings]).toEqual([
      0,
      // The same GC tries the abandoned attachment again.
      [expect.stringContaining("ABANDONED: DEL of container c1"), expect.stringContaining("still abandoned: ")],
    ]);
    stage.shim.removeScript("macvlan", "DEL");
    expect((await collect([])).warnings).toEqual([]);
    expect(stage.stateFiles()).toEqual([]);
  });

  test("stops when the shim ends, and releases its locks", async () => {
    await stage.succeed({ verb: "ADD" });
    stage.shim.on("macvlan", "DEL", gone);
    await expect(collect([])).rejects.toThrow(ShimGone);
    stage.shim.removeScript("macvlan", "DEL");
    expect((await collect([])).status).toBe(0);
    expect(stage.stateFiles()).toEqual([]);
  });
});

describe("each network's GC", () => {
  test("lists attachments with the runtime's interface name for the default network, and with the pod's for others", async () => {
    for (const containerId of ["a", "b"]) await stage.succeed({ verb: "ADD", containerId });
    await collect(["a", "b"]);
    expect(validLists()).toEqual([
      ["bridge", "a/eth0", "b/eth0"],
      ["portmap", "a/eth0", "b/eth0"],
      ["macvlan", "a/net1", "b/net1"],
    ]);
    // A GC has no variables of an attachment. Each plugin gets its network's name and version.
    const [first] = stage.shim.calls.filter(({ verb }) => verb === "GC");
    expect([first?.containerId, first?.ifname, first?.netns, first?.configuration["name"]]).toEqual(["", "", "", "pods"]);
  });

  test("lists all of the runtime's valid attachments for the default network, also without a journal entry", async () => {
    const answer = await collect(["unknown"]);
    expect(validLists()).toEqual([
      ["bridge", "unknown/eth0"],
      ["portmap", "unknown/eth0"],
    ]);
    expect(answer.warnings).toEqual([expect.stringMatching(/^GC is limited to network pods: the further networks of 1 /)]);
  });

  test("lists cached attachments without a journal entry", async () => {
    await stage.succeed({ verb: "ADD" });
    rmSync(join(stage.stateDirectory, "journal/c1@cluster@eth0"));
    const answer = await collect(["c1"]);
    expect([validLists(), answer.warnings]).toEqual([
      [
        ["bridge", "c1/eth0"],
        ["portmap", "c1/eth0"],
        ["macvlan", "c1/net1"],
      ],
      [],
    ]);
  });

  test("does not run for networks before version 1.1.0, nor with disableGC", async () => {
    stage.delegates = [
      { name: "pods", cniVersion: "1.0.0", plugins: [{ type: "bridge" }] },
      { name: "storage", cniVersion: "1.1.0", disableGC: true, plugins: [{ type: "macvlan" }] },
    ];
    await stage.succeed({ verb: "ADD" });
    expect(steps(await collect(["c1"]))).toEqual([]);
  });

  test("goes on after a failing plugin, and keeps its code", async () => {
    await stage.succeed({ verb: "ADD" });
    stage.shim.on("bridge", "GC", failing(105, "no backend"));
    const answer = await collect(["c1"]);
    expect([answer.json["code"], answer.json["msg"]]).toEqual([105, "failed to GC plugin bridge: no backend"]);
    expect(steps(answer)).toEqual(["GC bridge", "GC portmap", "GC macvlan"]);
  });

  test("excludes all other calls only while a plugin runs", async () => {
    await stage.succeed({ verb: "ADD" });
    const held: string[] = [];
    stage.shim.on("bridge", "GC", async () => {
      const { json } = await stage.call({ verb: "ADD", containerId: "late", config: { callTimeoutMs: 100 } });
      held.push(String(json["msg"]));
      return {};
    });
    await collect(["c1"]);
    expect(held).toEqual([expect.stringMatching(/another call held the lock of all containers/)]);
    expect((await stage.call({ verb: "ADD", containerId: "late" })).status).toBe(0);
  });

  test("gives a plugin 15 s, because all other calls wait", async () => {
    await collect([]);
    expect(stage.shim.calls[0]?.effect.deadlineMs).toBe(15_000);
  });
});

describe("the rest of a GC", () => {
  test("removes torn files of killed calls", async () => {
    mkdirSync(join(stage.stateDirectory, "journal"), { recursive: true });
    mkdirSync(join(stage.stateDirectory, "results"), { recursive: true });
    writeFileSync(join(stage.stateDirectory, "journal/.torn@cluster@eth0"), "half");
    writeFileSync(join(stage.stateDirectory, "results/.pods-torn-eth0"), "half");
    await collect([]);
    expect(stage.stateFiles()).toEqual([]);
  });

  test("tries abandoned attachments of this configuration again, unless their container is valid", async () => {
    stage.config = { del: { tries: 1, seconds: 1 } };
    stage.shim.on("macvlan", "DEL", broken);
    for (const containerId of ["a", "b"]) {
      await stage.succeed({ verb: "ADD", containerId });
      await stage.succeed({ verb: "DEL", containerId, netns: "" });
    }
    await stage.succeed({ verb: "ADD", config: { name: "other" } });
    await stage.succeed({ verb: "DEL", config: { name: "other" }, netns: "" });
    stage.shim.removeScript("macvlan", "DEL");
    stage.shim.calls.length = 0;
    const answer = await collect(["b"]);
    expect(answer.status).toBe(0);
    expect(stage.shim.calls.filter(({ verb }) => verb === "DEL").map(({ containerId }) => containerId)).toEqual(["a"]);
    expect(stage.stateFiles()).toEqual(["abandoned/1@b@cluster@eth0", "abandoned/1@c1@other@eth0"]);
  });

  test("leaves an abandoned attachment alone whose container is attached again", async () => {
    stage.config = { del: { tries: 1, seconds: 1 } };
    stage.shim.on("macvlan", "DEL", broken);
    await stage.succeed({ verb: "ADD" });
    await stage.succeed({ verb: "DEL", netns: "" });
    const added = await stage.succeed({ verb: "ADD" });
    expect(added.warnings).toEqual([expect.stringContaining("still abandoned: ")]);
    stage.shim.removeScript("macvlan", "DEL");
    // GC's list is older than the ADD.
    stage.shim.on("bridge", "DEL", broken);
    const answer = await collect([]);
    expect(answer.warnings.at(-1)).toMatch(/still abandoned: .*container c1 is attached again as eth0/);
  });

  test("leaves steps to the next GC after its time, and counts them", async () => {
    for (const containerId of ["a", "b"]) await stage.succeed({ verb: "ADD", containerId });
    stage.shim.on("bridge", "DEL", () => {
      stage.aheadMs += 11_000;
      return {};
    });
    const answer = await collect([], { gc: { seconds: 10 } });
    expect([answer.json["msg"], steps(answer)]).toEqual([
      "GC took more than 10 s (gc.seconds); 3 of its steps are left to the next GC",
      undoing,
    ]);
    expect(stage.stateFiles()).toContain("journal/b@cluster@eth0");
  });

  test("with dryRun only warns of each action that it would take", async () => {
    await stage.succeed({ verb: "ADD", containerId: "stale" });
    await stage.succeed({ verb: "ADD", containerId: "valid" });
    const before = stage.stateFiles();
    const answer = await collect(["valid"], { gc: { dryRun: true } });
    expect([answer.status, steps(answer), stage.stateFiles()]).toEqual([0, [], before]);
    expect(answer.warnings).toEqual([
      "GC would delete attachment stale eth0",
      "GC would run for bridge, portmap of network pods with these valid attachments: valid eth0",
      "GC would run for macvlan of network storage with these valid attachments: valid net1",
    ]);
    expect((await collect([], { gc: { dryRun: true } })).warnings).toContain(
      "GC would run for bridge, portmap of network pods with these valid attachments: none",
    );
  });
});
