// Changes of running containers that clients of the daemon ask for.

import type { Result } from "../src/fault/result.ts";
import type { NetworkSelection } from "../src/npwg/network-selection.ts";
import type { JournalEntry } from "../host/store/journal/entry.ts";

/** Decides while nothing else changes the container whether an attachment's link is lost. `entry`: the container's entry in the journal as it is then. */
export type IsLost = (entry: JournalEntry) => Promise<Result<boolean>>;

/** Changes of running containers that a client asks for. */
export interface InterfaceChanges {
  /**
   * Attaches a network to a running container, until `detach` or the runtime's DEL. The same request again answers its attachment. `containerId`:
   * CNI_CONTAINERID of the sandbox. Faults: HOT_PLUG_REFUSED, HOT_PLUG_UNAVAILABLE, CALL_BUSY, and those of an ADD.
   */
  readonly attach: (containerId: string, selection: NetworkSelection) => Promise<Result<{ readonly ifname: string }>>;
  /** Detaches what `attach` attached; an unknown interface is a success. Faults: as `attach`, and those of a DEL. */
  readonly detach: (containerId: string, ifname: string) => Promise<Result<void>>;
  /**
   * Attaches the network of an interface again, whose link was lost: the same name, hardware address, addresses and routes; leases stay. Answers `held` if the link is not
   * lost (any more), and then changes nothing. Faults: as `attach`, and those of `isLost`.
   */
  readonly repair: (containerId: string, ifname: string, isLost: IsLost) => Promise<Result<"repaired" | "held">>;
}
