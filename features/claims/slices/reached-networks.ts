// The daemon's copy of the PodNetworks that name devices (spec.devices).

import { Reflector } from "../../../host/cluster/kube/reflector.ts";
import type { WatchAccess } from "../../../host/cluster/object-source.ts";
import { type ReachedNetwork, readReachedNetwork } from "../rules/reaching-devices.ts";

/** A PodNetwork with its devices takes some 1 KiB at most. */
const bounds = { maxObject: 64 * 1024, maxTotal: 1024 * 1024 };

/** The watched PodNetworks. */
export class ReachedNetworks {
  readonly #reflector: Reflector<ReachedNetwork>;

  /** `onChange` is called after a change of any PodNetwork. */
  constructor(access: WatchAccess, onChange: () => void) {
    this.#reflector = new Reflector<ReachedNetwork>({
      ...access,
      what: "PodNetworks of devices",
      path: "/apis/plexus.dev/v1alpha1/podnetworks",
      query: {},
      metadataOnly: false,
      consistent: true,
      // Without the kind no network names a device.
      absentIsEmpty: true,
      bounds,
      whileNotWatched: "the node's slices keep the networks that were seen last",
      read: (object) => {
        const value = readReachedNetwork(object);
        if (value === undefined) return undefined;
        const size = value.devices.reduce((sum, each) => sum + each.length, value.name.length);
        return { namespace: "", name: value.name, value, size };
      },
      onChange,
    });
    this.#reflector.start();
  }

  /** Whether the networks were listed. Slices before that would leave networks out that the devices reach. */
  get isListed(): boolean {
    return this.#reflector.listed;
  }

  get all(): readonly ReachedNetwork[] {
    return [...this.#reflector.stored()].map(({ value }) => value).filter(({ devices }) => devices.length > 0);
  }

  stop(): void {
    this.#reflector.stop();
  }
}
