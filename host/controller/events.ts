// Kubernetes Events of the controller: one per minute and content at most, since their name is a hash of both.

import { createHash } from "node:crypto";
import type { ApiObjects } from "../cluster/kube/api-objects.ts";
import { type EventContent, eventsPath, eventText, type InvolvedObject } from "../../src/kube/event.ts";

/** The object of an Event. */
export type EventTarget = InvolvedObject;

const hash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);

/** Sends an Event of this time. `lost` is called if the API does not take it. */
export async function sendEvent(
  objects: ApiObjects,
  at: Date,
  target: EventTarget,
  content: EventContent,
  lost: (why: string) => void,
): Promise<void> {
  const text = eventText(target, content, at, hash);
  const parsed: Record<string, unknown> = JSON.parse(text);
  const answer = await objects.create(eventsPath(target.eventNamespace), parsed);
  // A conflict means that the API has this minute's Event already.
  if (answer.kind === "object" || answer.kind === "conflict") return;
  lost(`the Event ${content.reason} of ${target.kind} ${target.name} is lost: ${answer.why}`);
}
