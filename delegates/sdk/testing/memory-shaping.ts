// The `shaping` capability in memory: a vector sets the shapes before the call and shows those after it. kernel-agrees-shaping.test.ts compares it
// with the kernel.

import { refuse, type WitOutcome } from "../../../host/capabilities/outcome.ts";
import { deviceNames } from "../../../host/capabilities/shaping/devices.ts";
import {
  attachmentIn,
  noNodeLink,
  readShape,
  retainDenial,
  type Shape,
  type ShapingCall,
} from "../../../host/capabilities/shaping/requests.ts";
import { numberDifference } from "../../../host/capabilities/shaping/shape.ts";
import { kernelBucket } from "../../../host/system/netlink/token-bucket.ts";
import type {
  AttachmentId,
  Fault,
  ShapingBucket,
  ShapingCapability,
  ShapingCounters,
  ShapingDevice,
  ShapingShape,
} from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { formatCidr } from "../../../src/net/ip.ts";

/** A vector's state. */
export interface ShapingState {
  /** Shapes by attachment (`containerId ifname`). */
  readonly shapes?: Readonly<Record<string, ShapingShape>> | undefined;
  /** The fault of every function that reads or changes the kernel's state. */
  readonly fault?: Fault | undefined;
}

/** The call that uses the shapes. `nodeLink`: the node's end of the attachment's veth. */
export interface MemoryShapingCall extends ShapingCall {
  readonly network: string;
  readonly nodeLink: () => string | undefined;
}

/** The MAC of the devices: the kernel chooses one by chance. */
const deviceMac = "02:00:00:00:1f:b0";

const nothingPassed: ShapingCounters = { bytes: 0, packets: 0, drops: 0 };

/** The shapes of one call. */
export class MemoryShaping {
  readonly #call: MemoryShapingCall;
  readonly #fault: Fault | undefined;
  /** Shapes by attachment; kept by the caller for several calls. */
  readonly #shapes: Map<string, ShapingShape>;

  constructor({ shapes = {}, fault }: ShapingState = {}, call: MemoryShapingCall, table = new Map<string, ShapingShape>()) {
    this.#call = call;
    this.#fault = fault;
    this.#shapes = table;
    for (const [owner, shape] of Object.entries(shapes)) table.set(owner, shape);
  }

  /** The current shapes. */
  shapes(): Readonly<Record<string, ShapingShape>> {
    return Object.fromEntries(this.#shapes);
  }

  readonly functions: ShapingCapability = {
    nodeLink: () => this.#ofAttachment(["ADD", "CHECK"], () => ({ ok: this.#call.nodeLink() })),
    replace: (requested) =>
      this.#ofShape(["ADD"], requested, (_shape, owner) => {
        if (requested.ingress === undefined && requested.egress === undefined) this.#shapes.delete(keyOf(owner));
        else this.#shapes.set(keyOf(owner), requested);
        return { ok: requested.egress === undefined ? undefined : this.#deviceOf(owner) };
      }),
    difference: (requested) =>
      this.#ofShape(["ADD", "CHECK"], requested, (shape, owner, link) => {
        const kept = this.#shapes.get(keyOf(owner));
        const present = kept === undefined ? undefined : readShape(kept);
        if (present?.ok === false) throw new Error(`shaping.shapes.${keyOf(owner)}: ${present.fault.msg}`);
        return { ok: differenceOf(shape, present?.value, link, this.#deviceOf(owner).name) };
      }),
    usage: () =>
      this.#ofAttachment(["ADD", "CHECK"], (owner) => {
        const kept = this.#shapes.get(keyOf(owner));
        return { ok: { ingress: counted(kept?.ingress), egress: counted(kept?.egress) } };
      }),
    remove: () =>
      this.#ofAttachment(["ADD", "DEL"], (owner) => {
        this.#shapes.delete(keyOf(owner));
        return { ok: undefined };
      }),
    retain: (valid) => {
      const denied = retainDenial(this.#call);
      if (denied !== undefined) return refuse(denied);
      if (this.#fault !== undefined) return { err: this.#fault };
      const kept = new Set(valid.map(keyOf));
      const stale = [...this.#shapes].filter(([owner]) => !kept.has(owner));
      for (const [owner] of stale) this.#shapes.delete(owner);
      // The qdiscs of `ingress` ended with the veth: only devices are found.
      return { ok: stale.filter(([, { egress }]) => egress !== undefined).length };
    },
  };

  #deviceOf({ containerId, ifname }: AttachmentId): ShapingDevice {
    const [name] = deviceNames({ network: this.#call.network, containerId, ifname });
    return { name, mac: deviceMac };
  }

  #ofAttachment<T>(verbs: readonly ShapingCall["verb"][], act: (owner: AttachmentId) => WitOutcome<T>): WitOutcome<T> {
    const attachment = attachmentIn(this.#call, verbs);
    if (!attachment.ok) return refuse(attachment.fault);
    return this.#fault === undefined ? act(attachment.value) : { err: this.#fault };
  }

  #ofShape<T>(
    verbs: readonly ShapingCall["verb"][],
    requested: ShapingShape,
    act: (shape: Shape, owner: AttachmentId, link: string) => WitOutcome<T>,
  ): WitOutcome<T> {
    return this.#ofAttachment(verbs, (owner) => {
      const shape = readShape(requested);
      if (!shape.ok) return refuse(shape.fault);
      const link = this.#call.nodeLink();
      return link === undefined ? refuse(noNodeLink(owner.ifname)) : act(shape.value, owner, link);
    });
  }
}

