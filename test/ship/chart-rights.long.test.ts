// The rights of the chart's accounts in each combination of its optional parts: an admission policy bounds each right to write, or a reason stands here.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { chart, type Manifest } from "../lab/kube/chart.ts";
import { combinations, type Combination, missingPairs, renderAll, switchedPaths } from "../lab/kube/chart-matrix.ts";
import { helm } from "../lab/kube/helm.ts";
import { missing } from "../lab/requires.ts";

const kinds = new Set([
  "ServiceAccount",
  "Role",
  "RoleBinding",
  "ClusterRole",
  "ClusterRoleBinding",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionPolicyBinding",
]);
/** Runs of helm: its memory grows with the combinations of one run. */
const combinationsPerRun = 48;

/** Rights that no policy bounds, as `ACCOUNT VERB RESOURCE`, with the reason. Admission does not see reads. */
const reasons: Readonly<Record<string, string>> = {
  "plexus create events": "An Event informs and changes nothing; a policy cannot tell a true message from a false one.",
  "plexus read k8s.cni.cncf.io/network-attachment-definitions": "The networks that pods select.",
  "plexus read pods": "Annotations and uids of pods; a daemon asks for its own node's pods.",
  "plexus read nodes": "Whether the DaemonSet still selects the node.",
  "plexus read apps/daemonsets": "Its own DaemonSet, by name.",
  "plexus read namespaces": "Its own namespace, by name.",
  "plexus read plexus.dev/podnetworks": "What pods name; no secrets.",
  "plexus read plexus.dev/podnetworkattachments": "What pods name; no secrets.",
  "plexus read plexus.dev/addresspools": "Ranges of addresses; no secrets.",
  "plexus read plexus.dev/addressblocks": "The node's blocks; no secrets.",
  "plexus read plexus.dev/addressreservations": "Static addresses; no secrets.",
  "plexus read k8s.cni.cncf.io/ipamclaims": "Owners of static addresses; no secrets.",
  "plexus read plexus.dev/externalports": "The ports that the node plugs; no secrets.",
  "plexus read resource.k8s.io/resourceclaims": "The devices of pods.",
  "plexus read resource.k8s.io/resourceslices": "The devices of the node.",
  "plexus associated-node:patch resource.k8s.io/resourceclaims/driver":
    "A condition of the API server on a patch of resourceclaims/status, which the policy bounds.",
  "plexus associated-node:update resource.k8s.io/resourceclaims/driver":
    "A condition of the API server on an update of resourceclaims/status, which the policy bounds.",
  "plexus read k8s.cni.cncf.io/multi-networkpolicies": "The policies of its pods.",
  "plexus read discovery.k8s.io/endpointslices": "Endpoints of its pods' networks; no secrets.",
  "plexus read networking.k8s.io/networkpolicies": "The policies of its pods on PodNetworks that ask for them.",
  "plexus read plexus.dev/networkaddressslices": "Addresses of peers; no secrets.",
  "plexus-controller read k8s.cni.cncf.io/multi-networkpolicies": "The peers that policies name.",
  "plexus-controller read networking.k8s.io/networkpolicies": "The peers that policies name.",
  "plexus-controller read discovery.k8s.io/endpointslices": "Its own objects; it writes no other's.",
  "plexus-controller read services": "The Services that name a further network.",
  "plexus-controller read namespaces": "Labels of namespaces, which policies select.",
  "plexus-controller read plexus.dev/networkaddressslices": "Its own objects.",
  "plexus-controller read coordination.k8s.io/leases": "Its own Lease, by name.",
  "plexus-controller read plexus.dev/podnetworks": "Its own objects.",
  "plexus-controller read plexus.dev/podnetworkattachments": "Its own objects.",
  "plexus-controller read k8s.cni.cncf.io/network-attachment-definitions": "Parameters of networks, and definitions to check.",
  "plexus-controller read pods": "Pods that name networks; Secrets that pods mount are not in the object.",
  "plexus-controller read plexus.dev/addresspools": "Its own objects.",
  "plexus-controller read plexus.dev/addressblocks": "Its own objects.",
  "plexus-controller read plexus.dev/addressreservations": "Its own objects.",
  "plexus-controller read nodes": "Whether a node is gone.",
  "plexus-controller read k8s.cni.cncf.io/ipamclaims": "Owners of reservations.",
  "plexus-controller read apps/statefulsets": "Owners of reservations.",
  "plexus-controller read kubevirt.io/virtualmachineinstances": "Owners of reservations; whether an instance is gone.",
  "plexus-controller read plexus.dev/externalports": "Its own objects.",
  "plexus-controller read openstack.org/kuryrports": "The object that it writes.",
  "plexus-finalizers read plexus.dev/podnetworks": "The objects whose finalizers it removes.",
  "plexus-finalizers read plexus.dev/podnetworkattachments": "The objects whose finalizers it removes.",
  "plexus-finalizers read plexus.dev/addresspools": "The objects whose finalizers it removes.",
  "plexus-finalizers read plexus.dev/externalports": "The objects whose finalizers it removes.",
  "plexus-finalizers read coordination.k8s.io/leases": "The controller's Lease, by name.",
  "plexus-ready read apps/daemonsets": "Its own release's DaemonSet, by name.",
  "plexus-ready delete apps/daemonsets": "RBAC itself bounds it: one DaemonSet by name, which an interrupted removal left.",
  "plexus-uninstall read apps/daemonsets": "Its own DaemonSet, by name.",
};
/** With `admissionPolicy.enabled=false` the administrator leaves out the policies of these accounts. The controller's is always there. */
const withoutPolicies = new Set(["plexus", "plexus-finalizers"]);

