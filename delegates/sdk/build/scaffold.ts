// The files of a new delegate. They build and pass their vectors unchanged.

import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { currentAbi } from "./abi.ts";
import { nameRefusal } from "./delegate-name.ts";

const source = `// Describe the delegate in one or two sentences.

import { AttachmentRequest, Fault, GcRequest, StatusRequest, SuccessOrFault } from "plexus/abi/plugin";
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

export function check(_request: AttachmentRequest): Fault | null {
  return null;
}

export function gc(_request: GcRequest): Fault | null {
  return null;
}

export function status(_request: StatusRequest): Fault | null {
  return null;
}
`;

/** Lists of texts are on one line, like the project's formatter writes them. */
const json = (value: unknown): string =>
  `${JSON.stringify(value, null, 2).replace(/\[\s+("[^[\]{}]*")\s+\]/g, (_, items: string) => `[${items.replace(/\s*\n\s*/g, " ")}]`)}\n`;

/** Initial reason of each capability, which the author replaces, and an example grant for the README. */
const initial: Readonly<Record<string, { readonly reason: string; readonly grant: object }>> = {
  leases: { reason: "Reserves the attachment's addresses.", grant: { directories: ["/var/lib/cni/networks"] } },
  resolver: { reason: "Reads the node's name resolution settings.", grant: { files: ["/etc/resolv.conf"] } },
  links: { reason: "Makes the pod's interface, its addresses and routes.", grant: { bridges: ["br0"] } },
  sysctl: { reason: "Sets the sysctls that the configuration lists.", grant: { keys: ["net/ipv4/conf/IFNAME/rp_filter"] } },
  firewall: { reason: "Masquerades the pod's packets.", grant: { masquerade: true } },
  announce: { reason: "Announces the pod's addresses to neighbours.", grant: {} },
  delegation: { reason: "Calls the plugin that ipam.type names.", grant: { plugins: ["ipam-host-local"] } },
  state: { reason: "Keeps the data that DEL needs.", grant: { directories: ["/run/cni/state"] } },
};

/** The home of a new delegate: a repository of its own, or a directory of `delegates/` in Plexus' repository. */
export type Home =
  | {
      readonly kind: "repository";
      /** The version or the archive of `@plexus-cni/sdk` for package.json. */
      readonly sdk: string;
    }
  | { readonly kind: "plexus" };

/** A delegate to create. */
export interface ScaffoldInit {
  readonly name: string;
  /** Capabilities besides `log`. */
  readonly capabilities: readonly string[];
  readonly home: Home;
}

/** The capabilities that a new delegate can declare. */
export const scaffoldCapabilities: readonly string[] = ["log", ...Object.keys(initial)];

/** The files of a new delegate, by path within its directory. */
export function scaffold({ name, capabilities, home }: ScaffoldInit): ReadonlyMap<string, string> {
  const further = capabilities.filter((each) => each !== "log");
  const declared = Object.fromEntries(further.map((each) => [each, initial[each]?.reason ?? "Give the reason."]));
  const imports = further.map((each) => `// import * as ${each} from "plexus/abi/${each}";\n`).join("");
  const prevResult = { cniVersion: "1.1.0", interfaces: [{ name: "eth0" }], ips: [{ address: "10.1.0.5/24", interface: 0 }] };
  const stdin = { cniVersion: "1.1.0", name: "net", type: name };
  const env = { CNI_CONTAINERID: "pod-1", CNI_NETNS: "/var/run/netns/pod-1", CNI_IFNAME: "eth0" };
  return new Map([
    [
      "delegate.json",
      json({
        name,
        abi: currentAbi,
        version: "0.1.0",
        about: "Passes the result on and greets the container.",
        cniVersions: ["0.4.0", "1.0.0", "1.1.0"],
        capabilities: { log: "Greets the container, and logs the reason of an abort.", ...declared },
      }),
    ],
    ["assembly/index.ts", source.replace("import { Config } from", () => `${imports}import { Config } from`)],
    ["assembly/tsconfig.json", json({ extends: guestConfig[home.kind], include: ["./**/*.ts"] })],
    [
      "vectors/01-passes-on.in.json",
      json({
        about: "Passes the result on, and greets.",
        verb: "ADD",
        env,
        stdin: { ...stdin, greeting: "welcome", prevResult },
      }),
    ],
    ["vectors/01-passes-on.out.json", json({ result: prevResult, log: ["info: welcome, pod-1"] })],
    [
      "vectors/02-refuses-nonsense.in.json",
      json({ about: "Refuses a greeting that is not a string.", verb: "ADD", env, stdin: { ...stdin, greeting: 5, prevResult } }),
    ],
    ["vectors/02-refuses-nonsense.out.json", json({ error: { code: 7, msg: "greeting: must be a string, is a number" } })],
    ...homeFiles(name, home),
    [
      "README.md",
      `# ${name}\n\nDescribe the delegate, its configuration and its errors. \`vectors/\` has examples.\n${grantsText(name, further)}`,
    ],
  ]);
}

function grantsText(name: string, capabilities: readonly string[]): string {
  if (capabilities.length === 0) return "";
  const grant = Object.fromEntries(["log", ...capabilities].map((each) => [each, initial[each]?.grant ?? {}]));
  const text = json({ wasm: { grants: { [name]: grant } } });
  return `\nGrants to begin with, in Plexus' configuration:\n\n\`\`\`json\n${text}\`\`\`\n`;
}

/** The editor's settings for `plexus/…`. */
const guestConfig: Readonly<Record<Home["kind"], string>> = {
  repository: "@plexus-cni/sdk/tsconfig.guest.json",
  plexus: "../../sdk/tsconfig.guest.json",
};

/** The files that only this home needs. */
function homeFiles(name: string, home: Home): [path: string, text: string][] {
  if (home.kind === "plexus") {
    const test = `import { describeVectors } from "../sdk/testing/vectors-of.ts";\n\nawait describeVectors(new URL(".", import.meta.url));\n`;
    return [["vectors.test.ts", test]];
  }
  const manifest = {
    name,
    version: "0.1.0",
    private: true,
    type: "module",
    scripts: { build: "plexus-delegate build", test: "plexus-delegate test", vectors: "plexus-delegate fmt-vectors" },
    devDependencies: { "@plexus-cni/sdk": home.sdk },
  };
  return [
    ["package.json", json(manifest)],
    [".gitignore", "node_modules/\nbuild/\n"],
  ];
}

/**
 * Writes the files of a new delegate. Rejects with an Error for the author if the name can't be used, if a capability is unknown, or
 * if a file exists; then nothing is written.
 */
export async function writeScaffold(dir: string, init: ScaffoldInit): Promise<void> {
  const refusal = nameRefusal(init.name);
  if (refusal !== undefined) throw new Error(refusal);
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
