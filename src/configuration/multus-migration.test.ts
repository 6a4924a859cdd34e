import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { migrationComments } from "./migration-text.ts";
import { readMultusConfiguration } from "./multus-configuration.ts";
import { migrateFromMultus, type MultusMigration } from "./multus-migration.ts";

const schemaPath = new URL("../../deploy/helm/plexus/values.schema.json", import.meta.url);

function attempt(files: Readonly<Record<string, unknown>>): ReturnType<typeof migrateFromMultus> {
  const read = Object.entries(files).map(([source, file]) =>
    readMultusConfiguration(typeof file === "string" ? file : JSON.stringify(file), source),
  );
  const configurations = read.map((each) => {
    if (!each.ok) throw new Error(each.fault.msg);
    return each.value;
  });
  return migrateFromMultus(configurations);
}

function migrate(files: Readonly<Record<string, unknown>>): MultusMigration {
  const migration = attempt(files);
  if (!migration.ok) throw new Error(migration.fault.msg);
  checkAgainstSchema(migration.value.values);
  return migration.value;
}

/** Compares the values with the chart's schema, section by section, because the values are a part of all values. */
function checkAgainstSchema(values: Readonly<Record<string, unknown>>): void {
  const schema: { readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>> } = JSON.parse(
    readFileSync(schemaPath, "utf8"),
  );
  for (const [name, section] of Object.entries(values)) {
    const { required: _, ...partial } = schema.properties[name] ?? { not: {} };
    expect({ name, ...z.fromJSONSchema(partial).safeParse(section) }).toMatchObject({ success: true });
  }
}

const keysOf = ({ without }: MultusMigration): readonly string[] => without.map(({ key }) => key);

const always = { name: "multus-cni-network", profile: "multus", legacyCniArgs: true };
const configName = "00-multus-plexus.conflist";

/** deployments/multus-daemonset-thick.yml of Multus 4.3. */
const thickDaemon = {
  chrootDir: "/hostroot",
  cniVersion: "0.3.1",
  logLevel: "verbose",
  logToStderr: true,
  cniConfigDir: "/host/etc/cni/net.d",
  multusAutoconfigDir: "/host/etc/cni/net.d",
  multusConfigFile: "auto",
  socketDir: "/host/run/multus/",
};
/** The configuration that thick Multus' daemon writes for the runtime. */
const thickShim = {
  capabilities: { bandwidth: true, portMappings: true },
  cniVersion: "0.3.1",
  logLevel: "verbose",
  logToStderr: true,
  name: "multus-cni-network",
  clusterNetwork: "/host/etc/cni/net.d/10-flannel.conflist",
  type: "multus-shim",
};
/** The list that the entry point of thin Multus 4 writes for a default network of version 1.0.0. */
const thinList = {
  cniVersion: "1.0.0",
  name: "multus-cni-network",
  plugins: [
    {
      type: "multus",
      capabilities: { portMappings: true },
      namespaceIsolation: true,
      globalNamespaces: "default,shared",
      logLevel: "debug",
      logFile: "/var/log/multus.log",
      cniConf: "/host/etc/cni/multus/net.d",
      kubeconfig: "/etc/cni/net.d/multus.d/multus.kubeconfig",
      delegates: [{ cniVersion: "1.0.0", name: "cbr0", plugins: [{ type: "flannel" }, { type: "portmap" }] }],
    },
  ],
};
/** The example of Multus 3's configuration reference. */
const thin3 = {
  cniVersion: "0.3.1",
  name: "node-cni-network",
  type: "multus",
  kubeconfig: "/etc/kubernetes/node-kubeconfig.yaml",
  confDir: "/etc/cni/multus/net.d",
  cniDir: "/var/lib/cni/multus",
  binDir: "/opt/cni/bin",
  logFile: "/var/log/multus.log",
  logLevel: "debug",
  logOptions: { maxAge: 5, maxSize: 100, maxBackups: 5, compress: true },
  capabilities: { portMappings: true },
  readinessindicatorfile: "",
  namespaceIsolation: false,
  clusterNetwork: "/etc/cni/net.d/99-flannel.conf",
  defaultNetworks: ["sidecarCRD", "exampleNetwork"],
  systemNamespaces: ["kube-system", "admin"],
  multusNamespace: "kube-system",
  allowTryDeleteOnErr: false,
};

