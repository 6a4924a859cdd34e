// Plans one further network of a running container, with the checks of an ADD. Refused are the requests that only an ADD can meet: a device of a device
// plugin, which the kubelet allocates when the pod starts, and the pod's default route.

import { checkAttachmentCount, checkPluginCount } from "../../../src/configuration/bounds.ts";
import { parseNetworkList } from "../../../src/cni/network-list.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { nextInterfaceName } from "../../../src/npwg/hot-plug-difference.ts";
import { checkNamespace } from "../../../src/npwg/namespace-policy.ts";
import type { NetworkSelection } from "../../../src/npwg/network-selection.ts";
import type { Cluster } from "../../../host/cluster/cluster.ts";
import type { Call } from "../../../host/engine/call.ts";
import { type AttachmentPlan, withDeviceInfo } from "../../../host/engine/planned/attachment-plan.ts";
import { reservedNameFault } from "../../../host/engine/plan/plan-call.ts";
import { profileOf } from "../../../src/npwg/profile.ts";
import { planDefinition } from "../../../host/engine/plan/plan-definition.ts";
import { refusedOfRunningPod } from "../../../host/engine/planned/feature-hooks.ts";
import { requirePlugins } from "../../../host/engine/plan/require-plugins.ts";
import type { RunningContainer } from "./running-container.ts";

/** One network to attach. */
export interface WantedAddition {
  readonly selection: NetworkSelection;
  /** Position from which a generated name counts. */
  readonly index: number;
  /** Names that other selections of the pod request. */
  readonly requestedNames: readonly string[];
  /** The pod's namespace; undefined if the container is not a pod's. */
  readonly podNamespace: string | undefined;
}

/** Plans the attachment. Faults: HOT_PLUG_REFUSED, INTERFACE_NAME_TAKEN, and those of an ADD. */
export async function planAddition(
  call: Call,
  cluster: Cluster,
  container: RunningContainer,
  wanted: WantedAddition,
): Promise<Result<AttachmentPlan>> {
  const { configuration, request } = call;
  const { selection, podNamespace } = wanted;
  const { entry } = container;
  const source = `${selection.namespace}/${selection.name}`;
  if (selection.defaultRoute !== undefined) {
    return failed(fault("HOT_PLUG_REFUSED", `network ${source}: default-route cannot be changed while the pod runs`));
  }
  const allowed = podNamespace === undefined ? ok(undefined) : checkNamespace(configuration, podNamespace, selection, "network");
  if (!allowed.ok) return allowed;
  const selected = entry.plan.attachments.filter(({ hotPlug }) => hotPlug?.selected !== undefined).length;
  const counts = { configured: entry.plan.attachments.length - selected, selected: selected + 1 };
  const fewEnough = checkAttachmentCount(configuration.bounds, counts);
  if (!fewEnough.ok) return fewEnough;
  const ifname = interfaceName(container, wanted, source);
  if (!ifname.ok) return ifname;
  const { containerId, args } = request;
  const attachment = { containerId, netns: entry.plan.netns, args, ifname: ifname.value, capabilityArgs: new Map() };
  const planned = await planDefinition(withoutDevices(call, source), cluster, selection, attachment, profileOf(configuration));
  if (!planned.ok) return planned;
  const refused = await refusedOfRunningPod(call.features, configuration, planned.value);
  if (!refused.ok) return refused;
  const plan = withDeviceInfo(planned.value);
  const reserved = reservedName(call, container, plan);
  if (!reserved.ok) return reserved;
  const shortEnough = checkPluginCount(configuration.bounds, source, plan.list.plugins.length);
  if (!shortEnough.ok) return shortEnough;
  const required = await requirePlugins(call, [plan]);
  return required.ok ? ok(plan) : required;
}

/** The context in which a definition that names a device plugin's resource is refused. */
function withoutDevices(call: Call, source: string): Call {
  const why = `network ${source}: its definition names a device plugin's resource, and the kubelet allocates devices only when a pod starts`;
  return { ...call, devices: async () => failed(fault("HOT_PLUG_REFUSED", why)) };
}

function interfaceName(
  { entry, before }: RunningContainer,
  { selection, index, requestedNames }: WantedAddition,
  source: string,
): Result<string> {
  const taken = new Set(["lo", ...before.links.map(({ name }) => name), ...entry.plan.attachments.map((each) => each.ifname)]);
  const wanted = selection.interface;
  if (wanted === undefined) {
    const requested = new Set(requestedNames);
    return ok(nextInterfaceName(index, (candidate) => taken.has(candidate) || requested.has(candidate)));
  }
  if (!taken.has(wanted)) return ok(wanted);
  const why = `requests interface "${wanted}", which is already in the pod's network namespace`;
  return failed(fault("INTERFACE_NAME_TAKEN", `network ${source} ${why}`));
}

function reservedName(call: Call, { entry }: RunningContainer, plan: AttachmentPlan): Result<void> {
  const [main] = entry.plan.attachments;
  const list = main === undefined ? undefined : parseNetworkList(main.conflist, "journalled default network");
  const mainName = list?.ok === true ? { mainName: list.value.name } : {};
  const reserved = reservedNameFault(call, plan, { ...mainName, replacesDefault: main?.source !== "default" });
  return reserved === undefined ? ok(undefined) : failed(reserved);
}
