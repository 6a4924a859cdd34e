// Prepares and unprepares claims for the kubelet. Preparing reads the claim and writes down what an ADD will attach, and what other programs may know of
// exclusive devices. Nothing else of the node changes, so that there is nothing to undo.

import { ok, type Result } from "../../../src/fault/result.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { quote } from "../../../src/json/quote.ts";
import type { ObjectName } from "../../../host/cluster/api/named-object.ts";
import type { ObjectReader } from "../../../host/cluster/kube/api-objects.ts";
import { type ClaimDevice, noNetwork, readAllocatedClaim } from "../rules/claim-networks.ts";
import { cdiDeviceId, exclusiveDevices } from "../rules/device-files.ts";
import { attributeOf } from "../rules/device-settings.ts";
import { networksDomain } from "../rules/names.ts";
import type { OfferedDevice } from "../rules/offered-devices.ts";
import {
  type ClaimedLink,
  isUid,
  type PreparedClaim,
  type PreparedDevice,
  type PreparedNetwork,
} from "../rules/prepared-claim.ts";
import type { ClaimStore } from "../node/claim-store.ts";
import type { DeviceFiles } from "./device-files.ts";

/** A claim as the kubelet names it. */
export interface KubeletClaim {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** A Prepare of a claim that waits for the API. */
export interface PrepareCall {
  readonly uid: string;
  /** Whether the kubelet has unprepared the claim since: the pod was deleted, and no further Unprepare will come. */
  isGivenUp: boolean;
}

/** The prepared claims of the node, and their device files. */
export interface PreparedState {
  readonly store: ClaimStore;
  readonly files: DeviceFiles;
}

/** The parts of the daemon that preparing needs. */
export interface PrepareDeps extends PreparedState {
  /** The calls that wait. */
  readonly calls: Set<PrepareCall>;
  readonly nodeName: string;
  /** The API; undefined if the daemon has none. */
  readonly api: () => Promise<ObjectReader | undefined>;
  /** The node's device of this name; undefined if the node has no such link now. */
  readonly device: (name: string) => OfferedDevice | undefined;
}

/** Kubernetes' names: they become a path of the API. */
const nameForm = /^[a-z0-9](?:[-.a-z0-9]{0,251}[a-z0-9])?$/;
/** Claims of one request: a pod has at most 32. */
const maxClaims = 256;

/** The path of a claim in the API. */
export function claimPath({ namespace, name }: ObjectName): string {
  return `/apis/resource.k8s.io/v1/namespaces/${namespace}/resourceclaims/${name}`;
}

/** Answers NodePrepareResources. A claim that is prepared already gets the same answer. */
export async function prepareClaims(deps: PrepareDeps, request: unknown): Promise<object> {
  const answers = await Promise.all(
    claimsIn(request).map(async (claim): Promise<[string, object]> => {
      const call: PrepareCall = { uid: claim.uid, isGivenUp: false };
      deps.calls.add(call);
      const prepared = await prepare(deps, claim, call).finally(() => deps.calls.delete(call));
      const what = `resource claim ${claim.namespace}/${claim.name}`;
      return [
        claim.uid,
        typeof prepared === "string"
          ? { error: `${what} ${prepared}` }
          : { devices: deviceMessages(deps, claim.uid, [...prepared.networks, ...(prepared.devices ?? [])]) },
      ];
    }),
  );
  return { claims: Object.fromEntries(answers) };
}

/** Answers NodeUnprepareResources. The API is not asked: the claim may be gone. */
export function unprepareClaims(deps: PrepareDeps, request: unknown): object {
  const answers = claimsIn(request).map(({ uid }): [string, object] => {
    for (const call of deps.calls) if (call.uid === uid) call.isGivenUp = true;
    const removed = unprepared(deps, uid);
    return [uid, removed.ok ? {} : { error: removed.fault.msg }];
  });
  return { claims: Object.fromEntries(answers) };
}

/** Removes all files of a claim; a uid that is no file's name has none. Fault STORE_FAILED. */
export function unprepared({ store, files }: PreparedState, uid: string): Result<void> {
  if (!isUid(uid)) return ok(undefined);
  const read = store.claim(uid);
  const claim = read.ok ? read.value : undefined;
  const others = claim === undefined || exclusiveDevices(claim).length === 0 ? ok([]) : store.others(uid);
  if (!others.ok) return others;
  const removed = files.remove(uid, claim, others.value);
  return removed.ok ? store.remove(uid) : removed;
}

/** The devices, or why the claim cannot be prepared: the kubelet writes the reason into an Event of the pod, and tries again. */
async function prepare(deps: PrepareDeps, claim: KubeletClaim, call: PrepareCall): Promise<PreparedClaim | string> {
  if (!nameForm.test(claim.namespace) || !nameForm.test(claim.name)) return "has no name of Kubernetes";
  const api = await deps.api();
  if (api === undefined) return "cannot be read: plexusd has no credentials of the Kubernetes API (--kubeconfig)";
  const answer = await api.get(claimPath(claim));
  if (answer.kind !== "object") return `cannot be read from the Kubernetes API: ${answer.why}`;
  // From here on nothing waits, so that no Unprepare comes in between.
  if (call.isGivenUp) return "was unprepared while it was read from the Kubernetes API";
  const read = readAllocatedClaim(answer.object, claim);
  if (!read.ok) return read.problem;
  const networks: PreparedNetwork[] = [];
  for (const network of read.value.networks) {
    const device = offered(deps, network);
    if (typeof device === "string") return device;
    const { source } = network;
    // The scheduler must have placed the pod by the device's attribute, so that the pod is only where the network is.
    if (source.kind === "podNetwork" && !device.settings.networks.includes(source.name))
      return `names PodNetwork ${quote(source.name, 60)}, which device ${quote(network.device, 60)} does not reach: select devices by the attribute ${networksDomain}/${attributeOf(source.name)}, or add the network to the device's networks`;
    networks.push({ ...network, link: linkOf(device) });
  }
  const devices: PreparedDevice[] = [];
  for (const each of read.value.devices) {
    const device = offered(deps, each);
    if (typeof device === "string") return device;
    if (device.settings.resourceName === undefined) return noNetwork(each.request);
    devices.push({ ...each, link: linkOf(device) });
  }
  const prepared = { ...read.value, networks, devices };
  const written = deps.store.write(prepared);
  if (!written.ok) return written.fault.msg;
  const filed = deps.files.write(prepared);
  return filed.ok ? prepared : filed.fault.msg;
}

function offered({ nodeName, device: find }: PrepareDeps, { pool, device: name }: ClaimDevice): OfferedDevice | string {
  const device = pool === nodeName ? find(name) : undefined;
  return (
    device ??
    `has device ${quote(pool, 60)}/${quote(name, 60)}, which node ${nodeName} does not offer now: its link is gone, or the node's devices were configured anew`
  );
}

function linkOf({ link, settings }: OfferedDevice): ClaimedLink {
  const { name, kind, pciAddress } = link;
  const { shared, vlans, resourceName } = settings;
  return {
    name,
    kind,
    isExclusive: shared === undefined,
    ...(pciAddress === undefined ? {} : { pciAddress }),
    ...(resourceName === undefined ? {} : { resourceName }),
    ...(vlans === undefined ? {} : { vlans }),
  };
}

/** The devices of a claim. Those of one request share a CDI device, which only the first of them names: runtimes may refuse a name that they get twice. */
function deviceMessages({ files }: PrepareDeps, uid: string, devices: readonly PreparedDevice[]): readonly object[] {
  const named = new Set<string>();
  return devices.map(({ request, pool, device, shareId, link }) => {
    const hasCdi = files.hasCdi && link.isExclusive && link.pciAddress !== undefined && !named.has(request);
    if (hasCdi) named.add(request);
    return {
      // A container names a request, and never one of its alternatives.
      request_names: [request.split("/")[0]],
      pool_name: pool,
      device_name: device,
      ...(hasCdi ? { cdi_device_ids: [cdiDeviceId(uid, request)] } : {}),
      ...(shareId === "" ? {} : { share_id: shareId }),
    };
  });
}

function claimsIn(request: unknown): readonly KubeletClaim[] {
  const list: unknown = isJsonObject(request) ? request["claims"] : undefined;
  if (!Array.isArray(list)) return [];
  return (list as readonly unknown[]).slice(0, maxClaims).flatMap((each) => {
    if (!isJsonObject(each)) return [];
    const { namespace, name, uid } = each;
    return [{ namespace: String(namespace), name: String(name), uid: String(uid) }];
  });
}
