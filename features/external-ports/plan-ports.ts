// The ports of outer fabrics in the plan of an ADD: all of a pod's ports are ready before the first plugin runs (KU-20, KU-21). Plugins get a port by CNI's
// own means for dynamic data, as the capability argument `externalPort`, and its addresses as `ips` and `mac` (CONVENTIONS.md).

import { externalPortName } from "./rules/external-port.ts";
import type { ProvidedPort } from "./rules/provided-port.ts";
import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import type { AttachmentPlan } from "../../host/engine/planned/attachment-plan.ts";
import type { PlannedNetworks } from "../../host/engine/planned/plan-feature.ts";
import { readyPort } from "./ready-port.ts";
import { definitionProvider } from "./rules/definition-provider.ts";

/** The capability of plugins that take a whole port. */
const portCapability = "externalPort";

/**
 * The attachments with their ports, which are awaited side by side. Faults: EXTERNAL_PORT_NOT_READY, EXTERNAL_PORT_REFUSED, NETWORK_INVALID if an
 * annotation is wrong, or if no plugin of the network takes the port; those of the API.
 */
export async function withExternalPorts(planned: PlannedNetworks): Promise<Result<readonly AttachmentPlan[]>> {
  // A mistake must not wait for the ports of other networks.
  for (const plan of planned.attachments) {
    const named = providerOf(plan);
    if (!named.ok) return named;
  }
  const ready = await Promise.all(planned.attachments.map((each) => withPort(planned, each)));
  const attachments: AttachmentPlan[] = [];
  for (const plan of ready) {
    if (!plan.ok) return plan;
    attachments.push(plan.value);
  }
  return ok(attachments);
}

/** Ports are made when a pod starts. Faults HOT_PLUG_REFUSED, NETWORK_INVALID. */
export async function refuseForRunningPod(plan: AttachmentPlan): Promise<Result<void>> {
  const provider = providerOf(plan);
  if (!provider.ok || provider.value === undefined) return provider.ok ? ok(undefined) : provider;
  const why = `its ports of provider "${provider.value}" are made only when a pod starts`;
  return failed(fault("HOT_PLUG_REFUSED", `network ${plan.source}: ${why}`));
}

/** The provider that the attachment's definition names. */
function providerOf({ source, annotations }: AttachmentPlan): Result<string | undefined> {
  const reading = definitionProvider(annotations ?? new Map());
  if (reading.kind === "invalid")
    return failed(fault("NETWORK_INVALID", `NetworkAttachmentDefinition ${source}: ${reading.problem}`));
  return ok(reading.kind === "none" ? undefined : reading.value.provider);
}

async function withPort({ cluster, pod, selected }: PlannedNetworks, plan: AttachmentPlan): Promise<Result<AttachmentPlan>> {
  const named = providerOf(plan);
  if (!named.ok) return named;
  const { source, list, request } = plan;
  const provider = named.value;
  if (provider === undefined) return ok(plan);
  const network = `network ${source} has ports of provider "${provider}"`;
  // A port belongs to a position in the pod's own selection.
  const index = request === undefined ? -1 : selected.indexOf(request.selection);
  if (index === -1) {
    return failed(fault("NETWORK_INVALID", `${network}, so only the annotation k8s.v1.cni.cncf.io/networks can select it`));
  }
  const declared = new Set(list.plugins.flatMap(({ capabilities }) => capabilities));
  if (![portCapability, "mac", "ips"].some((each) => declared.has(each))) {
    return failed(fault("NETWORK_INVALID", `${network}, but no plugin of it has "capabilities": {"${portCapability}": true}`));
  }
  const api = cluster?.api;
  if (api === undefined || pod?.uid === undefined) {
    return failed(fault("EXTERNAL_PORT_NOT_READY", `${network}, which need the Kubernetes API and the pod's UID`));
  }
  const use = { podUid: pod.uid, definition: source, provider };
  const port = await readyPort(api, pod.namespace, externalPortName(pod.uid, index), use);
  if (!port.ok) return port;
  const capabilityArgs = new Map([...plan.attachment.capabilityArgs, ...argsOf(port.value, declared)]);
  return ok({ ...plan, attachment: { ...plan.attachment, capabilityArgs } });
}

function argsOf(port: ProvidedPort, declared: ReadonlySet<string>): readonly (readonly [string, string])[] {
  const { mac, addresses } = port;
  const values = { [portCapability]: port, mac, ips: addresses.map(({ address }) => address) };
  return Object.entries(values).flatMap(([key, value]) => (declared.has(key) ? [[key, JSON.stringify(value)] as const] : []));
}
