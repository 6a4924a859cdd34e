// ADD as a whole call: the order of journal, steps and writes, and the undoing after each kind of failure.

import { readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ShimGone } from "../../protocol/shim.ts";
import { CallStage, type StagedAnswer } from "../testing/call-stage.ts";
import { attaching, failing, gone } from "../testing/scripted-shim.ts";

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

/** The log's lines of plugins' steps, in order. */
const steps = ({ log }: StagedAnswer): readonly string[] => log.filter((line) => /^[A-Z]/.test(line));
const codeOf = ({ json }: StagedAnswer): readonly unknown[] => [json["code"], json["msg"]];

/** Makes the write with this line in the log fail with ENOSPC. */
function failOn(write: string): void {
  stage.writeFails = (line) => line === write;
}

/** An ADD of a pod of the manifests with this selection. */
function add(selection: readonly object[]): Promise<StagedAnswer> {
  stage.manifests.pod("web", selection);
  return stage.call({ verb: "ADD", args: stage.manifests.argsOf("web") });
}

test("a further network whose plugin prints no result is attached, with a warning that names the plugin; the default network needs a result", async () => {
  stage.shim.on("macvlan", "ADD", () => ({}));
  const added = await stage.succeed({ verb: "ADD" });
  const why = 'network delegates[1] as net1: plugin type="macvlan" exited 0 but printed no result';
  expect(added.warnings).toEqual([expect.stringContaining(why)]);
  expect(added.warnings[0]).toContain("CNI section 5 requires a result");
  stage.shim.on("portmap", "ADD", () => ({}));
  expect((await stage.call({ verb: "ADD", containerId: "c2" })).status).not.toBe(0);
});

const undoing = ["DEL macvlan net1", "DEL portmap eth0", "DEL bridge eth0"];

describe("the order of an ADD", () => {
  test("is plan, first network, sync of the plan, record, further network, cache, closing record", async () => {
    const added = await stage.succeed({ verb: "ADD" });
    expect(added.log.filter((line) => !line.startsWith("find"))).toEqual([
      "netlink /run/netns/a",
      "write journal/c1@cluster@eth0",
      "ADD bridge eth0",
      "ADD portmap eth0",
      "append attached 0",
      "sync journal/c1@cluster@eth0",
      "append attempted 1",
      "ADD macvlan net1",
      "append attached 1",
      "netlink /run/netns/a",
      // The scripted kernel answers no list, so that the links are looked for by their names.
      "netlink /run/netns/a",
      "write results/pods-c1-eth0",
      "write results/storage-c1-net1",
      "append closed true",
    ]);
    expect(added.warnings).toEqual([]);
  });

  test("looks for every plugin before the first step", async () => {
    const { log } = await stage.succeed({ verb: "ADD" });
    const first = log.indexOf("ADD bridge eth0");
    for (const type of ["bridge", "portmap", "macvlan"]) {
      expect(log.indexOf(`find ${type}`)).toBeLessThan(first);
      expect(log.filter((line) => line === `find ${type}`)).toHaveLength(1);
    }
  });

  test("has the plan in the journal when the first step runs, and the record of a further network when its step runs", async () => {
    const seen: unknown[] = [];
    const look = (): void =>
      void seen.push(
        stage
          .entry()
          .slice(1)
          .map((record) => Object.keys(record).join()),
      );
    stage.shim.on("bridge", "ADD", (call) => {
      look();
      return attaching("10.0.0.2/24")(call);
    });
    stage.shim.on("macvlan", "ADD", (call) => {
      look();
      return attaching("10.1.0.2/24")(call);
    });
    await stage.succeed({ verb: "ADD" });
    expect(seen).toEqual([["attempted"], ["attempted", "attached,result", "attempted"]]);
    expect(stage.entry().at(-1)).toEqual({ closed: true });
  });

  test("gives each plugin the result of the one before, and the runtime the default network's last one", async () => {
    stage.shim.on("portmap", "ADD", ({ configuration }) => {
      const previous = Object(configuration["prevResult"]);
      return { stdout: JSON.stringify({ ...previous, dns: { domain: "portmap" } }) };
    });
    const { json } = await stage.succeed({ verb: "ADD" });
    expect(json).toMatchObject({ cniVersion: "1.1.0", ips: [{ address: "10.0.0.2/24" }], dns: { domain: "portmap" } });
    const [bridge, portmap, macvlan] = stage.shim.calls;
    expect([bridge?.configuration["prevResult"], macvlan?.configuration["prevResult"]]).toEqual([undefined, undefined]);
    expect(portmap?.configuration["prevResult"]).toMatchObject({ ips: [{ address: "10.0.0.2/24" }] });
  });

  test("answers in the version of the runtime's configuration, whatever the network's version is", async () => {
    const { json } = await stage.succeed({ verb: "ADD", config: { cniVersion: "0.4.0" } });
    expect(json).toMatchObject({ cniVersion: "0.4.0", ips: [{ version: "4", address: "10.0.0.2/24" }] });
    expect(stage.shim.calls[0]?.configuration["cniVersion"]).toBe("1.1.0");
  });

  test("calls plugins with the variables of the call and of the attachment, and with the step's deadline", async () => {
    await stage.succeed({ verb: "ADD", args: "IgnoreUnknown=1;FOO=bar", config: { stepTimeoutMs: 7000, goMaxProcs: 3 } });
    const variables = stage.shim.calls.map(({ type, containerId, netns, ifname, args }) => [
      type,
      containerId,
      netns,
      ifname,
      args,
    ]);
    expect(variables).toEqual([
      ["bridge", "c1", "/run/netns/a", "eth0", "IgnoreUnknown=1;FOO=bar"],
      ["portmap", "c1", "/run/netns/a", "eth0", "IgnoreUnknown=1;FOO=bar"],
      ["macvlan", "c1", "/run/netns/a", "net1", "IgnoreUnknown=1;FOO=bar"],
    ]);
    const effect = stage.shim.calls[0]?.effect;
    expect(effect?.environment.get("GOMAXPROCS")).toBe("3");
    expect(effect?.deadlineMs).toBe(7000);
  });
});

