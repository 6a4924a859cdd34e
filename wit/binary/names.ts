// Reads names. A name may contain only the characters that toolchains use; any other name is refused.

import type { Reader } from "./reader.ts";
import { refuse } from "./refusal.ts";

// cabi_realloc, cni:delegate/plugin@1.0.0#add, [method]output-stream.write, cm32p2|wasi:io/error@0.2|error_drop, $imports
const coreName = /^[A-Za-z0-9_.:/@#$*+<>,=[\]|-]{0,255}$/;
const externName = /^[a-z0-9:/@.[\]#-]{1,255}$/i;
const label = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/i;
const reservedNames = new Set(["__proto__", "prototype"]);

function printable(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}

function matched(reader: Reader, what: string, pattern: RegExp): string {
  const at = reader.pos;
  const text = reader.plainName(what);
  if (!pattern.test(text) || reservedNames.has(text))
    refuse(`${what}, ${printable(text)}, is not one that a toolchain would write`, at);
  return text;
}

/** Reads a name of a core module: an import's module, an import or an export. */
export function requireCoreName(reader: Reader, what: string): string {
  return matched(reader, what, coreName);
}

/** Reads the name of a component's import or export: `cni:delegate/log@1.0.0`, `import-func-add`. */
export function requireExternName(reader: Reader, what: string): string {
  return matched(reader, what, externName);
}

/** Reads a kebab-case label of a field, case or parameter. */
export function requireLabel(reader: Reader, what: string): string {
  return matched(reader, what, label);
}
