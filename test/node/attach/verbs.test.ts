// Each verb as runtimes call it and as the checklist demands (MO-05 to MO-14, RT-01 to RT-10, L-31 to L-50), through the installed
// binary. Recorders show which plugins are executed; the reference plugins show the effects.

import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { SUPPORTED_VERSIONS } from "../../../src/cni/versions.ts";
import { filesBelow, leases } from "../../lab/namespaces.ts";
import { callsInOrder, installRecorder, installRecorders, type RecordedCall, type RecorderPlugin } from "../../lab/recorder.ts";
import type { Answer } from "../../lab/plexus.ts";
import { manifestsIn, type Manifests } from "../../lab/manifests.ts";
import { withGrowingLimit } from "../../lab/growing-limit.ts";
import { bridgeStep, missingForMixed, mixedInstallation, shaperStep, tuningStep } from "../../lab/mixed-network.ts";
import { nothing, openStage, type Attaching, type Stage } from "../../lab/stage.ts";

type Pod = ReturnType<Stage["pod"]>;

/** A plugin's configuration without `prevResult`, which differs between the verbs. */
function configurationOf(call: RecordedCall): Readonly<Record<string, unknown>> {
  const { prevResult: _, ...rest }: Record<string, unknown> = JSON.parse(call.stdin);
  return rest;
}

function tupleOf({ plugin, env }: RecordedCall): string {
  return [plugin, env["CNI_CONTAINERID"], env["CNI_IFNAME"], env["CNI_ARGS"]].join(" ");
}

/** Recorded calls as verb, container, interface and, for GC, the valid attachments. */
function recordedCalls(recorder: RecorderPlugin): readonly unknown[] {
  return recorder.calls().map(({ env, stdin }) => {
    const valid: unknown = JSON.parse(stdin)["cni.dev/valid-attachments"];
    return [env["CNI_COMMAND"], env["CNI_CONTAINERID"], env["CNI_IFNAME"], ...(valid === undefined ? [] : [valid])];
  });
}

function validOf(ifname: string, ...ids: string[]): readonly object[] {
  return ids.map((containerID) => ({ containerID, ifname }));
}

/** The spec of a network of version 1.1.0, whose only plugin has the network's name. */
function specOf(name: string): object {
  return { config: JSON.stringify({ cniVersion: "1.1.0", name, plugins: [{ type: name }] }) };
}

