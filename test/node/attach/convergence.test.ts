// Deletion converges (RT-07): a DEL that keeps failing is given up with a warning and a record. GC or a later DEL finishes the undo.

import { execFileSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { startDaemon } from "../../lab/daemon.ts";
import { filesBelow, leases } from "../../lab/namespaces.ts";
import type { Answer } from "../../lab/plexus.ts";
import { installRecorder, type RecorderPlugin } from "../../lab/recorder.ts";
import { bridgeStep, missingForMixed, mixedInstallation } from "../../lab/mixed-network.ts";
import { fullGrant, nothing, openStage, type Attaching, type Stage } from "../../lab/stage.ts";

const broken = { stdout: '{"cniVersion":"1.0.0","code":105,"msg":"the backend is gone"}', exit: 1 };

describe.skipIf(missingForMixed("convergence of DEL"))("RT-07: a DEL that keeps failing", () => {
  let stage: Stage;
  let recorder: RecorderPlugin;
  beforeEach(() => {
    stage = openStage(mixedInstallation);
    recorder = installRecorder(stage.plexus.cniPath, "recorder");
  });
  afterEach(() => stage.dispose());

  const abandoned = (): readonly string[] => filesBelow(join(stage.plexus.state("cni"), "abandoned"));
  const network = (more: object = {}): object => stage.network([bridgeStep(), { type: "recorder" }], more);
  const attaching = (containerId: string, more: object = {}): Attaching & { readonly pod: ReturnType<Stage["pod"]> } => ({
    config: network({ del: { tries: 3, seconds: 3600 }, ...more }),
    containerId,
    pod: stage.pod(),
  });
  const del = async (each: Attaching, times: number): Promise<readonly Answer[]> => {
    const answers: Answer[] = [];
    while (answers.length < times) answers.push(await stage.call("DEL", each));
    return answers;
  };
  /** GC of version 1.1.0 without valid attachments. */
  const collect = (config: object): Promise<Answer> =>
    stage.request({ verb: "GC", config: { ...config, cniVersion: "1.1.0", "cni.dev/valid-attachments": [] } });

  test("a directory with the name of the entry's temporary file does not keep a DEL from succeeding", async () => {
    const each = attaching("odd");
    await stage.succeed("ADD", each);
    const odd = join(stage.plexus.state("cni"), "journal", ".odd@cluster@eth0");
    mkdirSync(join(odd, "full"), { recursive: true });
    await stage.succeed("DEL", each);
    expect([existsSync(odd), existsSync(join(stage.plexus.state("cni"), "journal", "odd@cluster@eth0"))]).toEqual([true, false]);
    // An empty one is removed by the next ADD.
    rmSync(join(odd, "full"), { recursive: true });
    await stage.succeed("ADD", each);
    await stage.succeed("DEL", each);
    expect(stage.left()).toEqual(nothing);
  });

  test.each(["attached", "never attached"])(
    "RT-07: is given up on a full disk, too, of a container that was %s",
    async (which) => {
      const state = stage.plexus.state("cni");
      mkdirSync(state, { recursive: true });
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", state]);
      // A daemon that starts now sees the mount.
      const socket = join(stage.plexus.directory, "daemon", "plexus.sock");
      const daemon = await startDaemon({ socket, args: ["--state-dir", state, "--reconcile-interval", "0"] });
      try {
        const { config, containerId, pod } = attaching("full");
        const call = (verb: "ADD" | "DEL", netns: string): Promise<Answer> =>
          stage.request({ verb, containerId, netns, ifname: "eth0", config, env: { PLEXUS_SOCKET: socket } });
        if (which === "attached") await call("ADD", pod.path);
        recorder.script("DEL", broken);
        const filler = openSync(join(state, "filler"), "w");
        expect(() => {
          for (;;) writeSync(filler, Buffer.alloc(4096, 1));
        }).toThrow("ENOSPC");
        closeSync(filler);
        const answers = [await call("DEL", ""), await call("DEL", ""), await call("DEL", "")];
        expect(answers.map(({ status }) => status)).toEqual([1, 1, 0]);
        expect(answers.at(-1)?.stderr).toContain(which === "attached" ? "ABANDONED" : "is given up");
        expect(abandoned()).toHaveLength(which === "attached" ? 1 : 0);
      } finally {
        await daemon.stop();
        execFileSync("umount", ["--lazy", state]);
      }
    },
  );

  test("RT-07 RT-09: without a namespace fails `del.tries - 1` times, then succeeds with a warning and keeps a record", async () => {
    const each = attaching("stuck");
    await stage.succeed("ADD", each);
    recorder.script("DEL", broken);
    const answers = await del({ ...each, pod: "" }, 3);
    expect(answers.map(({ status, json }) => [status, json?.["code"]])).toEqual([
      [1, 105],
      [1, 105],
      [0, undefined],
    ]);
    expect(answers[1]?.json?.["details"]).toMatch(/DEL failed 2 times since .*given up after 3 failures/);
    const [, , last] = answers;
    expect(last?.stdout).toBe("");
    expect(last?.stderr).toMatch(
      /ABANDONED: DEL of container stuck.*failed 3 times.*default as eth0 10\.10\.0\.2\/24 link br0 link veth.*the backend is gone/,
    );
    expect(abandoned()).toEqual(["1@stuck@cluster@eth0"]);
    const record = readFileSync(join(stage.plexus.state("cni"), "abandoned", "1@stuck@cluster@eth0"), "utf8");
    expect([record.match(/"failed":/g)?.length, record.includes("the backend is gone")]).toEqual([3, true]);
    // Only the lease remains, which cannot be released yet.
    expect({ ...stage.left(), links: [] }).toEqual({
      ...nothing,
      leases: ["pods/10.10.0.2"],
      state: ["abandoned/1@stuck@cluster@eth0"],
    });

    // containerd sends DEL at least twice: the second DEL succeeds even if its attempt to undo fails.
    recorder.clear();
    const again = await stage.call("DEL", { ...each, pod: "" });
    expect([again.status, again.stdout, again.stderr, recorder.calls().length]).toEqual([
      0,
      "",
      expect.stringMatching(/still abandoned: .*1@stuck.*the backend is gone/),
      1,
    ]);

    // GC repeats the undo: a failure does not fail GC, a success removes the record.
    const failedUndo = await collect(network());
    expect([failedUndo.status, failedUndo.stdout, failedUndo.stderr]).toEqual([
      0,
      "",
      expect.stringMatching(/1@stuck.*the backend is gone/),
    ]);
    rmSync(`${recorder.path}.script`, { recursive: true });
    const done = await collect(network());
    expect([done.status, done.stdout, done.stderr]).toEqual([0, "", ""]);
    expect({ ...stage.left(), links: [] }).toEqual(nothing);
  });

  test("with an existing namespace is given up by the count alone after a first failure in the future: the clock was set back", async () => {
    const each = attaching("set-back", { del: { tries: 2, seconds: 3600 } });
    await stage.succeed("ADD", each);
    recorder.script("DEL", broken);
    expect((await del(each, 1)).map(({ status }) => status)).toEqual([1]);
    const entry = join(stage.plexus.state("cni"), "journal", "set-back@cluster@eth0");
    const text = readFileSync(entry, "utf8");
    writeFileSync(entry, text.replace(/"failed":"[^"]*"/u, `"failed":"2036-01-01T00:00:00.000Z"`));
    const last = await stage.call("DEL", each);
    expect([last.status, last.stderr]).toEqual([0, expect.stringContaining("ABANDONED")]);
  });

  test("with an existing namespace is given up only after `del.seconds`", async () => {
    const each = attaching("patient", { del: { tries: 2, seconds: 3600 } });
    await stage.succeed("ADD", each);
    recorder.script("DEL", broken);
    expect((await del(each, 4)).map(({ status }) => status)).toEqual([1, 1, 1, 1]);
    // Moves the first failure one hour into the past, because `del.seconds` counts from there.
    const entry = join(stage.plexus.state("cni"), "journal", "patient@cluster@eth0");
    const text = readFileSync(entry, "utf8");
    writeFileSync(entry, text.replace(/"failed":"[^"]*"/u, `"failed":"${new Date(Date.now() - 3_601_000).toISOString()}"`));
    const last = await stage.call("DEL", each);
    expect([last.status, last.stderr]).toEqual([0, expect.stringContaining("ABANDONED")]);
    expect(abandoned()).toEqual(["1@patient@cluster@eth0"]);
  });

  test("because its plugin was uninstalled is given up, and GC finishes it after a reinstallation", async () => {
    const each = attaching("uninstalled");
    await stage.succeed("ADD", each);
    renameSync(recorder.path, `${recorder.path}.away`);
    // The runtime still passes CNI_NETNS, but the path is not a namespace.
    each.pod.dispose();
    const answers = await del(each, 3);
    expect(answers.map(({ status }) => status)).toEqual([1, 1, 0]);
    expect([answers[0]?.stdout, answers[2]?.stderr]).toEqual([
      expect.stringContaining("failed to find plugin"),
      expect.stringContaining("ABANDONED"),
    ]);
    renameSync(`${recorder.path}.away`, recorder.path);
    expect((await collect(network())).stdout).toBe("");
    expect({ ...stage.left(), links: [] }).toEqual(nothing);
  });

  test("because a grant was revoked is given up with a warning that names its addresses, and GC finishes it with the grant", async () => {
    const wasm = { grants: { "ipam-host-local": { log: {} } } };
    const plugins = [{ type: "ipam-host-local", ipam: { subnet: "10.17.0.0/24" } }];
    const limits = { del: { tries: 2, seconds: 3600 } };
    const granted = { config: stage.network(plugins, limits), containerId: "revoked", pod: "/run/netns/gone" };
    await stage.succeed("ADD", granted);
    const [first, second] = await del({ ...granted, config: stage.network(plugins, { ...limits, wasm }) }, 2);
    expect([first?.status, first?.stdout]).toEqual([1, expect.stringMatching(/leases.*grant/)]);
    expect([second?.status, second?.stderr]).toEqual([0, expect.stringMatching(/ABANDONED.*10\.17\.0\.2\/24/)]);
    expect([leases(stage.leases), abandoned()]).toEqual([["pods/10.17.0.2"], ["1@revoked@cluster@eth0"]]);
    expect((await collect({ ...granted.config, wasm: { grants: { "ipam-host-local": fullGrant(stage.leases) } } })).stdout).toBe(
      "",
    );
    expect(stage.left()).toEqual(nothing);
  });

  test("undoes the pod's other networks, and the warning names only the networks that remain", async () => {
    installRecorder(stage.plexus.cniPath, "other");
    const delegates = ["recorder", "other"].map((type) => ({ cniVersion: "1.0.0", name: `net-${type}`, plugins: [{ type }] }));
    const each = { ...attaching("half"), config: stage.host({ delegates, del: { tries: 2, seconds: 3600 } }) };
    await stage.succeed("ADD", each);
    recorder.script("DEL", broken);
    const [, last] = await del({ ...each, pod: "" }, 2);
    expect(last?.stderr).toMatch(/ABANDONED.* leaked: default as eth0 10\.99\.0\.2\/24\. The last reason/);
    expect(last?.stderr).not.toContain("net1");
  });

  test("is counted and given up even if the journal was lost", async () => {
    const each = attaching("lost", { del: { tries: 2, seconds: 3600 } });
    await stage.succeed("ADD", each);
    recorder.script("DEL", broken);
    rmSync(stage.plexus.state("cni/journal"), { recursive: true });
    const answers = await del({ ...each, pod: "" }, 3);
    expect(answers.map(({ status, json }) => [status, json?.["code"]])).toEqual([
      [1, 105],
      [0, undefined],
      [0, undefined],
    ]);
    expect(abandoned()).toEqual(["1@lost@cluster@eth0"]);
    expect(existsSync(join(stage.plexus.state("cni"), "results", "pods-lost-eth0"))).toBe(false);
  });

  test("of a container without a record is given up and leaves no record", async () => {
    const each = attaching("unknown", { del: { tries: 2, seconds: 3600 } });
    recorder.script("DEL", broken);
    const [first, last] = await del({ ...each, pod: "" }, 2);
    expect([first?.status, last?.status, last?.stderr]).toEqual([
      1,
      0,
      expect.stringMatching(/the backend is gone\. No attachment of this container is known/),
    ]);
    expect(stage.left()).toEqual(nothing);
  });

  test("of a container whose ADD was refused because its plugin is absent is given up and leaves no record", async () => {
    const config = stage.network([{ type: "absent" }], { del: { tries: 2, seconds: 3600 } });
    const each = { config, containerId: "refused", pod: stage.pod() };
    expect((await stage.call("ADD", each)).status).toBe(1);
    const [first, last] = await del(each, 2);
    expect([first?.status, last?.status, last?.stderr]).toEqual([
      1,
      0,
      expect.stringMatching(/No attachment of this container is known/),
    ]);
    expect(stage.left()).toEqual(nothing);
  });

  test("of a container whose ADD was refused because its component lacks a grant succeeds at once and leaves no record", async () => {
    const config = stage.network([{ type: "ipam-host-local" }], { wasm: { grants: { "ipam-host-local": {} } } });
    const each = { config, containerId: "refused", pod: stage.pod() };
    expect((await stage.call("ADD", each)).status).toBe(1);
    const deleted = await stage.call("DEL", each);
    const why = /no attachment of container refused is known, and DEL of network default can't begin/;
    expect([deleted.status, deleted.stderr]).toEqual([0, expect.stringMatching(why)]);
    expect(stage.left()).toEqual(nothing);
  });

  test("with a damaged journal entry is given up, and the damaged entry is kept", async () => {
    const each = attaching("damaged", { del: { tries: 2, seconds: 3600 } });
    await stage.succeed("ADD", each);
    recorder.script("DEL", broken);
    const entry = join(stage.plexus.state("cni"), "journal", "damaged@cluster@eth0");
    writeFileSync(entry, "what was this?\n");
    const answers = await del({ ...each, pod: "" }, 2);
    expect(answers.map(({ status }) => status)).toEqual([1, 0]);
    expect(abandoned()).toEqual(["1@damaged@cluster@eth0", "2@damaged@cluster@eth0"]);
    expect(readFileSync(join(stage.plexus.state("cni"), "abandoned", "1@damaged@cluster@eth0"), "utf8")).toBe("what was this?\n");
  });

  test("is finished by an administrator's later DEL", async () => {
    const each = attaching("by-hand", { del: { tries: 1, seconds: 1 } });
    await stage.succeed("ADD", each);
    recorder.script("DEL", broken, 1);
    expect((await stage.call("DEL", { ...each, pod: "" })).stderr).toContain("ABANDONED");
    await stage.succeed("DEL", { ...each, pod: "" });
    expect({ ...stage.left(), links: [] }).toEqual(nothing);
  });

  test("does not prevent a new ADD with the same container ID, and GC keeps the new attachment", async () => {
    // DEL runs the bridge first and the recorder last: the address is released, and only the recorder's DEL remains.
    const config = stage.network([{ type: "recorder" }, bridgeStep()], { del: { tries: 1, seconds: 1 } });
    const each = { ...attaching("reused"), config };
    await stage.succeed("ADD", each);
    recorder.script("DEL", broken);
    expect((await stage.call("DEL", { ...each, pod: "" })).stderr).toContain("ABANDONED");
    each.pod.dispose();
    const again = { ...each, pod: stage.pod() };
    const added = await stage.call("ADD", again);
    expect([added.status, added.stderr]).toEqual([0, expect.stringMatching(/still abandoned: .*1@reused.*the backend is gone/)]);
    rmSync(`${recorder.path}.script`, { recursive: true });
    const valid = { "cni.dev/valid-attachments": [{ containerID: "reused", ifname: "eth0" }] };
    const collected = await stage.request({ verb: "GC", config: { ...config, cniVersion: "1.1.0", ...valid } });
    expect([collected.status, collected.stdout]).toEqual([0, ""]);
    expect([abandoned(), again.pod.links().map(({ name }) => name)]).toEqual([["1@reused@cluster@eth0"], ["eth0"]]);
    await stage.succeed("CHECK", again);
    await stage.succeed("DEL", again);
    expect((await collect(config)).stdout).toBe("");
    await expect.poll(() => stage.left()).toEqual(nothing);
  });

  test("leaves an address that the next ADD of the same container releases first", async () => {
    const each = attaching("returned", { del: { tries: 1, seconds: 1 } });
    await stage.succeed("ADD", each);
    recorder.script("DEL", broken, 1);
    expect((await stage.call("DEL", { ...each, pod: "" })).stderr).toContain("ABANDONED");
    each.pod.dispose();
    const again = { ...each, pod: stage.pod() };
    await stage.succeed("ADD", again);
    expect([abandoned(), leases(stage.leases)]).toEqual([[], [expect.stringMatching(/^pods\/10\.10\.0\.\d+$/)]]);
    await stage.succeed("DEL", again);
    await expect.poll(() => stage.left()).toEqual(nothing);
  });
});
