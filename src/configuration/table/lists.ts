// The kinds of lists.

import type { ObjectReader } from "../object-reader.ts";
import type { Kind, TextRule } from "./kind.ts";
import { absolutePath, nonEmptyText, textSchema } from "./kinds.ts";

/** Any texts. */
export const texts: Kind<readonly string[]> = {
  read: (reader, key) => reader.strings(key),
  schema: () => ({ type: "array", items: { type: "string" } }),
};

/** Absolute paths. */
export const absolutePaths: Kind<readonly string[]> = {
  read: (reader, key) => reader.absolutePaths(key),
  schema: () => ({ type: "array", items: absolutePath.schema() }),
};

/** The mistake in an element that matches the pattern, beyond JSON Schema; undefined: none. */
type ElementCheck = (element: string) => string | undefined;

/** Texts that all match a pattern. */
export function listOf({ pattern, wanted }: TextRule, check?: ElementCheck): Kind<readonly string[]> {
  return {
    read: (reader, key) => {
      const list = reader.allMatching(key, pattern, wanted);
      if (check !== undefined) for (const element of list ?? []) refuseIf(reader, key, check(element));
      return list;
    },
    schema: () => ({ type: "array", items: textSchema({ pattern }) }),
  };
}

function refuseIf(reader: ObjectReader, key: string, why: string | undefined): void {
  if (why !== undefined) reader.refuse(key, why);
}

/** A text of words between commas. */
export const commaList: Kind<readonly string[]> = {
  read: (reader, key) =>
    reader
      .text(key)
      ?.split(",")
      .map((each) => each.trim())
      .filter((each) => each !== ""),
  schema: () => ({ type: "string" }),
  written: (list) => (Array.isArray(list) ? list.join(",") : list),
};

/** Texts, none of them empty. */
export const names: Kind<readonly string[]> = {
  read: (reader, key) => {
    const list = reader.strings(key);
    if (list?.includes("") === true) reader.refuse(key, "has an empty name in it");
    return list;
  },
  schema: () => ({ type: "array", items: nonEmptyText.schema() }),
};
