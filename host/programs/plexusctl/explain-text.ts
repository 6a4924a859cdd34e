// The text that `plexusctl explain` prints.

import type {
  ExplainedCapability,
  ExplainedNetwork,
  ExplainedPlace,
  ExplainedProblem,
  ExplainedStep,
  Explanation,
} from "../../node/explain/explanation.ts";
import type { ExplainedRule, ExplainedShadow } from "../../node/explain/explain-rule.ts";
import type { ExplainedDefinition } from "../../node/explain/explain-definition.ts";
import { requirementText } from "../../../src/configuration/requirement-text.ts";
import { inertLine } from "../../../src/text/inert-text.ts";
import { wrap } from "../../node/command-line/table.ts";

/** Maximum length of a text, in UTF-16 units. */
const maxLength = 1024;
/** Minimum columns of wrapped text, however deep it is indented. */
const minColumns = 40;

/** The explanation, wrapped to `width` columns. A word that is longer than a line stays whole. */
export function explanationText({ hostConfiguration, cniPath, networks, warnings }: Explanation, width: number): string {
  const host =
    hostConfiguration === null
      ? "No configuration of Plexus was found, so the default grants apply (--config names a configuration)."
      : `Host configuration: ${inert(hostConfiguration)}`;
  return [
    host,
    `Plugins from: ${inert(cniPath.join(", "))}`,
    ...warnings.map((warning) => `Warning: ${inert(warning)}`),
    ...networks.flatMap((network) => ["", ...networkLines(network, width)]),
    "",
  ].join("\n");
}

function networkLines(network: ExplainedNetwork, width: number): readonly string[] {
  const { source, name, cniVersion, definition, loads, problem, steps } = network;
  const verdict = !loads ? "would NOT load" : steps.some(hasUncovered) ? "would load, but see the notes" : "would load";
  const why = problem === null ? [] : wrap(problemText(problem), Math.max(minColumns, width - 2)).map((line) => `  ${line}`);
  return [
    `Network ${inert(name)} (cniVersion ${inert(cniVersion)}) of ${inert(source)}: ${verdict}`,
    ...(definition === null ? [] : wrap(policyText(definition), Math.max(minColumns, width - 2)).map((line) => `  ${line}`)),
    ...why,
    ...steps.flatMap((step, index) => stepLines(step, String(index + 1), "  ", width)),
  ];
}

/** The policy for the definition's namespace, in sentences. */
function policyText({ namespace, trusted, native, ipam, components, files, pools }: ExplainedDefinition): string {
  if (trusted) return inert(`Namespace ${namespace} is trusted: its definitions count as the administrator's own.`);
  return inert(
    `Definitions of namespace ${namespace} may use by definitions.rules: native plugins: ${listText(native)}; native IPAM: ${listText(ipam)}; ` +
      `components with grants: ${listText(components)}; files of confDir: ${listText(files)}; shared network names: ${listText(pools)}.`,
  );
}

