// A finding, as lint, doctor and the conditions of definitions have it, and the order of findings.

import type { JsonPath, Position } from "../json/position.ts";
import { placesOf } from "../json/text-places.ts";
import type { NetworkList } from "../cni/network-list.ts";
import { type LintRuleId, lintRules, type Severity } from "./rules.ts";

/** A JSON text and where it stands: a file, or a string in a manifest. */
export interface LintSource {
  /** The file, or another name for messages. */
  readonly file: string;
  readonly text: string;
  /** The place in the file of an offset in `text`. */
  readonly place: (offset: number) => Position;
}

/** A network whose rules are checked. */
export interface LintNetwork {
  readonly source: LintSource;
  /** The definition as `namespace/name`; empty for a network of a file. */
  readonly object: string;
  readonly list: NetworkList;
  /** The path of each plugin in `source.text`; undefined for plugins that are elsewhere. */
  readonly paths: readonly (JsonPath | undefined)[];
}

/** A mistake: its severity, its text, and its remedy. */
export interface Finding {
  readonly severity: Severity;
  readonly message: string;
  readonly remedy: string;
}

/** A finding of a rule at a place of a text. */
export interface LintFinding extends Finding, Position {
  readonly rule: LintRuleId;
  readonly file: string;
  /** The definition as `namespace/name`; empty for a file. */
  readonly object: string;
}

/** The subject of a finding. */
export interface FindingSubject {
  readonly source: LintSource;
  readonly object: string;
  /** Offset in the source's text. */
  readonly offset: number;
  readonly message: string;
  /** A better remedy than the rule's; absent: the rule's. */
  readonly remedy?: string;
}

/** Makes a finding of a rule. */
export function finding(rule: LintRuleId, { source, object, offset, message, remedy }: FindingSubject): LintFinding {
  const { severity, remedy: usual } = lintRules[rule];
  return { rule, severity, file: source.file, object, ...source.place(offset), message, remedy: remedy ?? usual };
}

/** The offset of a member of a network's plugin, or the nearest one that the text has. */
export function offsetIn({ source, paths }: LintNetwork, plugin: number, member: JsonPath): number {
  return placesOf(source.text).nearest([...(paths[plugin] ?? []), ...member]);
}

/** The offset of a member of the network itself, such as \`cniVersion\`. */
export function offsetInNetwork({ source, paths: [first] }: LintNetwork, member: JsonPath): number {
  const base = first === undefined ? undefined : first.at(-2) === "plugins" ? first.slice(0, -2) : first;
  return base === undefined ? 0 : placesOf(source.text).nearest([...base, ...member]);
}

/** Maximum characters of a network's name in messages: a message for each range would repeat a name as long as the configuration. */
const maxNameLength = 253;

/** A network's name in messages. */
export function nameOf({ list, object, source }: LintNetwork): string {
  const name = list.name.length <= maxNameLength ? list.name : `${list.name.slice(0, maxNameLength - 1)}…`;
  return object === "" ? `${name} (${source.file})` : `${name} (${object})`;
}

/** By file, line and column. Equal findings stand once. */
export function sortedFindings(findings: readonly LintFinding[]): readonly LintFinding[] {
  const all = new Map(findings.map((each) => [JSON.stringify(each), each]));
  return [...all.values()].toSorted(
    (a, b) =>
      order(a.file, b.file) || a.line - b.line || a.column - b.column || order(a.rule, b.rule) || order(a.message, b.message),
  );
}

function order(left: string, right: string): number {
  return left === right ? 0 : left < right ? -1 : 1;
}
