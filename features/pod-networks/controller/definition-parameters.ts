// The state of an object's parametersRefs: whether each definition exists and is readable, and whether all of them fit together (KE-09, KE-60).

import { networkFor } from "../../../src/npwg/network-for-definition.ts";
import type { ParametersState } from "../rules/conditions.ts";
import type { ParametersRef } from "../rules/objects.ts";
import { mergeParameters, type Parameter } from "../../../src/npwg/merged-definitions.ts";
import { definitionOf, refProblem } from "../rules/provider.ts";
import { maxCheckedLength } from "../../../host/controller/definitions/stored-definition.ts";
import type { KeptDefinition } from "./stored.ts";

/** Finds a definition; undefined if there is none. */
export type FindDefinition = (namespace: string, name: string) => KeptDefinition | undefined;

/**
 * Examines the references of an object of `namespace` (empty for a PodNetwork). `base` are those of the PodNetwork of an attachment: the
 * attachment's parameters are added to them. A definition without spec.config means a file of each node, which the controller cannot see.
 */
export function parametersState(
  refs: readonly ParametersRef[],
  namespace: string,
  find: FindDefinition,
  base: readonly ParametersRef[] = [],
): ParametersState {
  const parameters: Parameter[] = [];
  const all = [...base.map((ref) => ({ ref, own: "" })), ...refs.map((ref) => ({ ref, own: namespace }))];
  for (const [index, { ref, own }] of all.entries()) {
    const what = index < base.length ? `the PodNetwork's parametersRefs[${index}]` : `parametersRefs[${index - base.length}]`;
    const problem = refProblem(ref, what, own);
    if (problem !== undefined) return { problem };
    const { namespace: in_, name } = definitionOf(ref, own);
    const definition = find(in_, name);
    if (definition === undefined) return { problem: `${what}: NetworkAttachmentDefinition ${in_}/${name} does not exist` };
    if (definition.omittedLength !== undefined) {
      const length = `spec.config has ${definition.omittedLength} characters; plexus-controller examines at most ${maxCheckedLength}`;
      return { problem: `${what}: NetworkAttachmentDefinition ${in_}/${name}: ${length}. Shorten the configuration` };
    }
    if (definition.config === undefined) {
      if (all.length === 1) continue;
      return {
        problem: `${what}: NetworkAttachmentDefinition ${in_}/${name} has no spec.config, so that nothing can be added to it`,
      };
    }
    const network = networkFor(definition, undefined);
    if (!network.ok) return { problem: `${what}: ${network.fault.msg}` };
    parameters.push({ source: `${in_}/${name}`, list: network.value.list });
  }
  const merged = parameters.length < 2 ? undefined : mergeParameters(parameters);
  return { problem: merged?.ok === false ? merged.fault.msg : undefined };
}