describe("a step of an ADD that fails", () => {
  test("in the further network undoes every attempted attachment in reverse, and answers with the plugin's code", async () => {
    stage.shim.on("macvlan", "ADD", failing(105, "no such master"));
    const added = await stage.call({ verb: "ADD" });
    expect(codeOf(added)).toEqual([105, 'network delegates[1] as net1: plugin type="macvlan" failed (add): no such master']);
    expect(steps(added)).toEqual(["ADD bridge eth0", "ADD portmap eth0", "ADD macvlan net1", ...undoing]);
    expect(stage.stateFiles()).toEqual([]);
  });

  test("in the first network never begins the further one, and undoes the first", async () => {
    stage.shim.on("portmap", "ADD", failing(11, "try again"));
    const added = await stage.call({ verb: "ADD" });
    expect(codeOf(added)).toEqual([11, 'network default as eth0: plugin type="portmap" failed (add): try again']);
    expect(steps(added)).toEqual(["ADD bridge eth0", "ADD portmap eth0", "DEL portmap eth0", "DEL bridge eth0"]);
    expect(stage.stateFiles()).toEqual([]);
  });

  test("passes the result of a successful attachment to its DEL, and no result if the attachment failed", async () => {
    stage.shim.on("macvlan", "ADD", failing(105, "no such master"));
    await stage.call({ verb: "ADD" });
    const deletions = stage.shim.calls.filter(({ verb }) => verb === "DEL");
    expect(deletions.map(({ type, configuration }) => [type, Object(configuration["prevResult"])["ips"]?.[0]?.address])).toEqual([
      ["macvlan", undefined],
      ["portmap", "10.0.0.2/24"],
      ["bridge", "10.0.0.2/24"],
    ]);
  });

  test("MO-14: with code 3 keeps the code only if nothing is left: the code says that no DEL is needed", async () => {
    stage.shim.on("macvlan", "ADD", failing(3, "no such container"));
    expect((await stage.call({ verb: "ADD" })).json["code"]).toBe(3);
    stage.shim.on("macvlan", "DEL", failing(106, "the backend is gone"));
    const { json } = await stage.call({ verb: "ADD" });
    expect([json["code"], json["details"]]).toEqual([999, expect.stringContaining("The plugin's code is 3")]);
  });

  test("and whose DEL fails too stays in the journal, and the answer has both errors", async () => {
    stage.shim.on("macvlan", "ADD", failing(105, "no such master"));
    stage.shim.on("macvlan", "DEL", failing(106, "the backend is gone"));
    const added = await stage.call({ verb: "ADD" });
    expect(added.json["code"]).toBe(105);
    expect(added.json["details"]).toMatch(
      /Undoing failed too; the next DEL tries again: network delegates\[1\] as net1: plugin type="macvlan" failed \(delete\): the backend is gone/,
    );
    expect(steps(added).slice(3)).toEqual(undoing);
    // The record marks the default network as undone, so the next DEL does not run its plugins.
    expect(stage.entry().at(-1)).toEqual({ undone: 0 });
    stage.shim.removeScript("macvlan", "DEL");
    const deleted = await stage.succeed({ verb: "DEL" });
    expect(steps(deleted)).toEqual(["DEL macvlan net1"]);
    expect(stage.stateFiles()).toEqual([]);
  });

  test.each([
    ["that prints no JSON", { stdout: "hello" }, 6, /result/],
    ["that prints nothing but a number", { stdout: "5" }, 6, /result/],
    ["that is killed", { outcome: { kind: "signalled", signal: 9 } }, 999, /signal: SIGKILL/],
    ["that exits without output", { outcome: { kind: "exited", status: 3 } }, 999, /no error message: exit status 3/],
    ["that does not end in time", { outcome: { kind: "deadline-passed" } }, 11, /did not end within \d+ ms and was killed/],
    ["that can't be started", { outcome: { kind: "not-startable", errno: 13 } }, 5, /EACCES, permission denied/],
    ["that was removed after the look-up", { outcome: { kind: "not-found" } }, 7, /failed to find plugin "portmap"/],
  ] as const)("%s is undone", async (_what, end, code, msg) => {
    stage.shim.on("portmap", "ADD", () => end);
    const added = await stage.call({ verb: "ADD" });
    expect(added.status).toBe(1);
    expect(added.json["code"]).toBe(code);
    expect(added.json["msg"]).toMatch(msg);
    expect(added.json["msg"]).toMatch(/^network default as eth0: plugin type="portmap" failed \(add\): /);
    expect(steps(added).slice(2)).toEqual(["DEL portmap eth0", "DEL bridge eth0"]);
    expect(stage.stateFiles()).toEqual([]);
  });

  test("because a plugin's file is missing runs no step", async () => {
    stage.shim.uninstall("macvlan");
    const added = await stage.call({ verb: "ADD" });
    expect(added.json["msg"]).toMatch(
      /^network delegates\[1\]: failed to find plugin "macvlan": looked for macvlan and macvlan.wasm/,
    );
    expect(steps(added)).toEqual([]);
    expect(stage.stateFiles()).toEqual([]);
  });

  test("because the network's CNI version is unknown runs no step", async () => {
    stage.delegates = [{ name: "pods", cniVersion: "9.9.9", plugins: [{ type: "bridge" }] }];
    const added = await stage.call({ verb: "ADD" });
    expect([added.json["code"], steps(added), stage.stateFiles()]).toEqual([1, [], []]);
  });
});

