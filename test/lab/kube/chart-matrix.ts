// The chart in many combinations of its optional switches, rendered by few runs of helm: a parent chart has the chart once for each combination, under
// another alias.

import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { builtOnce } from "../compiled.ts";
import { helmBinary } from "./helm.ts";
import { chart, type Manifest, objectsOf, runHelm } from "./chart.ts";

/** Values of one switch: names with the values that they set, as `path: value`. */
type Switch = Readonly<Record<string, Readonly<Record<string, unknown>>>>;
/** The name of each switch's value. */
export type Combination = Readonly<Record<string, string>>;

const onOff = (path: string): Switch => ({ off: { [path]: false }, on: { [path]: true } });

/** Switches that give accounts rights which policies must bound. Each combination of their values is rendered. */
export const partSwitches: Readonly<Record<string, Switch>> = {
  networks: {
    off: {},
    on: { "networks.enabled": true },
    "without default": { "networks.enabled": true, "networks.createDefault": false },
  },
  pools: onOff("pools.enabled"),
  policies: onOff("policies.enabled"),
  services: onOff("services.enabled"),
  externalPorts: {
    off: {},
    "off, with Kuryr's values": { "externalPorts.kuryr.annotation": true, "externalPorts.kuryr.kuryrPorts": true },
    on: { "externalPorts.enabled": true },
    annotation: { "externalPorts.enabled": true, "externalPorts.kuryr.annotation": true },
    kuryrPorts: { "externalPorts.enabled": true, "externalPorts.kuryr.kuryrPorts": true },
    both: { "externalPorts.enabled": true, "externalPorts.kuryr.annotation": true, "externalPorts.kuryr.kuryrPorts": true },
  },
  definitionChecks: onOff("definitionChecks.enabled"),
  admissionPolicy: onOff("admissionPolicy.enabled"),
};

/** The other optional switches. Each pair of values of two of them is rendered. */
export const otherSwitches: Readonly<Record<string, Switch>> = {
  dynamicResources: {
    off: {},
    on: { "dynamicResources.enabled": true },
    namespaces: { "dynamicResources.enabled": true, "dynamicResources.namespaces": ["shop", "bank"] },
  },
  requireDefault: { off: {}, on: { "networks.requireDefault": true } },
  policyDefinition: { on: {}, off: { "policies.createDefinition": false } },
  hotPlug: { off: {}, on: { "config.hotPlug": true } },
  linkWatch: {
    off: {},
    on: { "linkWatch.enabled": true },
    repair: { "linkWatch.enabled": true, "linkWatch.repair": true, "config.hotPlug": true },
  },
  linkCounters: onOff("linkCounters.enabled"),
  probes: onOff("probes.enabled"),
  claims: {
    off: {},
    on: { "claims.enabled": true },
    devices: {
      "claims.enabled": true,
      "claims.devices": [{ name: "storage", match: { name: "eth1" }, shared: { attachments: 3 } }],
      "claims.use": "deny",
    },
    classes: { "claims.enabled": true, "claims.use": "warn", "claims.classes": ["storage"], "claims.cdi": true },
  },
  oneShot: { node: {}, off: { oneShot: "off" } },
  openshift: onOff("openshift.scc"),
  ready: onOff("ready.wait"),
  uninstall: {
    off: { "uninstall.wait": false },
    on: {},
    purge: { "uninstall.purgeState": true },
    "keep files": { "uninstall.removeFiles": false },
  },
  networkApi: {
    off: {},
    on: { "networkApi.enabled": true },
    directory: {
      "networkApi.enabled": true,
      "networkApi.directory": "/run/networks",
      "networkApi.feedNamespace": "nets",
    },
  },
  monitors: {
    off: {},
    pod: { "metrics.address": "node", "metrics.podMonitor.enabled": true },
    service: { "metrics.address": "node", "metrics.serviceMonitor.enabled": true },
  },
  alerts: onOff("metrics.alerts.enabled"),
  dashboard: onOff("metrics.dashboard.enabled"),
  definitionAdmission: {
    none: {},
    warn: { "definitionChecks.admission": "warn" },
    deny: { "definitionChecks.admission": "deny" },
  },
  definitionUse: { none: {}, warn: { "definitionUse.mode": "warn" }, deny: { "definitionUse.mode": "deny" } },
  ovs: { off: {}, on: { "externalPorts.ovs.socket": "/run/openvswitch/db.sock" } },
  secret: {
    off: {},
    on: { "externalPorts.secretName": "openstack", "externalPorts.authority": "-----BEGIN CERTIFICATE-----\nof two lines\n" },
  },
  networksDir: { off: {}, on: { "cni.networksDir": "/etc/cni/multus/net.d" } },
  components: {
    none: {},
    some: { components: [{ type: "c", reference: "r.example/c:1", signedBy: "team" }], componentsPullSecret: "r" },
  },
  apiServer: { service: {}, host: { "apiServer.host": "10.0.0.1" } },
  otlp: { off: {}, on: { "daemon.otlp": "http://c:4318", "controller.otlp": "http://c:4318" } },
};

/** The paths of the values that the switches set. */
export function switchedPaths(): ReadonlySet<string> {
  const values = Object.values({ ...partSwitches, ...otherSwitches }).flatMap((each) => Object.values(each));
  return new Set(values.flatMap((each) => Object.keys(each)));
}

/** All combinations of the parts; the other switches stand beside them so that each pair of their values occurs. */
export function combinations(): readonly Combination[] {
  const parts = Object.entries(partSwitches).reduce<readonly Combination[]>(
    (all, [name, values]) => all.flatMap((each) => Object.keys(values).map((value) => ({ ...each, [name]: value }))),
    [{}],
  );
  const missing = new Set(pairsOf(otherSwitches));
  const rows: Combination[] = [];
  for (let index = 0; index < parts.length || missing.size > 0; index++) {
    const others = nextRow(missing);
    for (const pair of pairsIn(others)) missing.delete(pair);
    rows.push({ ...parts[index % parts.length], ...others });
  }
  return rows;
}

