// The API server's answer to a list, and the events of a watch (Kubernetes API concepts, "Efficient detection of changes").

import { isJsonObject } from "../json/document.ts";

/** One page of a list. */
export interface ListPage {
  readonly items: readonly unknown[];
  /** The collection's version, from which a watch continues. */
  readonly version: string;
  /** The token for the next page; empty on the last page. */
  readonly next: string;
}

/** One event of a watch. */
export type WatchEvent =
  /** `put`: an object was created or changed; `remove`: it was deleted, with its last state. */
  | { readonly kind: "put" | "remove"; readonly object: unknown; readonly version: string }
  /** No change up to this version. */
  | { readonly kind: "bookmark"; readonly version: string }
  /** The end of the watch. Code 410: the start version is too old, so that all objects must be listed again. */
  | { readonly kind: "error"; readonly code: number; readonly message: string };

/** Reads a page; undefined if the body is not a list. */
export function readListPage(body: string): ListPage | undefined {
  const list = parsed(body);
  const metadata = isJsonObject(list) ? list["metadata"] : undefined;
  if (!isJsonObject(list) || !isJsonObject(metadata)) return undefined;
  const [version, next, items] = [metadata["resourceVersion"], metadata["continue"] ?? "", list["items"] ?? []];
  if (typeof version !== "string" || typeof next !== "string" || !Array.isArray(items)) return undefined;
  return { items, version, next };
}

/** Reads one line of a watch; undefined if the line is not an event. */
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