describe("a shim that is killed during an ADD", () => {
  test("in the first step leaves the plan for the next DEL, and the ADD undoes nothing", async () => {
    stage.shim.on("bridge", "ADD", gone);
    await expect(stage.call({ verb: "ADD" })).rejects.toThrow(ShimGone);
    expect(stage.shim.calls.map(({ verb }) => verb)).toEqual(["ADD"]);
    expect(stage.entry().slice(1)).toEqual([{ attempted: 0 }]);
    const deleted = await stage.succeed({ verb: "DEL" });
    expect(steps(deleted)).toEqual(["DEL portmap eth0", "DEL bridge eth0"]);
    expect(stage.stateFiles()).toEqual([]);
  });

  test("in a further network leaves an entry with which the next DEL undoes all attachments", async () => {
    stage.shim.on("macvlan", "ADD", gone);
    await expect(stage.call({ verb: "ADD" })).rejects.toThrow(ShimGone);
    expect(stage.entry().at(-1)).toEqual({ attempted: 1 });
    const deleted = await stage.succeed({ verb: "DEL" });
    expect(steps(deleted)).toEqual(undoing);
  });

  test("during the look-up of plugins leaves no entry", async () => {
    stage.shim.kill();
    await expect(stage.call({ verb: "ADD" })).rejects.toThrow(ShimGone);
    expect(stage.stateFiles()).toEqual([]);
  });
});

