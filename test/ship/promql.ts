// The names in a PromQL query: metrics with the matchers of their labels, and the labels by which the query groups.

export interface Selector {
  readonly metric: string;
  readonly matchers: readonly { readonly label: string; readonly operator: "=" | "!=" | "=~" | "!~"; readonly value: string }[];
}

export interface Query {
  readonly selectors: readonly Selector[];
  readonly grouping: readonly string[];
}

const words: ReadonlySet<string> = new Set(["and", "or", "unless", "bool", "offset"]);

/** Reads the subset of PromQL that dashboards and alerts use. Throws on anything else that could hide a name. */
export function readQuery(expression: string): Query {
  if (/\b(?:on|ignoring|group_left|group_right|without)\b/u.test(expression))
    throw new Error(`not read by this test: ${expression}`);
  requireBalance(expression);
  const grouping: string[] = [];
  const ungrouped = expression.replaceAll(/\bby\s*\(([^)]*)\)/gu, (_, labels: string) => {
    grouping.push(...labels.split(",").map((label) => label.trim()));
    return " ";
  });
  const selectors: Selector[] = [];
  const name = /([a-zA-Z_:][\w:]*)\s*(\{[^}]*\})?(\s*\()?/gu;
  for (const [, metric = "", braces, call] of ungrouped.replaceAll(/\[[^\]]*\]/gu, " ").matchAll(name)) {
    if (call !== undefined || words.has(metric)) continue;
    selectors.push({ metric, matchers: matchersOf(braces ?? "") });
  }
  return { selectors, grouping };
}

function matchersOf(braces: string): Selector["matchers"] {
  const matcher = /\s*([a-zA-Z_]\w*)\s*(=~|!~|!=|=)\s*"([^"]*)"\s*(?:,|$)/uy;
  const text = braces.slice(1, -1);
  const found: Selector["matchers"][number][] = [];
  while (matcher.lastIndex < text.length) {
    const [, label = "", operator = "", value = ""] = matcher.exec(text) ?? [];
    if (operator !== "=" && operator !== "!=" && operator !== "=~" && operator !== "!~")
      throw new Error(`${braces}: no matchers`);
    found.push({ label, operator, value });
  }
  return found;
}

function requireBalance(expression: string): void {
  const open: string[] = [];
  for (const each of expression.replaceAll(/"[^"]*"/gu, "")) {
    if ("([{".includes(each)) open.push(each);
    else if (")]}".includes(each) && "([{"[")]}".indexOf(each)] !== open.pop())
      throw new Error(`${expression}: unbalanced ${each}`);
  }
  if (open.length > 0) throw new Error(`${expression}: unclosed ${open.join(" ")}`);
}
