import { expect, test } from "vitest";
import { readDeviceSettings } from "./device-settings.ts";
import { type ReachedNetwork, readReachedNetwork, withReachedNetworks } from "./reaching-devices.ts";

const podNetwork = (name: string, devices?: unknown): unknown => ({
  metadata: { name, uid: "u", resourceVersion: "1" },
  spec: devices === undefined ? {} : { devices },
});
const entry = (name: string, networks: readonly string[] = []): object => ({ name, match: { name }, exclusive: true, networks });

function reached(entries: readonly object[], networks: readonly ReachedNetwork[]): unknown {
  const settings = readDeviceSettings(JSON.stringify({ devices: entries }));
  if (!settings.ok) throw new Error(settings.problem);
  const { settings: extended, problems } = withReachedNetworks(settings.value, networks);
  return { networks: extended.map((each) => each.networks), problems };
}

test("DR-09: a device reaches the networks of its own entry, and the PodNetworks that name the entry", () => {
  const networks = [podNetwork("green", ["b", 7]), podNetwork("blue", ["a", "b"]), podNetwork("red")].map(readReachedNetwork);
  expect(networks).toMatchObject([{ devices: ["b"] }, { devices: ["a", "b"] }, { devices: [] }]);
  const known = networks.filter((each) => each !== undefined);
  expect(reached([entry("a", ["blue", "own"]), entry("b"), entry("c")], known)).toEqual({
    networks: [["blue", "own"], ["blue", "green"], []],
    problems: [],
  });
});

const network = (name: string): ReachedNetwork => ({ name, devices: ["a"] });

test("DR-09: a network whose attribute a device cannot have is left out, with its name", () => {
  const long = "n".repeat(33);
  expect(reached([entry("a", ["a-b"])], [network(long), network("dotted.name"), network("a-b"), network("c")])).toEqual({
    networks: [["a-b", "c"]],
    problems: [expect.stringContaining("PodNetwork dotted.name has no attribute"), expect.stringContaining(`PodNetwork ${long}`)],
  });
  const many = Array.from({ length: 14 }, (_, index) => network(`n${String(index).padStart(2, "0")}`));
  expect(reached([entry("a")], many)).toMatchObject({
    networks: [many.slice(0, 12).map(({ name }) => name)],
    problems: [expect.stringContaining("n12: device a publishes at most 12 networks"), expect.stringContaining("n13")],
  });
});
