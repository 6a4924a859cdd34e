// The bounds of one pod's ADD: how many plugins a network may have and how many attachments a pod. Without them the author of an annotation or
// a definition decides how long a call occupies the node. Only ADD is bounded: a DEL works from the journal and must always be possible.

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { defaultsOf, key, type ValuesOf } from "./table/key.ts";
import { count } from "./table/kinds.ts";
import { section } from "./table/section.ts";

/** The largest value of each bound. */
const maxBound = 1024;

const boundKeys = {
  pluginsPerNetwork: key({
    kind: count(maxBound),
    about: "Maximum plugins in one configuration list; {usual} by default.",
    usual: 32,
  }),
  attachmentsPerPod: key({
    kind: count(maxBound),
    about: "Maximum attachments of a pod, with the default network and the administrator's further networks; {usual} by default.",
    usual: 64,
  }),
};

/** The bounds in force. */
export type Bounds = ValuesOf<typeof boundKeys>;

export const defaultBounds: Bounds = defaultsOf(boundKeys);

/** The kind of `bounds`. */
export const boundsSection = section(boundKeys);

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
