// Bad input from the cluster: the pod, its selection annotation and the selected definitions (checklist A-01 to A-06, N1-07 to N1-31). Each
// case has one invalid part. Nothing may be attached, not even the default network.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Call } from "../../../lab/plexus.ts";
import type { BadInput, CaseContext } from "./bad-input.ts";

const network = { apiVersion: "k8s.cni.cncf.io/v1", kind: "NetworkAttachmentDefinition" };

/** A definition of the namespace `shop`. Without `config` the definition has no spec. */
function definition(name: string, config?: unknown): object {
  return { ...network, metadata: { name, namespace: "shop" }, ...(config === undefined ? {} : { spec: { config } }) };
}

const good = definition("good", JSON.stringify({ cniVersion: "1.0.0", type: "rec" }));

/** An ADD for the pod shop/web with this annotation, and with these definitions in the cluster. */
function selecting(annotation: unknown, definitions: readonly object[] = [good]): (context: CaseContext) => Call {
  return (context) => {
    const manifests = join(context.scratch, "manifests");
    mkdirSync(manifests);
    const annotations = { "k8s.v1.cni.cncf.io/networks": annotation };
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "web", namespace: "shop", uid: "u-1", annotations } };
    for (const [i, object] of [pod, ...definitions].entries())
      writeFileSync(join(manifests, `${i}.json`), JSON.stringify(object));
    return {
      ...context.call,
      args: "IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web;K8S_POD_UID=u-1",
      config: { ...context.config, manifests },
    };
  };
}

/** An ADD whose annotation is this value as JSON. */
function selectingJson(value: unknown): (context: CaseContext) => Call {
  return selecting(JSON.stringify(value));
}

const element = (more: object): ((context: CaseContext) => Call) => selectingJson([{ name: "good", ...more }]);

const annotations: readonly BadInput[] = [
  { title: "A-01: a selection of [null] is refused", call: selectingJson([null]), code: 7, message: /networks/ },
  {
    title: "A-03: a selection that is a JSON object is refused",
    call: selectingJson({ name: "good" }),
    code: 7,
    message: /networks/,
  },
  { title: "A-03: a selection that is a JSON string is refused", call: selectingJson("good"), code: 7, message: /networks/ },
  {
    title: "A-03: a selection of 100 000 nested lists is refused",
    call: selecting(`${"[".repeat(100_000)}${"]".repeat(100_000)}`),
    code: 7,
    message: /networks.*(deep|nested)/,
  },
  {
    title: "A-03: a truncated selection is refused",
    call: selecting('[{"name":"good"'),
    code: 7,
    message: /networks.*JSON/,
  },
  { title: "N1-18: an empty element between commas is refused", call: selecting("good,,good"), code: 7, message: /networks/ },
  { title: "N1-18: a second slash is refused", call: selecting("a/b/c"), code: 7, message: /networks.*a\/b\/c/ },
  ...["Net_A", "-a", "a-", "../x", "x".repeat(254), "good@eth:0", "good@sixteen-bytes-xx", "good@net%d", "good@all"].map(
    (text) => ({
      title: `N1-07, N1-30: the selection ${text.length > 40 ? `of a name of ${text.length} bytes` : JSON.stringify(text)} is refused`,
      call: selecting(text),
      code: 7,
      message: /networks/,
    }),
  ),
  ...[{}, { name: "" }, { name: 5 }, { name: null }, { name: "../x" }, { name: "Good" }].map((value) => ({
    title: `N1-21: the selection element ${JSON.stringify(value)} is refused`,
    call: selectingJson([value]),
    code: 7,
    message: /name/,
  })),
  {
    title: "N1-22: a namespace with a path is refused",
    call: element({ namespace: "../x" }),
    code: 7,
    message: /namespace/,
  },
  ...[[], ["x"], ["1.2.3.4/99"], "1.2.3.4", [5]].map((ips) => ({
    title: `N1-23: ips of ${JSON.stringify(ips)} is refused`,
    call: element({ ips }),
    code: 7,
    message: /ips/,
  })),
  ...["x", "02:00:00:00:00", "02:00:00:00:00:0g", 5].map((mac) => ({
    title: `N1-26: a mac of ${JSON.stringify(mac)} is refused`,
    call: element({ mac }),
    code: 7,
    message: /mac/,
  })),
  ...["sixteen-bytes-xx", "a/b", ".", "", "all", "default", "net%d", "%d", "a%b", 5].map((name) => ({
    title: `N1-30: an interface of ${JSON.stringify(name)} is refused`,
    call: element({ interface: name }),
    code: 7,
    message: /interface/,
  })),
  {
    title: "N1-31: an interface name of another element is refused",
    call: selectingJson([
      { name: "good", interface: "net5" },
      { name: "good", interface: "net5" },
    ]),
    code: 7,
    message: /net5/,
  },
  {
    title: "N1-31: the default network's interface name is refused",
    call: element({ interface: "eth0" }),
    code: 7,
    message: /eth0/,
  },
  {
    title: "A-04: __proto__ in a selection element does not set its name",
    call: selecting('[{"__proto__":{"name":"good"}}]'),
    code: 7,
    message: /name/,
  },
  {
    title: "A-06: a selection of 100 000 elements is refused",
    call: selecting(`[${Array.from({ length: 100_000 }, () => '{"name":"good"}').join(",")}]`),
    code: 7,
    message: /networks/,
  },
];

const definitions: readonly BadInput[] = [
  { title: "N1-12: the error names an absent definition", call: selecting("absent"), code: 7, message: /shop\/absent/ },
  {
    title: "N1-12: a definition of the pod's namespace is not used for another namespace",
    call: selecting("other/good"),
    code: 7,
    message: /other\/good/,
  },
  {
    title: "A-06: the error names a definition whose configuration is not JSON",
    call: selecting("bad", [definition("bad", "{")]),
    code: 6,
    message: /shop\/bad/,
  },
  {
    title: "N1-03: the error names a definition whose configuration is an object",
    call: selecting("bad", [definition("bad", { type: "rec" })]),
    code: 7,
    message: /bad/,
  },
  {
    title: "L-18: the error names a definition whose configuration has no type",
    call: selecting("bad", [definition("bad", '{"cniVersion":"1.0.0"}')]),
    code: 7,
    message: /bad.*type/,
  },
  {
    title: "A-05: a configuration's name with a slash is refused",
    call: selecting("bad", [definition("bad", '{"cniVersion":"1.0.0","name":"a/b","type":"rec"}')]),
    code: 7,
    message: /name/,
  },
  {
    title: "A-05: the error names a definition whose plugin type is a path",
    call: selecting("bad", [definition("bad", '{"cniVersion":"1.0.0","type":"../../bin/sh"}')]),
    code: 7,
    message: /bad.*type/,
  },
  {
    title: "MO-03, D-11: ADD of an absent pod fails",
    call: (context) => ({ ...selecting("good")(context), args: "IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=nobody" }),
    code: 11,
    message: /shop\/nobody/,
  },
  {
    title: "MO-04: a pod of the same name with another uid is refused",
    call: (context) => ({
      ...selecting("good")(context),
      args: "IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web;K8S_POD_UID=u-2",
    }),
    code: 11,
    message: /uid|u-2/,
  },
  {
    title: "A-05: a pod name with a path is refused",
    call: (context) => ({ ...selecting("good")(context), args: "IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=../web" }),
    code: 4,
    message: /K8S_POD_NAME/,
  },
];

export const badSelections: readonly BadInput[] = [...annotations, ...definitions];
