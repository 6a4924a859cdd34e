// The comma form of the selection annotation (NPWG 4.1.1): "net-a, other-ns/net-c", and Multus' "net-a@eth1".

import { quote } from "../json/quote.ts";
import type { NetworkSelection } from "./network-selection.ts";
import { isLongLabel, labelProblem } from "./object-names.ts";
import type { NpwgProfile } from "./profile.ts";
import { longName } from "./selection-element.ts";
import type { Reading, SelectionProblem, Sentence } from "./selection-problem.ts";
import { checkInterface } from "./selection-values.ts";

/** Reads one reference. `where` prefixes its messages ("element 2"). */
export function readReference(
  text: string,
  where: string,
  podNamespace: string,
  profile: NpwgProfile,
): Reading<NetworkSelection> {
  const reference = text.trim();
  if (reference === "") return refused(where, "is empty", false);
  const at = reference.indexOf("@");
  if (at !== -1 && !profile.multusSelection) {
    return refused(
      where,
      `${quote(reference, 60)} names its interface after "@", which is an extension of Multus; use "interface" of the JSON form`,
      false,
    );
  }
  const object = at === -1 ? reference : reference.slice(0, at);
  const link = at === -1 ? undefined : reference.slice(at + 1).trim();
  // An interface name may contain "@", but Multus refuses two of them, so that no reader takes the name for another.
  if (link?.includes("@") === true)
    return refused(where, `${quote(reference, 60)} has more than one "@"; use "interface" of the JSON form`, false);
  const parts = object.split("/").map((part) => part.trim());
  if (parts.length > 2) return refused(where, `${quote(object, 60)} has more than one "/"`, false);
  const [namespace, name] = parts.length === 2 ? parts : [podNamespace, object.trim()];
  const warnings: Sentence[] = [];
  for (const [what, label] of [
    ["namespace", namespace],
    ["name", name],
  ] as const) {
    const problem = labelProblem(label ?? "");
    if (problem !== undefined) return refused(where, `the ${what} ${quote(label ?? "", 60)} ${problem}`, false);
    if (label !== undefined && isLongLabel(label)) warnings.push(longName(where, label));
  }
  const selection = { name: name ?? "", namespace: namespace ?? podNamespace, extensions: new Map<string, string>() };
  if (link === undefined) return { value: selection, problems: [], warnings };
  const checked = checkInterface(link, "");
  if ("problem" in checked) return refused(where, `${quote(link, 60)} ${checked.problem}`, true);
  return { value: { ...selection, interface: checked.value }, problems: [], warnings };
}

function refused(where: string, why: string, ignorable: boolean): Reading<NetworkSelection> {
  const problem: SelectionProblem = { why: `${where}: ${why}`, ignorable };
  return { value: undefined, problems: [problem], warnings: [] };
}