describe.skipIf(missingForMixed("the verbs"))("the verbs", () => {
  let stage: Stage;
  let manifests: Manifests;
  beforeEach(() => {
    stage = openStage(mixedInstallation);
    manifests = manifestsIn(join(stage.plexus.directory, "manifests"));
  });
  afterEach(() => stage.dispose());

  const attaching = (name: string, plugins: readonly object[], more: object = {}): Attaching & { readonly pod: Pod } => ({
    config: stage.network(plugins, { manifests: manifests.directory, ...more }),
    containerId: `ctr-${name}`,
    pod: stage.pod(),
    args: manifests.argsOf(name),
  });
  const journal = (): readonly string[] => filesBelow(stage.plexus.state("cni/journal"));
  const results = (): readonly string[] => filesBelow(stage.plexus.state("cni/results"));
  const gc = (config: object, ...valid: string[]): Promise<Answer> => {
    const attachments = valid.map((containerID) => ({ containerID, ifname: "eth0" }));
    return stage.request({ verb: "GC", config: { ...config, cniVersion: "1.1.0", "cni.dev/valid-attachments": attachments } });
  };

  const attachThenDeleteLink = async (check?: string): Promise<Attaching & { readonly pod: Pod }> => {
    manifests.network("storage", [{ type: "bridge", bridge: "br-s", ipam: { type: "ipam-host-local", subnet: "10.20.0.0/24" } }]);
    manifests.pod("web", "storage");
    const web = attaching("web", [bridgeStep()], check === undefined ? {} : { check });
    await stage.succeed("ADD", web);
    await stage.succeed("CHECK", web);
    expect(web.pod.exec(["ip", "link", "delete", "net1"]).status).toBe(0);
    return web;
  };

  const status = (config: object): Promise<Answer> => stage.request({ verb: "STATUS", config });
  const stateFiles = (): unknown => [stage.left(), readdirSync(stage.plexus.state("cni"))];

  describe("with three unnamed networks of recorders", () => {
    let recorders: Record<"main" | "one" | "two" | "three", RecorderPlugin>;
    beforeEach(() => {
      const { cniPath } = stage.plexus;
      recorders = installRecorders(cniPath, "main", "one", "two", "three");
      for (const name of ["one", "two", "three"]) manifests.network(name, [{ type: name, capabilities: { mac: true } }]);
      manifests.pod("web", "one,two,three");
    });

    const calls = (verb: string): readonly RecordedCall[] =>
      callsInOrder(Object.values(recorders)).filter(({ env }) => env["CNI_COMMAND"] === verb);

    test("N1-34, MO-05, MO-06, L-48: CHECK and DEL have the names and configuration of the ADD, even after the cluster's objects changed", async () => {
      const web = attaching("web", [{ type: "main" }]);
      await stage.succeed("ADD", web);
      await stage.succeed("CHECK", web);
      // The definitions and the selection change, then all manifests are deleted.
      manifests.network("one", [{ type: "two" }]);
      manifests.definition("two");
      manifests.pod("web", "three,one");
      rmSync(manifests.directory, { recursive: true });
      const moved = stage.network([{ type: "three" }], { manifests: manifests.directory });
      await stage.succeed("DEL", { ...web, config: moved });
      const added = calls("ADD");
      expect(added.map(tupleOf)).toEqual(
        ["main ctr-web eth0", "one ctr-web net1", "two ctr-web net2", "three ctr-web net3"].map((each) => `${each} ${web.args}`),
      );
      expect(calls("CHECK").map(tupleOf)).toEqual(added.map(tupleOf));
      expect(calls("DEL").toReversed().map(tupleOf)).toEqual(added.map(tupleOf));
      for (const verb of ["CHECK", "DEL"]) {
        const again = verb === "DEL" ? calls(verb).toReversed() : calls(verb);
        expect(again.map(configurationOf)).toEqual(added.map(configurationOf));
        for (const call of again)
          expect(JSON.parse(call.stdin)).toMatchObject({ prevResult: { cniVersion: "1.0.0", ips: [{}] } });
      }
      expect(stage.left()).toEqual(nothing);
    });

    test("MO-07: CHECK and DEL get the runtimeConfig of the ADD unchanged", async () => {
      const capabilities = { portMappings: true, bandwidth: true };
      const runtimeConfig = {
        portMappings: [{ HostPort: 8080, ContainerPort: 80, Protocol: "tcp", HostIP: "" }],
        bandwidth: { IngressRate: 18_446_744_073, IngressBurst: 1 },
      };
      const web = attaching("web", [{ type: "main", capabilities }], { capabilities, runtimeConfig });
      await stage.succeed("ADD", web);
      const bare = { ...web, config: stage.network([{ type: "main", capabilities }], { manifests: manifests.directory }) };
      await stage.succeed("CHECK", bare);
      await stage.succeed("DEL", bare);
      expect(recorders.main.calls().map((call) => JSON.parse(call.stdin).runtimeConfig)).toEqual([
        runtimeConfig,
        runtimeConfig,
        runtimeConfig,
      ]);
    });

    test("MO-07: without a journal entry, the default network's DEL gets the runtimeConfig of this call", async () => {
      const capabilities = { portMappings: true };
      const runtimeConfig = {
        portMappings: [{ hostPort: 8080, containerPort: 80, protocol: "tcp" }],
        bandwidth: { ingressRate: 1 },
      };
      const web = attaching("before-plexus", [{ type: "main", capabilities }], { capabilities, runtimeConfig });
      await stage.succeed("DEL", web);
      expect(recorders.main.calls().map((call) => JSON.parse(call.stdin).runtimeConfig)).toEqual([
        { portMappings: runtimeConfig.portMappings },
      ]);
      expect(recorders.one.calls()).toEqual([]);
      expect(stage.left()).toEqual(nothing);
    });

    test("without a journal entry, a runtimeConfig that is not an object causes a warning, and DEL succeeds", async () => {
      const web = attaching("before-plexus", [{ type: "main" }], { runtimeConfig: [] });
      const deleted = await stage.call("DEL", web);
      expect([deleted.status, deleted.stderr]).toEqual([0, expect.stringContaining("runtimeConfig must be an object")]);
      expect(recorders.main.calls().length).toBe(1);
    });

    test("RT-09, L-47: containerd's second and third DEL, without a namespace, succeed like the first", async () => {
      const web = attaching("web", [{ type: "main" }]);
      await stage.succeed("ADD", web);
      for (const pod of [web.pod, "", ""]) expect((await stage.succeed("DEL", { ...web, pod })).stdout).toBe("");
      // The later DELs reach only the default network, because no record names the others.
      expect(calls("DEL").map(({ plugin, env }) => [plugin, env["CNI_NETNS"]])).toEqual([
        ["three", web.pod.path],
        ["two", web.pod.path],
        ["one", web.pod.path],
        ["main", web.pod.path],
        ["main", ""],
        ["main", ""],
      ]);
      expect(stage.left()).toEqual(nothing);
    });

    test("MO-08: without journal and cache DEL reaches the default network and leaves nothing", async () => {
      const web = attaching("web", [{ type: "main" }]);
      await stage.succeed("ADD", web);
      for (const lost of ["journal", "results"]) rmSync(stage.plexus.state(`cni/${lost}`), { recursive: true });
      await stage.succeed("DEL", web);
      expect(calls("DEL").map(tupleOf)).toEqual([`main ctr-web eth0 ${web.args}`]);
      expect(stage.left()).toEqual(nothing);
    });

    test("MO-08, L-35: without the journal DEL uses configuration, arguments and results of the cache, with the default network last", async () => {
      const web = attaching("web", [{ type: "main" }]);
      await stage.succeed("ADD", web);
      const added = calls("ADD");
      rmSync(stage.plexus.state("cni/journal"), { recursive: true });
      await stage.succeed("DEL", { ...web, args: "", config: stage.network([{ type: "one" }]) });
      const deleted = calls("DEL");
      expect(deleted.map(tupleOf).toSorted()).toEqual(added.map(tupleOf).toSorted());
      expect(deleted.at(-1)?.plugin).toBe("main");
      for (const call of deleted) expect(JSON.parse(call.stdin)).toHaveProperty("prevResult");
      expect(stage.left()).toEqual(nothing);
    });

    test("MO-05, MO-09: DEL finds plugins that moved to another directory of CNI_PATH", async () => {
      const web = attaching("web", [{ type: "main" }]);
      await stage.succeed("ADD", web);
      const elsewhere = join(stage.plexus.directory, "elsewhere");
      mkdirSync(elsewhere);
      for (const { path, name } of Object.values(recorders)) renameSync(path, join(elsewhere, name));
      await stage.succeed("DEL", { ...web, cniPath: elsewhere });
      expect(readdirSync(elsewhere).filter((name) => name.endsWith(".log"))).toHaveLength(4);
      expect(stage.left()).toEqual(nothing);
    });

    test("L-33, L-36: results are cached after the whole chain succeeded, and kept until its DEL succeeds", async () => {
      const web = attaching("web", [{ type: "main" }]);
      recorders.three.script("ADD", { exit: 1 }, 1);
      expect((await stage.call("ADD", web)).status).toBe(1);
      expect([journal(), results()]).toEqual([[], []]);
      await stage.succeed("ADD", web);
      expect(results()).toEqual(["one-ctr-web-net1", "pods-ctr-web-eth0", "three-ctr-web-net3", "two-ctr-web-net2"]);
      // The plugin's first DEL was the undo of the failed ADD.
      recorders.two.script("DEL", { exit: 1 }, 2);
      expect((await stage.call("DEL", web)).status).toBe(1);
      expect([journal(), results()]).toEqual([["ctr-web@cluster@eth0"], ["two-ctr-web-net2"]]);
      await stage.succeed("DEL", web);
      expect([journal(), results()]).toEqual([[], []]);
    });

    test("MO-10: a failure to write the status undoes the attachments", async () => {
      const web = attaching("web", [{ type: "main" }]);
      writeFileSync(join(manifests.directory, "status"), "a file in place of the directory");
      const added = await stage.call("ADD", web);
      expect([added.status, added.json?.["msg"]]).toEqual([1, expect.stringMatching(/status/)]);
      expect(calls("DEL").toReversed().map(tupleOf)).toEqual(calls("ADD").map(tupleOf));
      expect([calls("ADD").length, stage.left()]).toEqual([4, nothing]);
    });

    test("MO-14, N1-66: codes of plugins reach the runtime from every verb", async () => {
      const web = attaching("web", [{ type: "main" }]);
      const config = stage.network([{ type: "main" }], { cniVersion: "1.1.0" });
      const scripts = `${recorders.main.path}.script`;
      for (const verb of ["ADD", "CHECK", "DEL", "STATUS", "GC"]) {
        for (const code of [11, 3, 7, 50, 123]) {
          const msg = `code ${code} of ${verb}`;
          if (verb === "CHECK" || verb === "DEL") await stage.succeed("ADD", web);
          recorders.main.clear();
          for (const file of readdirSync(scripts)) rmSync(join(scripts, file));
          recorders.main.script(
            verb,
            { stdout: JSON.stringify({ cniVersion: "1.0.0", code, msg, details: "own details" }), exit: 1 },
            1,
          );
          const answer =
            verb === "GC"
              ? await gc(config)
              : verb === "STATUS"
                ? await stage.request({ verb, config })
                : await stage.call(verb, web);
          // Code 3 would tell the runtime that the pod, which is attached, needs no DEL.
          const answered = code === 3 && (verb === "CHECK" || verb === "DEL") ? 999 : code;
          expect([answer.status, answer.json]).toMatchObject([
            1,
            { code: answered, msg: expect.stringContaining(msg), details: expect.stringContaining("own details") },
          ]);
          if (verb === "CHECK" || verb === "DEL") await stage.succeed("DEL", web);
        }
      }
    });

    test("RT-08: ADD and DEL of sixteen networks take less than the kubelet's four minutes", async () => {
      const names = Array.from({ length: 16 }, (_, index) => `extra${index}`);
      for (const name of names) manifests.network(name, [{ type: "one" }]);
      manifests.pod("web", names.join(","));
      const web = attaching("web", [{ type: "main" }]);
      // A call is killed after 60 s.
      for (const verb of ["ADD", "DEL"]) await stage.succeed(verb, web);
      expect(recorders.one.calls()).toHaveLength(32);
      expect(stage.left()).toEqual(nothing);
    });
  });

  describe("ADD", () => {
    test("RT-01: the result has CNI_IFNAME and an address, and two configurations of a container run concurrently", async () => {
      const recorder = installRecorder(stage.plexus.cniPath, "slow");
      const release = recorder.hold("ADD");
      const pod = stage.pod();
      const network = (name: string, plugins: readonly object[]): Attaching => ({
        config: stage.network(plugins, { name }),
        containerId: "one",
        pod,
        ifname: name === "loop" ? "lo" : "eth0",
      });
      const loop = network("loop", [{ type: "slow" }]);
      const started = stage.call("ADD", loop);
      await expect.poll(() => recorder.calls().length).toBe(1);
      const added = await stage.succeed("ADD", network("cluster", [bridgeStep(), shaperStep, tuningStep(stage)]));
      expect(added.json).toMatchObject({
        interfaces: expect.arrayContaining([expect.objectContaining({ name: "eth0", sandbox: pod.path })]),
        ips: [{ address: "10.10.0.2/24" }],
      });
      release();
      expect((await started).status).toBe(0);
      await stage.succeed("DEL", loop);
      await stage.succeed("DEL", network("cluster", []));
      expect(stage.left()).toEqual(nothing);
    });
  });

  describe("CHECK", () => {
    test("MO-11: fails after a secondary network's link was deleted, and names the network and its interface", async () => {
      const web = await attachThenDeleteLink();
      const checked = await stage.call("CHECK", web);
      expect([checked.status, checked.json?.["msg"]]).toEqual([
        1,
        expect.stringMatching(/^network shop\/storage as net1: .*bridge/),
      ]);
      await stage.succeed("DEL", web);
      await stage.succeed("DEL", { ...web, pod: "" });
      expect(stage.left()).toEqual(nothing);
    });

    test('MO-11, D-15: checks only the default network if `check` is "default"', async () => {
      const web = await attachThenDeleteLink("default");
      await stage.succeed("CHECK", web);
      expect(web.pod.exec(["ip", "link", "delete", "eth0"]).status).toBe(0);
      expect((await stage.call("CHECK", web)).json?.["msg"]).toMatch(/^network default as eth0/);
    });

    test("L-41: skips a secondary network whose version has no CHECK, with a warning", async () => {
      const [main, old] = ["main", "old"].map((name) => installRecorder(stage.plexus.cniPath, name));
      manifests.definition("old", { config: JSON.stringify({ cniVersion: "0.3.1", name: "old", type: "old" }) });
      manifests.pod("web", "old");
      const web = attaching("web", [{ type: "main" }]);
      await stage.succeed("ADD", web);
      const checked = await stage.call("CHECK", web);
      expect([checked.status, checked.stdout, checked.stderr]).toEqual([
        0,
        "",
        expect.stringMatching(/shop\/old as net1.*0\.3\.1/),
      ]);
      expect([main, old].map((each) => each?.calls().map(({ env }) => env["CNI_COMMAND"]))).toEqual([["ADD", "CHECK"], ["ADD"]]);
    });

    test("L-50: fails with code 3 before ADD and after DEL, with another one after an unfinished ADD, and executes no plugin", async () => {
      const recorder = installRecorder(stage.plexus.cniPath, "main");
      const web = { ...attaching("web", [{ type: "main" }]), args: "" };
      const checks = async (why: RegExp, code = 3): Promise<void> => {
        recorder.clear();
        const checked = await stage.call("CHECK", web);
        expect([checked.status, checked.json]).toMatchObject([1, { code, msg: expect.stringMatching(why) }]);
        expect(recorder.calls()).toEqual([]);
      };
      await checks(/never added/);
      await stage.succeed("ADD", web);
      const path = join(stage.plexus.state("cni/journal"), "ctr-web@cluster@eth0");
      writeFileSync(path, readFileSync(path, "utf8").replace(/\{"closed":true\}\n$/u, ""));
      // Code 3 would tell the runtime that no DEL is needed.
      await checks(/broke off/, 107);
      await stage.succeed("DEL", web);
      await checks(/never added/);
    });
  });

  describe("GC", () => {
    let one: RecorderPlugin;
    let two: RecorderPlugin;
    let config: object;
    const ids = ["a", "b", "c"];
    const pods: Attaching[] = [];
    beforeEach(async () => {
      one = installRecorder(stage.plexus.cniPath, "one");
      two = installRecorder(stage.plexus.cniPath, "two");
      pods.length = 0;
      for (const name of ["one", "two"]) manifests.definition(name, specOf(name));
      const plugins = [{ type: "ipam-host-local", ipam: { subnet: "10.16.0.0/24" } }];
      config = stage.network(plugins, { manifests: manifests.directory, cniVersion: "1.1.0" });
      for (const id of ids) {
        manifests.pod(id, "one,two");
        pods.push({ config, containerId: id, pod: "/run/netns/none", args: manifests.argsOf(id) });
      }
      for (const pod of pods) await stage.succeed("ADD", pod);
      for (const each of [one, two]) each.clear();
    });

    test("MO-12, L-43, L-44: deletes stale attachments, and sends each network its own valid attachments", async () => {
      const collected = await gc(config, "a", "c");
      expect([collected.status, collected.stdout, collected.stderr]).toEqual([0, "", ""]);
      expect(recordedCalls(one)).toEqual([
        ["DEL", "b", "net1"],
        ["GC", "", "", validOf("net1", "a", "c")],
      ]);
      expect(recordedCalls(two)).toEqual([
        ["DEL", "b", "net2"],
        ["GC", "", "", validOf("net2", "a", "c")],
      ]);
      expect([journal(), leases(stage.leases)]).toEqual([
        ["a@cluster@eth0", "c@cluster@eth0"],
        ["pods/10.16.0.2", "pods/10.16.0.4"],
      ]);
      // GC does not reach a network without attachments, because no record names it (D-14).
      expect((await gc(config)).stdout).toBe("");
      expect([recordedCalls(one).slice(2), stage.left()]).toEqual([
        [
          ["DEL", "a", "net1"],
          ["DEL", "c", "net1"],
        ],
        nothing,
      ]);
    });

    test("D-14: a dry run prints the planned calls and changes nothing", async () => {
      const before = stage.left();
      const dry = await gc({ ...config, gc: { dryRun: true } }, "a");
      expect([dry.status, dry.stdout]).toEqual([0, ""]);
      for (const id of ["b", "c"]) expect(dry.stderr).toContain(`GC would delete attachment ${id} eth0`);
      expect(dry.stderr).toContain("GC would run for one of network one with these valid attachments: a net1");
      expect([one.calls(), two.calls(), stage.left()]).toEqual([[], [], before]);
    });

    test("L-43: a failed DEL does not prevent the others, and the next GC repeats it", async () => {
      one.script("DEL", { stdout: '{"code":11,"msg":"not now"}', exit: 1 }, 1);
      const failed = await gc(config, "c");
      expect([failed.status, failed.json]).toMatchObject([
        1,
        { code: 11, msg: expect.stringMatching(/stale attachment a net1.*not now/) },
      ]);
      expect(journal()).toEqual(["a@cluster@eth0", "c@cluster@eth0"]);
      expect((await gc(config, "c")).stdout).toBe("");
      expect([journal(), leases(stage.leases)]).toEqual([["c@cluster@eth0"], ["pods/10.16.0.4"]]);
    });

    test("L-49: the runtime's DEL succeeds after GC undid the attachment", async () => {
      expect((await gc(config, "b", "c")).stdout).toBe("");
      const [first] = pods;
      if (first === undefined) throw new Error("expected three attached pods");
      await stage.succeed("DEL", first);
      expect([journal(), leases(stage.leases)]).toEqual([
        ["b@cluster@eth0", "c@cluster@eth0"],
        ["pods/10.16.0.3", "pods/10.16.0.4"],
      ]);
    });

    test("RT-07: reports an unreadable entry, sets it aside, and succeeds at the next call", async () => {
      const path = join(stage.plexus.state("cni/journal"), "b@cluster@eth0");
      writeFileSync(path, "");
      const first = await gc(config, "a", "c");
      expect([first.status, first.json?.["msg"]]).toEqual([
        1,
        expect.stringMatching(/b@cluster@eth0.*the entry is moved to .*1@b@cluster@eth0/),
      ]);
      const second = await gc(config, "a", "c");
      expect([second.status, second.stdout, second.stderr]).toEqual([0, "", expect.stringContaining("1@b@cluster@eth0")]);
      expect(existsSync(join(stage.plexus.state("cni/abandoned"), "1@b@cluster@eth0"))).toBe(true);
    });

    test("L-46: an ADD of another container is served while GC waits for a plugin's DEL", async () => {
      const release = one.hold("DEL");
      const collecting = gc(config, "b", "c");
      await expect.poll(() => one.calls().length).toBe(1);
      manifests.pod("d");
      const late = { config, containerId: "d", pod: "/run/netns/none", args: manifests.argsOf("d") };
      await stage.succeed("ADD", late);
      expect(one.calls()).toHaveLength(1);
      release();
      expect((await collecting).stdout).toBe("");
      // The ADD came after the runtime's list, so that GC keeps its attachment.
      expect([journal(), leases(stage.leases).length]).toEqual([["b@cluster@eth0", "c@cluster@eth0", "d@cluster@eth0"], 3]);
    });

    test("fails with code 11 after `gc.seconds`, and the next GC continues", async () => {
      // A GC that has no time for its first DEL gets more.
      await withGrowingLimit(1000, async (limitMs) => {
        const seconds = limitMs / 1000;
        one.script("DEL", { sleepMs: limitMs + 200 });
        const first = await gc({ ...config, gc: { seconds } });
        const msg = expect.stringContaining(`GC took more than ${seconds} s`);
        expect([first.status, first.json]).toMatchObject([1, { code: 11, msg }]);
        expect(journal().length).toBe(2);
      });
      one.script("DEL", { sleepMs: 0 });
      expect((await gc(config)).stdout).toBe("");
      expect(journal()).toEqual([]);
    });

    test("RT-10, RT-06: after a reboot GC undoes earlier attachments without CNI_NETNS, and an ADD undoes its container's first", async () => {
      for (const name of readdirSync(stage.plexus.state("cni/journal"))) {
        const path = join(stage.plexus.state("cni/journal"), name);
        // The entry is of another boot and has lost its appended lines, which are not synced.
        const [plan = ""] = readFileSync(path, "utf8").split("\n");
        writeFileSync(path, `${plan.replace(/"bootId":"[^"]*"/u, '"bootId":"another"')}\n`);
      }
      rmSync(join(stage.plexus.directory, "run"), { recursive: true, force: true });
      const [first] = pods;
      if (first === undefined) throw new Error("expected three attached pods");
      await stage.succeed("ADD", first);
      expect(callsInOrder([one, two]).map(({ env }) => [env["CNI_COMMAND"], env["CNI_CONTAINERID"], env["CNI_NETNS"]])).toEqual([
        ["DEL", "a", "/run/netns/none"],
        ["DEL", "a", "/run/netns/none"],
        ["ADD", "a", "/run/netns/none"],
        ["ADD", "a", "/run/netns/none"],
      ]);
      expect((await gc(config, "a")).stdout).toBe("");
      const deleted = callsInOrder([one, two]).filter(
        ({ env }) => env["CNI_COMMAND"] === "DEL" && env["CNI_CONTAINERID"] !== "a",
      );
      expect(deleted.map(({ env }) => env["CNI_NETNS"])).toEqual(["", "", "", ""]);
      await stage.succeed("DEL", first);
      expect(stage.left()).toEqual(nothing);
    });
  });

  test.each(["A=1;;FOO;B=2", "none", "A=1;;B=2;"])(
    "FI-12: CNI_ARGS=%s reach native steps unchanged (CNI section 2, A-11), and a component has their pairs",
    async (args) => {
      const recorder = installRecorder(stage.plexus.cniPath, "rec");
      const one: Attaching = { ...attaching("odd", [{ type: "rec" }, shaperStep]), args };
      await stage.succeed("ADD", one);
      await stage.succeed("DEL", one);
      expect(new Set(recorder.calls().map(({ env }) => env["CNI_ARGS"]))).toEqual(new Set([args]));
      expect(stage.left()).toEqual(nothing);
    },
  );

  test("FI-09: an empty cniVersion of Plexus' own configuration means 0.1.0, in ADD and DEL", async () => {
    const made = attaching("odd", [{ type: "rec" }]);
    installRecorder(stage.plexus.cniPath, "rec").script("ADD", {
      stdout: '{"cniVersion":"1.0.0","ips":[{"address":"10.0.0.2/24"}]}',
    });
    const one: Attaching = { ...made, config: { ...made.config, cniVersion: "" }, args: "IgnoreUnknown=1" };
    await stage.succeed("ADD", one);
    await stage.succeed("DEL", one);
    expect(stage.left()).toEqual(nothing);
  });

  describe("STATUS and VERSION", () => {
    test.each([
      ["with an absent default network", (): object => stage.host({ clusterNetwork: "absent" }), /clusterNetwork/],
      [
        "with an absent file of the default network",
        (): object => stage.host({ clusterNetwork: "/no/such.conflist" }),
        /such\.conflist/,
      ],
      ["with an absent plugin", (): object => stage.network([{ type: "absent" }]), /absent/],
      [
        "with a component that lacks a grant",
        (): object => stage.network([{ type: "ipam-host-local" }], { wasm: { grants: { "ipam-host-local": {} } } }),
        /leases/,
      ],
    ])("MO-13, RT-04: STATUS of a node %s fails with code 50 and the reason", async (_, configure, why) => {
      const answer = await status({ ...configure(), cniVersion: "1.1.0" });
      expect([answer.status, answer.json]).toMatchObject([1, { code: 50, msg: expect.stringMatching(why) }]);
      expect(stateFiles()).toEqual([nothing, []]);
    });

    test("MO-13: STATUS with a hanging plugin fails after 5 seconds, before the timeout of other verbs", async () => {
      const recorder = installRecorder(stage.plexus.cniPath, "recorder");
      recorder.hold("STATUS");
      const answer = await status(stage.network([{ type: "recorder" }], { cniVersion: "1.1.0" }));
      expect([answer.status, answer.json]).toMatchObject([1, { code: 11, msg: expect.stringMatching(/5000 ms/) }]);
    });

    test("MO-13, RT-04: STATUS does not wait for other calls and leaves no file", async () => {
      const recorder = installRecorder(stage.plexus.cniPath, "recorder");
      const config = stage.network([{ type: "recorder" }], { cniVersion: "1.1.0" });
      expect((await status(config)).stdout).toBe("");
      expect(stateFiles()).toEqual([nothing, []]);
      const release = recorder.hold("ADD");
      const adding = stage.call("ADD", { config, containerId: "slow", pod: "/run/netns/none" });
      await expect.poll(() => recorder.calls().length).toBe(2);
      expect((await status(config)).status).toBe(0);
      release();
      expect((await adding).status).toBe(0);
    });

    test("RT-06: VERSION needs no configuration, plugin or state", async () => {
      const answer = await stage.request({ verb: "VERSION", stdin: "" });
      expect([answer.status, answer.json]).toEqual([0, { cniVersion: "1.1.0", supportedVersions: [...SUPPORTED_VERSIONS] }]);
      // ocicni sends dummy values for old plugins.
      const probe = { verb: "VERSION", netns: "dummy", ifname: "dummy", cniPath: "dummy", config: { cniVersion: "1.1.0" } };
      expect((await stage.request(probe)).json).toEqual(answer.json);
      expect(stateFiles()).toEqual([nothing, []]);
    });

    test("L-05: without CNI_COMMAND the versions are printed to stderr with status 0", async () => {
      const answer = await stage.request({ verb: "", env: { CNI_COMMAND: undefined } });
      expect([answer.status, answer.stdout]).toEqual([0, ""]);
      expect(answer.stderr).toContain(`CNI protocol versions supported: ${SUPPORTED_VERSIONS.join(", ")}\n`);
    });

    test("MO-13: STATUS of a node with an unwritable state directory fails with code 50", async () => {
      const state = join(stage.plexus.directory, "not-a-directory");
      writeFileSync(state, "");
      chmodSync(state, 0o400);
      installRecorder(stage.plexus.cniPath, "recorder");
      const config = stage.network([{ type: "recorder" }], { cniVersion: "1.1.0", cniDir: join(state, "cni") });
      expect(await status(config)).toMatchObject({
        status: 1,
        json: { code: 50, msg: expect.stringContaining("not-a-directory") },
      });
    });
  });
});
