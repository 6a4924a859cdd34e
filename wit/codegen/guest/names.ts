// WIT's kebab-case names as AssemblyScript identifiers. WIT names never contain an underscore, so generated helpers use it.

import { camel, pascal } from "../names.ts";

/** Reserved words that cannot be variables. Contextual keywords such as `set` or `type` are allowed. */
const keywords = new Set(
  (
    "await break case catch class const constructor continue debugger default delete do else enum export extends false " +
    "finally for function if implements import in instanceof interface let new null package private protected public " +
    "return static super switch this throw true try typeof var void while with yield abort arguments undefined"
  ).split(" "),
);

/** Types that generated code itself uses under their usual name. */
const builtinTypes = new Set(
  (
    "Array ArrayBuffer StaticArray Uint8Array String Error Map Set Object Function Symbol Math Some Result Date Number " +
    "Boolean RegExp JSON Int8 Infinity NaN ASC Atomics Reflect"
  ).split(" "),
);

/** A field, parameter or function. A reserved word gets an underscore. */
export function guestName(name: string): string {
  const joined = camel(name);
  return keywords.has(joined) ? `${joined}_` : joined;
}

/** A type. A name that generated code uses itself gets an underscore. */
export function guestType(name: string): string {
  const joined = pascal(name);
  return builtinTypes.has(joined) ? `${joined}_` : joined;
}

/** The base name of an interface's file; an interface of another package keeps its full name. */
export function fileName(iface: string): string {
  return iface.replace(/[^a-zA-Z0-9-]+/g, "-");
}

/** The prefix of generated names of an interface. */
export function prefix(iface: string): string {
  return camel(
    iface
      .split(/[^a-zA-Z0-9]+/)
      .filter((part) => part !== "")
      .join("-"),
  );
}

/** `types.ip-config` → `types_IpConfig`: the name of a type in files other than its own. */
export function qualified(ref: string): string {
  return `${prefix(ownerOf(ref))}_${localType(ref)}`;
}

/** `types.ip-config` → `IpConfig`: the name of a type in its own file. */
export function localType(ref: string): string {
  return guestType(ref.slice(ref.lastIndexOf(".") + 1));
}

/** `types.ip-config` → `types`: the interface that defines a type. */
export function ownerOf(ref: string): string {
  return ref.slice(0, ref.lastIndexOf("."));
}
