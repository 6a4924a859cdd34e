// The part of a work for a running pod that could not be done, although another part was. The work is tried again.

import type { PodEvent } from "./pod-event.ts";

/** The Event that the pod gets for such a part. */
export interface Shortfall extends PodEvent {
  /** Whether the pod has all that it needs without this part. False: the work counts as failed. */
  readonly isWhole: boolean;
}
