// The reference plugins' own specifications, which run against the components through an installed Plexus. `node test/lab/peers/build.ts` builds
// them from their Go module: the module's tests are unchanged, and adapter.go serves the verbs that the tests call.

import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { once } from "node:events";
import { join } from "node:path";

import type { DelegateGrants } from "../../../src/configuration/wasm-configuration.ts";
import { compiledPlugin, root } from "../compiled.ts";
import { testCache } from "../debian-packages.ts";
import { dist } from "../plexus.ts";
import { referencePlugin, type Requirement } from "../requires.ts";
import { openStage } from "../stage.ts";

/** The release whose specifications run. Go checks the module against its checksum database. */
export const suiteRelease = "v1.9.1";
const module = "github.com/containernetworking/plugins";
/** adapter.go reads the file. The tests' mount namespace has a /run of its own. */
const settingsFile = "/run/plexus-peer.json";
const adapters: Readonly<Record<string, string>> = {
  "adapter.go": "plexus_adapter.go",
  "adapter_test.go": "plexus_adapter_test.go",
};
const adapterFile = (name: string): string => join(root, "test/lab/peers", name);

/** One plugin's specifications, and the component that serves them. */
export interface ReferenceSuite {
  /** The plugin's name, which is also its package's. */
  readonly plugin: string;
  /** The package's folder within the module. */
  readonly folder: string;
  readonly component: string;
  /** Grants of every capability that the specifications use, by component. */
  readonly grants: Readonly<Record<string, DelegateGrants>>;
}

