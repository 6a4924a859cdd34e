// What the API server answers to a list, and what it tells in a watch (Kubernetes API concepts, "Efficient detection of changes").

import { isJsonObject } from "../json/document.ts";

/** A page of a list. */
export interface ListPage {
  readonly items: readonly unknown[];
  /** The collection's version: where a watch goes on from. */
  readonly version: string;
  /** Asks for the next page; empty on the last one. */
  readonly next: string;
}

export type WatchEvent =
  /** An object is new or has changed; or is gone, as it was last. */
  | { readonly kind: "put" | "remove"; readonly object: unknown; readonly version: string }
  /** Nothing happened up to this version. */
  | { readonly kind: "bookmark"; readonly version: string }
  /** The watch ends for a reason; 410: the version that it went on from is too old, all has to be listed again. */
  | { readonly kind: "error"; readonly code: number; readonly message: string };

/** Undefined where the body is no list. */
export function readListPage(body: string): ListPage | undefined {
  const list = parsed(body);
  const metadata = isJsonObject(list) ? list["metadata"] : undefined;
  if (!isJsonObject(list) || !isJsonObject(metadata)) return undefined;
  const [version, next, items] = [metadata["resourceVersion"], metadata["continue"] ?? "", list["items"] ?? []];
  if (typeof version !== "string" || typeof next !== "string" || !Array.isArray(items)) return undefined;
  return { items, version, next };
}

/** One line of a watch; undefined where it is none. */
export function readWatchEvent(line: string): WatchEvent | undefined {
  const event = parsed(line);
  if (!isJsonObject(event)) return undefined;
  const { type, object } = event;
  if (!isJsonObject(object)) return undefined;
  if (type === "ERROR") {
    const { code, message } = object;
    return { kind: "error", code: typeof code === "number" ? code : 0, message: typeof message === "string" ? message : "" };
  }
  const metadata = object["metadata"];
  const version = isJsonObject(metadata) ? metadata["resourceVersion"] : undefined;
  if (typeof version !== "string" || version === "") return undefined;
  switch (type) {
    case "ADDED":
    case "MODIFIED":
      return { kind: "put", object, version };
    case "DELETED":
      return { kind: "remove", object, version };
    case "BOOKMARK":
      return { kind: "bookmark", version };
    default:
      return undefined;
  }
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}
