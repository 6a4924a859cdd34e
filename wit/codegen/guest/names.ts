// WIT's kebab-case names as AssemblyScript identifiers. WIT names never contain an underscore, so generated helpers use it.

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

/** `socket-path` → `socketPath`: a field, parameter or function. A reserved word gets an underscore. */
export function camel(name: string): string {
  const joined = name
    .split("-")
    .map((part, i) => (i === 0 ? part.toLowerCase() : capital(part)))
    .join("");
  return keywords.has(joined) ? `${joined}_` : joined;
}

/** `not-found` → `NotFound`: a case, which cannot collide with other names. */
export function member(name: string): string {
  return name.split("-").map(capital).join("");
}

/** `ip-config` → `IpConfig`: a type. A name that generated code uses itself gets an underscore. */
export function pascal(name: string): string {
  const joined = member(name);
  return builtinTypes.has(joined) ? `${joined}_` : joined;
}

/** The base name of an interface's file; an interface of another package keeps its full name. */
export function fileName(iface: string): string {
  return iface.replace(/[^a-zA-Z0-9-]+/g, "-");
}

/** The prefix of generated names of an interface. */
export function prefix(iface: string): string {
  const joined = iface
    .split(/[^a-zA-Z0-9]+/)
    .filter((part) => part !== "")
    .map((part, i) => (i === 0 ? part.toLowerCase() : capital(part)))
    .join("");
  return joined;
}

function capital(part: string): string {
  return part.slice(0, 1).toUpperCase() + part.slice(1).toLowerCase();
}