/** The row that has many missing pairs: each switch takes the value with the most of them beside the values before it. */
function nextRow(missing: ReadonlySet<string>): Combination {
  const row: Record<string, string> = {};
  for (const [name, values] of Object.entries(otherSwitches)) {
    const gain = (value: string): number =>
      [...missing].filter((pair) => {
        const [first = "", second = ""] = pair.split("\n");
        return (
          [first, second].includes(`${name}=${value}`) &&
          Object.entries(row).every(([other, chosen]) => {
            const mate = first === `${name}=${value}` ? second : first;
            return !mate.startsWith(`${other}=`) || mate === `${other}=${chosen}`;
          })
        );
      }).length;
    row[name] = Object.keys(values).toSorted((a, b) => gain(b) - gain(a))[0] ?? "";
  }
  return row;
}

function pairsOf(switches: Readonly<Record<string, Switch>>): readonly string[] {
  const all = Object.entries(switches).flatMap(([name, values]) => Object.keys(values).map((value) => [name, value] as const));
  return all.flatMap(([name, value], index) =>
    all.slice(index + 1).flatMap(([other, its]) => (other === name ? [] : [`${name}=${value}\n${other}=${its}`])),
  );
}

function pairsIn(row: Combination): readonly string[] {
  const all = Object.entries(row).map(([name, value]) => `${name}=${value}`);
  return all.flatMap((each, index) => all.slice(index + 1).map((other) => `${each}\n${other}`));
}

/** Pairs of values of the other switches that no row has. */
export function missingPairs(rows: readonly Combination[]): readonly string[] {
  const had = new Set(
    rows.flatMap((row) => pairsIn(Object.fromEntries(Object.keys(otherSwitches).map((name) => [name, row[name] ?? ""])))),
  );
  return pairsOf(otherSwitches).filter((pair) => !had.has(pair));
}

/** Documents of a rendered matrix, each text once, and those of each alias by their indexes. */
interface Divided {
  readonly texts: readonly string[];
  readonly ofAlias: readonly (readonly number[])[];
}

/**
 * Renders each combination, with hooks: the objects of the kinds, by the combination's index. Throws the error of helm. The result is kept for the same
 * chart, values and release of helm, because each run of helm takes three seconds of CPU time.
 */
export function renderAll(rows: readonly Combination[], kinds: ReadonlySet<string>): readonly (readonly Manifest[])[] {
  const inputs = [basename(helmBinary() ?? ""), JSON.stringify([rows.map(valuesOf), [...kinds]]), ...chartTexts()];
  const kept = builtOnce("chart-matrix", inputs, (output) => {
    writeFileSync(output, JSON.stringify(divided(renderedText(rows), rows.length, kinds)));
  });
  const { texts, ofAlias } = JSON.parse(readFileSync(kept, "utf8")) as Divided;
  const objects = texts.map((text) => objectsOf(text));
  return ofAlias.map((indexes) => indexes.flatMap((index) => objects[index] ?? []));
}

/** The chart's files with their paths. */
function chartTexts(): readonly string[] {
  return readdirSync(chart, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
    .map((path) => `${path.slice(chart.length)}\n${readFileSync(path, "utf8")}`);
}

function renderedText(rows: readonly Combination[]): string {
  const directory = mkdtempSync(join(tmpdir(), "plexus-matrix-"));
  try {
    mkdirSync(join(directory, "charts"));
    cpSync(chart, join(directory, "charts", "plexus"), { recursive: true });
    const { version } = objectsOf(runHelm("show", "chart", chart).stdout)[0] as Manifest & { readonly version: string };
    const dependencies = rows.map((_, index) => ({ name: "plexus", version, alias: `c${index}` }));
    writeFileSync(
      join(directory, "Chart.yaml"),
      JSON.stringify({ apiVersion: "v2", name: "matrix", version: "0.0.0", dependencies }),
    );
    writeFileSync(
      join(directory, "values.yaml"),
      JSON.stringify(Object.fromEntries(rows.map((row, index) => [`c${index}`, valuesOf(row)]))),
    );
    const { status, stdout, stderr } = runHelm("template", "plexus", directory, "--namespace", "kube-system");
    if (status !== 0) throw new Error(stderr);
    return stdout;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The values of a combination. */
function valuesOf(row: Combination): object {
  const values: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row)) {
    for (const [path, set] of Object.entries({ ...partSwitches, ...otherSwitches }[name]?.[value] ?? {})) {
      const keys = path.split(".");
      let at = values;
      for (const key of keys.slice(0, -1)) at = (at[key] ??= {}) as Record<string, unknown>;
      at[keys.at(-1) ?? ""] = set;
    }
  }
  return values;
}

/** The documents of the kinds. Most of them are the same text in many combinations. */
function divided(text: string, count: number, kinds: ReadonlySet<string>): Divided {
  const indexes = new Map<string, number>();
  const ofAlias: number[][] = Array.from({ length: count }, () => []);
  for (const document of text.split(/^---\n/mu)) {
    const [, alias, content = ""] = /^# Source: matrix\/charts\/c(\d+)\/[^\n]*\n([^]*)$/u.exec(document) ?? [];
    if (alias === undefined || !kinds.has(/^kind: (\w+)$/mu.exec(content)?.[1] ?? "")) continue;
    const index = indexes.get(content) ?? indexes.size;
    indexes.set(content, index);
    ofAlias[Number(alias)]?.push(index);
  }
  return { texts: [...indexes.keys()], ofAlias };
}
