// The compiler's messages for the author. Messages about the generated entry become messages about assembly/index.ts.

/** The functions of `assembly/index.ts`, by name. */
const signatures: Readonly<Record<string, string>> = {
  add: "add(request: AttachmentRequest): SuccessOrFault",
  del: "del(request: AttachmentRequest): Fault | null",
  check: "check(request: AttachmentRequest): Fault | null",
  gc: "gc(request: GcRequest): Fault | null",
  status: "status(network: Network): Fault | null",
};

/** The compiler's messages, with those about the entry's calls of the author's functions rewritten. */
export function explained(messages: string): string {
  return messages
    .trim()
    .split(/\n(?=(?:ERROR|WARNING|FAILURE)\b)/)
    .filter((message) => !message.startsWith("FAILURE"))
    .map((message) => ofEntry(message) ?? withHint(message.trim()))
    .join("\n");
}

function ofEntry(message: string): string | undefined {
  const name = /in delegate-entry\.ts\(/.test(message) ? /\b_plugin\.(\w+)\(/.exec(message)?.[1] : undefined;
  const signature = name === undefined ? undefined : signatures[name];
  if (signature === undefined) return undefined;
  if (/^ERROR TS2339\b/.test(message)) {
    return `ERROR: assembly/index.ts does not export the function ${name}. Add: export function ${signature}`;
  }
  const [reason = ""] = /(?<=^ERROR )[^\n]*/.exec(message) ?? [];
  return `ERROR: assembly/index.ts: the function ${name} must be: export function ${signature} (${reason})`;
}

/** The compiler takes a `null` in the first branch of a ternary for a number if the constant has no type. */
function withHint(message: string): string {
  if (!/AS226: Expression resolves to unusual type 'usize'/.test(message) || !/\? *null\b/.test(message)) return message;
  return `${message}\n   Remedy: give the variable its type: const fault: Fault | null = condition ? null : ...`;
}
