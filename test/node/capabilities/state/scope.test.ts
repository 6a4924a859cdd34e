import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createPodNamespace, missingPrivateNamespaces } from "../../../lab/namespaces.ts";
import { linkType, missing, referencePlugin, referencePlugins } from "../../../lab/requires.ts";
import { maxStateBytes } from "../../../../host/capabilities/state/capability.ts";
import { stateFor, type StateScope } from "../../../../host/capabilities/state/scope.ts";

let base: string;
let standard: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "plexus-state-"));
  standard = join(base, "tuning");
});
afterEach(() => rmSync(base, { recursive: true }));

const state = (changes: Partial<StateScope> = {}): ReturnType<typeof stateFor> =>
  stateFor({
    type: "tuning",
    verb: "ADD",
    attachment: { containerId: "c1", ifname: "eth0" },
    directories: [standard, join(base, "more"), `${base}/under/`],
    ...changes,
  });

test("A saved text is loaded by the same attachment only, until it is removed", () => {
  expect(state().load(undefined)).toEqual({ ok: undefined });
  expect(state().remove(undefined)).toEqual({ ok: undefined });
  expect(readdirSync(base)).toEqual([]);
  expect(state().save(undefined, '{"mtu":1500}')).toEqual({ ok: undefined });
  expect(state({ verb: "CHECK" }).load("")).toEqual({ ok: '{"mtu":1500}' });
  expect(state({ attachment: { containerId: "c1", ifname: "eth1" } }).load(undefined)).toEqual({ ok: undefined });
  expect(state({ attachment: { containerId: "c2", ifname: "eth0" } }).load(undefined)).toEqual({ ok: undefined });
  expect(readdirSync(standard)).toEqual(["c1_eth0.json"]);
  expect(statSync(join(standard, "c1_eth0.json")).mode & 0o777).toBe(0o600);
  expect(state().save(standard, "ü")).toEqual({ ok: undefined });
  expect(state({ verb: "DEL" }).load(undefined)).toEqual({ ok: "ü" });
  expect(state({ verb: "DEL" }).remove(undefined)).toEqual({ ok: undefined });
  expect(readdirSync(standard)).toEqual([]);
});

test("A text of more than 64 KiB is neither saved nor loaded", () => {
  expect(state().save(undefined, "x".repeat(maxStateBytes))).toEqual({ ok: undefined });
  const tooLong = state().save(undefined, "ü".repeat(maxStateBytes / 2 + 1));
  expect(tooLong).toMatchObject({ err: { code: 999, msg: "state: the text has 65538 bytes; the maximum is 65536" } });
  expect(state().load(undefined)).toEqual({ ok: "x".repeat(maxStateBytes) });
  writeFileSync(join(standard, "c1_eth0.json"), "x".repeat(maxStateBytes + 1));
  expect(state().load(undefined)).toMatchObject({ err: { code: 5, msg: expect.stringContaining("65537 bytes") } });
});

test("E-7: only granted directories are used, and directories beneath an entry that ends in a slash", () => {
  for (const directory of [join(base, "more"), join(base, "under/a/b"), join(base, "x/../more")]) {
    expect(state().save(directory, directory)).toEqual({ ok: undefined });
    expect(state().load(directory)).toEqual({ ok: directory });
  }
  for (const [directory, why] of [
    [join(base, "other"), ""],
    [join(base, "more/below"), ""],
    [join(base, "under/../other"), ""],
    ["more", "which is not an absolute path, "],
    [`${base}/more\0`, "which is not an absolute path, "],
  ] as const) {
    const msg = expect.stringContaining(`${why}is not granted: wasm.grants.tuning.state.directories has ${standard}, `);
    expect(state().save(directory, "x")).toMatchObject({ err: { code: 7, msg } });
    expect(state().load(directory)).toMatchObject({ err: { code: 7, msg } });
    expect(state().remove(directory)).toMatchObject({ err: { code: 7, msg } });
  }
  expect(readdirSync(base).sort()).toEqual(["more", "under"]);
});

test("No symbolic link is followed: neither to a directory beneath a granted one, nor to the file", () => {
  mkdirSync(join(base, "elsewhere"));
  mkdirSync(join(base, "under"));
  symlinkSync(join(base, "elsewhere"), join(base, "under/link"));
  expect(state().save(join(base, "under/link"), "x")).toMatchObject({
    err: { msg: expect.stringContaining("is not a plain directory") },
  });
  expect(readdirSync(join(base, "elsewhere"))).toEqual([]);
  mkdirSync(standard);
  writeFileSync(join(base, "secret"), "secret");
  symlinkSync(join(base, "secret"), join(standard, "c1_eth0.json"));
  expect(state().load(undefined)).toMatchObject({ err: { code: 5, msg: expect.stringContaining("ELOOP") } });
  expect(state().save(undefined, "x")).toEqual({ ok: undefined });
  expect(readFileSync(join(base, "secret"), "utf8")).toBe("secret");
  expect(state().load(undefined)).toEqual({ ok: "x" });
});

test("CHECK may not change the state, GC has no attachment, and an invalid file name is refused", () => {
  const check = state({ verb: "CHECK" });
  for (const refused of [check.save(undefined, "x"), check.remove(undefined)])
    expect(refused).toMatchObject({ err: { code: 999, msg: "state: CHECK may only load the state, not change it" } });
  expect(state({ verb: "GC", attachment: undefined }).load(undefined)).toMatchObject({
    err: { msg: expect.stringContaining("GC has no") },
  });
  expect(state({ attachment: { containerId: "../c", ifname: "eth0" } }).save(undefined, "x")).toMatchObject({
    err: { code: 999 },
  });
  expect(readdirSync(base)).toEqual([]);
});

describe.skipIf(
  missing("the reference tuning plugin's backup", missingPrivateNamespaces, referencePlugins("tuning"), linkType("veth")),
)("the reference tuning plugin's backup", () => {
  test("is loaded by the capability, and the plugin restores from a text that the capability saved", () => {
    const pod = createPodNamespace("state");
    try {
      pod.exec(["ip", "link", "add", "eth0", "mtu", "1400", "type", "veth", "peer", "name", "other"]);
      const netConf = { cniVersion: "1.0.0", name: "n", type: "tuning", mtu: 1300, dataDir: standard };
      const call = (command: string): unknown => {
        const { status, stdout } = spawnSync(referencePlugin("tuning") ?? "", [], {
          input: JSON.stringify({ ...netConf, prevResult: { cniVersion: "1.0.0", interfaces: [] } }),
          env: { CNI_COMMAND: command, CNI_CONTAINERID: "c1", CNI_NETNS: pod.path, CNI_IFNAME: "eth0", CNI_PATH: "/" },
          encoding: "utf8",
        });
        return [status, status === 0 ? "" : stdout];
      };
      const mtu = (): number | undefined => pod.links().find(({ name }) => name === "eth0")?.mtu;
      expect([call("ADD"), mtu()]).toEqual([[0, ""], 1300]);
      expect(state({ verb: "DEL" }).load(undefined)).toMatchObject({ ok: expect.stringMatching(/^\{\s*"mtu": ?1400\s*\}$/) });
      expect(state().save(undefined, '{"mtu":1350}')).toEqual({ ok: undefined });
      expect([call("DEL"), mtu()]).toEqual([[0, ""], 1350]);
      expect(readdirSync(standard)).toEqual([]);
    } finally {
      pod.dispose();
    }
  });
});
