// Finds the rules for the steps of one network.

import { type DefinitionName, type DefinitionPolicy, rulesFor } from "./definition-policy.ts";
import type { StepRules } from "./step-rules.ts";

/** The rules of a network; undefined if there are none. The first rule of a bound definition's namespace that has a type decides. */
export function stepRulesFor(
  { steps, definitions }: { readonly steps?: StepRules | undefined; readonly definitions?: DefinitionPolicy | undefined },
  definition: DefinitionName | undefined,
): StepRules | undefined {
  if (definition === undefined) return steps;
  // The first rule has to win, so its entries come last.
  const bound = definitions === undefined ? [] : rulesFor(definitions, definition.namespace);
  const entries = bound.toReversed().flatMap(({ steps: rules = {} }) => Object.entries(rules));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