function stepLines(step: ExplainedStep, number: string, indent: string, width: number): readonly string[] {
  const { type, role, kind, path, digest, delegate, effective, limits, demand, problem, uncovered, idle, toGrant } = step;
  const inner = `${indent}  `;
  const lines = [
    `${indent}${number} ${inert(type)}${role === "ipam" ? " (ipam.type)" : ""}: ${kind}${path === null ? "" : ` ${inert(path)}`}`,
  ];
  const say = (text: string): number =>
    lines.push(...wrap(text, Math.max(minColumns, width - inner.length)).map((line) => inner + line));
  if (step.at !== null) lines.push(inner + inert(placeText(step.at)));
  if (digest !== null) lines.push(inner + digest);
  if (kind === "native") say("A native plugin: it has all rights of the container runtime.");
  if (delegate !== null) say(inert(`${delegate.name} ${delegate.version}, ABI ${delegate.abi}: ${delegate.about}`));
  for (const each of step.capabilities) say(inert(capabilityText(each)));
  if (delegate !== null) say(`Usable capabilities: ${effective.length === 0 ? "none" : effective.join(", ")}.`);
  const { resultChanges } = step;
  if (resultChanges !== null) say(inert(`Its ADD may change of the result: ${listText(resultChanges)}.`));
  if (limits !== null) {
    const { timeMs, memoryPages, inputBytes, outputBytes, logBytes } = limits;
    say(
      `Limits: ${timeMs} ms, ${memoryPages / 16} MiB of memory, ${inputBytes} bytes in, ${outputBytes} out, ${logBytes} of log.`,
    );
  }
  if (demand !== null) {
    say(inert(`Demanded${demandText(demand)}; ${demand.isMet ? "met" : "NOT met"}.`));
  }
  if (step.rule !== null) for (const sentence of ruleSentences(step.rule)) say(inert(sentence));
  for (const each of step.warnings) say(`Warning: ${inert(each)}.`);
  for (const each of idle) say(`Note: ${inert(each)} is granted, but the delegate does not declare it.`);
  for (const each of uncovered)
    say(`Note: the grant does not cover this key. If the delegate uses it like the reference plugins, ADD fails: ${inert(each)}`);
  if (problem !== null) say(problemText(problem));
  if (toGrant !== null) {
    say(`To ${kind === "native" ? "allow this" : "grant the missing capabilities"}, put this into the host configuration:`);
    lines.push(
      ...JSON.stringify(toGrant, undefined, 2)
        .split("\n")
        .map((line) => `${inner}  ${inert(line)}`),
    );
  }
  return [...lines, ...step.steps.flatMap((each, index) => stepLines(each, `${number}.${index + 1}`, inner, width))];
}

/** The rule for a step, in sentences. */
function ruleSentences({ failure, retries, retryOn, shadow, note, time }: ExplainedRule): readonly string[] {
  const policies: Readonly<Record<ExplainedRule["failure"], string>> = {
    closed: "closed: a failure fails the chain",
    open: "open: after a failure the chain goes on without the step",
    retry: `retry: codes ${(retryOn ?? []).join(", ")} are tried again, at most ${retries} times`,
  };
  return [
    `Failure policy ${policies[failure]}.`,
    ...(note === null ? [] : [`Note: ${note}`]),
    ...(shadow === null ? [] : [shadowSentence(shadow)]),
    `Time in an ADD: at most ${time.maxMs} ms, at least ${time.minMs} ms.`,
  ];
}

function shadowSentence({ beside, type, problem }: ExplainedShadow): string {
  if (problem === null) return `Shadow: the component ${type} runs beside ${beside}, without effects.`;
  return `Note: the shadow ${type} of ${beside} does not run: ${problem}.`;
}

function demandText({ digest, signedBy, anyOf }: NonNullable<ExplainedStep["demand"]>): string {
  if (anyOf !== null) return ` by wasm.require: ${requirementText({ anyOf })}`;
  const demands = [
    ...(digest === null ? [] : [`the digest ${digest}`]),
    ...(signedBy === null ? [] : [`a signature by ${signedBy}`]),
  ];
  return `: ${demands.join(" and ")}`;
}

function placeText({ file, line, column }: ExplainedPlace): string {
  return `${file}:${line}:${column}`;
}

function problemText({ kind, msg, remedy }: ExplainedProblem): string {
  return `Would not load [${kind}]: ${inert(msg)}. To do: ${remedy}`;
}

function hasUncovered({ uncovered, steps }: ExplainedStep): boolean {
  return uncovered.length > 0 || steps.some(hasUncovered);
}

/** `+` marks a granted capability, `-` a capability that is not granted. */
function capabilityText({ name, reason, imported, optional, granted }: ExplainedCapability): string {
  if (granted !== null) return `+ ${name} (granted${scopesText(granted)}): ${reason}`;
  return `- ${name} (${imported ? (optional ? "not granted, optional" : "NOT GRANTED") : "not granted, and not used"}): ${reason}`;
}

function scopesText(granted: object): string {
  const scopes = Object.entries(granted)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]: [string, unknown]) => `${key} ${Array.isArray(value) ? listText(value) : String(value)}`);
  return scopes.length === 0 ? "" : `: ${scopes.join("; ")}`;
}

function listText(list: readonly unknown[]): string {
  return list.length === 0 ? "none" : list.join(", ");
}

function inert(text: string): string {
  return inertLine(text, maxLength);
}
