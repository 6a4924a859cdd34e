// The chart as helm renders it: derived files, refused values, privileges with their reasons, distributions.

import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { cacheDirectory } from "../../host/node/install/code-cache-names.ts";
import { readHostConfiguration } from "../../src/configuration/read-host-configuration.ts";
import { defaultUids } from "../../src/configuration/keys/sandbox-uids.ts";
import { chartSchemaPath, chartValuesSchema } from "../../scripts/chart-values.ts";
import { definitionSource, derived, renderManifest } from "../../scripts/manifests.ts";
import { root } from "../lab/compiled.ts";
import { kubectlBinary, kubePrograms } from "../lab/kube/binaries.ts";
import { helm, helmBinary } from "../lab/kube/helm.ts";
import { missing } from "../lab/requires.ts";
import {
  chart,
  type Container,
  containerOf,
  type Manifest,
  objectsOf,
  type PodSpec,
  podOf,
  render,
  runHelm,
  theOnly,
} from "../lab/kube/chart.ts";

/** The parts of pods, monitors and Services by which Prometheus finds a program. */
interface PodTemplate {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly containers: readonly { readonly name: string; readonly ports?: readonly { readonly name: string }[] }[];
  };
}
interface MonitorSpec {
  readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly podMetricsEndpoints?: readonly { readonly port: string }[];
  readonly endpoints?: readonly { readonly port: string }[];
}
interface ServiceSpec {
  readonly selector: Readonly<Record<string, string>>;
  readonly ports: readonly { readonly name: string; readonly port: number; readonly targetPort: string }[];
}

const text = (path: string): string => readFileSync(path, "utf8");
const identity = ({
  kind,
  metadata: { name, namespace = "" },
}: {
  kind: string;
  metadata: { name: string; namespace?: string };
}): string => `${kind} ${namespace}/${name}`;

const sorted = (yaml: string): readonly unknown[] => objectsOf(yaml).toSorted((a, b) => identity(a).localeCompare(identity(b)));

/** The annotation of the DaemonSet's pod by which another configuration or list of components makes other pods. */
const configurationDigest = (rendered: readonly object[]): string | undefined =>
  /"plexus.dev\/checksum-configuration":"([0-9a-f]{64})"/u.exec(JSON.stringify(rendered))?.[1];

/** The annotation of the controller's pods by which other providers make other pods. */
const portsDigest = (rendered: readonly object[]): string | undefined =>
  /"plexus.dev\/checksum-external-ports":"([0-9a-f]{64})"/u.exec(JSON.stringify(rendered))?.[1];

/** The ConfigMaps that a workload's pods mount although a change of them makes no other pods: the program reads the files again, in the time given. */
const readAgain: Readonly<Record<string, string>> = {
  "plexus-controller plexus": "the checks of definitions, which hold up no pod, read plexus.json every 2 s",
};

/** The pod templates of the chart's long-running workloads, with the ConfigMaps of the chart that each mounts. */
function mountingWorkloads(objects: readonly Manifest[]): readonly { name: string; maps: readonly string[]; template: string }[] {
  return objects.flatMap((object) => {
    if (object.kind !== "DaemonSet" && object.kind !== "Deployment") return [];
    const { template } = object["spec"] as { readonly template: object };
    const podText = JSON.stringify(template);
    const rendered = objects.filter(({ kind }) => kind === "ConfigMap").map(({ metadata }) => metadata.name);
    return [
      {
        name: object.metadata.name,
        maps: rendered.filter((map) => podText.includes(`"configMap":{"name":"${map}"`)),
        template: podText,
      },
    ];
  });
}

/** The data of a ConfigMap as text. */
const dataOf = (objects: readonly Manifest[], name: string): string =>
  JSON.stringify(objects.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === name)?.["data"]);

/** The names of the ConfigMaps whose data differ. */
function changedMaps(before: readonly Manifest[], after: readonly Manifest[]): readonly string[] {
  const names = after.filter(({ kind }) => kind === "ConfigMap").map(({ metadata }) => metadata.name);
  return names.filter((name) => dataOf(before, name) !== dataOf(after, name));
}

/** The chart with one provider of external ports. */
const withProvider = (name: string, authority: string): readonly Manifest[] =>
  render("--set-json", `externalPorts=${JSON.stringify({ enabled: true, providers: [{ name }], authority })}`);

/** The values for monitors of one kind. */
const monitoring = (kind: string): readonly string[] => ["--set", `metrics.address=node,metrics.${kind}.enabled=true`];

/** The programs whose pods have all these labels and a port of this name. */
const programsWith = (objects: readonly Manifest[], labels: object, port: unknown): readonly string[] =>
  objects.flatMap((object) => {
    if (object.kind !== "DaemonSet" && object.kind !== "Deployment") return [];
    const { template } = object["spec"] as { readonly template: PodTemplate };
    const ports = template.spec.containers.flatMap(({ name, ports: all = [] }) =>
      all.flatMap((each) => (each.name === port ? [name] : [])),
    );
    return Object.entries(labels).every(([key, value]) => template.metadata.labels[key] === value) ? ports : [];
  });

/** The PodMonitors with the programs that they select. */
const selectedPods = (...args: readonly string[]) => {
  const objects = render(...monitoring("podMonitor"), ...args);
  return objects
    .filter(({ kind }) => kind === "PodMonitor")
    .map(({ metadata: { name }, ...rest }) => {
      const { selector, podMetricsEndpoints } = rest["spec"] as MonitorSpec;
      return [name, programsWith(objects, selector.matchLabels, podMetricsEndpoints?.[0]?.port)];
    });
};

/** The groups of alerts. */
const alertGroups = (...args: readonly string[]): readonly string[] => {
  const { spec } = theOnly(render("--set", "metrics.alerts.enabled=true", ...args), "PrometheusRule") as Manifest & {
    readonly spec: { readonly groups: readonly { readonly name: string; readonly rules: readonly object[] }[] };
  };
  return spec.groups.flatMap(({ name, rules }) => (rules.length > 0 ? [name] : []));
};

/** The policies of the verb use as one text. */
const usePolicies = (objects: readonly Manifest[]): string =>
  JSON.stringify(objects.filter(({ metadata: { name } }) => name.startsWith("plexus-definition-use")));

/** The pod of the DaemonSet that retires Plexus. */
const hookOf = (...args: readonly string[]): PodSpec => {
  const { stdout } = runHelm("template", "plexus", chart, "--show-only", "templates/uninstall.yaml", ...args);
  return podOf(objectsOf(stdout));
};
/** The mounts of each container. */
const mountsOf = (pod: PodSpec): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(
    [...pod.initContainers, ...pod.containers].map(({ name, volumeMounts }) => [
      name,
      volumeMounts.map(({ mountPath, readOnly }) => `${mountPath}${readOnly === true ? " ro" : ""}`),
    ]),
  );