describe("a disk that is full during an ADD", () => {
  test("before the plan is written runs no step", async () => {
    failOn("write journal/c1@cluster@eth0");
    const added = await stage.call({ verb: "ADD" });
    expect([added.status, steps(added), stage.stateFiles()]).toEqual([1, [], []]);
    expect(added.json["msg"]).toContain("ENOSPC");
  });

  test.each([
    ["when the plan is synced", "sync journal/c1@cluster@eth0", ["ADD bridge eth0", "ADD portmap eth0"]],
    ["when the further network is recorded", "append attempted 1", ["ADD bridge eth0", "ADD portmap eth0"]],
  ])("%s never begins the further network, and undoes the first", async (_what, line, before) => {
    failOn(line);
    const added = await stage.call({ verb: "ADD" });
    expect(added.json["msg"]).toContain("ENOSPC");
    expect(steps(added).slice(0, 2)).toEqual(before);
    expect(steps(added)).not.toContain("ADD macvlan net1");
    expect(steps(added).slice(-2)).toEqual(["DEL portmap eth0", "DEL bridge eth0"]);
    expect(stage.stateFiles()).toEqual([]);
  });

  test.each([
    ["when a result is recorded", "append attached 1"],
    ["when a result is cached", "write results/pods-c1-eth0"],
    ["when the entry is closed", "append closed true"],
  ])("%s fails the ADD and undoes all of it", async (_what, line) => {
    failOn(line);
    const added = await stage.call({ verb: "ADD" });
    expect([added.status, added.json["msg"]]).toEqual([1, expect.stringContaining("ENOSPC")]);
    expect(steps(added)).toEqual(["ADD bridge eth0", "ADD portmap eth0", "ADD macvlan net1", ...undoing]);
    expect(stage.stateFiles()).toEqual([]);
  });

  test("causes a warning if the entry cannot be removed after a plugin was not found", async () => {
    stage.shim.uninstall("portmap");
    failOn("remove journal/c1@cluster@eth0");
    const added = await stage.call({ verb: "ADD" });
    expect(added.json["msg"]).toContain('failed to find plugin "portmap"');
    expect(added.warnings).toEqual([
      expect.stringMatching(/^no plugin ran, but the journal entry could not be removed: .*ENOSPC/),
    ]);
  });
});

test("an ADD closes its journal entry's file, whether it succeeds or fails", async () => {
  const open = (): number =>
    readdirSync("/proc/self/fd").filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).includes(stage.stateDirectory);
      } catch {
        return false;
      }
    }).length;
  await stage.succeed({ verb: "ADD" });
  expect(open()).toBe(0);
  stage.shim.on("macvlan", "ADD", failing(105, "no such master"));
  await stage.call({ verb: "ADD", containerId: "c2" });
  expect(open()).toBe(0);
});

