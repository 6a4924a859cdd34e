// The command line of `plexusctl component`.

import { parseArgs } from "node:util";
import { type Output, outputs } from "../options.ts";

/** The command line with every default filled in. */
export interface ComponentOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly output: Output;
  /** For `pull`: a file with the list of components. */
  readonly list: string | undefined;
  readonly lock: string;
  /** For `pull`: the plugin directory. */
  readonly to: string;
  /** For `pull`: the plugin type; undefined: the last part of the repository's name. */
  readonly type: string | undefined;
  /** For `pull` and `verify`: public keys, as `[NAME=]FILE`. */
  readonly keys: readonly string[];
  readonly force: boolean;
  readonly credentials: string | undefined;
  readonly plainHttp: readonly string[];
  readonly authority: string | undefined;
  /** For `ls`: Plexus' own configuration, and the directories of plugins. */
  readonly config: string;
  readonly cniPath: string;
}

/** The help text. */
export const componentUsage = `plexusctl component: components as OCI artifacts

  plexusctl component push FILE REF
                               pushes a component; prints its digest
  plexusctl component pull REF [--type TYPE] [--key [NAME=]FILE]
                               installs a component on this node, signed by
                               the key if one is given
  plexusctl component pull --list FILE
                               installs the components of a list, and removes
                               those that it installed earlier and that are no
                               longer listed
  plexusctl component verify --key [NAME=]FILE REF
                               verifies digests and signature
  plexusctl component save REF DIRECTORY
                               writes a component with its signatures into an
                               OCI image layout
  plexusctl component load DIRECTORY REF
                               pushes the component of this tag or digest from
                               a layout, with its signatures
  plexusctl component ls       lists the components of this node: digest,
                               signer, grants

  REF                          HOST/REPOSITORY[:TAG][@sha256:DIGEST], or
                               oci-layout:DIRECTORY[:TAG][@sha256:DIGEST]
  --key [NAME=]FILE            a public key of cosign; may be repeated for verify
  --to DIRECTORY               the plugin directory (/opt/cni/bin)
  --lock FILE                  what is installed
                               (/etc/plexus/components.lock.json)
  --force                      for pull: replaces a component that it did not
                               install
  --credentials FILE           credentials of registries in the form of Docker's
                               config.json ($REGISTRY_AUTH_FILE, containers'
                               auth.json, $DOCKER_CONFIG/config.json,
                               ~/.docker/config.json)
  --ca FILE                    certificates to trust besides Node's own
  --plain-http HOST[:PORT]     a registry without TLS; may be repeated
  --config PATH                for ls: Plexus' configuration (/etc/cni/net.d)
  --cni-path DIR[:DIR…]        for ls: directories of plugins
                               ($CNI_PATH, else /opt/cni/bin)
  -o, --output FORMAT          table (80 columns), wide, json or yaml

Exit status: 0: done. 1: refused or failed; nothing was installed. For ls: a
component that no call would run. 2: a mistake in the command line.
`;

/** Number of arguments of each command. */
const argumentCounts: Readonly<Record<string, readonly [min: number, max: number, names: string]>> = {
  push: [2, 2, "FILE and REF"],
  pull: [0, 1, "REF, or --list FILE"],
  verify: [1, 1, "REF"],
  save: [2, 2, "REF and DIRECTORY"],
  load: [2, 2, "DIRECTORY and REF"],
  ls: [0, 0, "no argument"],
};

/** The parsed options; `help`; or `wrong`, one line about the mistake. */
export function readComponentOptions(args: readonly string[]): ComponentOptions | "help" | { readonly wrong: string } {
  let parsed;
  try {
    parsed = parse(args);
  } catch (error) {
    // The messages of parseArgs have several sentences; the first names the mistake.
    const [wrong = ""] = (error instanceof Error ? error.message : String(error)).split(/\n|\. /);
    return { wrong };
  }
  const { values, positionals } = parsed;
  const [command, ...rest] = positionals;
  if (values.help === true || command === "help") return "help";
  if (command === undefined)
    return { wrong: `component: no command was given; ${Object.keys(argumentCounts).join(", ")} are valid` };
  const counts = Object.hasOwn(argumentCounts, command) ? argumentCounts[command] : undefined;
  if (counts === undefined)
    return { wrong: `component ${command}: no such command; ${Object.keys(argumentCounts).join(", ")} are valid` };
  const [min, max, names] = counts;
  if (rest.length < min || rest.length > max)
    return { wrong: `component ${command} takes ${names}; ${rest.length} arguments were given` };
  const output = outputs.find((each) => each === values.output);
  if (output === undefined) return { wrong: `-o ${values.output}: must be one of ${outputs.join(", ")}` };
  if (command === "pull" && (rest.length === 0) === (values.list === undefined))
    return { wrong: "component pull takes either REF or --list FILE" };
  const keys = values.key ?? [];
  if (command === "verify" && keys.length === 0) return { wrong: "component verify: give --key [NAME=]FILE" };
  if (command === "pull" && (keys.length > 1 || (keys.length > 0 && values.list !== undefined)))
    return { wrong: "component pull takes one --key, with REF; a list has its own keys" };
  if (keys.length > 0 && !["pull", "verify"].includes(command)) return { wrong: "--key: only pull and verify have it" };
  return {
    command,
    args: rest,
    output,
    list: values.list,
    lock: values.lock,
    to: values.to,
    type: values.type,
    keys,
    force: values.force === true,
    credentials: values.credentials,
    plainHttp: values["plain-http"] ?? [],
    authority: values.ca,
    config: values.config,
    cniPath: values["cni-path"] ?? process.env["CNI_PATH"] ?? "/opt/cni/bin",
  };
}

function parse(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      output: { type: "string", short: "o", default: "table" },
      list: { type: "string" },
      lock: { type: "string", default: "/etc/plexus/components.lock.json" },
      to: { type: "string", default: "/opt/cni/bin" },
      type: { type: "string" },
      key: { type: "string", multiple: true },
      force: { type: "boolean" },
      credentials: { type: "string" },
      "plain-http": { type: "string", multiple: true },
      ca: { type: "string" },
      config: { type: "string", default: "/etc/cni/net.d" },
      "cni-path": { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
}