const operations: Readonly<Record<string, string>> = {
  create: "CREATE",
  update: "UPDATE",
  patch: "UPDATE",
  delete: "DELETE",
  deletecollection: "DELETE",
};
const reads = new Set(["get", "list", "watch"]);

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}
interface Right {
  readonly account: string;
  readonly verb: string;
  /** `GROUP/RESOURCE`, without the group for Kubernetes' core. */
  readonly resource: string;
}
interface ResourceRule {
  readonly apiGroups: readonly string[];
  readonly operations: readonly string[];
  readonly resources: readonly string[];
}
interface PolicySpec {
  readonly failurePolicy: string;
  readonly matchConstraints: { readonly resourceRules: readonly ResourceRule[] };
  readonly matchConditions?: readonly { readonly expression: string }[];
  readonly variables?: readonly { readonly name: string; readonly expression: string }[];
}

/** The rights that the bindings give to the chart's accounts. */
function rightsOf(objects: readonly Manifest[]): readonly Right[] {
  const roles = new Map(objects.map((object) => [`${object.kind} ${object.metadata.name}`, object]));
  return objects.flatMap((binding) => {
    if (!binding.kind.endsWith("RoleBinding")) return [];
    const { kind, name } = binding["roleRef"] as { readonly kind: string; readonly name: string };
    const rules = (roles.get(`${kind} ${name}`)?.["rules"] ?? []) as readonly Rule[];
    const subjects = binding["subjects"] as readonly { readonly name: string }[];
    return subjects.flatMap(({ name: account }) =>
      rules.flatMap(({ apiGroups, resources, verbs }) =>
        apiGroups.flatMap((group) =>
          resources.flatMap((resource) =>
            verbs.map((verb) => ({ account, verb, resource: group === "" ? resource : `${group}/${resource}` })),
          ),
        ),
      ),
    );
  });
}

/** The policies that are in force for an account. */
function policiesFor(account: string, objects: readonly Manifest[]): readonly PolicySpec[] {
  const inForce = new Set(
    objects.flatMap(({ kind, ...rest }) => {
      const { policyName, validationActions, matchResources } = (rest["spec"] ?? {}) as Readonly<Record<string, unknown>>;
      const denies = kind === "ValidatingAdmissionPolicyBinding" && JSON.stringify(validationActions) === '["Deny"]';
      return denies && matchResources === undefined ? [policyName] : [];
    }),
  );
  return objects.flatMap(({ kind, metadata, ...rest }) => {
    const spec = rest["spec"] as PolicySpec;
    const own = `request.userInfo.username == 'system:serviceaccount:kube-system:${account}'`;
    if (kind !== "ValidatingAdmissionPolicy" || !inForce.has(metadata.name) || spec.failurePolicy !== "Fail") return [];
    return spec.matchConditions?.length === 1 && spec.matchConditions[0]?.expression === own ? [spec] : [];
  });
}

function isBounded({ verb, resource }: Right, policies: readonly PolicySpec[]): boolean {
  const [group, kind] = splitResource(resource);
  const [whole = ""] = kind.split("/");
  const names = ["*/*", kind, kind.includes("/") ? `${whole}/*` : "*"];
  return policies.some(({ matchConstraints }) =>
    matchConstraints.resourceRules.some(
      (rule) =>
        rule.apiGroups.some((each) => each === "*" || each === group) &&
        rule.operations.some((each) => each === "*" || each === operations[verb]) &&
        rule.resources.some((each) => names.includes(each)),
    ),
  );
}

