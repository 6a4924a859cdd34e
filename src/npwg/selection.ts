// A pod's selection annotation, k8s.v1.cni.cncf.io/networks (NPWG 4.1): reads untrusted text into selections.

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { describeJson, documentWithin, isJsonObject, parseElements } from "../json/document.ts";
import { quote } from "../json/quote.ts";
import type { Family } from "../net/ip.ts";
import type { NetworkSelection, PodSelection } from "./network-selection.ts";
import { labelProblem } from "./object-names.ts";
import type { NpwgProfile } from "./profile.ts";
import { readReference } from "./selection-comma.ts";
import { type ElementSelection, readElement } from "./selection-element.ts";
import { type Reading, selectionFault, type SelectionProblem, shortened } from "./selection-problem.ts";
import { claimedFamilies } from "./default-route.ts";

/** The annotation's key. */
export const networksAnnotation = "k8s.v1.cni.cncf.io/networks";

/** Kubernetes' limit for all annotations of an object, in bytes; a text never has more UTF-16 units than bytes. */
const maxAnnotationLength = 262_144;
/** More networks than any node attaches to one pod. */
const maxNetworks = 128;
const tooManyNetworks = `selects more than ${maxNetworks} networks`;
/** More keys than any selection, and any object of `cni-args`, has. */
const maxKeys = 256;
const maxDepth = 32;

/**
 * Reads the annotation in either form; a text that begins with "[", "{" or a quote is JSON. Absent or blank text selects nothing.
 * Only the text and the pod's namespace are used, so a refused annotation causes no access to files or the API.
 *
 * Fault SELECTION_INVALID names the element and the key. With `invalidAnnotation: "ignore"`, mistakes for which the specification
 * says that the annotation is ignored give an empty selection with a warning instead (D-01). `annotation` is the annotation's key,
 * for messages.
 */
export function parseSelection(
  text: string | undefined,
  podNamespace: string,
  profile: NpwgProfile,
  annotation = networksAnnotation,
): Result<PodSelection> {
  const namespaceProblem = labelProblem(podNamespace);
  if (namespaceProblem !== undefined) {
    return failed(fault("ENVIRONMENT_INVALID", `CNI_ARGS: K8S_POD_NAMESPACE ${quote(podNamespace, 60)} ${namespaceProblem}`));
  }
  const trimmed = text?.trim() ?? "";
  if (trimmed === "") return ok({ networks: [], warnings: [] });
  if (trimmed.length > maxAnnotationLength) {
    return refused(annotation, `has ${trimmed.length} characters; Kubernetes allows ${maxAnnotationLength} bytes`);
  }
  const isJson = /^[[{"]/.test(trimmed);
  const readings = isJson ? readJson(trimmed, podNamespace, profile, annotation) : ok(readCommas(trimmed, podNamespace, profile));
  return readings.ok ? combine(readings.value, profile, annotation) : readings;
}

function readCommas(text: string, podNamespace: string, profile: NpwgProfile): Reading<ElementSelection>[] {
  // One element more than allowed shows that there are too many.
  return text.split(",", maxNetworks + 1).map((each, index) => {
    const { value, problems, warnings } = readReference(each, `element ${index}`, podNamespace, profile);
    return { value: value === undefined ? undefined : { selection: value, routesByExtension: false }, problems, warnings };
  });
}

function readJson(
  text: string,
  podNamespace: string,
  profile: NpwgProfile,
  annotation: string,
): Result<Reading<ElementSelection>[]> {
  const what = `annotation ${annotation}`;
  const source = { what, kind: "SELECTION_INVALID", maxLength: maxAnnotationLength, maxDepth, maxKeys } as const;
  const elements = parseElements(text, source);
  if (!elements.ok) return elements;
  if (elements.value.length > maxNetworks) return refused(annotation, tooManyNetworks);
  const readings: Reading<ElementSelection>[] = [];
  for (const [index, each] of elements.value.entries()) {
    const where = `element ${index}`;
    if (!isJsonObject(each.value)) {
      return failed(fault("SELECTION_INVALID", `${what}: ${where} must be a JSON object, but is ${describeJson(each.value)}`));
    }
    readings.push(readElement(documentWithin(each.text, each.value), where, podNamespace, profile));
  }
  return ok(readings);
}

function combine(readings: readonly Reading<ElementSelection>[], profile: NpwgProfile, annotation: string): Result<PodSelection> {
  if (readings.length > maxNetworks) return refused(annotation, tooManyNetworks);
  const problems = [...readings.flatMap((each) => each.problems), ...routeProblems(readings, profile)];
  const warnings = shortened(readings.flatMap((each) => each.warnings));
  if (problems.length === 0) return ok({ networks: selectionsOf(readings), warnings });
  // An error stays an error even if another problem of the annotation can be ignored.
  const fatal = problems.filter((each) => !each.ignorable);
  const problem = selectionFault(
    annotation,
    fatal.length > 0 ? [...fatal, ...problems.filter((each) => each.ignorable)] : problems,
  );
  if (fatal.length > 0 || profile.invalidAnnotation === "fail") return failed(problem);
  return ok({
    networks: [],
    warnings: [`the annotation is ignored, only the default network is attached: ${problem.msg}`, ...warnings],
  });
}

function selectionsOf(readings: readonly Reading<ElementSelection>[]): NetworkSelection[] {
  return readings.flatMap((each) => each.value?.selection ?? []);
}

/**
 * 4.1.2.1.9: only one element may have the default routes; with the extension, or for Multus' users (D-08), one for each family.
 */
function routeProblems(readings: readonly Reading<ElementSelection>[], profile: NpwgProfile): SelectionProblem[] {
  const problems: SelectionProblem[] = [];
  const claimed = new Map<Family, number>();
  let specified: number | undefined;
  for (const [index, { value }] of readings.entries()) {
    const routes = value?.selection.defaultRoute;
    if (value === undefined || routes === undefined) continue;
    const families = [...claimedFamilies(routes)];
    const earlier = families.map((family) => claimed.get(family)).find((each) => each !== undefined);
    const second = profile.defaultRoutes === "one" && !value.routesByExtension ? specified : undefined;
    const rival = second ?? earlier;
    if (rival !== undefined) {
      problems.push({
        why: `element ${index}: "default-route" is set, but element ${rival} has it already; remove one of them`,
        ignorable: true,
      });
    }
    for (const family of families) claimed.set(family, index);
    if (!value.routesByExtension) specified ??= index;
  }
  return problems;
}

function refused(annotation: string, why: string): Result<never> {
  return failed(fault("SELECTION_INVALID", `annotation ${annotation} ${why}`));
}
