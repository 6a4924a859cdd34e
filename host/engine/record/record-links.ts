// Records in the journal which links of the pod an ADD makes, by what the pod's network namespace has before and after it.

import type { Result } from "../../../src/fault/result.ts";
import { identityOf } from "../../../src/pod-link/link-identity.ts";
import type { PodLinks } from "../../store/journal/entry.ts";
import { podLinks } from "../../store/journal/changed-entry.ts";
import { lookIntoNamespace, type NamespaceLinks } from "../../system/netlink/namespace-links.ts";
import type { CallContext } from "../call/call-context.ts";
import type { Progress } from "./add-progress.ts";

/** The links of the pod before the ADD; undefined if they are unknown, because the namespace could not be looked into. */
export type LinksBefore = NamespaceLinks | undefined;

/** Looks into a network namespace. An unreadable namespace counts as unknown: the plugins decide whether they need it. */
export async function linksOf(shim: CallContext["shim"], netns: string): Promise<LinksBefore> {
  const seen = await lookIntoNamespace(shim, netns);
  return seen.ok && seen.value !== "gone" ? seen.value : undefined;
}

/**
 * Records the links that have a name of these attachments already. Call it before the first step: the undo of a failed ADD must not remove
 * them. Fault STORE_FAILED.
 */
export async function recordEarlierLinks(
  progress: Progress,
  before: LinksBefore,
  ifnames: readonly string[],
  known: PodLinks = {},
): Promise<Result<void>> {
  const found = before?.links.filter(({ name }) => ifnames.includes(name)) ?? [];
  if (found.length === 0) return { ok: true, value: undefined };
  const earlier = [...(known.earlier ?? []), ...found.map(identityOf)];
  return progress.note({ pod: podLinks({ cookie: before?.cookie, made: known.made, earlier }) });
}

/**
 * Looks into the pod's namespace after the last step, and records its cookie and the links that are new. `ifnames`: the interface names of the
 * attachments. Never a fault of its own: without the record a DEL finds the links by their names.
 */
export async function recordMadeLinks(
  { shim }: Pick<CallContext, "shim">,
  netns: string,
  progress: Progress,
  before: LinksBefore,
  ifnames: readonly string[],
  known: PodLinks = {},
): Promise<void> {
  const after = await linksOf(shim, netns);
  if (after === undefined) return;
  const indexes = before && new Set(before.links.map(({ index }) => index));
  const isNew = ({ index, name }: NamespaceLinks["links"][number]): boolean =>
    indexes === undefined ? ifnames.includes(name) : !indexes.has(index);
  const found = after.links.filter(isNew).map(identityOf);
  const names = new Set(found.map(({ name }) => name));
  const made = [...(known.made ?? []).filter(({ name }) => !names.has(name)), ...found];
  const earlier = [
    ...(known.earlier ?? []),
    ...(before?.links.filter(({ name }) => ifnames.includes(name)).map(identityOf) ?? []),
  ];
  void progress.note({ pod: podLinks({ cookie: after.cookie, made, earlier }) });
}
