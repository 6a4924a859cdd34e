// The ways to PodNetworks and PodNetworkAttachments: one call's requests, and a daemon's copy.

import type { ObjectSource } from "../../host/cluster/object-source.ts";
import { podNetworkSource, type PodNetworkSource } from "./api-source.ts";

/** The ways. */
export const podNetworkObjects: ObjectSource<PodNetworkSource> = {
  read: podNetworkSource,
  // A one-shot engine watches nothing.
  watch: async (access, count) => new (await import("./watched-networks.ts")).NetworkInformers(access, count),
};
