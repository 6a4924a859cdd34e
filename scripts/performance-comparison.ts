// The comparison that a user decides by: each figure as a share of thick Multus' figure of the same run, because runs on a shared machine differ.

import { readFileSync } from "node:fs";
import { type Comparison, comparisonPath } from "./comparison-page.ts";
import type { Row } from "./performance-target.ts";

/** The contenders of the comparison, in the order of its columns. */
export const contenders = [
  "bare plugins",
  "Plexus, native plugins",
  "Plexus, components",
  "Multus thick",
  "Multus thin",
] as const;
type Contender = (typeof contenders)[number];

/** One figure of a contender: its value, and its share of thick Multus' value in the same run. */
export interface Figure {
  readonly value: number;
  readonly share: number;
}

/** One line of the comparison. */
export interface ComparedQuantity {
  readonly what: string;
  readonly unit: string;
  /** Whether a smaller value is better. */
  readonly lessIsBetter: boolean;
  /** The figures that were measured. A contender without a figure has no such program, or was not measured. */
  readonly figures: ReadonlyMap<Contender, Figure>;
}

/** Rows of benchmark.json for one line. `components`: the row of Plexus with components only, whose baseline is thick Multus. */
interface Source {
  readonly what: string;
  readonly lessIsBetter: boolean;
  readonly multus: (contender: "plexus" | "thin" | "thick") => string;
  readonly components?: string;
}

const sources: readonly Source[] = [
  {
    what: "ADD, default network only",
    lessIsBetter: true,
    multus: (name) => `multus-pod0-${name}`,
    components: "wasm-only-pod0-multus",
  },
  {
    what: "DEL, default network only",
    lessIsBetter: true,
    multus: (name) => `multus-pod0-${name}-del`,
    components: "wasm-only-pod0-multus-del",
  },
  {
    what: "ADD, three further networks",
    lessIsBetter: true,
    multus: (name) => `multus-pod3-${name}`,
    components: "wasm-only-pod3",
  },
  {
    what: "DEL, three further networks",
    lessIsBetter: true,
    multus: (name) => `multus-pod3-${name}-del`,
    components: "wasm-only-pod3-del",
  },
  {
    what: "CPU time of an ADD",
    lessIsBetter: true,
    multus: (name) => `multus-cpu-${name}`,
    components: "wasm-only-cpu-multus",
  },
  {
    what: "burst: 32 pods at once",
    lessIsBetter: false,
    multus: (name) => `multus-c32-${name}`,
    components: "wasm-only-c32-multus",
  },
];

/** The programs in the images, compressed, in MiB. */
export interface ImageSizes {
  readonly plexus: number;
  readonly multus: number;
}

/** The sizes that `docs/reference/comparison.json` has. */
export function imageSizes(): ImageSizes {
  const { measured } = JSON.parse(readFileSync(comparisonPath, "utf8")) as Comparison;
  return { plexus: measured["plexus"]?.imageMiB ?? Number.NaN, multus: measured["multus"]?.imageMiB ?? Number.NaN };
}

/** The lines of the comparison that the result has rows for. */
export function comparedQuantities(rows: readonly Row[], images: ImageSizes): readonly ComparedQuantity[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const measured = sources.flatMap(({ what, lessIsBetter, multus, components }) => {
    const [plexus, thin, thick] = [byId.get(multus("plexus")), byId.get(multus("thin")), byId.get(multus("thick"))];
    if (plexus === undefined || thin === undefined || thick === undefined) return [];
    const figure = (value: number): Figure => ({ value, share: value / thick.median });
    const own = components === undefined ? undefined : byId.get(components);
    const figures = new Map<Contender, Figure>([
      ["bare plugins", figure(plexus.baseline)],
      ["Plexus, native plugins", figure(plexus.median)],
      ...(own === undefined ? [] : [["Plexus, components", { value: own.median, share: own.ratio }] as const]),
      ["Multus thick", figure(thick.median)],
      ["Multus thin", figure(thin.median)],
    ]);
    return [{ what, unit: plexus.unit, lessIsBetter, figures }];
  });
  return [...measured, ...sparse(byId), ...memoryOf(byId), imageQuantity(images)];
}

/** The time of an ADD on a node that starts a pod now and then. */
function sparse(byId: ReadonlyMap<string, Row>): readonly ComparedQuantity[] {
  const [native, components, thick] = ["native", "wasm-only", "multus"].map((name) => byId.get(`sparse-${name}`));
  if (native === undefined || components === undefined || thick === undefined) return [];
  const figure = ({ median }: Row): Figure => ({ value: median, share: median / thick.median });
  const figures = new Map<Contender, Figure>([
    ["Plexus, native plugins", figure(native)],
    ["Plexus, components", figure(components)],
    ["Multus thick", figure(thick)],
  ]);
  return [{ what: "sparse: one ADD every 10 s", unit: thick.unit, lessIsBetter: true, figures }];
}

/** The image is the same with native plugins and with components. */
function imageQuantity({ plexus, multus }: ImageSizes): ComparedQuantity {
  const own = { value: plexus, share: plexus / multus };
  const figures = new Map<Contender, Figure>([
    ["Plexus, native plugins", own],
    ["Plexus, components", own],
    ["Multus thick", { value: multus, share: 1 }],
  ]);
  return { what: "image: programs, compressed", unit: "MiB", lessIsBetter: true, figures };
}

function memoryOf(byId: ReadonlyMap<string, Row>): readonly ComparedQuantity[] {
  const memory = byId.get("multus-rss-daemon");
  if (memory === undefined) return [];
  const withComponents = byId.get("wasm-only-rss");
  const figures = new Map<Contender, Figure>([
    ["Plexus, native plugins", { value: memory.median, share: memory.ratio }],
    ...(withComponents === undefined
      ? []
      : [["Plexus, components", { value: withComponents.median, share: withComponents.ratio }] as const]),
    ["Multus thick", { value: memory.baseline, share: 1 }],
  ]);
  return [{ what: "memory of the daemon", unit: memory.unit, lessIsBetter: true, figures }];
}

/** The comparison as a table in Markdown. */
export function comparisonTable(quantities: readonly ComparedQuantity[]): string {
  const lines = quantities.map(
    ({ what, unit, lessIsBetter, figures }) =>
      `| ${what}${lessIsBetter ? "" : " (more is better)"} | ${contenders.map((each) => cell(figures.get(each), unit)).join(" | ")} |`,
  );
  return [`| | ${contenders.join(" | ")} |`, `|${"---|".repeat(contenders.length + 1)}`, ...lines].join("\n");
}

function cell(figure: Figure | undefined, unit: string): string {
  return figure === undefined ? "" : `${figure.share.toFixed(2)} (${Number(figure.value.toPrecision(3))} ${unit})`;
}
