// The other files of the runtime's directory, as far as they concern the file that plexusd writes.

import type { ConfigDirectory } from "../../../src/cni/config-directory.ts";
import { configurationFiles } from "../../../src/configuration/directory-network.ts";
import { readMark } from "../../../src/configuration/written-configuration.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";

/** Maximum names in a message. */
const maxNames = 3;

/** Paths of the configurations that plexusd wrote under other names. */
export function writtenBesides({ files }: ConfigDirectory, path: string): readonly string[] {
  return configurationFiles(files)
    .filter((file) => file.path !== path && "text" in file && readMark(file.text) !== undefined)
    .map((file) => file.path);
}

/** CNI_FILE_BEHIND if the runtime reads another program's file before `path`. A broken file counts: containerd fails on it. */
export function readBefore(directory: ConfigDirectory, path: string): Fault | undefined {
  const ours = new Set([path, ...writtenBesides(directory, path)]);
  const others = directory.files.filter((file) => !ours.has(file.path));
  const [first] = configurationFiles([...others, { path, text: "" }]);
  if (first === undefined || first.path === path) return undefined;
  return fault("CNI_FILE_BEHIND", `the runtime reads ${first.path} before ${path}`);
}

/** Files whose names show that a program renamed `path`, such as `00-plexus.conflist.cilium_bak`. */
export function renamedFrom({ files }: ConfigDirectory, path: string): readonly string[] {
  return files
    .map((file) => file.path)
    .filter((each) => each.startsWith(`${path}.`))
    .slice(0, maxNames);
}
