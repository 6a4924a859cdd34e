// The key `chainTrace`: the calls of which a chain trace is written, and the bounds of the traces' directory.

import { defaultsOf, key, type ValuesOf } from "./table/key.ts";
import type { TextRule } from "./table/kind.ts";
import { absolutePath, count, oneOf } from "./table/kinds.ts";
import { listOf } from "./table/lists.ts";
import { section } from "./table/section.ts";

/** NAMESPACE/NAME; each part may have wildcards. */
export const tracedPodRule: TextRule = {
  pattern: /^[a-z0-9*][-a-z0-9*]{0,62}\/[a-z0-9*][-a-z0-9.*]{0,252}$/,
  wanted: "NAMESPACE/NAME of a pod, in which * is a wildcard",
};

const chainTraceKeys = {
  calls: key({
    kind: oneOf(["all", "failed"]),
    about: "Whether all calls are recorded, or only those that fail. A STATUS is recorded only if it fails.",
    required: true,
  }),
  pods: key({
    kind: listOf(tracedPodRule),
    about: "Pods as NAMESPACE/NAME, in which * is a wildcard; without this key every container.",
  }),
  directory: key({
    kind: absolutePath,
    about: "The directory of the traces (mode 0700); traces in cniDir by default.",
  }),
  maxFiles: key({
    kind: count(10_000),
    about: "Maximum traces in the directory, {usual} by default. The oldest are removed.",
    usual: 100,
  }),
  maxMiB: key({
    kind: count(4096),
    about: "Maximum size of the directory's traces, in mebibytes; {usual} by default.",
    usual: 64,
  }),
};

/** The section `chainTrace` with every default filled in. */
export type ChainTraceConfiguration = ValuesOf<typeof chainTraceKeys>;

/** The default bounds of a directory of traces. */
export const traceBounds: Pick<ChainTraceConfiguration, "maxFiles" | "maxMiB"> = defaultsOf(chainTraceKeys);

/** The kind of the section. A trace shows what a call contains, so a mistyped bound must not widen which calls are written: none is. */
export const chainTraceSection = section(chainTraceKeys, { finish: (values) => values, flawed: () => undefined });
