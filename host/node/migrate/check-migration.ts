// Finds NetworkAttachmentDefinitions and pods that behave differently under Plexus than under Multus. Definitions are explained, and pods
// are planned, by the code that serves a runtime's calls.

import { constants } from "node:os";
import { fault, type Fault } from "../../../src/fault/fault.ts";
import { catalogue } from "../../../src/fault/catalogue.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { parseDocument } from "../../../src/json/document.ts";
import { defaultNetworkAnnotation } from "../../../src/npwg/default-network-selection.ts";
import { nativePluginRefusal } from "../../../src/npwg/definition-plugins.ts";
import { DeviceAllocation } from "../../../src/npwg/device-id.ts";
import {
  type NetworkAttachmentDefinition,
  readNetworkAttachmentDefinition,
} from "../../../src/npwg/network-attachment-definition.ts";
import { type Pod, readPod } from "../../../src/npwg/pod.ts";
import { networksAnnotation } from "../../../src/npwg/selection.ts";
import type { Cluster } from "../../cluster/cluster.ts";
import type { ManifestObject } from "../../cluster/manifests/manifest-objects.ts";
import type { PlanContext } from "../../engine/call.ts";
import { readCallConfiguration } from "../../engine/call/read-configuration.ts";
import type { AttachmentPlan } from "../../engine/planned/attachment-plan.ts";
import type { PlanFeature } from "../../engine/planned/plan-feature.ts";
import { planCall } from "../../engine/plan/plan-call.ts";
import { PluginFinder } from "../../engine/call/plugin-finder.ts";
import { explain } from "../explain/explain-networks.ts";
import type { ExplainedStep } from "../explain/explanation.ts";
import type { HostSettings } from "../explain/host-settings.ts";
import { definedNetwork, type NamedList } from "../explain/networks.ts";
import { findPlugin } from "../explain/find-plugin.ts";

/** One object that behaves differently, and why. */
export interface MigrationDifference {
  /** `Pod NAMESPACE/NAME` or `NetworkAttachmentDefinition NAMESPACE/NAME`. */
  readonly object: string;
  /** `fails`: a pod with it does not start. `differs`: it starts, but not as under Multus. */
  readonly effect: "fails" | "differs";
  readonly why: string;
  readonly remedy: string;
}

/** The result of a check. */
export interface MigrationCheck {
  readonly definitions: number;
  /** Pods that select networks. */
  readonly pods: number;
  readonly differences: readonly MigrationDifference[];
}

/** Faults that Multus has as well, or that only a node can tell. */
const alikeUnderMultus: readonly string[] = ["PLUGIN_NOT_FOUND"];

/**
 * Checks all definitions, and all pods that select networks. Faults: those of reading the configuration. `config`: the chart's `config`.
 * `cniPath`: directories of plugins, to tell components from native plugins.
 */
export async function checkMigration(
  config: Readonly<Record<string, unknown>>,
  objects: readonly ManifestObject[],
  cniPath: string,
  features: readonly PlanFeature[],
): Promise<Result<MigrationCheck>> {
  const settings = settingsOf(config, cniPath);
  if (!settings.ok) return settings;
  const differences: MigrationDifference[] = [];
  const definitions = new Map<string, Result<NetworkAttachmentDefinition>>();
  const pods: Pod[] = [];
  for (const { kind, namespace, name, object } of objects) {
    if (kind === "NetworkAttachmentDefinition") definitions.set(`${namespace}/${name}`, readNetworkAttachmentDefinition(object));
    else {
      const pod = readPod(object);
      if (pod.ok && [networksAnnotation, defaultNetworkAnnotation].some((key) => pod.value.annotations.has(key)))
        pods.push(pod.value);
    }
  }
  for (const [name, definition] of definitions)
    differences.push(...(await differencesOfDefinition(`NetworkAttachmentDefinition ${name}`, definition, settings.value)));
  for (const pod of pods) differences.push(...(await differencesOfPod(pod, definitions, settings.value, features)));
  return ok({ definitions: definitions.size, pods: pods.length, differences });
}

/** Keys that name networks of a node, which only the node's files and its daemon know. This machine need not be a node. */
const nodesNetworks: readonly string[] = ["clusterNetwork", "defaultNetworks", "auxiliaryCNIChainName"];

/** The settings that a call would have, with one default network that needs no file. */
function settingsOf(config: Readonly<Record<string, unknown>>, cniPath: string): Result<HostSettings> {
  const delegates = [{ cniVersion: "1.0.0", name: "default-network", type: "none" }];
  const kept = Object.entries(config).filter(([key]) => !nodesNetworks.includes(key));
  const text = JSON.stringify({ cniVersion: "1.1.0", ...Object.fromEntries(kept), type: "plexus", delegates });
  const document = parseDocument(text, { what: "the values" });
  if (!document.ok) return document;
  const read = readCallConfiguration({ verb: "STATUS", path: cniPath }, document.value);
  return read.ok ? ok({ path: "the values", ...read.value, cniPath }) : read;
}

