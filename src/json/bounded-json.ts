// Foreign JSON as a value, for documents that are compared and printed: both are recursive, so the depth is bounded.

import { scan } from "./scan.ts";

/** A configuration or a result has at most 100 levels. */
const maxLevels = 100;

/** The value of a JSON text; undefined if the text is not JSON, or is nested deeper than 100 levels. */
export function boundedJson(text: string): unknown {
  try {
    return scan(text, maxLevels).tooDeep === undefined ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}
