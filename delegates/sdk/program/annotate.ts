// `plexus-delegate annotate`: puts a declaration into a component of any language.

import { readFileSync } from "node:fs";
import { type Command, CommandError, exitCode } from "./command.ts";
import { fileBytes } from "./component-file.ts";
import { readFailure } from "./read-failure.ts";
import { requireSandbox } from "./require-sandbox.ts";
import { writeNamedFile } from "./write-file.ts";

/** Writes the section `plexus:delegate`. */
export const annotateCommand: Command = {
  name: "annotate",
  summary: "Puts a declaration (delegate.json) into the component FILE",
  usage: "FILE",
  details: `The declaration becomes the custom section plexus:delegate, without which no node runs a component. \`build\` does this for AssemblyScript.
A component has one declaration: a second one needs --replace.`,
  options: [
    { name: "declaration", value: "FILE", about: "the declaration; default: delegate.json" },
    { name: "output", short: "o", value: "OUT", about: "the file to write; default: FILE" },
    { name: "replace", about: "replaces the declaration that the component has" },
  ],
  positionals: [1, 1],
  run: async ({ positionals, values, flags }, output) => {
    requireSandbox();
    const { annotated } = await import("../component/annotate.ts");
    const { inspectComponent } = await import("../component/inspect.ts");
    const { abiVersions, capabilitiesOf } = await import("../../../host/sandbox/abi/versions.ts");
    const { parseDeclaration } = await import("../build/declaration.ts");
    const { artifactLimits } = await import("../../../host/sandbox/limits.ts");
    const [file = ""] = positionals;
    const bytes = fileBytes(file);
    const from = values.get("declaration") ?? "delegate.json";
    const text = declarationText(from);
    const declaration = named(from, () =>
      parseDeclaration(
        text,
        (version) => {
          const abi = Object.hasOwn(abiVersions, version) ? abiVersions[version] : undefined;
          return abi === undefined ? null : capabilitiesOf(abi);
        },
        Object.keys(abiVersions),
      ),
    );
    const component = named(file, () => annotated(bytes, text, flags.has("replace")));
    const outFile = values.get("output") ?? file;
    writeNamedFile(outFile, component);
    output.say(`${outFile}: ${declaration.name} ${declaration.version}, ${component.length} bytes`);
    const { problem } = inspectComponent(outFile, component, artifactLimits);
    if (problem !== null) output.warn(`plexus-delegate: warning: a node refuses the component: ${problem.msg}`);
    return exitCode.success;
  },
};

function declarationText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new CommandError(readFailure(file, error, { front: "--declaration: " }), exitCode.usage, { cause: error });
  }
}

/** Runs `act`; its error gets the file's name. */
function named<T>(file: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw new CommandError(`${file}: ${error instanceof Error ? error.message : String(error)}`, exitCode.defect, {
      cause: error,
    });
  }
}