const temporary = ["/tmp/"];
const ipam: Readonly<Record<string, DelegateGrants>> = {
  "host-local": { log: {}, leases: { directories: temporary }, resolver: {} },
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
    plugin: "macvlan",
    folder: "plugins/main/macvlan",
    component: "macvlan",
    grants: {
      ...ipam,
      macvlan: {
        log: {},
        links: { parents: ["*"] },
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
  { plugin: "loopback", folder: "plugins/main/loopback", component: "loopback", grants: { loopback: { log: {}, links: {} } } },
];

/** A specification's outcome. */
export interface Specification {
  /** The titles from the outermost group to the specification. */
  readonly title: string;
  readonly state: "passed" | "failed" | "skipped";
  /** The failed assertion's text. */
  readonly message?: string;
}

/** The cache directory of the built suites. The adapters' content is part of its name. */
function suiteDirectory(): string {
  const digest = createHash("sha256");
  for (const name of Object.keys(adapters)) digest.update(readFileSync(adapterFile(name)));
  return join(testCache, `reference-suites-${suiteRelease}-${process.arch}-${digest.digest("hex").slice(0, 16)}`);
}

const suiteFile = (plugin: string): string => join(suiteDirectory(), `${plugin}.test`);

/** Requires the built suites. */
export const referenceSuitesBuilt: Requirement = () =>
  referenceSuites.every(({ plugin }) => existsSync(suiteFile(plugin)))
    ? undefined
    : `no specifications of the reference plugins ${suiteRelease}: with Go on PATH, run test/lab/peers/build.ts`;

/** Builds the suites. Answers the reason of a failure, or undefined after a success. */
export function buildReferenceSuites(): string | undefined {
  const fetched = go(root, ["mod", "download", "-json", `${module}@${suiteRelease}`]);
  if (!fetched.ok) return fetched.text;
  const { Dir: source } = JSON.parse(fetched.text) as { readonly Dir: string };
  mkdirSync(testCache, { recursive: true });
  const work = mkdtempSync(join(testCache, "building-"));
  try {
    const copy = join(work, "source");
    cpSync(source, copy, { recursive: true });
    spawnSync("chmod", ["-R", "u+w", copy]);
    for (const { folder } of referenceSuites) replaceVerbs(join(copy, folder));
    const out = join(work, "out");
    mkdirSync(out);
    const packages = referenceSuites.map(({ folder }) => `./${folder}`);
    const built = go(copy, ["test", "-c", "-o", `${out}/`, ...packages]);
    if (!built.ok) return built.text;
    // The specifications of portmap call the plugin and an echo server as programs.
    for (const target of ["./plugins/meta/portmap", "./pkg/testutils/echo/server"]) {
      const program = go(copy, ["build", "-o", `${out}/`, target]);
      if (!program.ok) return program.text;
    }
    renameSync(join(work, "source"), join(out, "source"));
    rmSync(suiteDirectory(), { recursive: true, force: true });
    renameSync(out, suiteDirectory());
    return undefined;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Renames the plugin's functions of the verbs in a package's folder, and adds the adapter's. */
function replaceVerbs(folder: string): void {
  for (const name of readdirSync(folder).filter((each) => each.endsWith(".go") && !each.endsWith("_test.go"))) {
    const text = readFileSync(join(folder, name), "utf8");
    writeFileSync(join(folder, name), text.replaceAll(/^func cmd(Add|Del|Check|Status)\(/gm, "func reference$1("));
  }
  for (const [name, target] of Object.entries(adapters)) copyFileSync(adapterFile(name), join(folder, target));
}

function go(cwd: string, args: readonly string[]): { readonly ok: boolean; readonly text: string } {
  const env = { ...process.env, GOTOOLCHAIN: "local", GOWORK: "off", CGO_ENABLED: "0", GOFLAGS: "-mod=mod" };
  const ended = spawnSync("nice", ["go", ...args], { cwd, env, encoding: "utf8", maxBuffer: 64 << 20, timeout: 900_000 });
  if (ended.status === 0) return { ok: true, text: ended.stdout };
  return { ok: false, text: `go ${args[0] ?? ""}: ${(ended.stderr || ended.stdout || String(ended.error)).trim().slice(-400)}` };
}

function goDirectory(): string {
  const found = spawnSync("sh", ["-c", 'dirname "$(command -v go)"'], { encoding: "utf8" });
  return found.stdout.trim();
}

/** Runs a plugin's specifications, in order, and answers their outcomes. */
export async function runReferenceSuite({
  plugin,
  folder,
  component,
  grants,
}: ReferenceSuite): Promise<readonly Specification[]> {
  const stage = openStage({ native: [], components: [] });
  try {
    const { cniPath, directory } = stage.plexus;
    for (const [name, file] of [
      [plugin, component],
      ["host-local", "ipam-host-local"],
    ] as const)
      copyFileSync(join(dist, "delegates", `${file}.wasm`), join(cniPath, `${name}.wasm`));
    copyFileSync(compiledPlugin("recorder"), join(cniPath, "recorder"));
    const programs = join(directory, "programs");
    mkdirSync(programs);
    for (const name of ["portmap", "server"]) symlinkSync(join(suiteDirectory(), name), join(programs, name));
    for (const name of ["ptp", "host-local"]) symlinkSync(referencePlugin(name) ?? "", join(programs, name));
    const settings = {
      Shim: join(cniPath, "plexus"),
      CNIPath: cniPath,
      Recorder: join(cniPath, "recorder"),
      Netns: stage.pod().path,
      Type: plugin,
      Socket: process.env["PLEXUS_TEST_SOCKET"] ?? "",
      Host: stage.host({ check: "all", wasm: { prefer: true, grants } }),
    };
    writeFileSync(settingsFile, JSON.stringify(settings));
    const report = join(directory, "report.json");
    const child = spawn(suiteFile(plugin), [`--ginkgo.json-report=${report}`, "--ginkgo.no-color", "--ginkgo.silence-skips"], {
      cwd: join(suiteDirectory(), "source", folder),
      stdio: ["ignore", "ignore", "inherit"],
      env: {
        PATH: `${programs}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:${goDirectory()}`,
        // Two of the suites build a program of the module, without a network.
        HOME: process.env["HOME"],
        GOPROXY: "off",
        GOFLAGS: "-mod=mod",
        GOTOOLCHAIN: "local",
        CGO_ENABLED: "0",
      },
    });
    await once(child, "exit");
    return specifications(JSON.parse(readFileSync(report, "utf8")));
  } finally {
    stage.dispose();
  }
}

interface GinkgoReport {
  readonly SpecReports: readonly {
    readonly LeafNodeType: string;
    readonly LeafNodeText: string;
    readonly ContainerHierarchyTexts: readonly string[] | null;
    readonly State: string;
    readonly Failure?: { readonly Message: string };
  }[];
}

function specifications(reports: readonly GinkgoReport[]): readonly Specification[] {
  return reports
    .flatMap(({ SpecReports }) => SpecReports)
    .filter(({ LeafNodeType }) => LeafNodeType === "It")
    .map(({ ContainerHierarchyTexts, LeafNodeText, State, Failure }) => ({
      title: [...(ContainerHierarchyTexts ?? []), LeafNodeText].join(" "),
      state: State === "passed" ? "passed" : State === "skipped" || State === "pending" ? "skipped" : "failed",
      ...(Failure === undefined ? {} : { message: Failure.Message }),
    }));
}
