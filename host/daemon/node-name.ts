// This node's name in the Kubernetes API: said outright, else by the environment, else the host's own as a kubelet takes it.

import { hostname } from "node:os";
import { quote } from "../../src/json/quote.ts";
import { subdomainProblem } from "../../src/npwg/object-names.ts";

/** A name, or none and what is wrong: `fatal` where somebody said it, and must hear that it is none. */
export type NodeName =
  | { readonly name: string }
  | { readonly name: undefined; readonly problem: string; readonly fatal: boolean };

export function nodeNameOf(option: string | undefined, environment: Readonly<Record<string, string | undefined>>): NodeName {
  const said = option ?? environment["NODE_NAME"] ?? "";
  const name = said === "" && option === undefined ? hostname().trim().toLowerCase() : said;
  const problem = subdomainProblem(name);
  if (problem === undefined) return { name };
  const what = option !== undefined ? "--node-name" : said !== "" ? "NODE_NAME" : "the host's name";
  return { name: undefined, problem: `${what} ${quote(name, 80)} ${problem}`, fatal: said !== "" || option !== undefined };
}
