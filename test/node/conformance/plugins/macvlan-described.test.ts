// The cases of the reference macvlan's tests, run by the delegate through the installed binary and a daemon; and traffic.

import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inNamespace } from "../../../lab/namespaces.ts";
import { iproute2, linkType, missing, privateNamespaces, referencePlugins } from "../../../lab/requires.ts";
import { macvlanDescribed, macvlanNames } from "./macvlan-described.ts";
import { runDelegateOnly, type Outcome } from "./run-configurations.ts";
import { type Configuration, patience, SideBySide } from "./side-by-side.ts";

const succeeded = { status: 0, stdout: "" };

describe.skipIf(
  missing(
    "the cases of the reference macvlan's tests",
    privateNamespaces,
    iproute2,
    linkType("veth"),
    linkType("macvlan"),
    referencePlugins("macvlan"),
  ),
)("the delegate macvlan", () => {
  let side: SideBySide;
  let outcomes: ReadonlyMap<string, Outcome>;
  const { parent, podParent, namespaces } = macvlanNames;
  const path = (pod: number): string => side.path("wasm", pod);
  const call = (verb: string, configuration: Configuration): ReturnType<SideBySide["call"]> =>
    side.call(verb, configuration, side.prepare(configuration)("wasm", "wasm"), "wasm");

  beforeAll(async () => {
    side = await SideBySide.open({
      type: "macvlan",
      pods: namespaces,
      grants: {
        macvlan: {
          log: {},
          links: { parents: [parent], podLinks: [podParent] },
          delegation: { plugins: ["ipam-host-local"] },
        },
      },
      lanes: 8,
    });
    const inPods = Array.from({ length: namespaces }, (_, pod) => `netns ${side.pod("wasm", pod)}`);
    await side.ip([
      `link add ${parent} type veth peer name ${parent}-e`,
      `link set ${parent}-e up`,
      `link set ${parent} up`,
      "address add 192.0.2.1/24 dev " + parent,
      "route add default via 192.0.2.254",
      ...inPods.map((pod) => `link add ${podParent} ${pod} type veth peer name ${podParent}-e ${pod}`),
    ]);
    await Promise.all(
      inPods.map((pod) =>
        side.lanes.run(
          `ip -n ${pod.slice("netns ".length)} -batch - <<'EOF'\nlink set ${podParent}-e up\nlink set ${podParent} up\nroute add default dev ${podParent} metric 77\nEOF`,
        ),
      ),
    );
    outcomes = await runDelegateOnly(
      side,
      macvlanDescribed.flatMap(({ configurations }) => configurations),
    );
  }, patience);
  afterAll(() => side.close(), patience);

  test.each(macvlanDescribed)("$title", ({ configurations, made, has }) => {
    for (const configuration of configurations) {
      const { added, made: facts, checked = succeeded, deleted, left } = outcomes.get(configuration.name) ?? {};
      expect([added?.stdout, added?.status, checked, deleted]).toMatchObject([
        expect.stringContaining(configuration.cniVersion ?? ""),
        0,
        succeeded,
        succeeded,
      ]);
      expect(facts?.link).toMatchObject({ kind: "macvlan", mode: "bridge", flags: expect.arrayContaining(["UP"]), ...made });
      expect(facts?.addresses.filter((address) => address.includes(" global")).length).toBe(has);
      expect(left).toBeUndefined();
    }
  });

  test("deconfigures an unconfigured macvlan link with DEL", async () => {
    const configuration = {
      name: "unconfigured",
      ifname: "macvl0",
      pod: 0,
      step: { master: parent, ipam: { type: "ipam-host-local", subnet: "10.1.2.0/24" } },
    };
    expect(await call("DEL", configuration)).toMatchObject(succeeded);
  });

  test("attaches with a one-shot engine too, and waits for the IPv6 address before adding a route by its gateway", async () => {
    const ipam = { type: "ipam-host-local", subnet: "fd00:88::/64", routes: [{ dst: "::/0" }] };
    const configuration = { name: "one-shot", ifname: "alone0", pod: 3, step: { master: parent, ipam } };
    const { prepare, plexus, lanes } = side;
    const config = prepare.call(side, configuration)("wasm", "wasm");
    const oneShot = (verb: string): ReturnType<SideBySide["call"]> =>
      lanes.call(
        join(plexus.cniPath, "plexus"),
        { verb, containerId: "alone", netns: path(3), ifname: "alone0", config },
        plexus.cniPath,
      );
    expect(await oneShot("ADD")).toMatchObject({
      status: 0,
      json: { ips: [{ address: "fd00:88::2/64", gateway: "fd00:88::1" }] },
    });
    expect((await side.links("wasm")).get("3 alone0")).toMatchObject({
      addresses: expect.arrayContaining(["fd00:88::2/64 global "]),
      routes: expect.arrayContaining([expect.stringContaining('"gateway":"fd00:88::1"')]),
    });
    expect(await oneShot("CHECK")).toMatchObject(succeeded);
    expect(await oneShot("DEL")).toMatchObject(succeeded);
  });

  test("FI-21: a master without carrier fails no ADD with an IPv6 gateway; the address is usable once the carrier comes", async () => {
    const ipam = { type: "ipam-host-local", subnet: "fd00:89::/64", routes: [{ dst: "::/0" }] };
    const grants = { macvlan: { log: {}, links: { parents: ["idle0"] }, delegation: { plugins: ["ipam-host-local"] } } };
    const configuration = { name: "idle", ifname: "idle1", pod: 2, step: { master: "idle0", ipam }, grants };
    await side.ip(["link add idle0 type veth peer name idle0-e", "link set idle0 up"]);
    expect(await call("ADD", configuration)).toMatchObject({
      status: 0,
      json: { ips: [{ address: "fd00:89::2/64", gateway: "fd00:89::1" }] },
    });
    await side.ip(["link set idle0-e up"]);
    const shown = `ip -n ${side.pod("wasm", 2)} -6 address show dev idle1`;
    await side.lanes.run(`while ${shown} | grep -q tentative; do sleep 0.1; done; ${shown} | grep -q fd00:89::2`);
    expect(await call("CHECK", configuration)).toMatchObject(succeeded);
    expect(await call("DEL", configuration)).toMatchObject(succeeded);
    await side.ip(["link delete idle0"]);
  });

  test("sets bcqueuelen", async () => {
    const configuration = { name: "bcqueuelen", ifname: "queue0", pod: 0, step: { master: parent, bcqueuelen: 2345 } };
    expect(await call("ADD", configuration)).toMatchObject({ status: 0 });
    expect((await side.links("wasm")).get("0 queue0")?.link).toMatchObject({ bcqueuelen: 2345 });
    expect(await call("DEL", configuration)).toMatchObject(succeeded);
  });

  test("RT-04: STATUS fails with code 50 while the node lacks the master, and succeeds as soon as the node has it", async () => {
    const grants = { macvlan: { log: {}, links: { parents: ["late0"] }, delegation: { plugins: ["ipam-host-local"] } } };
    const ipam = { type: "ipam-host-local", ranges: [[{ subnet: "10.78.0.0/24" }]] };
    const status = (step: object): ReturnType<typeof call> =>
      call("STATUS", { name: "status", cniVersion: "1.1.0", ifname: "eth0", pod: 0, step: { ipam, ...step }, grants });
    expect((await status({ master: "late0" })).json).toMatchObject({ code: 50, msg: expect.stringContaining('"late0"') });
    await side.ip(["link add late0 type veth peer name late0-e"]);
    expect(await status({ master: "late0" })).toMatchObject(succeeded);
    // The default route's link is not granted: that is an error of the configuration, not of the node.
    expect((await status({})).json).toMatchObject({ code: 7, msg: expect.stringContaining("wasm.grants.macvlan.links.parents") });
    expect(await status({ master: "nowhere0", linkInContainer: true })).toMatchObject(succeeded);
    await side.ip(["link delete late0"]);
  });

  test("refuses a master that is not granted, on the node and in the pod, and the error names the grant's key", async () => {
    const steps = [{ master: `${parent}-e` }, { master: `${podParent}-e`, linkInContainer: true }];
    const refused = await Promise.all(steps.map((step, pod) => call("ADD", { name: "denied", ifname: "denied0", pod, step })));
    expect(refused).toMatchObject(
      ["parents", "podLinks"].map((key) => ({
        status: 1,
        json: { msg: expect.stringContaining(`wasm.grants.macvlan.links.${key}`) },
      })),
    );
  });

  test("two pods on one master in mode bridge reach each other, over IPv4 and IPv6", async () => {
    const attachments = [0, 1].map((pod): Configuration => ({
      name: `traffic ${pod}`,
      ifname: "eth0",
      pod,
      step: {
        master: parent,
        ipam: {
          type: "ipam-host-local",
          ranges: [
            [{ subnet: "10.77.0.0/24", rangeStart: `10.77.0.1${pod}` }],
            [{ subnet: "fd00:77::/64", rangeStart: `fd00:77::1${pod}` }],
          ],
        },
      },
    }));
    const added = await Promise.all(attachments.map((each) => call("ADD", each)));
    expect(added).toMatchObject([{ status: 0 }, { status: 0 }]);
    const [one, two] = [inNamespace(path(0)), inNamespace(path(1))];
    expect([one.ping("10.77.0.11"), one.ping("fd00:77::11"), two.ping("10.77.0.10"), two.ping("fd00:77::10")]).toEqual([
      true,
      true,
      true,
      true,
    ]);
    const deleted = await Promise.all(attachments.map((each) => call("DEL", each)));
    expect(deleted).toMatchObject([succeeded, succeeded]);
    expect(one.ping("10.77.0.11")).toBe(false);
  });
});
