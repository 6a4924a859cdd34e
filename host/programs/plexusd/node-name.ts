// The node's name in the Kubernetes API: from --node-name, else from NODE_NAME, else the host name in lower case, as the kubelet does.

import { hostname } from "node:os";
import { quote } from "../../../src/json/quote.ts";
import { subdomainProblem } from "../../../src/npwg/object-names.ts";

/** The name, or the problem with it. `fatal`: the name was configured, so the daemon must not start with a wrong one. */
export type NodeName =
  | { readonly name: string }
  | { readonly name: undefined; readonly problem: string; readonly fatal: boolean };

/** Determines the node's name from the option, the environment, or the host name. */
export function nodeNameOf(option: string | undefined, environment: Readonly<Record<string, string | undefined>>): NodeName {
  const configured = option ?? environment["NODE_NAME"] ?? "";
  const name = configured === "" && option === undefined ? hostname().trim().toLowerCase() : configured;
  const problem = subdomainProblem(name);
  if (problem === undefined) return { name };
  const source = option !== undefined ? "--node-name" : configured !== "" ? "NODE_NAME" : "the host name";
  return {
    name: undefined,
    problem: `${source} ${quote(name, 80)} ${problem}`,
    fatal: configured !== "" || option !== undefined,
  };
}
