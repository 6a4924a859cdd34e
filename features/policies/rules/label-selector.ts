// Label selectors of `meta/v1`, read from untrusted objects, and their decision about labels.

import { describeJson, isJsonObject } from "../../../src/json/document.ts";
import { quote } from "../../../src/json/quote.ts";
import { problem, type Reading } from "../../../src/kube/object-parts.ts";

/** One requirement on a label. `values` is empty for Exists and DoesNotExist. */
export interface Requirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values: readonly string[];
}

/** Requirements that all must hold. An empty list selects every object. */
export type LabelSelector = readonly Requirement[];

/** Labels of an object. */
export type Labels = ReadonlyMap<string, string>;

/** Maximum requirements of a selector, and values of a requirement. */
const maxParts = 64;
/** A label's key has at most 253 + 1 + 63 characters, and its value 63. */
const maxKey = 317;
const maxValue = 63;

const operators: readonly string[] = ["In", "NotIn", "Exists", "DoesNotExist"];

function isOperator(text: unknown): text is Requirement["operator"] {
  return typeof text === "string" && operators.includes(text);
}

/** Reads a selector. `matchLabels` become requirements with `In`. The requirements are sorted, so that equal selectors have equal texts. */
export function readSelector(object: unknown, where: string): Reading<LabelSelector> {
  if (!isJsonObject(object)) return problem(`${where} is ${describeJson(object)}, and must be an object`);
  const labels = object["matchLabels"] ?? {};
  const expressions = object["matchExpressions"] ?? [];
  if (!isJsonObject(labels)) return problem(`${where}.matchLabels is ${describeJson(labels)}, and must be an object`);
  if (!Array.isArray(expressions))
    return problem(`${where}.matchExpressions is ${describeJson(expressions)}, and must be a list`);
  const entries = Object.entries(labels);
  if (entries.length + expressions.length > maxParts) {
    return problem(`${where} has ${entries.length + expressions.length} requirements; Plexus allows ${maxParts}`);
  }
  const found: Requirement[] = [];
  for (const [key, value] of entries) {
    const read = readRequirement({ key, operator: "In", values: [value] }, `${where}.matchLabels`);
    if (!read.ok) return read;
    found.push(read.value);
  }
  for (const [index, each] of expressions.entries()) {
    const read = readRequirement(each, `${where}.matchExpressions[${index}]`);
    if (!read.ok) return read;
    found.push(read.value);
  }
  const texts = new Map(found.map((each) => [JSON.stringify([each.key, each.operator, each.values]), each]));
  return { ok: true, value: [...texts].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each) };
}

function readRequirement(object: unknown, where: string): Reading<Requirement> {
  if (!isJsonObject(object)) return problem(`${where} is ${describeJson(object)}, and must be an object`);
  const { key, operator, values = [] } = object;
  if (typeof key !== "string" || key === "" || key.length > maxKey) return problem(`${where}: the key is no label's key`);
  if (!isOperator(operator)) return problem(`${where}: the operator must be one of ${operators.join(", ")}`);
  if (!Array.isArray(values) || values.length > maxParts) {
    return problem(`${where}: values must be a list of at most ${maxParts} texts`);
  }
  const texts = values.filter((each): each is string => typeof each === "string" && each.length <= maxValue);
  if (texts.length < values.length) return problem(`${where}: a value of ${quote(key, 60)} is no label's value`);
  const needsValues = operator === "In" || operator === "NotIn";
  if (needsValues !== texts.length > 0) {
    return problem(`${where}: ${operator} ${needsValues ? "needs at least one value" : "takes no values"}`);
  }
  return { ok: true, value: { key, operator, values: [...new Set(texts)].toSorted() } };
}

/** Whether the labels satisfy every requirement. NotIn holds for a missing label, as in Kubernetes. */
export function selects(selector: LabelSelector, labels: Labels): boolean {
  return selector.every(({ key, operator, values }) => {
    const label = labels.get(key);
    if (operator === "Exists") return label !== undefined;
    if (operator === "DoesNotExist") return label === undefined;
    return operator === "In" ? label !== undefined && values.includes(label) : label === undefined || !values.includes(label);
  });
}
