// The keys for the rights of pods and of the authors of definitions: the profile, namespaces, bounds, rules for steps and for definitions.

import { boundsSection, defaultBounds } from "../bounds.ts";
import { stepRules } from "../step-rules.ts";
import { key, type ValuesOf } from "../table/key.ts";
import { boolean, matching, oneOf } from "../table/kinds.ts";
import { commaList } from "../table/lists.ts";
import { defaultWasm, wasmSection } from "../wasm-configuration.ts";
import { definitionSection, mistakenDefinitions, noDefinitions } from "./definition-keys.ts";

/** A DNS-1123 label. */
const namespaceRule = { pattern: /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/, wanted: "the name of a namespace" };

export const policyKeys = {
  profile: key({
    kind: oneOf(["strict", "compat", "multus"]),
    about:
      "strict: annotations and status follow the NPWG specification 1.3. compat (default): also Multus' keys of a selection, and gateway and mtu in the status; an invalid annotation fails the pod. multus: as compat, and the definitions of every namespace are trusted.",
    usual: "compat",
  }),
  invalidAnnotation: key({
    kind: oneOf(["ignore", "fail"]),
    about:
      "Effect of an invalid selection annotation: fail fails the pod (default with compat), ignore starts it with its default network only (default with strict).",
  }),
  multusNamespace: key({
    kind: matching(namespaceRule),
    about:
      "The namespace of the NetworkAttachmentDefinitions that clusterNetwork and defaultNetworks name, and of those that v1.multus-cni.io/default-network names without a namespace; {usual} by default.",
    usual: "kube-system",
  }),
  namespaceIsolation: key({
    kind: boolean,
    about:
      "Whether a pod may only use NetworkAttachmentDefinitions of its own namespace and of globalNamespaces, as its default network too; {usual} by default.",
    usual: false,
  }),
  globalNamespaces: key({
    // The empty list names no namespace (MC-11).
    kind: commaList,
    about:
      'With namespaceIsolation: a comma-separated list of the namespaces that all pods may use; "{usual}" by default, "" for none.',
    usual: ["default"],
  }),
  bounds: key({
    kind: boundsSection,
    about: "Bounds of an ADD, because authors of annotations and definitions would otherwise decide how long it takes.",
    usual: defaultBounds,
  }),
  steps: key({
    kind: stepRules,
    about:
      "Rules for the steps of the administrator's networks, by plugin type. Definitions of other namespaces than the trusted ones get theirs from definitions.rules.",
  }),
  wasm: key({
    kind: wasmSection,
    about: "Settings of sandboxed delegates.",
    usual: defaultWasm,
    mistaken: { ...defaultWasm, otherGrants: {} },
    inChart: "own",
  }),
  definitions: key({
    kind: definitionSection,
    about: "The policy for NetworkAttachmentDefinitions.",
    usual: noDefinitions,
    mistaken: mistakenDefinitions,
    inChart: "own",
  }),
};

/** Patterns of the trusted namespaces of a configuration that names none. */
export function trustedByDefault({ profile, multusNamespace }: ValuesOf<typeof policyKeys>): readonly string[] {
  return profile === "multus" ? ["*"] : [multusNamespace];
}
