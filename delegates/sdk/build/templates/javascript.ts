// The templates of a delegate in JavaScript and in TypeScript. The editor and `tsc` check both against the types of the contract.

import { dependenciesOf } from "../tools.ts";
import { jsonText, type Template, type TemplateInit } from "./template.ts";

const javaScriptSource = (
  abi: string,
): string => `/** @import { AttachmentRequest, GcRequest, Network, StatusRequest, Success } from "cni:delegate/types@${abi}" */

/**
 * @param {AttachmentRequest} request
 * @returns {Success}
 */
export function add({ network, attachment, prevResult }) {
  const greeting = greetingIn(network);
  if (prevResult == null) throw invalidConfig("prevResult", "is missing: put this plugin after others");
  write("info", \`\${greeting}, \${attachment.containerId}\`);
  return prevResult;
}

/**
 * Must succeed if there is nothing to undo, and when it is repeated.
 * @param {AttachmentRequest} _request
 */
export function del(_request) {}

/** @param {AttachmentRequest} request */
export function check({ network }) {
  greetingIn(network);
}

/** @param {GcRequest} _request */
export function gc(_request) {}

/** @param {StatusRequest} request */
export function status({ network }) {
  greetingIn(network);
}

/** @param {Network} network */
function greetingIn(network) {
  /** @type {{ greeting?: unknown }} */
  const { greeting = "hello" } = JSON.parse(network.config);
  if (typeof greeting !== "string") throw invalidConfig("greeting", \`must be a string, is a \${typeof greeting}\`);
  return greeting;
}

/**
 * An object with code and msg that is thrown is the delegate's error. Any other exception ends the call as a defect.
 * @param {string} field
 * @param {string} why
 */
function invalidConfig(field, why) {
  return { code: 7, msg: \`\${field}: \${why}\` };
}
`;

const typeScriptSource = (
  abi: string,
): string => `import type { AttachmentRequest, Fault, GcRequest, Network, StatusRequest, Success } from "cni:delegate/types@${abi}";

export function add({ network, attachment, prevResult }: AttachmentRequest): Success {
  const greeting = greetingIn(network);
  if (prevResult == null) throw invalidConfig("prevResult", "is missing: put this plugin after others");
  write("info", \`\${greeting}, \${attachment.containerId}\`);
  return prevResult;
}

/** Must succeed if there is nothing to undo, and when it is repeated. */
export function del(_request: AttachmentRequest): void {}

export function check({ network }: AttachmentRequest): void {
  greetingIn(network);
}

export function gc(_request: GcRequest): void {}

export function status({ network }: StatusRequest): void {
  greetingIn(network);
}

function greetingIn(network: Network): string {
  const { greeting = "hello" }: { greeting?: unknown } = JSON.parse(network.config);
  if (typeof greeting !== "string") throw invalidConfig("greeting", \`must be a string, is a \${typeof greeting}\`);
  return greeting;
}

/** An object with code and msg that is thrown is the delegate's error. Any other exception ends the call as a defect. */
function invalidConfig(field: string, why: string): Fault {
  return { code: 7, msg: \`\${field}: \${why}\` };
}
`;

function sourceText({ abi, capabilities }: TemplateInit, body: (abi: string) => string): string {
  const further = capabilities.map((each) => `// import * as ${each} from "cni:delegate/${each}@${abi}";\n`).join("");
  return `// Describe the delegate in one or two sentences.\n\nimport { write } from "cni:delegate/log@${abi}";\n${further}${body(abi)}`;
}

/** The types of the contract, and the settings with which `plexus-delegate build` can blank the types out. */
const compilerOptions = (more: object): object => ({
  target: "es2023",
  lib: ["es2023"],
  types: [],
  module: "esnext",
  moduleResolution: "bundler",
  strict: true,
  noEmit: true,
  ...more,
});

const settings = ({ abi }: TemplateInit, more: object): string =>
  jsonText({
    compilerOptions: compilerOptions(more),
    include: ["src", `node_modules/@plexus-cni/sdk/wit/${abi}/delegate.d.ts`],
  });

/** `src/index.js`. */
export const javaScript: Template = {
  files: (init) => [
    ["src/index.js", sourceText(init, javaScriptSource)],
    ["jsconfig.json", settings(init, { checkJs: true })],
  ],
  manifest: { scripts: { test: "plexus-delegate test" }, devDependencies: dependenciesOf(["componentize-qjs"]) },
  ignored: [],
};

/** `src/index.ts`. */
export const typeScript: Template = {
  files: (init) => [
    ["src/index.ts", sourceText(init, typeScriptSource)],
    ["tsconfig.json", settings(init, { erasableSyntaxOnly: true, allowImportingTsExtensions: true, verbatimModuleSyntax: true })],
  ],
  manifest: {
    scripts: { test: "tsc && plexus-delegate test" },
    devDependencies: dependenciesOf(["componentize-qjs", "typescript"]),
  },
  ignored: [],
};
