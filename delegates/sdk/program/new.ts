// `plexus-delegate new`: makes the repository of a new delegate.

import { existsSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { isPackaged } from "../build/kit-files.ts";
import { componentizePyVersion, goVersion, type Language, type LanguageId, languages } from "../build/language.ts";
import { scaffoldCapabilities, writeScaffold } from "../build/scaffold.ts";
import { type KindName, kindNamed, kinds } from "../build/templates/kinds/kinds.ts";
import { version } from "../../../host/system/version.ts";
import { unknown } from "./command-line.ts";
import { runsSandbox } from "./newer-node.ts";
import { type Command, CommandError, exitCode } from "./command.ts";

/** Makes a directory with a delegate that builds and passes its vectors. */
export const newCommand: Command = {
  name: "new",
  summary: "Makes the directory NAME with a delegate that builds and passes its vectors",
  usage: "NAME [CAPABILITY ...]",
  details: `Capabilities: ${scaffoldCapabilities.toSorted().join(", ")}. The delegate declares "log" and those that you name.`,
  options: [
    {
      name: "language",
      value: "LANGUAGE",
      about: `${languages.map(({ id, title }) => `${id} (${title})`).join(", ")}; default: as`,
    },
    {
      name: "template",
      value: "KIND",
      about: "main (makes an interface), ipam, meta (changes an interface), policy (allows or refuses); default: a greeter",
    },
    { name: "dir", value: "DIR", about: "the directory; default: NAME" },
    {
      name: "sdk",
      value: "VERSION",
      about: "version or archive of @plexus-cni/sdk in package.json; default: this kit's version",
    },
  ],
  positionals: [1, Number.POSITIVE_INFINITY],
  run: async ({ positionals, values }, output) => {
    const [name = "", ...capabilities] = positionals;
    const dir = values.get("dir") ?? name;
    const { id: language, entry } = languageNamed(values.get("language") ?? "as");
    const kind = kindOn(values.get("template"));
    const sdk = values.get("sdk") ?? `^${version}`;
    requireArchive(sdk, resolve(dir));
    await writeScaffold(resolve(dir), {
      name,
      capabilities,
      language,
      ...kind,
      home: { kind: "repository", sdk, ownNode: !runsSandbox() },
    }).catch((error: unknown) => {
      throw new CommandError(error instanceof Error ? error.message : String(error), exitCode.usage, { cause: error });
    });
    output.say(`Created ${dir}/. Next:
  cd ${dir}
${toolchain(language)}  npm install-test     # installs the kit${isPackaged || values.has("sdk") ? "" : " (the package @plexus-cni/sdk)"}, builds build/${name}.wasm and runs its vectors
Then change ${sourceOf[language] ?? entry}. New vectors: write vectors/NAME.in.json, then npm run vectors.`);
    return exitCode.success;
  },
};

/** The file with the verbs, in languages whose entry is another one. */
const sourceOf: Readonly<Partial<Record<LanguageId, string>>> = { rust: "src/lib.rs", go: "main.go" };

/** The line that installs a compiler, which npm does not have. */
function toolchain(language: LanguageId): string {
  if (language === "rust") return "  rustup target add wasm32-unknown-unknown   # of https://rustup.rs\n";
  if (language === "go") return `  go version          # Go ${goVersion} or newer, of https://go.dev/dl\n`;
  if (language !== "python") return "";
  return `  python3 -m venv .venv && .venv/bin/pip install componentize-py==${componentizePyVersion}\n`;
}

/** The kind of plugin that the command line names. */
function kindOn(written: string | undefined): { readonly kind?: KindName } {
  if (written === undefined) return {};
  const kind = kindNamed(written);
  if (kind !== undefined) return { kind };
  throw new CommandError(`new: ${unknown("template", written, written, Object.keys(kinds))}`, exitCode.usage);
}

function languageNamed(id: string): Language {
  const found = languages.find((each) => each.id === id || each.title.toLowerCase() === id.toLowerCase());
  if (found !== undefined) return found;
  const valid = languages.map((each) => each.id);
  const isGo = ["golang", "tinygo"].includes(id.toLowerCase());
  const hint = isGo ? ". Go is built with its own compiler: --language go" : "";
  throw new CommandError(
    `new: ${isGo ? `unknown language ${id}; valid: ${valid.join(", ")}` : unknown("language", id, id, valid)}${hint}`,
    exitCode.usage,
  );
}

/** Refuses an archive that does not exist: npm install would fail later, without the reason. */
function requireArchive(sdk: string, dir: string): void {
  if (!sdk.startsWith("file:")) return;
  const written = sdk.slice("file:".length);
  const refuse = (why: string): CommandError => new CommandError(`new: --sdk=${sdk}${why}`, exitCode.usage);
  if (written === "") throw refuse(" names no archive: write --sdk=file:/PATH/plexus-cni-sdk-VERSION.tgz");
  const path = resolve(dir, written);
  if (existsSync(path)) return;
  const relative = isAbsolute(written) ? "" : "; npm reads a relative path from the new directory, so write an absolute one";
  throw refuse(
    `: there is no ${path}${relative}. npm run release -- --untagged --only sdk, in a clone of Plexus, makes the archive`,
  );
}
