// The peers' Go modules whose own tests run through an installed Plexus, and how the build ties the adapters of this folder to them.

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { root } from "../compiled.ts";
import { testCache } from "../debian-packages.ts";
import type { Requirement } from "../requires.ts";

/** A change of the files in a package's folder, by regular expression. */
export interface Rewriting {
  /** The names of the files. */
  readonly files: RegExp;
  readonly from: RegExp;
  readonly to: string;
}

/** One module of a peer, of a released version. Go checks the module against its checksum database. */
export interface GoModule {
  readonly name: "reference-plugins" | "libcni" | "go-cni";
  readonly path: string;
  readonly release: string;
  /** Packages with tests, as folders within the module. */
  readonly folders: readonly string[];
  /** Further programs that the tests execute, as folders within the module. */
  readonly programs: readonly string[];
  /** Files of this folder by their names in each package. */
  readonly adapters: Readonly<Record<string, string>>;
  readonly rewritings: readonly Rewriting[];
  /** A module of this list whose changed source replaces the module's own dependency. */
  readonly uses?: GoModule;
}

const sourceFiles = /^(?!.*_test\.go$).*\.go$/;
const testFiles = /_test\.go$/;

export const referencePluginsModule: GoModule = {
  name: "reference-plugins",
  path: "github.com/containernetworking/plugins",
  release: "v1.9.1",
  folders: [
    "plugins/main/bridge",
    "plugins/main/host-device",
    "plugins/main/macvlan",
    "plugins/ipam/host-local",
    "plugins/meta/tuning",
    "plugins/meta/portmap",
    "plugins/main/loopback",
    "plugins/main/ptp",
    "plugins/main/vlan",
    "plugins/main/ipvlan",
    "plugins/main/dummy",
    "plugins/main/tap",
    "plugins/meta/vrf",
    "plugins/meta/sbr",
    "plugins/meta/bandwidth",
    "plugins/meta/firewall",
    "plugins/ipam/static",
    "plugins/ipam/dhcp",
  ],
  // The specifications of portmap call the plugin and an echo server as programs, those of dhcp start the plugin's own daemon, which Plexus does not call.
  programs: ["plugins/meta/portmap", "pkg/testutils/echo/server", "plugins/ipam/dhcp"],
  adapters: { "plexus_adapter.go": "adapter.go", "plexus_adapter_test.go": "adapter_test.go" },
  rewritings: [{ files: sourceFiles, from: /^func cmd(Add|Del|Check|Status)\(/gm, to: "func reference$1(" }],
};

/** The network namespace of the specifications. It stands for a path that does not exist on a node. */
export const libcniNetns = "/run/plexus-libcni-netns";

const libcniModule: GoModule = {
  name: "libcni",
  path: "github.com/containernetworking/cni",
  release: "v1.3.1",
  folders: ["libcni"],
  programs: [],
  adapters: { "plexus_adapter.go": "libcni_adapter.go", "plexus_adapter_test.go": "libcni_adapter_test.go" },
  rewritings: [
    {
      files: /^api\.go$/,
      from: /^func \(c \*CNIConfig\) ((?:Add|Check|Del|GC|GetStatus)Network(?:List)?)\(/gm,
      to: "func (c *CNIConfig) reference$1(",
    },
    { files: testFiles, from: /"\/some\/netns\/path"/g, to: `"${libcniNetns}"` },
  ],
};

const goCniModule: GoModule = {
  name: "go-cni",
  path: "github.com/containerd/go-cni",
  release: "v1.1.14",
  folders: ["."],
  programs: [],
  adapters: { "plexus_adapter_test.go": "go_cni_adapter_test.go" },
  rewritings: [
    { files: /^cni_test\.go$/, from: /(\.cni(?:Config)?) = mockCNI$/gm, to: "$1 = throughPlexus(t, mockCNI)" },
    // The adapter's name of the running test is one for the process.
    { files: /^cni_test\.go$/, from: /^\tt\.Parallel\(\)$/gm, to: "" },
  ],
  uses: libcniModule,
};

/** In the order of the build: a used module comes first. */
export const goModules: readonly GoModule[] = [referencePluginsModule, libcniModule, goCniModule];

/** The module of this name. */
export function goModule(name: GoModule["name"]): GoModule {
  const found = goModules.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no module ${name}`);
  return found;
}

/** The path of an adapter of this folder. */
export const adapterFile = (name: string): string => join(root, "test/lab/peers", name);

/** The directory of a module's built tests. The adapters' content and the rewritings are part of its name. */
export function builtDirectory(module: GoModule): string {
  return join(testCache, `peer-${module.name}-${module.release}-${process.arch}-${digestOf(module).slice(0, 16)}`);
}

function digestOf({ adapters, rewritings, folders, programs, uses }: GoModule): string {
  const digest = createHash("sha256");
  for (const name of Object.values(adapters)) digest.update(readFileSync(adapterFile(name)));
  for (const { files, from, to } of rewritings) digest.update([files, from, to].map(String).join("\0"));
  digest.update([...folders, ...programs, uses === undefined ? "" : digestOf(uses)].join("\0"));
  return digest.digest("hex");
}

/** The program with the tests of a package. */
export function testProgram(module: GoModule, folder: string): string {
  const name = folder === "." ? module.name : (folder.split("/").at(-1) ?? "");
  return join(builtDirectory(module), `${name}.test`);
}

/** Requires the built tests of a module. */
export function peersBuilt(module: GoModule): Requirement {
  return () =>
    module.folders.every((folder) => existsSync(testProgram(module, folder)))
      ? undefined
      : `no tests of ${module.path} ${module.release}: with Go on PATH, run test/lab/peers/build.ts`;
}
