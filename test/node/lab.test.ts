import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";

import { clusterOrder } from "../lab/cluster/sequence.ts";
import { builtOnce, root } from "../lab/compiled.ts";
import {
  createPodNamespace,
  filesBelow,
  hostLinks,
  inHost,
  leases,
  missingPrivateNamespaces,
  type PodNamespace,
} from "../lab/namespaces.ts";
import { callBinary } from "../lab/plexus.ts";
import { callsInOrder, installHostile, installRecorder } from "../lab/recorder.ts";
import { iproute2, linkType, missing, privateNamespaces } from "../lab/requires.ts";

let directory = "";
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "plexus-harness-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe("the order of test files", () => {
  test("names existing files, each once", () => {
    const paths = clusterOrder.map((name) => `test/cluster/${name}`);
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    expect(new Set(paths).size).toBe(paths.length);
  });
});

describe("a program that tests build once", () => {
  test("is built for other inputs only, and another clone takes the program from the shared directory", () => {
    vi.stubEnv("PLEXUS_PROGRAM_CACHE", join(directory, "programs"));
    let builds = 0;
    const program = (input: string): string =>
      builtOnce("lab-once", [directory, input], (output) => writeFileSync(output, `${++builds}`, { mode: 0o755 }));
    const [one, other] = [program("one"), program("other")];
    try {
      expect([program("one"), builds]).toEqual([one, 2]);
      // A new clone has no programs of its own.
      rmSync(one);
      expect([program("one"), readFileSync(one, "utf8"), statSync(one).mode & 0o777, builds]).toEqual([one, "1", 0o755, 2]);
    } finally {
      for (const path of [one, other]) rmSync(path);
      vi.unstubAllEnvs();
    }
  });
});

describe("the recorder", () => {
  test("writes down environment and stdin byte for byte", async () => {
    const recorder = installRecorder(directory, "exact");
    const stdin = '{"cniVersion":"1.0.0","name":"n","type":"exact","x":"é\\u0000\\"","big":18446744073709551615}\n';
    const answer = await callBinary(
      recorder.path,
      { verb: "ADD", ifname: "eth0", netns: "/ns", args: "A=ü;B=2", stdin },
      directory,
    );
    expect(answer.status).toBe(0);
    expect(answer.json).toMatchObject({ cniVersion: "1.0.0", interfaces: [{ name: "eth0", sandbox: "/ns" }] });
    const [call] = recorder.calls();
    expect(call?.stdin).toBe(stdin);
    expect(call?.env["CNI_ARGS"]).toBe("A=ü;B=2");
    expect(call?.argv).toEqual([recorder.path]);
    expect(Object.keys(call?.env ?? {}).sort()).toEqual([
      "CNI_ARGS",
      "CNI_COMMAND",
      "CNI_IFNAME",
      "CNI_NETNS",
      "CNI_PATH",
      "PATH",
    ]);
  });

  test("a script may set one answer for the first call and another for the following calls", async () => {
    const recorder = installRecorder(directory, "scripted");
    recorder.script("DEL", { stdout: '{"code":11,"msg":"later"}', exit: 1, stderr: "noise" }, 1);
    recorder.script("DEL", { exit: 0 });
    const first = await callBinary(recorder.path, { verb: "DEL", config: {} }, directory);
    const second = await callBinary(recorder.path, { verb: "DEL", config: {} }, directory);
    expect([first.status, first.json, first.stderr]).toEqual([1, { code: 11, msg: "later" }, "noise"]);
    expect([second.status, second.stdout]).toEqual([0, ""]);
    recorder.clear();
    expect(recorder.calls()).toEqual([]);
    expect((await callBinary(recorder.path, { verb: "DEL", config: {} }, directory)).status).toBe(1);
  });

  test("without a script the recorder answers prevResult", async () => {
    const recorder = installRecorder(directory, "passes");
    const answer = await callBinary(
      recorder.path,
      { verb: "ADD", config: { cniVersion: "1.0.0", prevResult: { ips: [] } } },
      directory,
    );
    expect(answer.json).toEqual({ ips: [] });
  });

  test("concurrent calls lose no line, and timestamps order the calls of several plugins", async () => {
    const one = installRecorder(directory, "many-1");
    const two = installRecorder(directory, "many-2");
    const config = { pad: "x".repeat(100_000) };
    await Promise.all(
      Array.from({ length: 12 }, (_, i) => callBinary((i % 2 ? one : two).path, { verb: "DEL", config }, directory)),
    );
    await callBinary(one.path, { verb: "DEL", config: { last: true } }, directory);
    const calls = callsInOrder([one, two]);
    expect(calls).toHaveLength(13);
    expect(calls.at(-1)?.stdin).toBe('{"last":true}');
  });

  test("A-07: a hostile plugin misbehaves on ADD only, unless its installation names other verbs", async () => {
    const quiet = installHostile(directory, "prints-nothing");
    const failing = installHostile(directory, "fails-with-code", ["DEL"]);
    expect((await callBinary(quiet.path, { verb: "ADD", config: {} }, directory)).stdout).toBe("");
    expect((await callBinary(quiet.path, { verb: "VERSION", config: {} }, directory)).json).toHaveProperty("supportedVersions");
    expect((await callBinary(failing.path, { verb: "ADD", config: {} }, directory)).status).toBe(0);
    expect((await callBinary(failing.path, { verb: "DEL", config: {} }, directory)).json).toMatchObject({ code: 123 });
    expect(failing.calls().map((call) => call.env["CNI_COMMAND"])).toEqual(["ADD", "DEL"]);
  });
});