const plexusdOf = (...args: readonly string[]): Container => containerOf(podOf(render(...args)), "plexusd");

/** The options of plexusd for the CRI Network API. */
const networkOptions = ({ args = [] }: Container): readonly string[] => args.filter((arg) => /^--(?:network|state)-/u.test(arg));

/** The chart with claims, as text. */
const textsWithClaims = (...more: readonly string[]): string =>
  JSON.stringify(render("--set", ["claims.enabled=true", ...more].join(",")));

/** The roles and bindings for resource claims, each with its rules as text. */
function claimRoles(...args: readonly string[]): readonly string[] {
  const ours = render(...args).filter(({ metadata }) => /resource-(?:claims|slices)$/.test(metadata.name));
  return ours.map(({ kind, metadata: { namespace = "", name }, rules }) =>
    [kind, namespace, name, JSON.stringify(rules) ?? ""].filter((each) => each !== "").join(" "),
  );
}

function ruleText(resource: string, verb: string): string {
  return JSON.stringify([{ apiGroups: ["resource.k8s.io"], resources: [resource], verbs: [verb] }]);
}

/** Members of Kubernetes objects that are texts, and maps and lists of texts. */
const textMembers = new Set(
  "name namespace serviceAccountName secretName priorityClassName interval policyName value image path mountPath type key".split(
    " ",
  ),
);
const textLists = new Set("labels annotations matchLabels nodeSelector resourceNames args command data".split(" "));

/** The places where a text is expected and another value stands. */
function notTexts(value: unknown, path: readonly unknown[]): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((each: unknown, index) => notTexts(each, [...path, index]));
  if (typeof value === "object" && value !== null)
    return Object.entries(value).flatMap(([key, each]: [string, unknown]) => notTexts(each, [...path, key]));
  const isTextPlace = textMembers.has(String(path.at(-1))) || textLists.has(String(path.at(-2)));
  return isTextPlace && typeof value !== "string" ? [`${path.join(".")}: ${String(value)}`] : [];
}

describe("files that are derived from the chart", () => {
  test("values.schema.json is current (npm run docs)", () => {
    expect(text(chartSchemaPath)).toBe(chartValuesSchema());
  });

  test("the chart's definition of NetworkAttachmentDefinitions is deploy/crd.yaml (npm run manifests)", () => {
    expect(text(derived.definition)).toBe(text(definitionSource));
  });

  test("the chart has Plexus' version", () => {
    const { version }: { version: string } = JSON.parse(text(join(root, "package.json")));
    expect(text(join(chart, "Chart.yaml"))).toContain(`\nversion: ${version}\nappVersion: ${version}\n`);
  });
});

describe.skipIf(missing("kustomize", kubePrograms("kubectl")))("kustomize", () => {
  test("takes deploy/ and gives the objects of deploy/plexus.yaml", () => {
    const built = spawnSync(kubectlBinary() ?? "", ["kustomize", join(root, "deploy")], { encoding: "utf8" });
    expect(built.stderr).toBe("");
    expect(sorted(built.stdout)).toEqual(sorted(text(derived.manifest)));
  });
});

