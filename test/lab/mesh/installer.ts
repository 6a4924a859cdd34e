// Plays the installers of Istio's and Linkerd's CNI plugins in a directory of network configurations. The code is our own; the behaviour is that of
// - Istio: cni/pkg/install/cniconfig.go (getDefaultCNINetwork, insertCNIConfig) and cni/pkg/install/install.go (checkInstall, Run, Cleanup)
//   of istio/istio;
// - Linkerd: cni-plugin/deployment/scripts/install-cni.sh (install_cni_conf, sync, monitor_cni_config, cleanup) of linkerd/linkerd2-proxy-init.
//
//   node installer.ts istio|linkerd CONFIG_DIR BIN_DIR [once]
//
// Prints a line for each file that it writes. `once`: ends after the first installation, as an init container does. SIGTERM removes the step.

import { createHash } from "node:crypto";
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";

const [kind = "", configDir = "", binDir = "", once] = process.argv.slice(2);
const type = `${kind}-cni`;
const step = {
  type,
  log_level: "info",
  kubernetes: { kubeconfig: `/etc/cni/net.d/ZZZ-${type}-kubeconfig`, exclude_namespaces: ["kube-system"] },
};

interface List {
  readonly name?: string;
  readonly type?: string;
  readonly plugins?: readonly { readonly type?: string }[];
}

const configurations = (): readonly string[] =>
  readdirSync(configDir)
    .filter((name) => /\.conf(list)?$/.test(name))
    .toSorted()
    .map((name) => join(configDir, name));

function readList(path: string): List | undefined {
  try {
    const list: List = JSON.parse(readFileSync(path, "utf8"));
    return list;
  } catch {
    return undefined;
  }
}

/** Writes the whole list in this program's own form, by a rename: Go sorts the keys of a map, jq keeps their order. */
function write(path: string, list: List): string {
  const entries = Object.entries(list);
  const sorted = kind === "istio" ? entries.toSorted(([a], [b]) => (a < b ? -1 : 1)) : entries;
  const text = `${JSON.stringify(Object.fromEntries(sorted), undefined, 2)}\n`;
  const temporary = `${path}.tmp-${type}`;
  writeFileSync(temporary, text, { mode: 0o644 });
  renameSync(temporary, path);
  process.stdout.write(`wrote ${path}\n`);
  return text;
}

const others = (list: List): readonly { readonly type?: string }[] =>
  (list.plugins ?? []).filter((plugin) => plugin.type !== type);
const hasStep = (path: string): boolean => readList(path)?.plugins?.some((plugin) => plugin.type === type) === true;
const insert = (path: string): string | undefined => {
  const list = readList(path);
  return list?.plugins === undefined ? undefined : write(path, { ...list, plugins: [...others(list), step] });
};

/** Istio: the first valid file, again whenever it has lost the step or another file comes first. */
function istio(): void {
  let installed: string | undefined;
  const check = (): void => {
    const first = configurations().find((path) => readList(path)?.plugins !== undefined);
    if (first === undefined || (first === installed && hasStep(first))) return;
    insert(first);
    installed = first;
  };
  check();
  if (once !== undefined) return;
  watch(configDir, check);
  process.once("SIGTERM", () => cleanUp(installed === undefined ? [] : [installed]));
}

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Linkerd: every file, again whenever its digest is not that of the last installation. */
function linkerd(): void {
  const digests = new Map<string, string>();
  const sync = (path: string): void => {
    if (!existsSync(path) || digests.get(path) === digest(readFileSync(path, "utf8"))) return;
    const text = insert(path);
    if (text !== undefined) digests.set(path, digest(text));
  };
  configurations().forEach(sync);
  if (once !== undefined) return;
  watch(configDir, (_, name) => {
    if (name !== null && /\.conf(list)?$/.test(name)) sync(join(configDir, name));
  });
  process.once("SIGTERM", () => cleanUp(configurations().filter(hasStep)));
}

/** The step first, then the binary, as both installers do. */
function cleanUp(paths: readonly string[]): void {
  for (const path of paths) {
    const list = readList(path);
    if (list?.plugins !== undefined) write(path, { ...list, plugins: others(list) });
  }
  rmSync(join(binDir, type), { force: true });
  process.exit(0);
}

// Both copy the binary before they write a configuration. A test that watches its calls has put a program of its own there.
if (!existsSync(join(binDir, type))) {
  writeFileSync(join(binDir, type), "#!/bin/sh\nexec cat\n");
  chmodSync(join(binDir, type), 0o755);
}
if (kind === "istio") istio();
else linkerd();
