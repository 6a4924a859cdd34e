// Where a daemon writes that the chart or the unit has installed: root executes nothing there.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defaultUids } from "../../src/configuration/keys/sandbox-uids.ts";
import { root } from "../lab/compiled.ts";
import { containerOf, objectsOf, podOf } from "../lab/kube/chart.ts";
import { missing } from "../lab/requires.ts";

/** Directories with programs and rules of root's: of the runtime and the shim, of one-shot engines, of the node's policy. */
const ofRoot = ["/opt/cni/bin", "/opt/plexus", "/etc/plexus"];
const within = (path: string, directory: string): boolean => path === directory || path.startsWith(`${directory}/`);
const touching = (writable: readonly string[]): readonly string[] =>
  writable.filter((path) => ofRoot.some((directory) => within(directory, path) || within(path, directory)));

test("FI-01: the chart lets the daemon write in no directory from which root executes, and shows it no socket of the runtime", () => {
  const objects = objectsOf(readFileSync(join(root, "deploy/plexus.yaml"), "utf8"));
  const pod = podOf(objects);
  const { volumeMounts = [] } = containerOf(pod, "plexusd");
  const writable = volumeMounts.filter(({ readOnly }) => readOnly !== true).map(({ mountPath }) => mountPath);
  expect(writable.toSorted()).toEqual(["/etc/cni/net.d", "/run/plexus", "/var/lib/cni", "/var/run/k8s.cni.cncf.io"]);
  expect(touching(writable)).toEqual([]);
  // By Landlock the daemon changes less than its mounts allow: the launch server writes the file in /etc/cni/net.d.
  const { args = [] } = containerOf(pod, "plexusd");
  const changed = args.flatMap((each) => (each.startsWith("--write-to=") ? [each.slice("--write-to=".length)] : []));
  expect([...changed, "/run/plexus", "/etc/cni/net.d"].toSorted()).toEqual(writable.toSorted());
});

const unit = readFileSync(join(root, "deploy/systemd/plexusd.service"), "utf8");
/** The values of a key of the unit. */
const valuesOf = (key: string): readonly string[] =>
  [...unit.matchAll(new RegExp(`^${key}=(.*)$`, "gmu"))].flatMap(([, value = ""]) => value.split(" "));

test("FI-01: the unit lets the daemon write in no such directory, and hides the sockets that obey uid 0", () => {
  expect(valuesOf("ProtectSystem")).toEqual(["strict"]);
  expect(valuesOf("TemporaryFileSystem")).toEqual(["/run:ro"]);
  const writable = [
    ...valuesOf("ReadWritePaths"),
    ...valuesOf("BindPaths"),
    ...valuesOf("StateDirectory").map((name) => `/var/lib/${name}`),
  ];
  expect(writable.toSorted()).toEqual(["/run/k8s.cni.cncf.io", "/run/plexus", "/var/lib/cni"]);
  expect(touching(writable)).toEqual([]);
  for (const key of ["ProtectKernelTunables", "PrivateDevices", "NoNewPrivileges"])
    expect([key, valuesOf(key)]).toEqual([key, ["yes"]]);
});

test("FI-28: the unit gives the daemon a user of its own, outside of those of sandbox processes", () => {
  const [uid = NaN] = [...unit.matchAll(/^ExecStart=.* --uid (\d+)$/gmu)].map(([, number]) => Number(number));
  expect(uid > 65_535 && (uid < defaultUids.first || uid >= defaultUids.first + defaultUids.count)).toBe(true);
});

const analyzer = () =>
  spawnSync("systemd-analyze", ["--version"]).status === 0 ? undefined : "systemd-analyze(1), of systemd, is missing";

test.skipIf(missing("systemd's check of the unit", analyzer))("systemd knows every key of the unit", () => {
  const directory = mkdtempSync(join(tmpdir(), "plexus-unit-"));
  try {
    const path = join(directory, "plexusd.service");
    writeFileSync(path, unit.replace(/^ExecStart=\S+/mu, "ExecStart=/bin/true"));
    const { stderr } = spawnSync("systemd-analyze", ["verify", path], { encoding: "utf8" });
    expect(stderr).toBe("");
  } finally {
    rmSync(directory, { recursive: true });
  }
});