describe("an ADD after another ADD without a DEL", () => {
  test("that stood before a reboot undoes it, though its namespace's path is the same", async () => {
    await stage.succeed({ verb: "ADD" });
    stage.edit("journal/c1@cluster@eth0", (text) => text.replace(/"bootId":"[^"]*"/, '"bootId":"earlier"'));
    expect(steps(await stage.succeed({ verb: "ADD" })).slice(0, 3)).toEqual(undoing);
  });

  test("is refused while the container is attached", async () => {
    await stage.succeed({ verb: "ADD" });
    const again = await stage.call({ verb: "ADD" });
    expect(codeOf(again)).toEqual([7, "container c1 is already attached to cluster as eth0"]);
    expect(steps(again)).toEqual([]);
    expect(stage.entry().at(-1)).toEqual({ closed: true });
  });

  test("first undoes an ADD that broke off, in the same namespace", async () => {
    stage.shim.on("macvlan", "ADD", gone);
    await expect(stage.call({ verb: "ADD" })).rejects.toThrow(ShimGone);
    stage.shim.removeScript("macvlan", "ADD");
    stage.shim.calls.length = 0;
    const again = await stage.succeed({ verb: "ADD" });
    expect(steps(again)).toEqual([...undoing, "ADD bridge eth0", "ADD portmap eth0", "ADD macvlan net1"]);
    expect(new Set(stage.shim.calls.map(({ netns }) => netns))).toEqual(new Set(["/run/netns/a"]));
  });

  test("in another namespace undoes the earlier ADD with an empty CNI_NETNS, because the old path may be another pod's", async () => {
    await stage.succeed({ verb: "ADD" });
    stage.shim.calls.length = 0;
    stage.shim.namespaces.add("/run/netns/b");
    await stage.succeed({ verb: "ADD", netns: "/run/netns/b" });
    expect(stage.shim.calls.map(({ verb, netns }) => [verb, netns])).toEqual([
      ["DEL", ""],
      ["DEL", ""],
      ["DEL", ""],
      ["ADD", "/run/netns/b"],
      ["ADD", "/run/netns/b"],
      ["ADD", "/run/netns/b"],
    ]);
  });

  test("after a reboot undoes the whole plan of the earlier ADD, also attachments without a record", async () => {
    stage.shim.on("bridge", "ADD", gone);
    await expect(stage.call({ verb: "ADD" })).rejects.toThrow(ShimGone);
    stage.shim.removeScript("bridge", "ADD");
    stage.edit("journal/c1@cluster@eth0", (text) => text.replace(/"bootId":"[^"]*"/, '"bootId":"earlier"'));
    const again = await stage.succeed({ verb: "ADD" });
    expect(steps(again).slice(0, 3)).toEqual(undoing);
  });

  test("fails without a step if the broken-off ADD cannot be undone", async () => {
    stage.shim.on("macvlan", "ADD", gone);
    await expect(stage.call({ verb: "ADD" })).rejects.toThrow(ShimGone);
    stage.shim.on("macvlan", "DEL", failing(106, "the backend is gone"));
    const again = await stage.call({ verb: "ADD" });
    expect(again.json["code"]).toBe(106);
    expect(steps(again)).toEqual(undoing);
  });

  test("finds its plugins before it undoes the broken-off ADD", async () => {
    stage.shim.on("macvlan", "ADD", gone);
    await expect(stage.call({ verb: "ADD" })).rejects.toThrow(ShimGone);
    stage.shim.uninstall("macvlan");
    const again = await stage.call({ verb: "ADD" });
    expect([again.json["msg"], steps(again)]).toEqual([expect.stringContaining('failed to find plugin "macvlan"'), []]);
  });

  test("with a damaged entry is refused, and the error names the entry's path", async () => {
    await stage.succeed({ verb: "ADD" });
    stage.edit("journal/c1@cluster@eth0", () => "nonsense\n");
    const again = await stage.call({ verb: "ADD" });
    expect(again.json["msg"]).toContain(join(stage.stateDirectory, "journal/c1@cluster@eth0"));
    expect(steps(again)).toEqual([]);
  });
});

describe("the time of an ADD", () => {
  test("that was spent in the daemon's queue leaves no time for a step", async () => {
    const added = await stage.call({ verb: "ADD", config: { callTimeoutMs: 10_000 }, waitedMs: 9_000 });
    expect(codeOf(added)).toEqual([11, "the call waited 9000 ms for an engine, and may take 10000 ms in all"]);
    expect(added.log).toEqual([]);
  });

  test("has a reserve with which a slow step is undone", async () => {
    stage.config = { callTimeoutMs: 10_000 };
    stage.shim.on("bridge", "ADD", (call) => {
      stage.aheadMs += 6_000;
      return attaching("10.0.0.2/24")(call);
    });
    const added = await stage.call({ verb: "ADD" });
    expect(added.json["code"]).toBe(11);
    expect(added.json["msg"]).toMatch(/there is no time left for plugin portmap: the call may take 10000 ms/);
    expect(steps(added)).toEqual(["ADD bridge eth0", "DEL portmap eth0", "DEL bridge eth0"]);
    const deletion = stage.shim.calls.find(({ verb }) => verb === "DEL");
    // Half of the 4 s that are left.
    expect(deletion?.effect.deadlineMs).toBe(2_000);
  });

  test("bounds the wait for a lock that another call of the container holds", async () => {
    const { containerByte } = await import("../call/call-locks.ts");
    stage.holdLock({ byte: containerByte({ containerId: "c1", network: "cluster", ifname: "eth0" }), shared: false });
    const added = await stage.call({ verb: "ADD", config: { callTimeoutMs: 200 } });
    expect(codeOf(added)).toEqual([
      11,
      expect.stringMatching(/another call held the lock of container c1, eth0 .* for more than \d+ ms/),
    ]);
    expect(steps(added)).toEqual([]);
  });
});

describe("an ADD of a pod with a selection", () => {
  beforeEach(() => {
    stage.config = { manifests: stage.manifests.directory };
    stage.delegates = [{ name: "pods", cniVersion: "1.1.0", plugins: [{ type: "bridge" }] }];
    stage.manifests.network("blue", [{ type: "macvlan", capabilities: { ips: true, mac: true } }]);
  });

  test("attaches each selected network under its name, publishes the status, and DEL needs no definition", async () => {
    const added = await add([{ name: "blue", interface: "data0" }, { name: "blue" }]);
    expect(added.status).toBe(0);
    expect(steps(added)).toEqual(["ADD bridge eth0", "ADD macvlan data0", "ADD macvlan net2"]);
    expect(stage.manifests.statusOf("web")).toMatchObject([
      { name: "pods", interface: "eth0", ips: ["10.0.0.2"], default: true },
      { name: "shop/blue", interface: "data0", ips: ["10.1.0.2"] },
      { name: "shop/blue", interface: "net2" },
    ]);
    rmSync(stage.manifests.directory, { recursive: true });
    const deleted = await stage.succeed({ verb: "DEL", args: stage.manifests.argsOf("web") });
    expect(steps(deleted)).toEqual(["DEL macvlan net2", "DEL macvlan data0", "DEL bridge eth0"]);
    expect(stage.stateFiles()).toEqual([]);
  });

  test("passes the pod's requests as capability arguments, and journals them", async () => {
    stage.shim.on("macvlan", "ADD", attaching("10.1.0.9/24"));
    await add([{ name: "blue", ips: ["10.1.0.9"] }]);
    const call = stage.shim.calls.find(({ type }) => type === "macvlan");
    expect(call?.configuration["runtimeConfig"]).toEqual({ ips: ["10.1.0.9"] });
    const [plan] = stage.entry();
    expect(plan?.["attachments"]).toMatchObject([{ capabilityArgs: {} }, { capabilityArgs: { ips: '["10.1.0.9"]' } }]);
  });

  test("undoes a network whose result lacks the requested address", async () => {
    const added = await add([{ name: "blue", ips: ["10.1.0.9"] }]);
    expect(added.json["msg"]).toMatch(/^network shop\/blue as net1: .*10\.1\.0\.9/);
    expect(steps(added).slice(2)).toEqual(["DEL macvlan net1", "DEL bridge eth0"]);
    // The DEL gets the refused result, so that the plugin releases its address.
    const deletion = stage.shim.calls.find(({ type, verb }) => type === "macvlan" && verb === "DEL");
    expect(deletion?.configuration["prevResult"]).toMatchObject({ ips: [{ address: "10.1.0.2/24" }] });
  });

  test("that names a missing network runs no step", async () => {
    const added = await add([{ name: "red" }]);
    expect([added.status, steps(added), stage.stateFiles()]).toEqual([1, [], []]);
    expect(added.json["msg"]).toContain("shop/red");
  });

  test("undoes all attachments if the status cannot be published", async () => {
    stage.shim.on("macvlan", "ADD", (call) => {
      // A file takes the place of the directory for statuses.
      stage.edit("../manifests/status", () => "no directory");
      return attaching("10.1.0.2/24")(call);
    });
    const added = await add([{ name: "blue" }]);
    expect(added.json["msg"]).toContain("publishing the status");
    expect(steps(added).slice(2)).toEqual(["DEL macvlan net1", "DEL bridge eth0"]);
    expect(readFileSync(join(stage.manifests.directory, "status"), "utf8")).toBe("no directory");
  });
});
