// Keys of the CNI specification, and those that the runtime sets.

import { DEFAULT_VERSION } from "../../cni/versions.ts";
import { key } from "../table/key.ts";
import type { Kind } from "../table/kind.ts";
import { absolutePath, readElsewhere, flag, matching, nonEmptyText, text } from "../table/kinds.ts";

/** Prefix of the CNI specification's own keys. */
export const specificationPrefix = "cni.dev/";

/** A directory of CNI_PATH. */
const binDirRule = {
  pattern: /^(?:\/[^\p{Cc}:"\\]*)?$/u,
  wanted: "an absolute path without a colon, a quote or a backslash",
};

const ownType: Kind<string> = {
  ...readElsewhere,
  read: (reader, at) => {
    const type = reader.value(at);
    return typeof type === "string" ? type : undefined;
  },
};

export const callKeys = {
  name: key({ kind: nonEmptyText, about: "The network's name for the runtime.", required: true, locatesState: true }),
  type: key({
    kind: ownType,
    about: "The name under which Plexus is installed: plexus, or multus if Plexus replaces Multus.",
    usual: "",
    required: "written",
    inChart: "none",
  }),
  cniVersion: key({
    kind: text,
    // libcni passes an empty text for a list without a version.
    about: "Any CNI version from 0.1.0 to 1.1.0; empty or missing means {usual}.",
    usual: DEFAULT_VERSION,
    locatesState: true,
  }),
  capabilities: key({
    kind: readElsewhere,
    about:
      "Capabilities whose arguments the runtime passes. Only the default network gets them. With io.kubernetes.cri.pod-annotations containerd passes the pod's annotations, so the pod is not read from the API, except for its labels with policies or services; without an API a selection then names configurations in confDir.",
  }),
  configFile: key({
    kind: absolutePath,
    about:
      "A JSON file with further keys, which each call reads again. A key of the CNI configuration replaces the file's key as a whole. The file can't have binDir, cniDir, configFile, runDir and the keys that the runtime sets.",
    inCniOnly: true,
  }),
  binDir: key({
    kind: matching(binDirRule),
    about:
      "A plugin directory that is searched before those of CNI_PATH. Only this spelling is read, and only in the CNI configuration.",
    inCniOnly: true,
  }),
};

/** Flags of a list, which a runtime reads there only. */
export const listFlagKeys = {
  disableCheck: key({
    kind: flag,
    about:
      "Whether CHECK succeeds without a step, for all networks of pods. A runtime reads this key of a list, and plexusd writes it there.",
    usual: false,
  }),
  disableGC: key({
    kind: flag,
    about:
      "Whether GC and plexusd's rounds leave all attachments and networks alone. A runtime reads this key of a list, and plexusd writes it there.",
    usual: false,
  }),
};

export const runtimeKeys = {
  args: key({ kind: readElsewhere, about: "Set by the runtime.", byRuntime: true }),
  runtimeConfig: key({ kind: readElsewhere, about: "Set by the runtime; passed to the default network.", byRuntime: true }),
  prevResult: key({
    kind: readElsewhere,
    about: "Set by the runtime if Plexus is not the first plugin of a list; passed to the default network's first plugin.",
    byRuntime: true,
  }),
  "cni.dev/valid-attachments": key({ kind: readElsewhere, about: "Set by the runtime for GC.", byRuntime: true }),
  "cni.dev/attachments": key({ kind: readElsewhere, about: "Set by the runtime for GC.", byRuntime: true }),
};
