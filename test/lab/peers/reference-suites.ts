// The reference plugins' own specifications, which run against the components through an installed Plexus: adapter.go serves the verbs that they call.

import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { DelegateGrants } from "../../../src/configuration/keys/grant-keys.ts";
import { busybox } from "../cluster/images.ts";
import { compiledPlugin } from "../compiled.ts";
import { dist } from "../plexus.ts";
import { referencePlugin } from "../requires.ts";
import { openStage } from "../stage.ts";
import { adapterFile, builtDirectory, referencePluginsModule, testProgram } from "./go-modules.ts";
import { goDirectory, runGinkgo, type Specification } from "./specifications.ts";

/** adapter.go reads the file. The tests' mount namespace has a /run of its own. */
const settingsFile = "/run/plexus-peer.json";

/** One plugin's specifications, and the component that serves them. */
export interface ReferenceSuite {
  /** The plugin's name, which is also its package's. */
  readonly plugin: string;
  /** The package's folder within the module. */
  readonly folder: string;
  readonly component: string;
  /** Grants of every capability that the specifications use, by component. */
  readonly grants: Readonly<Record<string, DelegateGrants>>;
  /** The specifications hand their own network namespace to the plugin as the pod's, so that the node's must be another one. */
  readonly isNodeApart?: true;
}

const temporary = ["/tmp/"];
const ipam: Readonly<Record<string, DelegateGrants>> = {
  "host-local": { log: {}, leases: { directories: temporary }, resolver: {} },
  static: { log: {} },
};

export const referenceSuites: readonly ReferenceSuite[] = [
  {
    plugin: "bridge",
    folder: "plugins/main/bridge",
    component: "bridge-adapter",
    grants: {
      ...ipam,
      bridge: {
        log: {},
        links: { bridges: ["*"], forwarding: true },
        firewall: { masquerade: true },
        delegation: { plugins: ["*"] },
        announce: {},
        sysctl: { keys: ["net/*/*/*", "net/*/*/*/*"] },
      },
    },
  },
  {
    plugin: "host-device",
    folder: "plugins/main/host-device",
    component: "host-device",
    grants: { ...ipam, "host-device": { log: {}, links: { devices: ["*", "pci:*"] }, delegation: { plugins: ["*"] } } },
  },
  {
    plugin: "macvlan",
    folder: "plugins/main/macvlan",
    component: "macvlan",
    grants: {
      ...ipam,
      macvlan: {
        log: {},
        links: { parents: ["*"], podLinks: ["*"] },
        delegation: { plugins: ["*"] },
        announce: {},
        sysctl: { keys: ["net/*/*/*/*"] },
      },
    },
  },
  { plugin: "host-local", folder: "plugins/ipam/host-local", component: "ipam-host-local", grants: ipam },
  {
    plugin: "tuning",
    folder: "plugins/meta/tuning",
    component: "tuning",
    isNodeApart: true,
    grants: {
      tuning: {
        log: {},
        links: {},
        sysctl: { keys: ["net/*/*", "net/*/*/*", "net/*/*/*/*"] },
        state: { directories: ["/run/cni/tuning", ...temporary] },
      },
    },
  },
  {
    plugin: "portmap",
    folder: "plugins/meta/portmap",
    component: "portmap",
    grants: { portmap: { log: {}, firewall: { hostPorts: ["1-65535"] } } },
  },
  {
    plugin: "sbr",
    folder: "plugins/meta/sbr",
    component: "sbr",
    grants: { sbr: { links: { podLinks: ["*"] }, routing: {} } },
  },
  { plugin: "loopback", folder: "plugins/main/loopback", component: "loopback", grants: { loopback: { log: {}, links: {} } } },
  {
    plugin: "ptp",
    folder: "plugins/main/ptp",
    component: "ptp",
    grants: {
      ...ipam,
      ptp: {
        log: {},
        links: { networks: ["0.0.0.0/0", "::/0"], forwarding: true },
        firewall: { masquerade: true },
        delegation: { plugins: ["*"] },
      },
    },
  },
  ...(["vlan", "ipvlan"] as const).map((plugin) => ({
    plugin,
    folder: `plugins/main/${plugin}`,
    component: plugin,
    grants: {
      ...ipam,
      [plugin]: {
        log: {},
        links: { parents: ["*"], podLinks: ["*"] },
        delegation: { plugins: ["*"] },
        sysctl: { keys: ["net/*/*/*/*"] },
      },
    },
  })),
  {
    plugin: "dummy",
    folder: "plugins/main/dummy",
    component: "dummy",
    grants: { ...ipam, dummy: { log: {}, links: {}, delegation: { plugins: ["*"] } } },
  },
  {
    plugin: "tap",
    folder: "plugins/main/tap",
    component: "tap",
    grants: { ...ipam, tap: { log: {}, links: { podLinks: ["*"] }, delegation: { plugins: ["*"] } } },
  },
  {
    plugin: "vrf",
    folder: "plugins/meta/vrf",
    component: "vrf",
    grants: { vrf: { log: {}, links: { podLinks: ["*"] } } },
  },
  {
    plugin: "bandwidth",
    folder: "plugins/meta/bandwidth",
    component: "bandwidth",
    grants: { bandwidth: { log: {}, shaping: {} } },
  },
  {
    plugin: "firewall",
    folder: "plugins/meta/firewall",
    component: "firewall",
    grants: { firewall: { log: {}, filter: { bridges: ["*"], adminChains: ["*"] } } },
  },
  { plugin: "dhcp", folder: "plugins/ipam/dhcp", component: "dhcp", grants: { dhcp: { log: {}, dhcp: {} } } },
  { plugin: "static", folder: "plugins/ipam/static", component: "static", grants: { static: { log: {} } } },
];

