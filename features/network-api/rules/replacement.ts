// Decides whether a network that a client sets replaces the stored one (CR-02).

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { type NetworkConfig, networkKey, networkMessage } from "./network-config.ts";

/**
 * `unchanged`: the stored network is this one already. Faults: NETWORK_OUTDATED for an older generation, and for the same generation with other
 * content; NETWORK_NAME_TAKEN if the network would change its name for CNI, or has the name of `others`.
 */
export function replacementOf(
  wanted: NetworkConfig,
  stored: NetworkConfig | undefined,
  others: readonly NetworkConfig[],
): Result<"unchanged" | "write"> {
  const key = networkKey(wanted.metadata);
  const owner = others.find(({ networkName }) => networkName === wanted.networkName);
  if (owner !== undefined)
    return taken(`network ${key}: network ${networkKey(owner.metadata)} has the network_name ${wanted.networkName} already`);
  if (stored === undefined) return ok("write");
  // Addresses and journal entries of running sandboxes belong to the name.
  if (stored.networkName !== wanted.networkName)
    return taken(`network ${key} has the network_name ${stored.networkName}, which cannot become ${wanted.networkName}`);
  if (stored.metadata.uid !== wanted.metadata.uid) return ok("write");
  const [before, now] = [stored.metadata.generation, wanted.metadata.generation];
  if (now < before) return outdated(`network ${key} has generation ${before}; generation ${now} is older`);
  const same = JSON.stringify(networkMessage(stored)) === JSON.stringify(networkMessage(wanted));
  if (same) return ok("unchanged");
  return now > before ? ok("write") : outdated(`network ${key} has generation ${now} with other content`);
}

function taken(why: string): Result<never> {
  return failed(fault("NETWORK_NAME_TAKEN", why));
}

function outdated(why: string): Result<never> {
  return failed(fault("NETWORK_OUTDATED", why));
}
