// Reads Prometheus' text format 0.0.4 strictly. The reader refuses text that Prometheus would refuse or misread: a repeated family, a
// sample outside its family, a repeated series, a histogram whose buckets fall or do not end with +Inf.

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly type: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

interface OpenFamily extends Family {
  readonly samples: Sample[];
}

/** The families by name. Throws on a text that breaks the format. */
export function readPrometheusText(text: string): ReadonlyMap<string, Family> {
  if (!text.endsWith("\n")) throw new Error("the last line has no line feed");
  const families = new Map<string, OpenFamily>();
  const series = new Set<string>();
  let current: { readonly name: string; readonly family: OpenFamily } | undefined;
  let help: { readonly name: string; readonly text: string } | undefined;
  for (const line of text.slice(0, -1).split("\n")) {
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line);
    const [, what, name = "", rest = ""] = comment ?? [];
    if (what === "HELP") help = { name, text: rest };
    else if (what === "TYPE") {
      if (families.has(name)) throw new Error(`${name}: a second TYPE`);
      if (!["counter", "gauge", "histogram"].includes(rest)) throw new Error(`${name}: type ${rest}`);
      const family = { type: rest, help: help?.name === name ? help.text : "", samples: [] };
      families.set(name, family);
      current = { name, family };
    } else {
      const sample = readSample(line);
      const parts = current?.family.type === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
      if (current === undefined || !parts.some((part) => `${current?.name}${part}` === sample.name))
        throw new Error(`${line}: outside its family`);
      const identity = JSON.stringify([sample.name, Object.entries(sample.labels).toSorted()]);
      if (series.has(identity)) throw new Error(`${line}: this series is repeated`);
      series.add(identity);
      current.family.samples.push(sample);
    }
  }
  for (const [name, family] of families) if (family.type === "histogram") checkHistogram(name, family);
  return families;
}

function readSample(line: string): Sample {
  const [, name = "", labels = "", value = ""] =
    /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{.*\})? ([-+]?(?:Inf|\d[\d.]*(?:e[-+]?\d+)?)|NaN)$/.exec(line) ?? [];
  if (name === "") throw new Error(`${JSON.stringify(line)}: not a sample`);
  return { name, labels: readLabels(labels.slice(1, -1)), value: Number(value.replace("Inf", "Infinity")) };
}

function readLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\[\\n"])*)"(?:,|$)/y;
  while (label.lastIndex < text.length) {
    const [, name = "", value = ""] = label.exec(text) ?? [];
    if (name === "" || name in labels) throw new Error(`${text}: not labels`);
    labels[name] = value.replaceAll(/\\(.)/g, (_, escaped: string) => (escaped === "n" ? "\n" : escaped));
  }
  return labels;
}

function checkHistogram(name: string, { samples }: Family): void {
  let last = 0;
  for (const { name: part, labels, value } of samples) {
    if (part !== `${name}_bucket`) continue;
    if (value < last) throw new Error(`${name}: a bucket falls`);
    last = labels["le"] === "+Inf" ? 0 : value;
  }
  const ends = samples.filter(({ labels }) => labels["le"] === "+Inf").map(({ value }) => value);
  const counts = samples.filter(({ name: part }) => part === `${name}_count`).map(({ value }) => value);
  if (JSON.stringify(ends) !== JSON.stringify(counts)) throw new Error(`${name}: +Inf and count differ`);
}

/** The value of one series, or undefined if the series is absent. `part` selects a histogram's sample. */
export function valueOf(
  families: ReadonlyMap<string, Family>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
  part: "" | "_bucket" | "_sum" | "_count" = "",
): number | undefined {
  return families
    .get(name)
    ?.samples.find(
      (sample) =>
        sample.name === `${name}${part}` && Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
    )?.value;
}
