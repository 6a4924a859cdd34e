// Another program's edit of the file that plexusd writes, as a fault that names the step or the keys.

import type { WrittenContent } from "../../../src/configuration/foreign-steps.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { jsonChanges } from "../../../src/json/json-changes.ts";
import { quote } from "../../../src/json/quote.ts";
import type { StepsDecision } from "./kept-steps.ts";

/** The file before and after the edit. */
export interface EditedFile {
  readonly path: string;
  /** The content now; undefined if the file has no list of plugins. */
  readonly current: WrittenContent | undefined;
  /** The content that plexusd last accepted; undefined: none since its start. */
  readonly before: WrittenContent | undefined;
  readonly steps: StepsDecision;
}

/** An edit of another program. */
export interface ForeignEdit {
  /** CNI_FILE_EDITED. */
  readonly fault: Fault;
  /** Whether plexusd takes a part of it back, so that the other program may insist. */
  readonly isReverted: boolean;
}

/** Maximum number of keys in a message. */
const maxKeys = 3;

/** Describes the edit. */
export function describeEdit({ path, current, before, steps }: EditedFile): ForeignEdit {
  if (current === undefined) return { fault: edit(`changed ${path}, which has no list of plugins now`), isReverted: true };
  const leftOut = typesOf(current.steps).filter((type) => typesOf(steps.leftOut).includes(type));
  const added = typesOf(current.steps).filter((type) => !leftOut.includes(type) && !typesOf(before?.steps ?? []).includes(type));
  const removed = typesOf(before?.steps ?? []).filter((type) => !typesOf(current.steps).includes(type));
  const { changes } = jsonChanges(before?.own ?? current.own, current.own, maxKeys);
  const keys = changes.map((change) => change.path.slice(1).replaceAll("/", "."));
  const parts = [
    ...(leftOut.length === 0 ? [] : [`added ${named(leftOut)} to ${path}, which plexusd leaves out: ${steps.whyLeftOut}`]),
    ...(added.length === 0 ? [] : [`added ${named(added)} to ${path}, which plexusd keeps: it runs after the default network`]),
    ...(removed.length === 0 ? [] : [`removed ${named(removed)} from ${path}`]),
    ...(keys.length === 0 ? [] : [`changed ${keys.join(", ")} in ${path}, which plexusd restores`]),
    ...(current.hasSurplus ? [`added a second step of one type, or Plexus itself, to ${path}, which plexusd leaves out`] : []),
  ];
  const isReverted = leftOut.length > 0 || keys.length > 0 || current.hasSurplus || before === undefined;
  return { fault: edit(parts.length === 0 ? `wrote ${path} anew` : parts.join("; it ")), isReverted };
}

function edit(what: string): Fault {
  return fault("CNI_FILE_EDITED", `another program ${what}`);
}

function typesOf(steps: readonly { readonly type: string }[]): readonly string[] {
  return steps.map(({ type }) => type);
}

function named(types: readonly string[]): string {
  return `the step ${types.map((type) => quote(type)).join(", ")}`;
}
