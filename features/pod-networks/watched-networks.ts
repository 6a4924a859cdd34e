// A daemon's in-memory copy of PodNetworks and PodNetworkAttachments. The watches begin with the first lookup, so that a node whose configuration has
// no podNetworks asks for neither kind.

import { ok } from "../../src/fault/result.ts";
import {
  type PodNetwork,
  type PodNetworkAttachment,
  podNetworkApiVersion,
  readPodNetwork,
  readPodNetworkAttachment,
} from "./rules/objects.ts";
import { attachmentReason, networkReason } from "./rules/pod-readiness.ts";
import type { WatchAccess, WatchedObjects } from "../../host/cluster/object-source.ts";
import type { PodNetworkSource } from "./api-source.ts";
import { storedWhole } from "../../host/cluster/kube/object-store.ts";
import { Reflector, type ReflectorState } from "../../host/cluster/kube/reflector.ts";

/** 1,000 PodNetworks with their conditions take some 1 MB, 5,000 attachments some 5 MB. Further objects are read from the API. */
const bounds = { maxObject: 64 * 1024, maxTotal: 8 * 1024 * 1024 };

const group = `/apis/${podNetworkApiVersion}`;

/** Holds both kinds. */
export class NetworkInformers implements WatchedObjects<PodNetworkSource> {
  readonly #networks: Reflector<PodNetwork>;
  readonly #attachments: Reflector<PodNetworkAttachment>;
  readonly #count: (held: boolean) => void;
  #started = false;

  /** `count` is called for each lookup: whether the memory answered it. */
  constructor(access: WatchAccess, count: (held: boolean) => void) {
    this.#count = count;
    const shared = { ...access, query: {}, metadataOnly: false, consistent: true, bounds };
    this.#networks = new Reflector<PodNetwork>({
      ...shared,
      what: "PodNetworks",
      path: `${group}/podnetworks`,
      read: (object) => storedWhole(readPodNetwork(object), object),
    });
    this.#attachments = new Reflector<PodNetworkAttachment>({
      ...shared,
      what: "PodNetworkAttachments",
      path: `${group}/podnetworkattachments`,
      read: (object) => storedWhole(readPodNetworkAttachment(object), object),
    });
  }

  /** Empty before the first lookup. */
  get states(): readonly ReflectorState[] {
    return this.#started ? [this.#networks.state, this.#attachments.state] : [];
  }

  /**
   * `source`, with objects that pods may use answered from memory. Any other object is read through `source`: a pod whose gate was just opened must
   * not be refused because the watch lags behind.
   */
  over(source: PodNetworkSource): PodNetworkSource {
    return {
      network: async (name) => {
        this.#start();
        const known = this.#networks.get("", name);
        const isUsable = known !== undefined && networkReason(known, name) === undefined;
        this.#count(isUsable);
        return isUsable ? ok(known) : source.network(name);
      },
      attachment: async (namespace, name) => {
        this.#start();
        const known = this.#attachments.get(namespace, name);
        const isUsable = known !== undefined && attachmentReason(known) === undefined;
        this.#count(isUsable);
        return isUsable ? ok(known) : source.attachment(namespace, name);
      },
    };
  }

  renew(): void {
    this.#networks.renew();
    this.#attachments.renew();
  }

  stop(): void {
    this.#networks.stop();
    this.#attachments.stop();
  }

  #start(): void {
    if (this.#started) return;
    this.#started = true;
    this.#networks.start();
    this.#attachments.start();
  }
}
