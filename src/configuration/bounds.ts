// The bounds of one pod's ADD: how many plugins a network may have and how many attachments a pod. Without them the author of an annotation or
// a definition decides how long a call occupies the node. Only ADD is bounded: a DEL works from the journal and must always be possible.

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import type { ObjectReader } from "./object-reader.ts";

/** The configuration key `bounds`. */
export interface Bounds {
  /** Maximum plugins in one configuration list. */
  readonly pluginsPerNetwork: number;
  /** Maximum attachments of a pod: the default network, the administrator's further networks and the pod's selection. */
  readonly attachmentsPerPod: number;
}

export const defaultBounds: Bounds = { pluginsPerNetwork: 32, attachmentsPerPod: 64 };

/** The largest value of each key. */
export const maxBound = 1024;

/** Reads the key `bounds`. */
export function readBounds(reader: ObjectReader | undefined): Bounds {
  const bounds = {
    pluginsPerNetwork: reader?.count("pluginsPerNetwork", maxBound) ?? defaultBounds.pluginsPerNetwork,
    attachmentsPerPod: reader?.count("attachmentsPerPod", maxBound) ?? defaultBounds.attachmentsPerPod,
  };
  reader?.end();
  return bounds;
}

/** Checks the number of a network's plugins. `source` names the network in the message. Fault: BOUND_EXCEEDED. */
export function checkPluginCount({ pluginsPerNetwork }: Bounds, source: string, plugins: number): Result<void> {
  if (plugins <= pluginsPerNetwork) return ok(undefined);
  const why = `its list has ${plugins} plugins, but at most ${pluginsPerNetwork} are allowed`;
  return failed(fault("BOUND_EXCEEDED", `network ${source}: ${why} (bounds.pluginsPerNetwork)`));
}

/** The attachments that a pod would get, by their origin. */
export interface AttachmentCounts {
  /** The default network and the administrator's further networks. */
  readonly configured: number;
  /** Networks that the pod's annotation selects. */
  readonly selected: number;
}

/** Checks the number of a pod's attachments. Fault: BOUND_EXCEEDED. */
export function checkAttachmentCount({ attachmentsPerPod }: Bounds, { configured, selected }: AttachmentCounts): Result<void> {
  const all = configured + selected;
  if (all <= attachmentsPerPod) return ok(undefined);
  const origin =
    selected === 0
      ? `the configuration gives each pod ${configured} networks`
      : `the pod's annotation k8s.v1.cni.cncf.io/networks selects ${selected} networks, and the configuration adds ${configured}`;
  const why = `a pod may have at most ${attachmentsPerPod} attachments`;
  return failed(fault("BOUND_EXCEEDED", `${origin}: ${all} in all, but ${why} (bounds.attachmentsPerPod)`));
}
