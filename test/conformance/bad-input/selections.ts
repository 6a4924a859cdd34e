// Bad input in what the cluster says: the pod, its selection annotation and the definitions that it names (checklist A-01 to
// A-06, N1-07 to N1-31). The annotation is wrong in one thing; nothing may be attached, not even the default network.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Call } from "../../harness/plexus.ts";
import type { BadInput, Place } from "./bad-input.ts";

const network = { apiVersion: "k8s.cni.cncf.io/v1", kind: "NetworkAttachmentDefinition" };

/** A definition of the namespace `shop`; without a configuration it has no spec. */
function definition(name: string, config?: unknown): object {
  return { ...network, metadata: { name, namespace: "shop" }, ...(config === undefined ? {} : { spec: { config } }) };
}

const good = definition("good", JSON.stringify({ cniVersion: "1.0.0", type: "rec" }));

/** An ADD for the pod shop/web, with these definitions in the cluster. */
function selecting(annotation: unknown, definitions: readonly object[] = [good]): (place: Place) => Call {
  return (place) => {
    const manifests = join(place.scratch, "manifests");
    mkdirSync(manifests);
    const annotations = { "k8s.v1.cni.cncf.io/networks": annotation };
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "web", namespace: "shop", uid: "u-1", annotations } };
    for (const [i, object] of [pod, ...definitions].entries())
      writeFileSync(join(manifests, `${i}.json`), JSON.stringify(object));
    return {
      ...place.call,
      args: "IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web;K8S_POD_UID=u-1",
      config: { ...place.config, manifests },
    };
  };
}

/** An ADD whose annotation is this value's JSON. */
function selectingJson(value: unknown): (place: Place) => Call {
  return selecting(JSON.stringify(value));
}

const element = (more: object): ((place: Place) => Call) => selectingJson([{ name: "good", ...more }]);

const annotations: readonly BadInput[] = [
  { title: "A-01: a selection of [null] is refused", call: selectingJson([null]), code: 7, names: /networks/ },
  {
    title: "A-03: a selection that is a JSON object is refused",
    call: selectingJson({ name: "good" }),
    code: 7,
    names: /networks/,
  },
  { title: "A-03: a selection that is a JSON string is refused", call: selectingJson("good"), code: 7, names: /networks/ },
  {
    title: "A-03: a selection of 100 000 nested lists is refused",
    call: selecting(`${"[".repeat(100_000)}${"]".repeat(100_000)}`),
    code: 7,
    names: /networks.*(deep|nest)/,
  },
  {
    title: "A-03: a selection that ends too early is refused",
    call: selecting('[{"name":"good"'),
    code: 7,
    names: /networks.*JSON/,
  },
  { title: "N1-18: an empty element between commas is refused", call: selecting("good,,good"), code: 7, names: /networks/ },
  { title: "N1-18: a second slash is refused", call: selecting("a/b/c"), code: 7, names: /networks.*a\/b\/c/ },
  ...["Net_A", "-a", "a-", "../x", "x".repeat(254), "good@eth:0", "good@sixteen-bytes-xx"].map((text) => ({
    title: `N1-07, N1-30: the selection ${text.length > 40 ? `of a name of ${text.length} bytes` : JSON.stringify(text)} is refused`,
    call: selecting(text),
    code: 7,
    names: /networks/,
  })),
  ...[{}, { name: "" }, { name: 5 }, { name: null }, { name: "../x" }, { name: "Good" }].map((value) => ({
    title: `N1-21: the selection element ${JSON.stringify(value)} is refused`,
    call: selectingJson([value]),
    code: 7,
    names: /name/,
  })),
  {
    title: "N1-22: a namespace that leads elsewhere is refused",
    call: element({ namespace: "../x" }),
    code: 7,
    names: /namespace/,
  },
  ...[[], ["x"], ["1.2.3.4/99"], "1.2.3.4", [5]].map((ips) => ({
    title: `N1-23: ips of ${JSON.stringify(ips)} is refused`,
    call: element({ ips }),
    code: 7,
    names: /ips/,
  })),
  ...["x", "02:00:00:00:00", "02:00:00:00:00:0g", 5].map((mac) => ({
    title: `N1-26: a mac of ${JSON.stringify(mac)} is refused`,
    call: element({ mac }),
    code: 7,
    names: /mac/,
  })),
  ...["sixteen-bytes-xx", "a/b", ".", "", 5].map((name) => ({
    title: `N1-30: an interface of ${JSON.stringify(name)} is refused`,
    call: element({ interface: name }),
    code: 7,
    names: /interface/,
  })),
  {
    title: "N1-31: an interface name that another element has is refused",
    call: selectingJson([
      { name: "good", interface: "net5" },
      { name: "good", interface: "net5" },
    ]),
    code: 7,
    names: /net5/,
  },
  {
    title: "N1-31: the default network's interface name is refused",
    call: element({ interface: "eth0" }),
    code: 7,
    names: /eth0/,
  },
  {
    title: "A-04: __proto__ in a selection element gives it no name",
    call: selecting('[{"__proto__":{"name":"good"}}]'),
    code: 7,
    names: /name/,
  },
  {
    title: "A-06: a selection of 100 000 elements is refused",
    call: selecting(`[${Array.from({ length: 100_000 }, () => '{"name":"good"}').join(",")}]`),
    code: 7,
    names: /networks/,
  },
];

const definitions: readonly BadInput[] = [
  { title: "N1-12: a definition that isn't there is named", call: selecting("absent"), code: 7, names: /shop\/absent/ },
  {
    title: "N1-12: a definition of another namespace is not taken for the pod's",
    call: selecting("other/good"),
    code: 7,
    names: /other\/good/,
  },
  {
    title: "A-06: a definition whose configuration is no JSON is named",
    call: selecting("bad", [definition("bad", "{")]),
    code: 6,
    names: /shop\/bad/,
  },
  {
    title: "N1-03: a definition whose configuration is an object is named",
    call: selecting("bad", [definition("bad", { type: "rec" })]),
    code: 7,
    names: /bad/,
  },
  {
    title: "L-18: a definition whose configuration has no type is named",
    call: selecting("bad", [definition("bad", '{"cniVersion":"1.0.0"}')]),
    code: 7,
    names: /bad.*type/,
  },
  {
    title: "A-05: a definition whose configuration's name has a slash is named",
    call: selecting("bad", [definition("bad", '{"cniVersion":"1.0.0","name":"a/b","type":"rec"}')]),
    code: 7,
    names: /name/,
  },
  {
    title: "A-05: a definition whose plugin type leads elsewhere is named",
    call: selecting("bad", [definition("bad", '{"cniVersion":"1.0.0","type":"../../bin/sh"}')]),
    code: 7,
    names: /bad.*type/,
  },
  {
    title: "MO-03, D-11: a pod that isn't there is never a success",
    call: (place) => ({ ...selecting("good")(place), args: "IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=nobody" }),
    code: 11,
    names: /shop\/nobody/,
  },
  {
    title: "MO-04: a pod of the same name with another uid is refused",
    call: (place) => ({
      ...selecting("good")(place),
      args: "IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web;K8S_POD_UID=u-2",
    }),
    code: 11,
    names: /uid|u-2/,
  },
  {
    title: "A-05: a pod name that leads elsewhere is refused",
    call: (place) => ({ ...selecting("good")(place), args: "IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=../web" }),
    code: 4,
    names: /K8S_POD_NAME/,
  },
];

export const badSelections: readonly BadInput[] = [...annotations, ...definitions];