/** A group has a dot or is that of `apps`; a subresource has neither. */
function splitResource(resource: string): readonly [group: string, kind: string] {
  const at = resource.indexOf("/");
  const group = resource.slice(0, Math.max(0, at));
  return group.includes(".") || group === "apps" ? [group, resource.slice(at + 1)] : ["", resource];
}

/** The allow-list of the controller's policy. */
function allowList(objects: readonly Manifest[]): readonly string[] {
  const [policy] = policiesFor("plexus-controller", objects);
  const text = policy?.variables?.find(({ name }) => name === "rights")?.expression ?? "[]";
  return (JSON.parse(text.replaceAll("'", '"')) as readonly string[]).toSorted();
}

/** The paths of the values that are true or false. */
function booleansIn(values: unknown, path: readonly string[] = []): readonly string[] {
  if (typeof values === "boolean") return [path.join(".")];
  if (typeof values !== "object" || values === null || Array.isArray(values)) return [];
  return Object.entries(values).flatMap(([name, value]) => booleansIn(value, [...path, name]));
}

const nameOf = (row: Combination): string =>
  Object.entries(row)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");

describe.skipIf(missing("the rights of the chart", helm))("FI-02: the chart's accounts", () => {
  const rows = combinations();
  let rendered: readonly (readonly Manifest[])[];
  beforeAll(() => {
    const runs = Array.from({ length: Math.ceil(rows.length / combinationsPerRun) }, (_, run) =>
      renderAll(rows.slice(run * combinationsPerRun, (run + 1) * combinationsPerRun), kinds),
    );
    rendered = runs.flat();
  }, 600_000);

  test("FI-02: all combinations of the parts render, and all pairs of the other switches", () => {
    expect(rows.length).toBeGreaterThanOrEqual(3 * 2 * 2 * 2 * 6 * 2 * 2);
    expect(missingPairs(rows)).toEqual([]);
    expect(rendered.filter((objects) => !objects.some(({ kind }) => kind === "ClusterRole"))).toEqual([]);
  });

  test("FI-02: the matrix has each switch of the chart's values", () => {
    const switches = booleansIn(parse(readFileSync(join(chart, "values.yaml"), "utf8")));
    expect(switches.length).toBeGreaterThan(20);
    const paths = switchedPaths();
    expect(switches.filter((path) => !paths.has(path))).toEqual([]);
  });

  test("FI-02: each right of each account is bounded by a policy, or has a reason", () => {
    const used = new Set<string>();
    const unbounded = new Map<string, string>();
    for (const [index, objects] of rendered.entries()) {
      const row = rows[index] ?? {};
      const rights = rightsOf(objects);
      const accounts = new Set(rights.map(({ account }) => account));
      const policies = new Map([...accounts].map((account) => [account, policiesFor(account, objects)]));
      for (const right of rights) {
        const isRead = reads.has(right.verb);
        const text = `${right.account} ${isRead ? "read" : right.verb} ${right.resource}`;
        if (!isRead && operations[right.verb] !== undefined && isBounded(right, policies.get(right.account) ?? [])) continue;
        if (Object.hasOwn(reasons, text)) used.add(text);
        else if (row["admissionPolicy"] === "on" || !withoutPolicies.has(right.account)) unbounded.set(text, nameOf(row));
      }
    }
    expect(Object.fromEntries(unbounded)).toEqual({});
    expect(Object.keys(reasons).filter((each) => !used.has(each))).toEqual([]);
  });

  test("FI-02: plexus-controller has one policy wherever its account exists, whose list has exactly the rights of its roles", () => {
    let withController = 0;
    for (const [index, objects] of rendered.entries()) {
      const name = nameOf(rows[index] ?? {});
      const hasAccount = objects.some(({ kind, metadata }) => kind === "ServiceAccount" && metadata.name === "plexus-controller");
      withController += Number(hasAccount);
      expect([name, policiesFor("plexus-controller", objects).length]).toEqual([name, Number(hasAccount)]);
      const written = rightsOf(objects)
        .filter(({ account, verb }) => account === "plexus-controller" && !reads.has(verb))
        .map(({ verb, resource }) => `${operations[verb]} ${resource}`);
      expect([name, allowList(objects)]).toEqual([name, [...new Set(written)].toSorted()]);
    }
    expect(withController).toBeGreaterThan(100);
  });
});