/** The first difference of the present shape from the wanted one, in the words of the node. */
function differenceOf(wanted: Shape, present: Shape | undefined, link: string, device: string): string | undefined {
  if (wanted.ingress === undefined && present?.ingress !== undefined)
    return `${link} has a token bucket, and traffic towards the pod has no bound`;
  if (wanted.egress === undefined && present?.egress !== undefined)
    return `there is the device ${device}, and traffic from the pod has no bound`;
  if (wanted.ingress !== undefined) {
    const why = boundDifference(link, wanted, wanted.ingress, present, present?.ingress);
    if (why !== undefined) return why;
  }
  if (wanted.egress === undefined) return undefined;
  if (present?.egress === undefined) return "there is no device for traffic from the pod";
  return boundDifference(device, wanted, wanted.egress, present, present.egress);
}

function boundDifference(
  name: string,
  wanted: Shape,
  bucket: ShapingBucket,
  present: Shape | undefined,
  kept: ShapingBucket | undefined,
): string | undefined {
  if (present === undefined || kept === undefined) return `${name} has no token bucket`;
  const [kind, found] = [wanted, present].map(({ bounded }) => (bounded === "all" ? "tbf" : "htb"));
  if (kind !== found) return `the qdisc of ${name} is ${found}, not ${kind}`;
  const [numbers, others] = [kernelBucket(bucket), kernelBucket(kept)];
  if (kind === "tbf") return numberDifference(name, numbers, others);
  if (wanted.bounded !== present.bounded) return `the qdisc of ${name} has another default class`;
  const { limit: _, ...rest } = numbers;
  const why = numberDifference(name, rest, others);
  if (why !== undefined) return why;
  const [networks, foundNetworks] = [wanted.networks.map(formatCidr), present.networks.map(formatCidr)];
  if (networks.length !== foundNetworks.length)
    return `${name} has filters of ${foundNetworks.length} networks, not of ${networks.length}`;
  return networks.every((each) => foundNetworks.includes(each)) ? undefined : `${name} has filters of other networks`;
}

function counted(bucket: ShapingBucket | undefined): ShapingCounters | undefined {
  return bucket === undefined ? undefined : nothingPassed;
}

function keyOf({ containerId, ifname }: AttachmentId): string {
  return `${containerId} ${ifname}`;
}
