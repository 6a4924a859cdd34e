// The template of a delegate in AssemblyScript.

import { dependenciesOf } from "../tools.ts";
import { jsonText, type Template } from "./template.ts";

const greeter = `// Describe the delegate in one or two sentences.

import { AttachmentRequest, Fault, GcRequest, StatusRequest, SuccessOrFault } from "plexus/abi/plugin";
import { Network } from "plexus/abi/types";
import * as log from "plexus/abi/log";
import { Config } from "plexus/config";
import { invalidConfig } from "plexus/faults";

export function add(request: AttachmentRequest): SuccessOrFault {
  const config = Config.of(request.network);
  const greeting = config.string("greeting");
  const fault = config.fault;
  if (fault !== null) return SuccessOrFault.err(fault);
  const result = request.prevResult;
  if (result === null) return SuccessOrFault.err(invalidConfig("prevResult", "is missing: put this plugin after others"));
  log.write(log.Level.Info, \`\${greeting === null ? "hello" : greeting}, \${request.attachment.containerId}\`);
  return SuccessOrFault.ok(result);
}

/** Must succeed if there is nothing to undo, and when it is repeated. */
export function del(_request: AttachmentRequest): Fault | null {
  return null;
}

export function check(request: AttachmentRequest): Fault | null {
  return configFault(request.network);
}

export function gc(_request: GcRequest): Fault | null {
  return null;
}

export function status(request: StatusRequest): Fault | null {
  return configFault(request.network);
}

function configFault(network: Network): Fault | null {
  const config = Config.of(network);
  config.string("greeting");
  return config.fault;
}
`;

/** `assembly/index.ts`, with the editor's settings for `plexus/…`. */
export const assemblyScript = (guestConfig: string, source = greeter): Template => ({
  files: ({ capabilities }) => {
    const imports = capabilities.map((each) => `// import * as ${each} from "plexus/abi/${each}";\n`).join("");
    return [
      ["assembly/index.ts", source.replace("import { Config } from", () => `${imports}import { Config } from`)],
      ["assembly/tsconfig.json", jsonText({ extends: guestConfig, include: ["./**/*.ts"] })],
    ];
  },
  manifest: { scripts: { test: "plexus-delegate test" }, devDependencies: dependenciesOf(["assemblyscript"]) },
  ignored: [],
});
