// One network that a pod's resource claim asks for.

import type { NetworkList } from "../../../src/cni/network-list.ts";
import type { Result } from "../../../src/fault/result.ts";
import type { NetworkAttachmentDefinition } from "../../../src/npwg/network-attachment-definition.ts";
import type { NetworkSelection } from "../../../src/npwg/network-selection.ts";
import type { ClaimedDevice } from "../../store/journal/entry.ts";

/** The network, and the device that the attachment uses. */
export interface ClaimedNetwork {
  /** The claim and its request, for messages. */
  readonly what: string;
  readonly selection: NetworkSelection;
  /** The list that the claim itself has, in the place of a definition. */
  readonly inline: NetworkAttachmentDefinition | undefined;
  /** The attachment's PodNetwork. */
  readonly podNetwork?: string;
  /** The definitions of the PodNetwork that add keys to its chain. */
  readonly further?: readonly { readonly namespace: string; readonly name: string }[];
  /** Whether the network is the administrator's, so that no rule of a namespace binds it. */
  readonly isTrusted: boolean;
  /** The network's list with the device. */
  readonly place: (list: NetworkList) => Result<NetworkList>;
  /** The AddressPool that the attachment must have an address of. */
  readonly pool?: string;
  /** The device information of an exclusive device, for the network status. */
  readonly device?: object;
  readonly claim: ClaimedDevice;
}
