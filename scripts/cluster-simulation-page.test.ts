import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { SimulatedSize } from "../bench/cluster-simulation/simulation.ts";
import { growthOf, simulationPage, simulationPagePath } from "./cluster-simulation-page.ts";

test("the page of simulated clusters is generated from the committed simulation (npm run docs)", () => {
  expect(readFileSync(simulationPagePath, "utf8")).toBe(simulationPage());
});

test("growth is told against the number of nodes", () => {
  const sizes = [{ nodes: 100 }, { nodes: 400 }] as unknown as readonly SimulatedSize[];
  expect(growthOf(sizes, () => 3)).toBe("constant");
  expect(growthOf(sizes, ({ nodes }) => 2 * nodes)).toBe("with the nodes");
  expect(growthOf(sizes, ({ nodes }) => nodes * nodes)).toBe("**faster than the nodes**");
});