describe("a migration from Multus", () => {
  test("4.3 thick: the daemon's configuration and what it writes for the runtime", () => {
    const migration = migrate({ "daemon-config.json": thickDaemon, "00-multus.conf": thickShim });
    expect(migration.values).toEqual({
      cni: { configName },
      config: {
        ...always,
        cniVersion: "0.3.1",
        capabilities: thickShim.capabilities,
        logLevel: "verbose",
        logToStderr: true,
      },
    });
    expect(keysOf(migration)).toEqual(["socketDir"]);
  });

  test("4.3 thick: the daemon's keys win, except for the network's name", () => {
    const { values } = migrate({
      "daemon-config.json": { ...thickDaemon, name: "ignored", logLevel: "error" },
      "00-multus.conf": { ...thickShim, name: "cbr0", logLevel: "debug" },
    });
    expect(values["config"]).toMatchObject({ name: "cbr0", logLevel: "error" });
  });

  test("4.3 thick: settings of the daemon", () => {
    const migration = migrate({
      "daemon-config.json": {
        ...thickDaemon,
        metricsPort: 9091,
        enablePprof: true,
        connectionLimit: 100,
        multusMasterCNI: "10-calico.conflist",
        forceCNIVersion: true,
        overrideNetworkName: true,
        perNodeCertificate: { enabled: true, bootstrapKubeconfig: "/var/lib/kubelet/kubeconfig", certDir: "/etc/cni/certs" },
        readinessindicatorfile: "/host/run/multus/cni/net.d/10-ovn-kubernetes.conf",
        cniDir: "/var/lib/cni/multus-state",
        binDir: "/usr/lib/networks",
        confDir: "/host/etc/cni/net.d",
        auxiliaryCNIChainName: "vendor-cni-chain",
      },
    });
    expect(migration.values).toEqual({
      cni: { configName, clusterNetwork: "10-calico.conflist" },
      config: {
        ...always,
        cniVersion: "0.3.1",
        logLevel: "verbose",
        logToStderr: true,
        multusCniDir: "/var/lib/cni/multus-state",
        binDir: "/usr/lib/networks",
        confDir: "/etc/cni/net.d",
        auxiliaryCNIChainName: "vendor-cni-chain",
      },
      daemon: { calls: 100 },
      metrics: { address: "node", port: 9091 },
    });
    expect(keysOf(migration).toSorted()).toEqual(
      [
        "enablePprof",
        "forceCNIVersion",
        "overrideNetworkName",
        "perNodeCertificate",
        "readinessindicatorfile",
        "socketDir",
      ].toSorted(),
    );
  });

  test("4.0 thin: the generated list", () => {
    const migration = migrate({ "00-multus.conflist": thinList });
    expect(migration.values).toEqual({
      cni: { configName },
      config: {
        ...always,
        cniVersion: "1.0.0",
        capabilities: { portMappings: true },
        namespaceIsolation: true,
        globalNamespaces: "default,shared",
        logLevel: "debug",
      },
    });
    expect(keysOf(migration)).toEqual(["logFile", "cniConf", "kubeconfig", "delegates"]);
    expect(migration.without.at(-1)?.reason).toContain('"cbr0"');
  });

  test("3.x thin: the documented configuration, its default network pinned", () => {
    const migration = migrate({ "00-multus.conf": thin3 });
    expect(migration.values).toEqual({
      cni: { configName, clusterNetwork: "99-flannel.conf", networksDir: "/etc/cni/multus/net.d" },
      config: {
        ...always,
        name: "node-cni-network",
        cniVersion: "0.3.1",
        logLevel: "debug",
        capabilities: { portMappings: true },
        namespaceIsolation: false,
        defaultNetworks: ["sidecarCRD", "exampleNetwork"],
        systemNamespaces: ["kube-system", "admin"],
        multusNamespace: "kube-system",
      },
    });
    expect(keysOf(migration)).toEqual(["kubeconfig", "logFile", "logOptions"]);
  });

  test("names networks that Plexus' pod cannot read, unknown keys, and all delegates", () => {
    const migration = migrate({
      "00-multus.conf": {
        type: "multus",
        delegates: [{ type: "flannel", name: "a" }, { type: "macvlan" }],
        defaultNetworks: ["/etc/cni/multus/x.conf", "b"],
        noSuchKey: 1,
      },
    });
    expect(keysOf(migration)).toEqual(["delegates", "defaultNetworks", "noSuchKey"]);
    expect(migration.values).toMatchObject({ config: { defaultNetworks: ["b"] } });
    expect(migration.without[0]?.reason).toContain("each further one");
  });

  test("reads keys in any case, as Go does, and takes empty values as none", () => {
    const { values, without } = migrate({ f: { type: "multus", LogLevel: "", GLOBALNAMESPACES: "", clusternetwork: "" } });
    expect(values).toEqual({ cni: { configName }, config: always });
    expect(without).toEqual([]);
  });

  test("refuses a value that Plexus cannot have, and a configuration without Multus", () => {
    expect(attempt({ f: { type: "multus", namespaceIsolation: "yes" } })).toMatchObject({
      ok: false,
      fault: { kind: "CONFIG_INVALID", msg: expect.stringContaining("namespaceIsolation") },
    });
    expect(readMultusConfiguration('{"plugins":[{"type":"flannel"}]}', "f").ok).toBe(false);
    expect(readMultusConfiguration('{"type":"flannel"}', "f").ok).toBe(false);
    expect(migrateFromMultus([]).ok).toBe(false);
  });

  test("keeps comments on their lines", () => {
    const { without } = migrate({ "a\nb: c": { type: "multus", "x\ny: z": 1 } });
    const lines = migrationComments({ without }).trimEnd().split("\n");
    expect(lines.every((line) => line.startsWith("#"))).toBe(true);
  });
});