describe("the guard of the machine's network namespace", () => {
  test("refuses without PLEXUS_PRIVATE and with the inode of another namespace", () => {
    expect(missingPrivateNamespaces({})).toContain("PLEXUS_PRIVATE is not set");
    expect(missingPrivateNamespaces({ PLEXUS_PRIVATE: "1" })).toContain("but this process is in network namespace");
  });
});

describe.skipIf(missing("pod namespaces", privateNamespaces, iproute2, linkType("veth")))("pod namespaces", () => {
  const pods: PodNamespace[] = [];
  const pod = (): PodNamespace => {
    const made = createPodNamespace();
    pods.push(made);
    return made;
  };
  afterAll(() => {
    for (const each of pods) each.dispose();
  });

  test("two pods are joined by a veth pair, ping each other, and leave no link", () => {
    const before = hostLinks();
    const a = pod();
    const b = pod();
    expect(a.links()).toEqual([]);
    inHost(["ip", "link", "add", "eth0", "netns", a.name, "type", "veth", "peer", "name", "eth0", "netns", b.name]);
    for (const [each, n] of [
      [a, 1],
      [b, 2],
    ] as const) {
      expect(each.exec(["ip", "address", "add", `10.77.0.${n}/24`, "dev", "eth0"]).status).toBe(0);
      expect(each.exec(["ip", "address", "add", `fd77::${n}/64`, "dev", "eth0", "nodad"]).status).toBe(0);
      expect(each.exec(["ip", "link", "set", "eth0", "up"]).status).toBe(0);
    }
    expect(a.links()).toMatchObject([{ name: "eth0", up: true, mtu: 1500 }]);
    expect(a.addresses().map((address) => address.address)).toEqual(["10.77.0.1/24", "fd77::1/64"]);
    expect(a.routes()).toEqual(["10.77.0.0/24"]);
    expect([a.ping("10.77.0.2"), a.ping("fd77::2"), b.ping("10.77.0.1")]).toEqual([true, true, true]);
    expect(a.ping("10.77.0.3")).toBe(false);
    a.dispose();
    b.dispose();
    // Other test files have links in the same namespace meanwhile.
    const left = hostLinks().filter(({ name }) => name === "eth0");
    expect(left).toEqual(before.filter(({ name }) => name === "eth0"));
  });
});

test("leases are the address files of a host-local directory, without `lock` and `last_reserved_ip.N`", () => {
  const store = join(directory, "leases");
  mkdirSync(join(store, "net"), { recursive: true });
  for (const name of ["10.0.0.2", "lock", "last_reserved_ip.0"]) writeFileSync(join(store, "net", name), "");
  expect(leases(store)).toEqual(["net/10.0.0.2"]);
  expect(filesBelow(store)).toHaveLength(3);
  expect(leases(join(directory, "absent"))).toEqual([]);
});
