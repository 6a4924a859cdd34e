// The conformance kit on the reference plugins, in the kernel: the outcomes are those of docs/reference/plugin-conformance.md.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { catalogue } from "../../../delegates/sdk/conformance/catalogue.ts";
import { nativeSubject } from "../../../delegates/sdk/conformance/native/native-subject.ts";
import { runChecks } from "../../../delegates/sdk/conformance/run-checks.ts";
import { readSetup } from "../../../delegates/sdk/conformance/setup-file.ts";
import { pluginOutcomes } from "../../../scripts/plugin-conformance-page.ts";
import { root } from "../../lab/compiled.ts";
import { busybox } from "../../lab/cluster/images.ts";
import { createPodNamespace } from "../../lab/namespaces.ts";
import {
  iproute2,
  linkType,
  missing,
  privateNamespaces,
  referencePlugin,
  referencePlugins,
  type Requirement,
} from "../../lab/requires.ts";

/** All checks run on this plugin; on the others those that fail, because each call of a plugin in Go takes a while. */
const checkedWhole = "bridge";

/** Checks besides those that fail, which show that the plugin got its addresses from a DHCP server. */
const alsoChecked: Readonly<Record<string, readonly string[]>> = { dhcp: ["ADD-1", "DEL-1", "CHK-1", "CON-2"] };

/** The set-up of dhcp starts the DHCP server of busybox. */
const dhcpServer: Requirement = () => (busybox() === undefined ? "no busybox: run test/lab/cluster/get.ts" : undefined);

const native = pluginOutcomes().plugins.filter(({ subject, unsupported }) => subject === "native" && unsupported === undefined);

/** The plugin must be the file whose outcomes the page has. */
function measuredPlugin(type: string, digest: string | undefined): Requirement {
  return () => {
    const file = referencePlugin(type);
    if (file === undefined) return `no reference plugin ${type}`;
    const found = createHash("sha256").update(readFileSync(file)).digest("hex");
    return found === digest ? undefined : `${file} is of another release than the page's`;
  };
}

function setupFile(type: string): string {
  return join(root, "test/kit/reference-plugins/setups", `${type}.json`);
}

/** Plugins that make links of a type that a kernel may lack. */
const optionalLinkTypes = ["ipvlan", "macvlan", "vlan", "vrf"] as const;

function ownRequirements(type: string): readonly Requirement[] {
  if (type === "dhcp") return [dhcpServer];
  return optionalLinkTypes.filter((each) => each === type).map(linkType);
}

const common = [privateNamespaces, iproute2, linkType("veth"), linkType("bridge")] as const;

describe("X-7: the conformance kit on the reference plugins", () => {
  const path = process.env["PATH"] ?? "";
  beforeAll(() => {
    process.env["PATH"] = `${path}:${dirname(busybox() ?? "")}`;
  });
  afterAll(() => {
    process.env["PATH"] = path;
  });

  for (const { type, digest, failed } of native) {
    test.skipIf(missing(`conformance of ${type}`, ...common, ...ownRequirements(type), measuredPlugin(type, digest)))(
      `${type} breaks the rules of the page`,
      async () => {
        const file = referencePlugin(type) ?? "";
        const setup = await readSetup({ config: setupFile(type) }, file, type);
        const isChosen = (id: string): boolean => failed[id] !== undefined || alsoChecked[type]?.includes(id) === true;
        const checks = type === checkedWhole ? catalogue : catalogue.filter(({ id }) => isChosen(id));
        const outcomes = await runChecks(nativeSubject(file, undefined), setup, checks);
        const broken = outcomes.filter(({ verdict }) => verdict === "failed").map(({ check }) => check.id);
        expect(broken).toEqual(Object.keys(failed));
        const skipped = outcomes.filter(({ verdict, check }) => verdict === "skipped" && alsoChecked[type]?.includes(check.id));
        expect(skipped).toEqual([]);
      },
    );
  }

  test.skipIf(missing("the kit's own namespaces", ...common, referencePlugins("bridge")))(
    "the program makes namespaces of its own, and the machine's links stay as they are",
    () => {
      // The tests' own namespace gets links of other test files meanwhile.
      const machine = createPodNamespace("machine");
      onTestFinished(() => machine.dispose());
      expect(machine.exec(["ip", "link", "add", "link0", "type", "veth", "peer", "name", "link1"]).status).toBe(0);
      const before = machine.links();
      const file = referencePlugin("bridge") ?? "";
      const args = [
        join(root, "delegates/sdk/program/main.ts"),
        "conformance",
        file,
        `--config=${setupFile("bridge")}`,
        "--only=ADD-7,DEL-2",
      ];
      const ended = machine.exec([process.execPath, ...args]);
      expect(ended).toMatchObject({
        status: 0,
        stderr: "",
        stdout: expect.stringContaining("2 checks of bridge (native): 2 passed, 0 failed, 0 skipped"),
      });
      expect(machine.links()).toEqual(before);
    },
  );
});