/** Runs a plugin's specifications, in order, and answers their outcomes. The daemon at this socket serves the calls. */
export async function runReferenceSuite(
  { plugin, folder, component, grants, isNodeApart }: ReferenceSuite,
  socket: string,
): Promise<readonly Specification[]> {
  const stage = openStage({ native: [], components: [] });
  try {
    const { cniPath, directory } = stage.plexus;
    for (const [name, file] of [
      [plugin, component],
      ["host-local", "ipam-host-local"],
      ["static", "static"],
    ] as const)
      copyFileSync(join(dist, "delegates", `${file}.wasm`), join(cniPath, `${name}.wasm`));
    copyFileSync(compiledPlugin("recorder"), join(cniPath, "recorder"));
    const programs = join(directory, "programs");
    mkdirSync(programs);
    for (const name of ["portmap", "server", "dhcp"])
      symlinkSync(join(builtDirectory(referencePluginsModule), name), join(programs, name));
    const ping = busybox();
    for (const name of ["ping", "ping6", "busybox"]) if (ping !== undefined) symlinkSync(ping, join(programs, name));
    symlinkSync(adapterFile("dnsmasq.sh"), join(programs, "dnsmasq"));
    for (const name of ["ptp", "host-local"]) symlinkSync(referencePlugin(name) ?? "", join(programs, name));
    const settings = {
      Shim: join(cniPath, "plexus"),
      CNIPath: cniPath,
      Recorder: join(cniPath, "recorder"),
      Netns: stage.pod().path,
      Node: isNodeApart === true ? stage.pod().path : "",
      Type: plugin,
      Socket: socket,
      // Emulation is some ten times slower than a node.
      Host: stage.host({ check: "all", wasm: { prefer: true, grants, limits: { timeMs: 60_000, admissionMs: 60_000 } } }),
    };
    writeFileSync(settingsFile, JSON.stringify(settings));
    return await runGinkgo({
      program: testProgram(referencePluginsModule, folder),
      cwd: join(builtDirectory(referencePluginsModule), "source", folder),
      report: join(directory, "report.json"),
      env: {
        PATH: `${programs}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:${goDirectory()}`,
      },
    });
  } finally {
    stage.dispose();
  }
}
