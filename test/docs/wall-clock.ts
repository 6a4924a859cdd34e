// Finds assertions of a test file that something took less than a time on a clock, and waits with a short patience, in the file's syntax tree.

import { parseAst } from "rolldown/parseAst";

interface Node {
  readonly type: string;
  readonly start: number;
  readonly [key: string]: unknown;
}

/** One place of a test file that depends on the machine's speed. */
export interface ClockFinding {
  /** The line, counted from 1. */
  readonly line: number;
  /** The rule that the place breaks. */
  readonly rule: "asserts that a time is short" | "waits less than a minute for what must come";
  /** The expression's text, cut to some characters. */
  readonly text: string;
}

/** A limit that only ends a hang is at least this long, in milliseconds. */
const minPatienceMs = 60_000;

/** Calls whose value is a time on a clock that goes on while other programs run. CPU times are none. */
const clockCalls: ReadonlySet<string> = new Set([
  "performance.now",
  "Date.now",
  "process.hrtime",
  "process.hrtime.bigint",
  "process.uptime",
]);
/** Members in which the tests' own programs answer how long something took. */
const elapsedMembers: ReadonlySet<string> = new Set(["ms", "seconds", "elapsedMs", "durationMs", "tookMs"]);

const upperBounds: ReadonlySet<string> = new Set(["toBeLessThan", "toBeLessThanOrEqual"]);
const lowerBounds: ReadonlySet<string> = new Set(["toBeGreaterThan", "toBeGreaterThanOrEqual"]);
/** Functions whose options have a patience in `timeout`. */
const waits: ReadonlySet<string> = new Set(["expect.poll", "vi.waitFor", "vi.waitUntil"]);

/** The findings of a test file's text, in the order of their lines. */
export function clockFindings(text: string): readonly ClockFinding[] {
  const nodes = descendants(parseAst(text, { lang: "ts" }));
  const times = timeNames(nodes);
  const isTime = (node: unknown): boolean => isNode(node) && containsTime(node, times);
  const finding = (node: Node, rule: ClockFinding["rule"]): ClockFinding => ({
    line: text.slice(0, node.start).split("\n").length,
    rule,
    text: text.slice(node.start, Number(node["end"])).replaceAll(/\s+/gu, " ").slice(0, 120),
  });
  return nodes
    .filter((node) => node.type === "CallExpression")
    .flatMap((call) => {
      if (assertsShortTime(call, isTime)) return [finding(call, "asserts that a time is short")];
      if (isImpatient(call)) return [finding(call, "waits less than a minute for what must come")];
      return [];
    });
}

/** Names of variables whose value comes from a clock, directly or by other variables. */
function timeNames(nodes: readonly Node[]): ReadonlySet<string> {
  const declarations = nodes.flatMap((node) => {
    if (node.type === "VariableDeclarator" && isNode(node["id"]) && isNode(node["init"]))
      return [{ names: namesIn(node["id"]), value: node["init"] }];
    if (node.type === "AssignmentExpression" && isNode(node["left"]) && isNode(node["right"]))
      return [{ names: namesIn(node["left"]), value: node["right"] }];
    return [];
  });
  const times = new Set<string>();
  for (let size = -1; size !== times.size;) {
    size = times.size;
    for (const { names, value } of declarations) {
      // A function that reads a clock is no time itself; what it answers is judged where it is called.
      if (/Function/.test(value.type) || !containsTime(value, times)) continue;
      for (const name of names) times.add(name);
    }
  }
  return times;
}

function namesIn(pattern: Node): readonly string[] {
  if (pattern.type === "Identifier") return [String(pattern["name"])];
  // `const { ms } = answer` takes a time out of an answer; other members of a pattern are no times.
  return [];
}

/** Whether an expression has a clock's value or a time. The functions within it have other values. */
function containsTime(node: Node, times: ReadonlySet<string>): boolean {
  if (/Function/.test(node.type)) return false;
  if (node.type === "CallExpression" && clockCalls.has(dotted(node["callee"]))) return true;
  if (node.type === "MemberExpression" && elapsedMembers.has(memberName(node))) return true;
  if (node.type === "Identifier" && times.has(String(node["name"]))) return true;
  if (node.type === "CallExpression") {
    // A call's value is a time if its arguments are times and the function only computes with them.
    const callee = dotted(node["callee"]);
    const computes = /^(?:Math\.\w+|Number|Math)$/.test(callee);
    return computes && list(node["arguments"]).some((each) => containsTime(each, times));
  }
  if (node.type === "MemberExpression") return false;
  return children(node).some((child) => containsTime(child, times));
}

function assertsShortTime(call: Node, isTime: (node: unknown) => boolean): boolean {
  const { callee } = call as { callee?: unknown };
  if (!isNode(callee) || callee.type !== "MemberExpression") return false;
  const subject = expectedValue(callee["object"]);
  if (subject === undefined) return false;
  const matcher = memberName(callee);
  const [bound] = list(call["arguments"]);
  if (upperBounds.has(matcher)) return isTime(subject);
  if (lowerBounds.has(matcher)) return isTime(bound);
  // expect(performance.now() - started < 500).toBe(true)
  return descendants(subject).some(
    (node) =>
      node.type === "BinaryExpression" &&
      ((String(node["operator"]).startsWith("<") && isTime(node["left"])) ||
        (String(node["operator"]).startsWith(">") && isTime(node["right"]))),
  );
}

/** `x` of `expect(x)`, `expect(x).not` and `expect(x, "text")`; undefined for other expressions. */
function expectedValue(node: unknown): Node | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === "MemberExpression") return expectedValue(node["object"]);
  if (node.type !== "CallExpression" || dotted(node["callee"]) !== "expect") return undefined;
  return list(node["arguments"])[0];
}

function isImpatient(call: Node): boolean {
  if (!waits.has(dotted(call["callee"]))) return false;
  return list(call["arguments"]).some((argument) =>
    argument.type === "ObjectExpression"
      ? list(argument["properties"]).some(
          (property) =>
            isNode(property["key"]) &&
            property["key"]["name"] === "timeout" &&
            isNode(property["value"]) &&
            typeof property["value"]["value"] === "number" &&
            property["value"]["value"] < minPatienceMs,
        )
      : false,
  );
}

/** `a.b.c` for a chain of names, otherwise an empty text. */
function dotted(node: unknown): string {
  if (!isNode(node)) return "";
  if (node.type === "Identifier") return String(node["name"]);
  if (node.type !== "MemberExpression") return "";
  const object = dotted(node["object"]);
  return object === "" ? "" : `${object}.${memberName(node)}`;
}

function memberName(node: Node): string {
  const { property } = node as { property?: unknown };
  if (!isNode(property)) return "";
  return property.type === "Identifier" ? String(property["name"]) : String(property["value"] ?? "");
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

function list(value: unknown): readonly Node[] {
  return Array.isArray(value) ? value.filter(isNode) : [];
}

function children(node: Node): readonly Node[] {
  return Object.values(node).flatMap((value) => (isNode(value) ? [value] : list(value)));
}

function descendants(node: unknown): readonly Node[] {
  return isNode(node) ? [node, ...children(node).flatMap((child) => descendants(child))] : [];
}
