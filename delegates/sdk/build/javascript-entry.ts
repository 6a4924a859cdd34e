// The JavaScript module around the author's: it exports the verbs, gives `console` to the log, and takes away what a delegate does not have.

import { checkedDirectory } from "./checked-values.ts";
import type { Interpreter } from "./language.ts";

/** The settings of the module. */
export interface EntryModule {
  /** The author's module, such as `src/index.ts`. */
  readonly entry: string;
  /** The version of `cni:delegate`. */
  readonly version: string;
  /** Whether the delegate declares the capability `log`. */
  readonly logs: boolean;
  readonly interpreter: Interpreter;
}

const verbs = ["add", "del", "check", "gc", "status"] as const;

/** The module's text. */
export function entryModule({ entry, version, logs, interpreter }: EntryModule): string {
  const write = logs
    ? `import { write } from "cni:delegate/log@${version}";\n`
    : `const write = () => { throw new Error("console: declare the capability log in delegate.json"); };\n`;
  const call = interpreter === "quickjs" ? "checkedDelegate" : "reporting";
  return `${write}import * as delegate from "./${entry}";
import { checkedVerb } from "./${checkedDirectory}/values.js";

const shown = (value) => {
  if (typeof value === "string") return value;
  if (value instanceof Error) return \`\${value.name}: \${value.message}\\n\${value.stack ?? ""}\`.trim();
  return JSON.stringify(value) ?? String(value);
};
const printer = (level) => (...values) => write(level, values.map(shown).join(" "));
globalThis.console = {
  debug: printer("debug"),
  log: printer("info"),
  info: printer("info"),
  warn: printer("warn"),
  error: printer("error"),
};
const refuse = (message) => () => { throw new Error(message); };
Math.random = refuse("Math.random(): a delegate has no randomness");
Date.now = refuse("Date.now(): a delegate has no clock");

for (const verb of ${JSON.stringify(verbs)})
  if (typeof delegate[verb] !== "function") throw new Error(\`${entry} does not export the function \${verb}\`);
const checkedDelegate = {
${verbs.map((verb) => `  ${verb}: checkedVerb("${verb}", (request) => delegate.${verb}(request), ${verb === "add" ? '{ ref: "types.success" }' : "undefined"}),\n`).join("")}};
${interpreter === "quickjs" ? "" : reportingModule(logs)}export const plugin = {
${verbs.map((verb) => `  ${verb}: (request) => ${call}.${verb}(request),\n`).join("")}};
`;
}

/** StarlingMonkey answers these from stubs, some with the same value in every call, some by a trap without a message. */
const absences = `Date = new Proxy(Date, {
  construct: (target, values, made) => (values.length === 0 ? Date.now() : Reflect.construct(target, values, made)),
  apply: () => Date.now(),
});
performance.now = refuse("performance.now(): a delegate has no clock");
for (const name of ["setTimeout", "setInterval"]) globalThis[name] = refuse(\`\${name}(): a delegate has no clock\`);
for (const name of ["getRandomValues", "randomUUID"])
  Object.defineProperty(crypto, name, { value: refuse(\`crypto.\${name}(): a delegate has no randomness\`) });
globalThis.fetch = refuse("fetch(): a delegate has no network");`;

/**
 * The verbs of an interpreter without stderr: an exception that is no answer goes to the log before it ends the call, and so to the error's
 * details. Without the capability `log` it has no place to go.
 */
function reportingModule(logs: boolean): string {
  const report = logs ? `write("error", withoutToolFrames(shown(error)));` : "";
  return `${absences}
const withoutToolFrames = (text) => text.replace(/\\n[^\\n]*@[^\\n]*(?:plexus-entry|plexus-checked\\/[\\w-]+|\\/initializer)\\.js:[^\\n]*/g, "");
const isAnswer = (error) =>
  typeof error === "object" && error !== null && ("payload" in error || (!(error instanceof Error) && "code" in error));
const reporting = Object.fromEntries(${JSON.stringify(verbs)}.map((verb) => [verb, (request) => {
  try {
    return checkedDelegate[verb](request);
  } catch (error) {
    if (!isAnswer(error)) { ${report} }
    throw error;
  }
}]));
`;
}
