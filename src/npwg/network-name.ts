// The name of one network in an annotation of a policy or a Service: of a NetworkAttachmentDefinition, or of a PodNetwork.

import { quote } from "../json/quote.ts";
import { problem, type Reading } from "../kube/object-parts.ts";
import { labelProblem, subdomainProblem } from "./object-names.ts";

/** The prefix of a PodNetwork's name. A definition of a namespace that is called `podnetwork` cannot be named. */
export const podNetworkPrefix = "podnetwork/";

/** Reads `NAME`, `NAMESPACE/NAME` or `podnetwork/NAME`. A definition without a namespace is one of `namespace`. */
export function readNetworkName(text: string, namespace: string): Reading<string> {
  const slash = text.indexOf("/");
  const [before, name] = slash === -1 ? [namespace, text] : [text.slice(0, slash), text.slice(slash + 1)];
  const wrong = labelProblem(before) ?? subdomainProblem(name);
  return wrong === undefined
    ? { ok: true, value: `${before}/${name}` }
    : problem(`${quote(text, 80)} names no network: a name ${wrong}`);
}
