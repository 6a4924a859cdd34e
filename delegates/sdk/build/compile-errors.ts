// The compiler's messages for the author. Messages about the generated entry become messages about assembly/index.ts.

/** The functions of `assembly/index.ts`, by name, from the comment of the generated `plexus/abi/plugin`. */
function signaturesIn(plugin: string): ReadonlyMap<string, string> {
  const lines = plugin.matchAll(/^\/\/ {3}function (?<signature>(?<name>\w+)\(.*)$/gm);
  return new Map([...lines].map(({ groups }) => [groups?.["name"] ?? "", groups?.["signature"] ?? ""]));
}

/**
 * The compiler's messages, with those about the entry's calls of the author's functions rewritten. `plugin`: the text of `plexus/abi/plugin`,
 * empty for a module without it.
 */
export function explained(messages: string, plugin = ""): string {
  const signatures = signaturesIn(plugin);
  return messages
    .trim()
    .split(/\n(?=(?:ERROR|WARNING|FAILURE)\b)/)
    .filter((message) => !message.startsWith("FAILURE"))
    .map((message) => ofEntry(message, signatures) ?? withHint(message.trim()))
    .join("\n");
}

function ofEntry(message: string, signatures: ReadonlyMap<string, string>): string | undefined {
  const name = /in delegate-entry\.ts\(/.test(message) ? /\b_plugin\.(\w+)\(/.exec(message)?.[1] : undefined;
  const signature = name === undefined ? undefined : signatures.get(name);
  if (signature === undefined) return undefined;
  if (/^ERROR TS2339\b/.test(message)) {
    return `ERROR: assembly/index.ts does not export the function ${name}. Add: export function ${signature}`;
  }
  const [reason = ""] = /(?<=^ERROR )[^\n]*/.exec(message) ?? [];
  return `ERROR: assembly/index.ts: the function ${name} must be: export function ${signature} (${reason})`;
}

/**
 * The compiler takes a `null` in the first branch of a ternary for a number if the constant has no type, and it narrows the type of a constant
 * only, not that of a member.
 */
function withHint(message: string): string {
  if (/TS2322: Type '[^']+ \| null' is not assignable/.test(message) && /\w\.\w+\b/.test(message.split("\n")[2] ?? ""))
    return `${message}\n   Remedy: a check of null holds for a constant only: const value = object.member; if (value !== null) ...`;
  if (!/AS226: Expression resolves to unusual type 'usize'/.test(message) || !/\? *null\b/.test(message)) return message;
  return `${message}\n   Remedy: give the variable its type: const fault: Fault | null = condition ? null : ...`;
}
