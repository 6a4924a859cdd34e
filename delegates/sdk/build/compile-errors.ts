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

/** Parts of TypeScript that AssemblyScript lacks. `line`: a pattern of the source line; absent: any line. */
const remedies: readonly { readonly error: RegExp; readonly line?: RegExp; readonly remedy: string }[] = [
  {
    error: /TS1109/,
    line: /\?\./,
    remedy: "AssemblyScript has no ?.: const value = object; if (value !== null) use value.member",
  },
  { error: /TS1109/, line: /\?\?/, remedy: "AssemblyScript has no ??: value !== null ? value : other" },
  {
    error: /TS6054: File '~lib\/(?:node:.*|fs|path|os|net|http|https|process|child_process|crypto)\.ts'/,
    remedy:
      "a component has neither files nor modules of Node: declare a capability in delegate.json and import plexus/abi/CAPABILITY",
  },
  {
    error: /TS6054: File '~lib\//,
    remedy: "a delegate imports files of assembly/, and plexus/…: packages of npm are for JavaScript",
  },
  {
    error: /TS2304: Cannot find name '(?:any|unknown|object)'/,
    remedy: "name the type: AssemblyScript has no type for all values",
  },
  { error: /TS2304: Cannot find name 'JSON'/, remedy: "read the configuration by Config of plexus/config" },
  {
    error: /TS2304: Cannot find name '(?:fetch|process|require|setTimeout|Buffer)'/,
    remedy: "a component has neither Node nor a browser around it: declare a capability in delegate.json and call that",
  },
  {
    error: /AS100: Not implemented: Closures/,
    remedy: "pass the values as parameters, or write a loop: a function sees no variables around it",
  },
  {
    error: /AS100: Not implemented: Exceptions/,
    remedy: "answer a Fault (plexus/faults) instead: nothing can be caught, and throw ends the call",
  },
  { error: /AS100: Not implemented: Iterators/, remedy: "for (let i = 0; i < list.length; i++) with list[i]" },
  { error: /AS100: Not implemented: union types/i, remedy: "only T | null is a type of several: use two parameters, or a class" },
  { error: /AS100: Not implemented: Spread/, remedy: "list.concat(other), or list.slice() for a copy" },
  { error: /AS100: Not implemented: Regular expressions/, remedy: "use indexOf, startsWith and split of the text" },
  {
    error: /TS1003/,
    line: /\b(?:const|let)\s*[{[]/,
    remedy: "AssemblyScript does not take objects apart: const member = object.member",
  },
  { error: /TS1005/, line: /\basync\b/, remedy: "calls of capabilities answer at once: leave out async and await" },
];

/**
 * The message with a remedy, where one is known. The compiler takes a `null` in the first branch of a ternary for a number if the constant has no type,
 * and it narrows the type of a constant only, not that of a member.
 */
function withHint(message: string): string {
  const line = message.split("\n")[2] ?? "";
  const known = remedies.find(({ error, line: written = /^/ }) => error.test(message) && written.test(line));
  if (known !== undefined) return `${message}\n   Remedy: ${known.remedy}`;
  if (/TS2322: Type '[^']+ \| null' is not assignable/.test(message) && /\w\.\w+\b/.test(line))
    return `${message}\n   Remedy: a check of null holds for a constant only: const value = object.member; if (value !== null) ...`;
  if (!/AS226: Expression resolves to unusual type 'usize'/.test(message) || !/\? *null\b/.test(message)) return message;
  return `${message}\n   Remedy: give the variable its type: const fault: Fault | null = condition ? null : ...`;
}
