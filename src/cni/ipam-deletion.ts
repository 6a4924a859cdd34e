// DEL of a plugin's IPAM plugin by itself, with the step's own configuration, as the plugin would call it (CNI section 4). Some plugins leave it
// out: host-device does in a DEL without a network namespace.

import { attachmentStep, chainFailed, describePlugin, previousResult, wrapFault } from "./chains.ts";
import type { AttachmentContext, Chain } from "./chain-step.ts";
import { type PluginConf, parsePluginConf } from "./network-list.ts";

/** DEL of the `ipam.type` of the list's plugin with this index. `cached`: the attachment's final result, if known. */
export function* ipamDelChain(
  context: AttachmentContext,
  index: number,
  plugin: PluginConf,
  cached: string | undefined,
): Chain<void> {
  const type = plugin.ipamType ?? plugin.type;
  // The configuration on stdin names the caller as `type`.
  const ipam = parsePluginConf(JSON.stringify({ type }), type);
  if (!ipam.ok) return chainFailed(ipam.fault, index);
  const previous = previousResult(context, cached);
  const step = attachmentStep(context, "DEL", index, plugin, previous.ok ? previous.value : undefined);
  const outcome = yield { ...step, plugin: ipam.value };
  if (outcome.ok) return { ok: true, value: undefined };
  return chainFailed(wrapFault(outcome.fault, `IPAM plugin ${describePlugin(ipam.value)} failed (delete)`), index);
}