async function differencesOfDefinition(
  object: string,
  definition: Result<NetworkAttachmentDefinition>,
  settings: HostSettings,
): Promise<readonly MigrationDifference[]> {
  const warnings: string[] = [];
  const network = definition.ok ? definedNetwork(definition.value, settings, (text) => void warnings.push(text)) : definition;
  if (!network.ok) return [failure(object, network.fault)];
  const { networks } = await explain([network.value], { settings, cniPath: settings.cniPath, warnings: [] });
  const problems = networks.flatMap(({ problem, steps }) => [problem, ...steps.flatMap(problemsIn)]);
  return [
    ...refusedAbsent(network.value, networks[0]?.steps ?? [], settings).map((refused) => failure(object, refused)),
    ...problems.flatMap((problem) =>
      problem === null || alikeUnderMultus.includes(problem.kind)
        ? []
        : [{ object, effect: "fails" as const, why: problem.msg, remedy: problem.remedy }],
    ),
    ...warnings.map((why) => ({ object, effect: "differs" as const, why, remedy: "" })),
  ];
}

/** Refusals of plugins that are not installed here, and that are native on the cluster's nodes, as Multus executes them. */
function refusedAbsent(
  { list, binding }: NamedList,
  steps: readonly ExplainedStep[],
  { configuration, cniPath }: HostSettings,
): readonly Fault[] {
  if (binding === undefined) return [];
  const isComponent = (type: string): boolean => findPlugin(type, cniPath, configuration.wasm.prefer).kind === "component";
  return list.plugins
    .filter((_, index) => steps[index]?.kind === "missing")
    .flatMap(({ type, document: { parsed } }) => {
      const plugin = { type, configuration: parsed, isComponent };
      return nativePluginRefusal(configuration.definitions, binding.definition, plugin) ?? [];
    });
}

function problemsIn({ problem, steps }: ExplainedStep): readonly ExplainedStep["problem"][] {
  return [problem, ...steps.flatMap(problemsIn)];
}

async function differencesOfPod(
  pod: Pod,
  definitions: ReadonlyMap<string, Result<NetworkAttachmentDefinition>>,
  settings: HostSettings,
  features: readonly PlanFeature[],
): Promise<readonly MigrationDifference[]> {
  const object = `Pod ${pod.namespace}/${pod.name}`;
  const warnings: string[] = [];
  const call = contextOf(pod, definitions, settings, features, (text) => void warnings.push(text));
  const plan = await planCall(call, async () => undefined);
  if (!plan.ok) return [failure(object, plan.fault)];
  return [
    ...plan.value.attachments.flatMap((attachment) => argumentsInstead(object, attachment)),
    ...warnings.map((why) => ({ object, effect: "differs" as const, why, remedy: "" })),
  ];
}

/** Requested addresses without the capability: Multus drops them, Plexus passes them to the plugins. */
function argumentsInstead(object: string, { source, request, attachment }: AttachmentPlan): readonly MigrationDifference[] {
  const requested = [
    ["ips", request?.selection.ips],
    ["mac", request?.selection.mac],
  ] as const;
  return requested
    .filter(([key, value]) => value !== undefined && !attachment.capabilityArgs.has(key))
    .map(([key]) => ({
      object,
      effect: "differs",
      why: `network ${source}: ${key} is requested, but no plugin has the capability: Plexus passes it in args.cni and compares the result, Multus drops it`,
      remedy: `Declare the capability ${key} in the definition, or take the request away.`,
    }));
}

function contextOf(
  { namespace, name, uid, ...pod }: Pod,
  definitions: ReadonlyMap<string, Result<NetworkAttachmentDefinition>>,
  settings: HostSettings,
  features: readonly PlanFeature[],
  warn: (text: string) => void,
): PlanContext {
  const { cniPath: path, document, configuration } = settings;
  const args = `K8S_POD_NAMESPACE=${namespace};K8S_POD_NAME=${name}`;
  const found = { ...pod, namespace, name, ...(uid === undefined ? {} : { uid }) };
  const cluster: Cluster = {
    pod: async () => ok(found),
    networkAttachmentDefinition: async (space, wanted) =>
      definitions.get(`${space}/${wanted}`) ??
      failed(fault("NETWORK_NOT_FOUND", `NetworkAttachmentDefinition ${space}/${wanted} is not among the objects`)),
    publishStatus: async () => ok(undefined),
    tell: () => undefined,
    end: async () => undefined,
  };
  return {
    request: { verb: "ADD", containerId: "check", netns: "", ifname: "eth0", args, path, netnsOverride: false },
    document,
    configuration,
    // A plan asks for plugins only to be early.
    plugins: new PluginFinder({ find: async () => ({ kind: "found", what: "nothing", path: "", identity: "" }) }, false),
    // There is no network namespace; planning takes it as one without links.
    shim: { netlink: async () => ({ kind: "done", errno: constants.errno.ENOENT, sent: false, reply: new Uint8Array() }) },
    cluster: async () => cluster,
    devices: async () => ok(new DeviceAllocation(undefined)),
    allocatorDevices: async () => ok([]),
    features,
    warn,
  };
}

function failure(object: string, { kind, msg }: Fault): MigrationDifference {
  return { object, effect: "fails", why: msg, remedy: catalogue[kind].remedy };
}
