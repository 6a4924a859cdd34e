// `plexusctl configure`: Plexus' configuration from the file of a node's network.

import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { dist, missingBuild } from "../lab/plexus.ts";
import { missing } from "../lab/requires.ts";

const components = ["bridge-adapter", "ipam-host-local", "tuning"] as const;

describe.skipIf(missing("plexusctl configure", () => missingBuild({ components })))("plexusctl configure", () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "plexus-configure-"));
    for (const name of ["net.d", "bin"]) mkdirSync(join(directory, name));
    copyFileSync(join(dist, "plexus"), join(directory, "bin/plexus"));
    for (const name of components) copyFileSync(join(dist, `delegates/${name}.wasm`), join(directory, `bin/${name}.wasm`));
    writeFileSync(join(directory, "kubeconfig"), "{}");
    network("10-flannel.conflist", [
      {
        type: "bridge-adapter",
        bridge: "cni0",
        isGateway: true,
        ipMasq: true,
        ipam: { type: "ipam-host-local", subnet: "10.244.0.0/24" },
      },
      { type: "portmap", capabilities: { portMappings: true } },
    ]);
    native("portmap");
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  function network(name: string, plugins: readonly object[]): void {
    writeFileSync(join(directory, "net.d", name), JSON.stringify({ cniVersion: "0.3.1", name: "cbr0", plugins }));
  }
  function native(name: string): void {
    writeFileSync(join(directory, "bin", name), "#!/bin/sh\n");
    chmodSync(join(directory, "bin", name), 0o755);
  }
  const from = (): string => join(directory, "net.d/10-flannel.conflist");
  function configure(...args: readonly string[]) {
    const common = [
      "configure",
      "--from",
      from(),
      "--kubeconfig",
      join(directory, "kubeconfig"),
      "--cni-path",
      join(directory, "bin"),
    ];
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(dist, "plexusctl.cjs"), ...common, ...args], {
      encoding: "utf8",
    });
    return { status, stdout, stderr };
  }

  test("FI-14: --grants proposes all that each installed component declares, by type, with bounds to fill in", () => {
    const { status, stdout } = configure("--grants");
    expect(status).toBe(0);
    const { grants } = JSON.parse(stdout).plugins[0].wasm;
    expect(Object.keys(grants).toSorted()).toEqual([...components].toSorted());
    expect(grants.tuning).toMatchObject({ sysctl: { keys: [] }, links: { bridges: [] }, state: {} });
    // The network's own values are filled in.
    expect(grants["bridge-adapter"]).toMatchObject({
      links: { bridges: ["cni0"], parents: [] },
      firewall: { masquerade: true, hostPorts: [] },
      delegation: { plugins: ["ipam-host-local"] },
    });
  });

  test("prints a complete configuration with the least grants, and changes nothing", () => {
    const result = configure();
    expect([result.status, result.stderr]).toEqual([0, ""]);
    expect(JSON.parse(result.stdout)).toEqual({
      cniVersion: "1.0.0",
      cniVersions: ["1.0.0", "1.1.0"],
      name: "plexus",
      plugins: [
        {
          type: "plexus",
          wasm: {
            grants: {
              "bridge-adapter": {
                log: {},
                links: { bridges: ["cni0"], forwarding: true },
                firewall: { masquerade: true },
                delegation: { plugins: ["ipam-host-local"] },
              },
            },
          },
          definitions: {},
          capabilities: { portMappings: true },
          clusterNetwork: from(),
          readinessindicatorfile: from(),
          kubeconfig: join(directory, "kubeconfig"),
        },
      ],
    });
    expect(readdirSync(join(directory, "net.d"))).toEqual(["10-flannel.conflist"]);
  });

  test("--write moves the file into place with mode 0600, and replaces it the next time", () => {
    expect(configure("--write")).toMatchObject({ status: 0, stderr: "" });
    const path = join(directory, "net.d/00-plexus.conflist");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const text = readFileSync(path, "utf8");
    expect(configure()).toMatchObject({ status: 0, stdout: text });
    expect(configure("--write")).toMatchObject({ status: 0, stderr: "" });
    expect(readFileSync(path, "utf8")).toBe(text);
    expect(readdirSync(join(directory, "net.d")).toSorted()).toEqual(["00-plexus.conflist", "10-flannel.conflist"]);
    const config = ["explain", "--config", join(directory, "net.d"), "--cni-path", join(directory, "bin"), "-o", "json"];
    const explained = spawnSync(process.execPath, [join(dist, "plexusctl.cjs"), ...config], { encoding: "utf8" });
    expect([explained.status, JSON.parse(explained.stdout)]).toMatchObject([0, { loads: true }]);
  });

  test("--template gives the other keys", () => {
    const template = {
      logFile: "/var/log/plexus.log",
      wasm: { grants: {} },
      capabilities: { bandwidth: true },
      definitions: { trusted: ["kube-system"] },
    };
    writeFileSync(join(directory, "template.json"), JSON.stringify(template));
    const { status, stdout } = configure("--template", join(directory, "template.json"));
    expect([status, JSON.parse(stdout).plugins[0]]).toMatchObject([
      0,
      { ...template, capabilities: { portMappings: true, bandwidth: true } },
    ]);
    writeFileSync(join(directory, "template.json"), '{ "loggFile": "x" }');
    const refused = configure("--template", join(directory, "template.json"));
    expect([refused.status, refused.stdout]).toEqual([1, ""]);
    expect(refused.stderr).toContain("loggFile");
  });

  test("MO-23 takes the flags of Multus' thin entry point, and names those without a counterpart", () => {
    network("20-other.conflist", [{ type: "portmap" }]);
    const flags = [
      `--cni-conf-dir=${join(directory, "net.d")}`,
      `--multus-autoconfig-dir=${join(directory, "net.d")}`,
      "--multus-master-cni-file-name=20-other.conflist",
      `--cni-bin-dir=${join(directory, "bin")}`,
      `--multus-kubeconfig-file-host=${join(directory, "kubeconfig")}`,
      "--cni-version=1.0.0",
      "--override-network-name",
      "--namespace-isolation=true",
      "--global-namespaces=default",
      "--multus-log-level=debug",
      "--readiness-indicator-file=/run/ready",
      "--rename-conf-file=true",
    ];
    const all = [join(dist, "plexusctl.cjs"), "configure", "--multus", "--name", "10-a.conflist", "--", ...flags];
    const run = spawnSync(process.execPath, all, { encoding: "utf8" });
    expect(run.stderr).toMatch(/^plexusctl: --rename-conf-file: [^;]*\n$/);
    expect(JSON.parse(run.stdout)).toEqual({
      cniVersion: "1.0.0",
      name: "cbr0",
      plugins: [
        {
          type: "plexus",
          namespaceIsolation: true,
          globalNamespaces: "default",
          logLevel: "debug",
          readinessindicatorfile: "/run/ready",
          definitions: {},
          clusterNetwork: join(directory, "net.d/20-other.conflist"),
          kubeconfig: join(directory, "kubeconfig"),
        },
      ],
    });
  });

  test("warns about a plugin that the node lacks", () => {
    rmSync(join(directory, "bin/portmap"));
    expect(configure()).toMatchObject({ status: 0, stderr: expect.stringContaining("plugin portmap is in none of") });
  });

  test("never becomes its own delegate, and never replaces a foreign file", () => {
    network("05-plexus.conflist", [{ type: "plexus" }]);
    expect(configure("--from", join(directory, "net.d/05-plexus.conflist"))).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("runs Plexus itself"),
    });
    network("00-plexus.conflist", [{ type: "calico" }]);
    expect(configure("--write")).toMatchObject({ status: 1, stderr: expect.stringContaining("is not Plexus' configuration") });
    expect(configure("--write", "--name", "00-a.conflist")).toMatchObject({ status: 0 });
    expect(configure("--write", "--name", "20-plexus.conflist")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("sorts before 20-plexus.conflist"),
    });
  });

  test("without its kubeconfig nothing is written", () => {
    const absent = join(directory, "absent");
    expect(configure("--kubeconfig", absent)).toMatchObject({
      status: 0,
      stderr: expect.stringContaining(`${absent} does not exist yet`),
    });
    expect(configure("--kubeconfig", absent, "--write")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("nothing was written"),
    });
    expect(readdirSync(join(directory, "net.d"))).toEqual(["10-flannel.conflist"]);
  });

  test.each([
    [["--from", "net.d"], 2, "--from net.d: must be an absolute path"],
    [["--name", "../x"], 2, "--name ../x: must be a file name that ends with .conflist"],
    [["--from", "/nonexistent/10-a.conflist"], 1, "/nonexistent has no usable network configuration"],
  ])("%j is refused in one line", (args, status, line) => {
    const result = configure(...args);
    expect([result.status, result.stdout]).toEqual([status, ""]);
    expect(result.stderr).toContain(line);
  });
});
