// Validates a list against its plugins as libcni's ValidateNetworkList does (L-14): each must be installed and support exactly the list's version. Plexus itself asks for
// versions before an ADD only; this chain compares its reading of their answers with libcni's.

import { type Fault, fault } from "../../../../src/fault/fault.ts";
import { quote } from "../../../../src/json/quote.ts";
import { chainFailed } from "../../../../src/cni/chains.ts";
import type { Chain, ChainContext } from "../../../../src/cni/chain-step.ts";
import { stepEnvironment } from "../../../../src/cni/environment.ts";
import { readVersionAnswer, VERSION_PROBE_CALL, VERSION_PROBE_STDIN } from "../../../../src/cni/version-answer.ts";
import { DEFAULT_VERSION } from "../../../../src/cni/versions.ts";

/**
 * Asks every plugin of the list for its versions. Faults are joined, with the first one's kind and code. Answers the capabilities
 * of all plugins, each once.
 */
export function* validateChain(context: ChainContext): Chain<readonly string[]> {
  const { list, inherited } = context;
  const wanted = list.cniVersion === "" ? DEFAULT_VERSION : list.cniVersion;
  const env = stepEnvironment(VERSION_PROBE_CALL, inherited);
  const faults: { readonly fault: Fault; readonly step: number }[] = [];
  const capabilities = new Set<string>();
  for (const [index, plugin] of list.plugins.entries()) {
    for (const capability of plugin.capabilities) capabilities.add(capability);
    const step = {
      index,
      plugin,
      verb: "VERSION",
      stdin: VERSION_PROBE_STDIN,
      env,
      prevResult: undefined,
      attachment: undefined,
    } as const;
    const versions = readVersionAnswer(yield step, `answer of plugin ${plugin.type} to VERSION`);
    if (!versions.ok) {
      faults.push({ fault: versions.fault, step: index });
    } else if (!versions.value.includes(wanted)) {
      const msg = `plugin ${plugin.type} does not support config version ${quote(wanted)}`;
      faults.push({
        fault: fault("VERSION_UNSUPPORTED", msg, { details: `it supports ${versions.value.join(", ")}` }),
        step: index,
      });
    }
  }
  const [first] = faults;
  if (first === undefined) return { ok: true, value: [...capabilities] };
  return chainFailed({ ...first.fault, msg: faults.map((each) => each.fault.msg).join("; ") }, first.step);
}