describe.skipIf(missing("the chart", helm))("the chart", () => {
  test("deploy/plexus.yaml is the rendered chart (npm run manifests), without hooks", () => {
    expect(text(derived.manifest)).toBe(renderManifest(helmBinary() ?? ""));
    expect(text(derived.manifest)).not.toContain("helm.sh/hook");
  });

  test("helm lint finds nothing", () => {
    const { status, stdout } = runHelm("lint", "--strict", chart);
    expect({ status, stdout }).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("1 chart(s) linted, 0 chart(s) failed"),
    });
    expect(stdout).not.toMatch(/WARNING|ERROR/u);
  });

  describe("refuses a mistake in the values, and names the valid ones", () => {
    test.each([
      ["imgae.tag=1", "imgae", ["image", "oneShot", "metrics"]],
      ["cni.bindir=/x", "bindir", ["binDir", "confDir"]],
      ["oneShot=never", "oneShot", ["'node'", "'off'"]],
      ["metrics.address=0.0.0.0", "metrics/address", ["'127.0.0.1'", "'node'"]],
      ["daemon.isolation=none", "daemon/isolation", ["'process'", "'strict'"]],
      ["wasm.limts.timeMs=5", "limts", ["limits", "grants"]],
      ["wasm.limits.timeMs=fast", "wasm/limits/timeMs", ["integer"]],
      ["config.systemNamespace=x", "systemNamespace", ["systemNamespaces"]],
      ["definitions.rulez=x", "rulez", ["rules", "trusted"]],
      ["image.digest=latest", "image/digest", ["sha256"]],
      ["cni.binDir=opt", "cni/binDir", ["pattern"]],
      ["cni.foreignSteps=drop", "cni/foreignSteps", ["'keep'", "'strip'"]],
      ["externalPorts.ovs.socket=db.sock", "externalPorts/ovs/socket", ["pattern"]],
      ["networkApi.directory=run", "networkApi/directory", ["pattern"]],
      [`networkApi.directory=/${"a".repeat(94)}`, "networkApi/directory", ["maxLength"]],
      ["networkApi.socket=/x", "socket", ["directory", "feedNamespace"]],
      ["cni.binDir=/opt/a\\,readOnly", "cni/binDir", ["pattern"]],
      ["apiServer.host=https://10.0.0.1", "apiServer/host", ["pattern"]],
    ])("%s", (set, mistake, valid) => {
      const { status, stderr } = runHelm("template", "plexus", chart, "--set", set);
      expect(status).toBe(1);
      for (const part of [mistake, ...valid]) expect(stderr).toContain(part);
    });

    test("a monitor for Prometheus without a reachable address", () => {
      const { status, stderr } = runHelm("template", "plexus", chart, "--set", "metrics.podMonitor.enabled=true");
      expect({ status, stderr }).toMatchObject({ status: 1, stderr: expect.stringContaining("set metrics.address=node") });
    });

    test.each([
      ["networks.enabled=true,config.podNetworks=false", "config.podNetworks false"],
      ["services.enabled=true,config.services=false", "config.services false"],
      ["dynamicResources.enabled=true,config.kubernetes.resourceClaims=false", "config.kubernetes.resourceClaims false"],
      ["uninstall.purgeState=true,config.cniDir=/var/lib/cni", "leases of other plugins"],
      ["uninstall.purgeState=true,config.cniDir=/var/lib", "leases of other plugins"],
      ["uninstall.purgeState=true,config.cniDir=/var/lib/", "leases of other plugins"],
      ["uninstall.purgeState=true,config.cniDir=/var/lib/cni/", "leases of other plugins"],
      ["uninstall.purgeState=true,config.cniDir=//var/lib/./cni", "leases of other plugins"],
      ["uninstall.purgeState=true,config.cniDir=/var/lib/cni/plexus/..", "leases of other plugins"],
      ["uninstall.purgeState=true,config.cniDir=/", "leases of other plugins"],
    ])("values that contradict each other: %s", (set, reason) => {
      const { status, stderr } = runHelm("template", "plexus", chart, "--set", set);
      expect([status, stderr.includes(reason)]).toEqual([1, true]);
    });

    test("but not the values of a chart that includes this one", () => {
      expect(runHelm("template", "plexus", chart, "--set", "global.region=x").status).toBe(0);
    });
  });

  test("a text stays a text, also where release, namespace and values look like numbers", () => {
    const on = ["networks", "pools", "policies", "services", "claims", "externalPorts", "dynamicResources", "definitionChecks"];
    const values = {
      ...Object.fromEntries(on.map((each) => [each, { enabled: true }])),
      dynamicResources: { enabled: true, namespaces: ["1234"] },
      externalPorts: { enabled: true, secretName: "5", providers: [{ name: "noop", type: "noop", namespaces: ["*"] }] },
      metrics: {
        address: "node",
        podMonitor: { enabled: true, interval: "30" },
        serviceMonitor: { enabled: true, interval: "30" },
        alerts: { enabled: true },
        dashboard: { enabled: true },
      },
      image: { pullSecrets: ["77"] },
      openshift: { scc: true },
      priorityClassName: "1",
      componentsPullSecret: "3",
      seLinuxType: "4",
    };
    const set = Object.entries(values).flatMap(([name, value]) => ["--set-json", `${name}=${JSON.stringify(value)}`]);
    for (const openshift of ["true", "false"]) {
      const args = ["template", "123", chart, "--namespace", "456", ...set, "--set", `openshift.scc=${openshift}`];
      const { status, stdout, stderr } = runHelm(...args);
      expect([status, stderr]).toEqual([0, ""]);
      expect(objectsOf(stdout).flatMap((object) => notTexts(object, [object.kind, object.metadata.name]))).toEqual([]);
    }
  });

  describe("monitors for Prometheus", () => {
    const controller = ["--set", "pools.enabled=true"];
    test("select the pods of the daemon, and those of the controller where it runs, each in a job of its own", () => {
      expect(selectedPods()).toEqual([["plexus", ["plexusd"]]]);
      expect(selectedPods(...controller)).toEqual([
        ["plexus", ["plexusd"]],
        ["plexus-controller", ["controller"]],
      ]);
    });

    test("select by a Service each, whose selector and port are those of one program", () => {
      const objects = render(...monitoring("serviceMonitor"), ...controller);
      const services = objects.filter(({ kind }) => kind === "Service");
      const monitors = objects
        .filter(({ kind }) => kind === "ServiceMonitor")
        .map(({ metadata: { name }, ...rest }) => {
          const { selector, endpoints } = rest["spec"] as MonitorSpec;
          const found = services.filter(({ metadata }) =>
            Object.entries(selector.matchLabels).every(([key, value]) => metadata.labels?.[key] === value),
          );
          return [
            name,
            ...found.map(({ metadata, ...service }) => {
              const { selector: pods, ports } = service["spec"] as ServiceSpec;
              expect(ports.map((each) => each.name)).toEqual([endpoints?.[0]?.port]);
              return [metadata.name, ports[0]?.port, programsWith(objects, pods, ports[0]?.targetPort)];
            }),
          ];
        });
      expect(monitors).toEqual([
        ["plexus", ["plexus-metrics", 9464, ["plexusd"]]],
        ["plexus-controller", ["plexus-controller-metrics", 9465, ["controller"]]],
      ]);
    });

    test("have the controller's alerts where it runs only", () => {
      expect(alertGroups()).toEqual(["plexus"]);
      expect(alertGroups(...controller)).toEqual(["plexus", "plexus-controller"]);
    });
  });

  test("definitionUse.mode gives the policy its actions and the namespace of default networks", () => {
    expect(usePolicies(render())).toBe("[]");
    const warned = usePolicies(render("--set", "definitionUse.mode=warn"));
    expect(warned.match(/"validationActions":\["Warn","Audit"\]/gu)).toHaveLength(3);
    expect(warned).toContain("'kube-system'");
    const denied = usePolicies(render("--set", "definitionUse.mode=deny,config.multusNamespace=infra"));
    expect(denied.match(/"validationActions":\["Deny"\]/gu)).toHaveLength(3);
    expect(denied).toContain("[string(object.metadata.namespace), 'infra']");
    expect(denied).not.toContain("kube-system");
  });

  test("MO-31: definitionChecks adds the controller's options, rights and configuration, and the policy with its actions", () => {
    const off = JSON.stringify(render());
    for (const name of ['"kind":"Deployment"', "plexus-definitions"]) expect(off).not.toContain(name);
    const checks = render("--set", "definitionChecks.enabled=true,definitionChecks.knownPlugins={bridge,macvlan}");
    const { spec } = theOnly(checks, "Deployment") as Manifest & {
      readonly spec: { readonly template: { readonly spec: PodSpec } };
    };
    const [controller] = spec.template.spec.containers;
    expect(controller?.args).toEqual(
      expect.arrayContaining([
        "--check-definitions=/etc/plexus-configuration/plexus.json",
        "--components=/opt/plexus/cni",
        "--shipped-components=all",
        "--known-plugins=bridge,macvlan",
      ]),
    );
    expect(spec.template.spec.volumes).toMatchObject([{ configMap: { name: "plexus", items: [{ key: "plexus.json" }] } }]);
    expect(JSON.stringify(checks)).not.toContain("podnetworks");
    const policy = JSON.stringify(render("--set", "definitionChecks.admission=warn"));
    expect(policy).toContain('"policyName":"plexus-definitions","validationActions":["Warn","Audit"]');
    expect(policy).not.toContain('"kind":"Deployment"');
  });

  describe("MO-27 the privileges", () => {
    let pod: PodSpec;
    let containers: readonly Container[];
    beforeAll(() => {
      pod = podOf(render());
      containers = [...pod.initContainers, ...pod.containers];
    });

    test("are these, and no other ones", () => {
      expect(pod).toMatchObject({ hostNetwork: true, automountServiceAccountToken: false });
      expect([pod.hostPID, pod.hostIPC]).toEqual([undefined, undefined]);
      expect(pod.securityContext).toEqual({ seccompProfile: { type: "RuntimeDefault" }, fsGroup: 1_999_999_999 });
      const added = containers.map(({ name, securityContext }) => [name, securityContext.capabilities.add ?? []]);
      expect(Object.fromEntries(added)).toEqual({
        install: [],
        components: [],
        plexusd: ["SETUID", "SETGID"],
        agent: ["NET_ADMIN"],
      });
      for (const { securityContext } of containers) {
        expect(securityContext).toMatchObject({
          readOnlyRootFilesystem: true,
          allowPrivilegeEscalation: false,
          capabilities: { drop: ["ALL"] },
        });
        expect(Object.keys(securityContext)).not.toContain("privileged");
      }
    });

    test("have the node's directories that each container needs", () => {
      const nodeDirectories = new Map(
        pod.volumes.flatMap(({ name, hostPath }) => (hostPath === undefined ? [] : [[name, hostPath.path]])),
      );
      const mounts = (name: string): readonly string[] =>
        containerOf(pod, name).volumeMounts.flatMap(({ name: volume, readOnly }) => {
          const path = nodeDirectories.get(volume);
          return path === undefined ? [] : [`${path}${readOnly === true ? " ro" : ""}`];
        });
      expect(mounts("install")).toEqual(["/opt/cni/bin", "/opt/plexus"]);
      expect(mounts("components")).toEqual(["/opt/cni/bin", "/etc/plexus"]);
      expect(mounts("plexusd")).toEqual([
        "/opt/cni/bin ro",
        "/etc/cni/net.d",
        "/run/plexus",
        "/var/lib/cni",
        "/var/lib/kubelet/pod-resources ro",
        "/var/run/k8s.cni.cncf.io",
        "/var/run/netns ro",
      ]);
      expect(mounts("agent")).toEqual(["/opt/cni/bin ro", "/run/plexus", "/etc/plexus ro", "/var/run/netns ro"]);
    });

    test("let install alone write the code cache of sandbox processes, in which plexusd runs code", () => {
      const volume = pod.volumes.find(({ name }) => name === "code-caches");
      expect(volume).toEqual({ name: "code-caches", emptyDir: { sizeLimit: "16Mi" } });
      const mounts = [...pod.initContainers, ...pod.containers].flatMap(({ name, volumeMounts }) =>
        volumeMounts.flatMap((mount) => (mount.name === volume?.name ? [[name, mount.mountPath, mount.readOnly === true]] : [])),
      );
      expect(mounts).toEqual([
        ["install", `/opt/plexus/engine/${cacheDirectory}`, false],
        ["plexusd", `/opt/plexus/engine/${cacheDirectory}`, true],
      ]);
      expect(containerOf(pod, "install").args).toContain("--own-caches");
    });

    test("mount each directory once, also where two values name the same one", () => {
      for (const value of ["config.cniDir=/var/lib/cni", "cni.networksDir=/etc/cni/net.d"]) {
        const mounts = containerOf(podOf(render("--set", value)), "plexusd").volumeMounts.map(({ mountPath }) => mountPath);
        expect([value, mounts.length]).toEqual([value, new Set(mounts).size]);
      }
    });

    test("reach an API server with an IPv6 address, with brackets or without", () => {
      for (const host of ["fd00::1", "[fd00::1]"]) {
        const args = ["--namespace", "kube-system", "--set", `networks.enabled=true,apiServer.host=${host}`];
        const { stdout } = runHelm("template", "plexus", chart, ...args);
        const urls = stdout.split("\n").filter((line) => line.includes("--api-server="));
        expect(urls.map((line) => line.trim())).toEqual(Array(2).fill("- --api-server=https://[fd00::1]:443"));
        const hosts = stdout.matchAll(/name: KUBERNETES_SERVICE_HOST\n +value: (.*)\n/gu);
        expect([...hosts].map(([, value]) => value)).toEqual(Array(3).fill('"fd00::1"'));
      }
    });

    test("have a directory of configurations for definitions where a value names it, read-only", () => {
      const named = render("--set", "cni.networksDir=/etc/cni/multus/net.d");
      const mount = containerOf(podOf(named), "plexusd").volumeMounts.find(({ name }) => name === "named-networks");
      expect(mount).toEqual({ name: "named-networks", mountPath: "/etc/cni/multus/net.d", readOnly: true });
      expect(theOnly(named, "ConfigMap")).toMatchObject({
        data: { "plexus.json": expect.stringContaining('"confDir": "/etc/cni/multus/net.d"') },
      });
    });

    test("have the directory of OVSDB's socket only where a value names it, read-only", () => {
      const plugging = podOf(render("--set", "externalPorts.ovs.socket=/run/openvswitch/db.sock"));
      const mounts = plugging.containers.flatMap(({ name, volumeMounts }) =>
        volumeMounts.flatMap(({ name: volume, ...mount }) => (volume === "ovs" ? [[name, mount]] : [])),
      );
      expect(mounts).toEqual([["plexusd", { mountPath: "/run/openvswitch", readOnly: true }]]);
      expect(plugging.volumes.find(({ name }) => name === "ovs")).toMatchObject({ hostPath: { path: "/run/openvswitch" } });
    });

    test("mount the directory of journal and results where config.cniDir is elsewhere, and reconcile it", () => {
      const elsewhere = ["--set", "config.cniDir=/srv/cni/state"];
      expect(containerOf(podOf(render(...elsewhere)), "plexusd").args).toContain("--state-dir=/srv/cni/state");
      expect(plexusdOf(...elsewhere).volumeMounts).toContainEqual({ name: "own-state", mountPath: "/srv/cni/state" });
      const { volumes } = podOf(render(...elsewhere));
      expect(volumes).toContainEqual({ name: "own-state", hostPath: { path: "/srv/cni/state", type: "DirectoryOrCreate" } });
    });

    test("have the socket of the CRI Network API only where a value switches it on, and a directory of its own only where a value names one", () => {
      expect(networkOptions(plexusdOf("--set", "networkApi.feedNamespace=nets"))).toEqual(["--state-dir=/var/lib/cni/plexus"]);
      const usual = plexusdOf("--set", "networkApi.enabled=true,config.cniDir=/var/lib/cni/other");
      expect(networkOptions(usual)).toEqual(["--state-dir=/var/lib/cni/other", "--network-socket=/run/plexus/network.sock"]);
      expect(usual.volumeMounts).toEqual(plexusdOf().volumeMounts);
      const own = ["--set", "networkApi.enabled=true,networkApi.directory=/run/networks,networkApi.feedNamespace=nets"];
      expect(networkOptions(plexusdOf(...own))).toEqual([
        "--state-dir=/var/lib/cni/plexus",
        "--network-socket=/run/networks/network.sock",
        "--network-feed=/run/networks/network.sock",
        "--network-feed-namespace=nets",
      ]);
      const named = podOf(render(...own));
      const holders = [...named.initContainers, ...named.containers].filter(({ volumeMounts }) =>
        volumeMounts.some(({ mountPath }) => mountPath === "/run/networks"),
      );
      expect(holders.map(({ name }) => name)).toEqual(["plexusd"]);
      expect(named.volumes).toContainEqual({
        name: "network-api",
        hostPath: { path: "/run/networks", type: "DirectoryOrCreate" },
      });
      expect(named.securityContext).toEqual(pod.securityContext);
    });

    test("have their reasons in values.yaml", () => {
      const lines = text(join(chart, "values.yaml")).split("\n");
      const hasReason = (item: string): boolean =>
        lines.some((line, index) => {
          if (!line.includes(item)) return false;
          const comment = /# (.*)$/u.exec(line)?.[1] ?? /^\s*# (.*)$/u.exec(lines[index - 1] ?? "")?.[1] ?? "";
          return comment.replace(item, "").length > 25;
        });
      const privileges = [
        ...containers.flatMap(({ securityContext }) => securityContext.capabilities.add ?? []),
        ...pod.volumes.flatMap(({ hostPath }) => hostPath?.path.replace("/pod-resources", "") ?? []),
      ];
      expect(privileges.length).toBeGreaterThan(8);
      expect(privileges.filter((item) => !hasReason(item))).toEqual([]);
      expect(hasReason("SYS_PTRACE")).toBe(false);
    });

    test("FI-18: config.hotPlug gives the agent the node's files and what entering a pod needs, and no other container anything", () => {
      const plugging = podOf(render("--set", "config.hotPlug=true"));
      const agent = containerOf(plugging, "agent");
      expect(agent.command).toEqual(["/opt/plexus/cni/plexus", "agent", "--root", "/host"]);
      expect(agent.securityContext.capabilities).toEqual({
        drop: ["ALL"],
        add: ["NET_ADMIN", "NET_RAW", "SYS_CHROOT", "SYS_ADMIN"],
      });
      expect(agent.volumeMounts).toEqual([{ name: "root", mountPath: "/host", mountPropagation: "HostToContainer" }]);
      expect(plugging.volumes.find(({ name }) => name === "root")).toMatchObject({ hostPath: { path: "/", type: "Directory" } });
      const [others, before] = [plugging, pod].map(({ initContainers, containers: all }) =>
        [...initContainers, ...all].filter(({ name }) => name !== "agent"),
      );
      expect(others).toEqual(before);
      expect(plugging.hostPID).toBe(undefined);
    });

    test("give a token to plexusd only, for an hour, bound to the pod", () => {
      const token = pod.volumes.find(({ projected }) => projected !== undefined);
      expect(token?.projected?.sources).toContainEqual({ serviceAccountToken: { path: "token", expirationSeconds: 3600 } });
      const holders = containers.filter(({ volumeMounts }) => volumeMounts.some(({ name }) => name === token?.name));
      expect(holders.map(({ name }) => name)).toEqual(["plexusd"]);
      expect(render().filter(({ kind }) => kind === "Secret")).toEqual([]);
    });

    test("are the same for the container that pulls components, which may also write their list", () => {
      const components = [{ type: "my-ipam", reference: "registry.example/my-ipam:1", signedBy: "team" }];
      const objects = render(
        "--set-json",
        `components=${JSON.stringify(components)}`,
        "--set",
        "componentKeys.team=PEM,componentsPullSecret=r",
      );
      const pulling = containerOf(podOf(objects), "components");
      expect(pulling.securityContext.capabilities).toEqual({ drop: ["ALL"] });
      expect(pulling.volumeMounts.filter(({ readOnly }) => readOnly !== true).map(({ mountPath }) => mountPath)).toEqual([
        "/host/opt/cni/bin",
        "/host/etc/plexus",
      ]);
      const { data } = theOnly(objects, "ConfigMap") as unknown as { readonly data: Readonly<Record<string, string>> };
      expect(JSON.parse(data["components.json"] ?? "")).toEqual({ components, keys: { team: "PEM" } });
    });

    test("do not depend on the list of components: the container of an empty list removes the last component", () => {
      const objects = render();
      const { args = [] } = containerOf(podOf(objects), "components");
      expect(args).toContain("--list=/etc/plexus-template/components.json");
      expect(args.filter((each) => each.startsWith("--credentials"))).toEqual([]);
      const { data } = theOnly(objects, "ConfigMap") as unknown as { readonly data: Readonly<Record<string, string>> };
      expect(JSON.parse(data["components.json"] ?? "")).toEqual({ components: [], keys: {} });
      const one = configurationDigest(render("--set", "components[0].type=a,components[0].reference=r.example/a:1"));
      expect([configurationDigest(objects), one]).toEqual([expect.any(String), expect.any(String)]);
      expect(configurationDigest(objects)).not.toBe(one);
    });

    test.each([
      ["config", ["--set", "config.systemNamespaces={kube-system,infra}"]],
      ["wasm", ["--set", "wasm.limits.timeMs=1234"]],
      ["definitions", ["--set", "definitions.trusted={infra}"]],
      ["componentsAuthority", ["--set", "componentsAuthority=OTHER"]],
      ["componentKeys", ["--set", "componentKeys.release=KEY"]],
      ["externalPorts.providers", ["--set", "externalPorts.providers[0].name=other"]],
      ["externalPorts.authority", ["--set", "externalPorts.authority=-----BEGIN CERTIFICATE-----\nB\n"]],
    ])("start each program anew that reads a ConfigMap at its start only: helm upgrade --wait with other %s", (_, change) => {
      const all =
        "definitionChecks.enabled=true,networks.enabled=true,pools.enabled=true,policies.enabled=true,externalPorts.enabled=true";
      const values = ["--set", all, "--set", "externalPorts.providers[0].name=one,componentsAuthority=PEM"];
      const [before, after] = [render(...values), render(...values, ...change)];
      const changed = changedMaps(before, after);
      expect(changed).toHaveLength(1);
      const templates = new Map(mountingWorkloads(before).map(({ name, template }) => [name, template]));
      const kept = mountingWorkloads(after).flatMap(({ name, maps, template }) =>
        template === templates.get(name) ? maps.filter((map) => changed.includes(map)).map((map) => `${name} ${map}`) : [],
      );
      expect(kept.filter((each) => readAgain[each] === undefined)).toEqual([]);
    });

    test("keep the daemons running when a value changes that they do not read", () => {
      const [three, two] = [3, 2].map((count) => render("--set", `networks.enabled=true,controller.replicas=${count}`));
      expect(theOnly(three ?? [], "DaemonSet")["spec"]).toEqual(theOnly(two ?? [], "DaemonSet")["spec"]);
    });

    test("give a registry's own authority to the container that pulls components", () => {
      const objects = render("--set-json", `componentsAuthority=${JSON.stringify("PEM\nof two lines\n")}`);
      expect(containerOf(podOf(objects), "components").args).toContain("--ca=/etc/plexus-template/registry-ca.crt");
      const { data } = theOnly(objects, "ConfigMap") as unknown as { readonly data: Readonly<Record<string, string>> };
      expect(data["registry-ca.crt"]).toContain("PEM\nof two lines\n");
    });

    test("start plexus-controller anew when a provider of external ports changes, and let it trust the fabrics' authority", () => {
      const plain = withProvider("a", "");
      expect(portsDigest(plain)).toEqual(expect.any(String));
      expect(portsDigest(withProvider("a", ""))).toBe(portsDigest(plain));
      expect(portsDigest(withProvider("b", ""))).not.toBe(portsDigest(plain));
      expect(JSON.stringify(plain)).not.toContain("NODE_EXTRA_CA_CERTS");
      const pem = "-----BEGIN CERTIFICATE-----\nof two lines\n";
      const trusting = withProvider("a", pem);
      const env = { name: "NODE_EXTRA_CA_CERTS", value: "/etc/plexus-controller/authority.crt" };
      expect(JSON.stringify(theOnly(trusting, "Deployment"))).toContain(JSON.stringify(env));
      const files = trusting.filter(({ kind, metadata: { name } }) => kind === "ConfigMap" && name === "plexus-external-ports");
      expect(files).toMatchObject([{ data: { "authority.crt": expect.stringContaining(pem) } }]);
      expect(() => withProvider("a", "/etc/ssl/fabric.crt")).toThrow(/authority/u);
    });

    test.each([[], ["--set", "config.profile=strict,config.invalidAnnotation=fail"]])(
      "give plexus-controller the nodes' keys for selections: %j",
      (...set) => {
        const rendered = render("--set", "externalPorts.enabled=true,externalPorts.providers[0].name=a", ...set);
        const named = (name: string): string => dataOf(rendered, name) ?? "";
        const isStrict = set.length > 0;
        expect(/profile: strict\b/u.test(named("plexus-external-ports"))).toBe(isStrict);
        expect(/\bprofile\W+strict\b/u.test(named("plexus"))).toBe(isStrict);
        expect(/invalidAnnotation: fail\b/u.test(named("plexus-external-ports"))).toBe(isStrict);
      },
    );

    test("give the fabrics' Secret to the group of plexus-controller, which is not root", () => {
      const set = ["--set", "externalPorts.enabled=true,externalPorts.secretName=openstack"];
      const { spec } = theOnly(render(...set), "Deployment") as unknown as { readonly spec: { readonly template: object } };
      expect(spec.template).toMatchObject({
        spec: {
          securityContext: { fsGroup: 65532 },
          containers: [{ securityContext: { runAsUser: 65532, runAsGroup: 65532 } }],
          volumes: expect.arrayContaining([{ name: "secrets", secret: { secretName: "openstack", defaultMode: 0o440 } }]),
        },
      });
    });

    test.each(["all", "none", "tuning,portmap"])("do not depend on the shipped components: %s", (list) => {
      const { args } = containerOf(podOf(render("--set", `shippedComponents=${list.replace(",", "\\,")}`)), "install");
      expect(args).toContain(`--components=${list}`);
    });

    test("nativePlugins: none prefers the components of all types, and knows no native plugin but the shim", () => {
      const rendered = render(
        "--set",
        "nativePlugins=none,wasm.grants.ptp.links.forwarding=true,definitionChecks.enabled=true,components[0].type=own,components[0].reference=a/b@sha256:c",
      );
      const map = rendered.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === "plexus");
      const { data } = map as unknown as { readonly data: Readonly<Record<string, string>> };
      expect(JSON.parse(data["plexus.json"] ?? "")).toMatchObject({
        wasm: { prefer: true, grants: { ptp: { links: { forwarding: true } } } },
      });
      const controller = JSON.stringify(theOnly(rendered, "Deployment"));
      for (const arg of ["--shipped-components=all", "--known-plugins=plexus,own"]) expect(controller).toContain(`"${arg}"`);
    });

    test.each([
      ["shippedComponents=tuning", "needs shippedComponents all"],
      ["wasm.prefer=false", "remove wasm.prefer"],
      ["wasm.enabled=false", "wasm.enabled is false"],
      ["definitionChecks.knownPlugins={bridge}", "remove one of the two values"],
      ["nativePlugins=some", "nativePlugins"],
    ])("nativePlugins: none refuses %s", (value, reason) => {
      const { status, stderr } = runHelm("template", "plexus", chart, "--set", `nativePlugins=none,${value}`);
      expect([status, stderr.includes(reason)]).toEqual([1, true]);
    });

    test("leave the node's home directory out with oneShot: off", () => {
      const off = render("--set", "oneShot=off");
      expect(podOf(off).volumes.map(({ name }) => name)).not.toContain("home");
      expect(containerOf(podOf(off), "install").args).toContain("--one-shot=off");
      expect(JSON.stringify(theOnly(off, "Role"))).not.toContain("serviceaccounts/token");
      expect(JSON.stringify(theOnly(render(), "Role"))).toContain("serviceaccounts/token");
    });
  });

  test("a demand on every component is part of the configuration", () => {
    const digest = `sha256:${"a".repeat(64)}`;
    const { data } = theOnly(render("--set", `wasm.require.digests={${digest}}`), "ConfigMap") as unknown as {
      readonly data: Readonly<Record<string, string>>;
    };
    const read = readHostConfiguration({ ...JSON.parse(data["plexus.json"] ?? ""), clusterNetwork: "/a" });
    expect(read.ok && read.value.wasm.require).toEqual({ anyOf: { signedBy: [], digests: [digest] } });
    const misspelt = runHelm("template", "plexus", chart, "--set", "wasm.require.digest=x");
    expect([misspelt.status, misspelt.stderr.includes("digests")]).toEqual([1, true]);
  });

  describe("MO-26 the hook before an uninstallation", () => {
    test("has no capability, and the directories that each container needs", () => {
      const pod = hookOf();
      for (const { securityContext } of [...pod.initContainers, ...pod.containers]) {
        expect(securityContext.capabilities).toEqual({ drop: ["ALL"] });
        expect(securityContext).toMatchObject({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false });
      }
      const configuration = ["/run/plexus ro", "/etc/cni/net.d"];
      expect(mountsOf(pod)).toEqual({
        retire: configuration,
        remove: ["/run/plexus ro", "/host/opt/cni/bin", "/host/opt/plexus"],
        done: configuration,
      });
    });

    test("removes files and state as the values say", () => {
      expect(Object.keys(mountsOf(hookOf("--set", "uninstall.removeFiles=false")))).toEqual(["retire", "done"]);
      const purging = hookOf("--set", "uninstall.purgeState=true,config.cniDir=/srv/cni/state,oneShot=off");
      expect(mountsOf(purging)["remove"]).toEqual(["/run/plexus ro", "/host/opt/cni/bin", "/host/srv/cni"]);
      expect(containerOf(purging, "remove").args).toContain("--purge-state=/host/srv/cni/state");
      expect(purging.volumes).toContainEqual({ name: "state", hostPath: { path: "/srv/cni", type: "DirectoryOrCreate" } });
    });
  });

  test("no two objects have one name, whichever parts are on: the second would replace the first", () => {
    const parts = [
      "networks",
      "pools",
      "policies",
      "services",
      "claims",
      "externalPorts",
      "dynamicResources",
      "definitionChecks",
    ];
    const on = [
      ...parts.map((each) => `${each}.enabled=true`),
      "claims.use=deny",
      "definitionUse.mode=deny",
      "networkApi.enabled=true",
    ];
    const monitors = [
      "metrics.address=node",
      ...["podMonitor", "serviceMonitor", "alerts", "dashboard"].map((each) => `metrics.${each}.enabled=true`),
    ];
    const names = render("--set", [...on, ...monitors, "openshift.scc=true"].join(",")).map(identity);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test("a state directory has one form, and its mount, however it is written", () => {
    const set = "config.cniDir=/var/lib/cni/../plexus state: #1/,daemon.otlp=http://collector:4318/a #b: c";
    const { args, volumeMounts } = plexusdOf("--set", set);
    expect(args).toEqual(
      expect.arrayContaining(["--state-dir=/var/lib/plexus state: #1", "--otlp=http://collector:4318/a #b: c"]),
    );
    expect(volumeMounts).toContainEqual({ name: "own-state", mountPath: "/var/lib/plexus state: #1" });
  });

  test("a Service's name has at most 63 characters, however long the release's is", () => {
    const set = "metrics.address=node,metrics.serviceMonitor.enabled=true,policies.enabled=true";
    const { stdout } = runHelm("template", "r".repeat(53), chart, "--set", set);
    const services = objectsOf(stdout).filter(({ kind }) => kind === "Service");
    expect(services.map(({ metadata: { name } }) => name.length)).toEqual([58, 63]);
  });

  test("MO-28 the memory limit of plexusd is above the most that it can have", () => {
    const rows: readonly { readonly id: string; readonly median: number }[] = JSON.parse(
      text(join(root, "docs", "reference", "benchmark.json")),
    );
    const peak = rows.find(({ id }) => id === "daemon-rss-large-peak")?.median ?? NaN;
    const { args = [], resources } = containerOf(podOf(render()), "plexusd");
    const busy = Number(args.find((each) => each.startsWith("--sandboxes="))?.slice("--sandboxes=".length));
    const [idle, spare, processMiB, delegateMiB] = [16, 2, 14, 16];
    const mostMiB = peak + (busy + idle + spare) * processMiB + busy * delegateMiB;
    expect(mostMiB).toBeGreaterThan(500);
    expect(mostMiB).toBeLessThan(1024);
    expect(resources.limits).toEqual({ memory: "1Gi" });
  });

  test("the pod is critical, runs everywhere, and outlives the grace of its daemon", () => {
    const pod = podOf(render("--set", "daemon.graceMs=25001"));
    expect(pod).toMatchObject({ priorityClassName: "system-node-critical", tolerations: [{ operator: "Exists" }] });
    expect(containerOf(pod, "plexusd").args).toContain("--grace-ms=25001");
    expect(pod.terminationGracePeriodSeconds).toBe(46);
  });

  test("probes ask the metrics port, which listens where they ask", () => {
    const local = containerOf(podOf(render()), "plexusd");
    expect(local.args).toContain("--metrics-listen=127.0.0.1:9464");
    expect(local.readinessProbe?.httpGet).toEqual({ path: "/readyz", port: 9464, host: "127.0.0.1" });
    expect(local.livenessProbe?.httpGet).toEqual({ path: "/healthz", port: 9464, host: "127.0.0.1" });
    const node = containerOf(podOf(render("--set", "metrics.address=node,metrics.port=9999")), "plexusd");
    expect(node.args).toContain("--metrics-listen=[$(HOST_IP)]:9999");
    expect(node.startupProbe?.httpGet).toEqual({ path: "/healthz?start", port: 9999 });
  });

  test("the configuration is one that Plexus reads, with the values' keys", () => {
    const values = ["--set-json", 'config={"systemNamespaces":["infra"]}', "--set-json", 'wasm={"limits":{"timeMs":500}}'];
    const { data } = theOnly(render(...values), "ConfigMap") as unknown as { readonly data: Readonly<Record<string, string>> };
    const written: Readonly<Record<string, unknown>> = JSON.parse(data["plexus.json"] ?? "");
    expect(written).toMatchObject({
      type: "plexus",
      cniVersion: "1.1.0",
      systemNamespaces: ["infra"],
      wasm: { limits: { timeMs: 500 } },
    });
    expect(readHostConfiguration({ ...written, clusterNetwork: "/default.conflist" })).toMatchObject({ ok: true });
  });

  test("DR-15: CDI specifications are written with claims.cdi only", () => {
    expect(textsWithClaims()).not.toContain("/var/run/cdi");
    for (const part of ["--claims-cdi-dir=/var/run/cdi", "--write-to=/var/run/cdi", '"mountPath":"/var/run/cdi"'])
      expect(textsWithClaims("claims.cdi=true")).toContain(part);
  });

  test("MA-05: devices of resource claims add two rights and a key, for all namespaces or for those that the values name", () => {
    expect(claimRoles()).toEqual([]);
    const enabled = ["--set", "dynamicResources.enabled=true", "--set-json", 'config={"kubernetes":{"budgetMs":9000}}'];
    const clusterRoles = [
      `ClusterRole plexus-resource-claims ${ruleText("resourceclaims", "get")}`,
      `ClusterRole plexus-resource-slices ${ruleText("resourceslices", "list")}`,
      "ClusterRoleBinding plexus-resource-slices",
    ];
    expect([...claimRoles(...enabled)].sort()).toEqual([...clusterRoles, "ClusterRoleBinding plexus-resource-claims"].sort());
    const some = claimRoles(...enabled, "--set-json", 'dynamicResources.namespaces=["shop","bank"]');
    expect([...some].sort()).toEqual(
      [...clusterRoles, "RoleBinding shop plexus-resource-claims", "RoleBinding bank plexus-resource-claims"].sort(),
    );
    const { data } = theOnly(render(...enabled), "ConfigMap") as unknown as { readonly data: Readonly<Record<string, string>> };
    const written: Readonly<Record<string, unknown>> = JSON.parse(data["plexus.json"] ?? "");
    expect(written).toMatchObject({ kubernetes: { resourceClaims: true, budgetMs: 9000 } });
  });

  test("FI-17: plexusd and the agent see binDir through a directory above it, so that a link on the way may move", () => {
    const [above, binDir] = ["/var/lib/rancher/k3s/data", "/var/lib/rancher/k3s/data/current/bin"];
    const pod = podOf(render("--set", `cni.binDir=${binDir},cni.binDirMount=${above}`));
    expect(pod.volumes).toContainEqual({ name: "plugins-above", hostPath: { path: above, type: "Directory" } });
    for (const name of ["plexusd", "agent"]) {
      const { volumeMounts } = containerOf(pod, name);
      expect(volumeMounts).toContainEqual({ name: "plugins-above", mountPath: above, readOnly: true });
      expect(volumeMounts.map((mount) => mount.name)).not.toContain("plugins");
    }
    expect(containerOf(pod, "plexusd").args).toContain(`--cni-bin-dir=${binDir}`);
    // The init containers start with the pod, so they see where the link leads now.
    expect(containerOf(pod, "install").volumeMounts).toContainEqual({ name: "plugins", mountPath: `/host${binDir}` });
    const { status, stderr } = runHelm("template", "plexus", chart, "--set", "cni.binDirMount=/srv");
    expect({ status, stderr }).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("must contain cni.binDir /opt/cni/bin"),
    });
  });

  test("FI-19: steps of other programs are kept unless a value strips them", () => {
    expect(containerOf(podOf(render()), "plexusd").args).toContain("--cni-foreign-steps=keep");
    expect(containerOf(podOf(render("--set", "cni.foreignSteps=strip")), "plexusd").args).toContain("--cni-foreign-steps=strip");
  });

  test("the default uids of sandbox processes are the daemon's", () => {
    expect(text(join(chart, "values.yaml"))).toContain(`sandboxUids: "${defaultUids.first}:${defaultUids.count}"`);
  });

  describe("distributions: each values file has the paths of the page's table", () => {
    const page = text(join(root, "docs", "how-to", "install-on-a-cluster.md"));
    const rows = [...page.matchAll(/^\| [^|]+ \| `(values-[\w-]+\.yaml)` \| `([^`]+)` \| `([^`]+)` \| `([^`]+)` \|/gmu)].map(
      ([, ...cells]) => cells,
    );
    const files = readdirSync(chart).filter((name) => name.startsWith("values-"));

    test("the table has every file", () => {
      expect(rows.map(([file]) => file).toSorted()).toEqual(files.toSorted());
    });

    test.each(rows)("%s", (file = "", binDir = "", confDir = "", kubeletRoot = "") => {
      const objects = render("--values", join(chart, file));
      const pod = podOf(objects);
      const paths = Object.fromEntries(pod.volumes.map(({ name, hostPath }) => [name, hostPath?.path]));
      expect(paths).toMatchObject({ plugins: binDir, networks: confDir, "pod-resources": `${kubeletRoot}/pod-resources` });
      // The paths in calls and configurations are the node's, so the mounts have the same ones.
      const mounts = containerOf(pod, "plexusd").volumeMounts.map(({ mountPath }) => mountPath);
      expect(mounts).toEqual(expect.arrayContaining([binDir, confDir, "/var/lib/kubelet/pod-resources"]));
      expect(containerOf(pod, "plexusd").args).toContain(`--cni-config-dir=${confDir}`);
      expect(containerOf(pod, "agent").env).toContainEqual({ name: "CNI_PATH", value: binDir });
      expect(containerOf(pod, "install").args).toContain(`--cni-bin=${binDir}`);
    });

    test("OpenShift gets an SELinux type, and a SecurityContextConstraints with no more than the pod's privileges", () => {
      const objects = render("--values", join(chart, "values-openshift.yaml"));
      expect(podOf(objects).securityContext).toMatchObject({ seLinuxOptions: { type: "spc_t" } });
      expect(theOnly(objects, "SecurityContextConstraints")).toMatchObject({
        allowPrivilegedContainer: false,
        allowHostPID: false,
        allowHostIPC: false,
        readOnlyRootFilesystem: true,
        allowedCapabilities: ["SETUID", "SETGID", "NET_ADMIN"],
        users: ["plexus", "plexus-uninstall", "plexus-ready"].map((each) => `system:serviceaccount:kube-system:${each}`),
      });
    });

    test("OpenShift gives plexus-controller, which is user 65532, its constraints for users other than root, and no SELinux type", () => {
      const objects = render("--values", join(chart, "values-openshift.yaml"), "--set", "networks.enabled=true");
      const binding = objects.find(({ kind, metadata }) => kind === "RoleBinding" && metadata.name === "plexus-controller-scc");
      expect(binding).toMatchObject({
        roleRef: { kind: "ClusterRole", name: "system:openshift:scc:nonroot-v2" },
        subjects: [{ kind: "ServiceAccount", name: "plexus-controller", namespace: "kube-system" }],
      });
      const { template } = theOnly(objects, "Deployment")["spec"] as { readonly template: { readonly spec: PodSpec } };
      expect(template.spec.securityContext).toEqual({ seccompProfile: { type: "RuntimeDefault" }, fsGroup: 65_532 });
    });

    test("Talos gets no one-shot engine", () => {
      expect(containerOf(podOf(render("--values", join(chart, "values-talos.yaml"))), "install").args).toContain(
        "--one-shot=off",
      );
    });
  });
});
