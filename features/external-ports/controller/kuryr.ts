// Ports in Kuryr's form, by choice: the annotation of a pod, and its KuryrPort. Programs that read these go on after Kuryr is gone. Plexus reads neither.

import { isDeepStrictEqual } from "node:util";
import type { ExternalPort } from "../rules/external-port.ts";
import { type KuryrInterface, kuryrNodeLabel, kuryrVifAnnotation, kuryrVifs } from "../rules/kuryr-vifs.ts";
import { objectOf } from "../rules/values.ts";
import type { PodFacts } from "../rules/wanted-ports.ts";
import { assignInterfaceNames } from "../../../src/npwg/interface-names.ts";
import { isStatic } from "../../../src/npwg/pod.ts";
import type { NpwgProfile } from "../../../src/npwg/profile.ts";
import { networksAnnotation, parseSelection } from "../../../src/npwg/selection.ts";
import type { ApiObject } from "../../../host/cluster/kube/api-objects.ts";
import type { WorkOutcome } from "../../../host/cluster/work/work-queue.ts";
import type { PartContext } from "../../../host/controller/part.ts";
import { outcomeOf } from "../../../host/controller/work/request-outcome.ts";
import { podFacts } from "./pod-work.ts";
import { conditionOf } from "./status.ts";

const done: WorkOutcome = { kind: "done" };
/** The label of the KuryrPorts that Plexus writes. Kuryr's own have none. */
const managedBy = { "app.kubernetes.io/managed-by": "plexus-controller" };
/** The default network's interface, whose name no further network gets. */
const defaultInterface = "eth0";

/** Kuryr's forms of a port that plexus-controller writes, and the name of the nodes' Open vSwitch bridge. */
export interface KuryrSettings {
  readonly annotation: boolean;
  readonly kuryrPorts: boolean;
  readonly bridge: string;
}

/** The writer for all pods of one term. */
export class KuryrWriter {
  readonly #context: PartContext;
  readonly #settings: KuryrSettings;
  readonly #profile: NpwgProfile;
  #isAbsenceTold = false;

  /** `profile`: that of the nodes, by which they read selections and name interfaces. */
  constructor(context: PartContext, settings: KuryrSettings, profile: NpwgProfile) {
    this.#context = context;
    this.#settings = settings;
    this.#profile = profile;
  }

  /** Writes what the pod lacks. `ports`: the ExternalPorts of the pod's name. */
  async write(namespace: string, name: string, ports: readonly ExternalPort[]): Promise<WorkOutcome> {
    const answer = await this.#context.objects.get(`/api/v1/namespaces/${namespace}/pods/${name}`);
    // The API's garbage collector removes the KuryrPort of a pod that is gone.
    if (answer.kind !== "object") return outcomeOf(answer);
    const pod = podFacts(answer.object);
    if (pod === undefined) return done;
    const vifs = kuryrVifs(interfacesOf(pod, ports, this.#profile), this.#settings.bridge);
    if (this.#settings.annotation) {
      const written = await this.#annotate(pod, answer.object, vifs);
      if (written.kind !== "done") return written;
    }
    if (!this.#settings.kuryrPorts) return done;
    // The cluster's default network is not Kuryr's.
    const entries = Object.entries(vifs).map(([ifname, vif]) => [ifname, { default: false, vif }] as const);
    return this.#writePort(pod, Object.fromEntries(entries));
  }

  async #annotate(pod: PodFacts, object: ApiObject, vifs: object): Promise<WorkOutcome> {
    const text = JSON.stringify(vifs);
    if (Object.keys(vifs).length === 0 || pod.annotations.get(kuryrVifAnnotation) === text) return done;
    const { resourceVersion } = objectOf(object["metadata"]);
    const metadata = { resourceVersion, annotations: { [kuryrVifAnnotation]: text } };
    return outcomeOf(await this.#context.objects.patch(`/api/v1/namespaces/${pod.namespace}/pods/${pod.name}`, { metadata }));
  }

  async #writePort(pod: PodFacts, vifs: object): Promise<WorkOutcome> {
    const { objects, log } = this.#context;
    const { namespace, name, uid, nodeName } = pod;
    const collection = `/apis/openstack.org/v1/namespaces/${namespace}/kuryrports`;
    const path = `${collection}/${name}`;
    const now = await objects.get(path);
    if (now.kind !== "object" && now.kind !== "absent") return outcomeOf(now);
    if (now.kind === "absent") {
      if (Object.keys(vifs).length === 0) return done;
      const made = await objects.create(collection, {
        apiVersion: "openstack.org/v1",
        kind: "KuryrPort",
        metadata: {
          name,
          labels: { ...managedBy, [kuryrNodeLabel]: nodeName },
          ownerReferences: [{ apiVersion: "v1", kind: "Pod", name, uid }],
        },
        spec: { podUid: uid, podNodeName: nodeName, podStatic: isStatic(pod) },
        status: { vifs },
      });
      // The CustomResourceDefinition is Kuryr's, so its absence is no failure.
      if (made.kind === "absent") return this.#tellAbsence();
      return made.kind === "object" ? this.#writeStatus(path, made.object, vifs) : outcomeOf(made);
    }
    const { labels, uid: portUid } = objectOf(now.object["metadata"]);
    const { podUid } = objectOf(now.object["spec"]);
    if (objectOf(labels)["app.kubernetes.io/managed-by"] !== managedBy["app.kubernetes.io/managed-by"]) {
      log("warn", `KuryrPort ${namespace}/${name} is not Plexus' own, so it is not changed`);
      return done;
    }
    if (podUid === uid && Object.keys(vifs).length > 0) return this.#writeStatus(path, now.object, vifs);
    // An earlier pod's, or a finished pod's.
    const removed = await objects.remove(path, typeof portUid === "string" ? { uid: portUid } : {});
    if (removed.kind !== "object" && removed.kind !== "absent") return outcomeOf(removed);
    return podUid === uid ? done : { kind: "again", afterMs: 100 };
  }

  /** Kuryr's definition has had the status with and without a subresource: with one, the first write leaves the status as it is. */
  async #writeStatus(path: string, object: ApiObject, vifs: object): Promise<WorkOutcome> {
    const { objects } = this.#context;
    const hasVifs = (stored: ApiObject): boolean => isDeepStrictEqual(objectOf(stored["status"])["vifs"], vifs);
    if (hasVifs(object)) return done;
    const written = await objects.replace(path, { ...object, status: { vifs } });
    if (written.kind !== "object" || hasVifs(written.object)) return outcomeOf(written);
    return outcomeOf(await objects.replace(`${path}/status`, { ...written.object, status: { vifs } }));
  }

  #tellAbsence(): WorkOutcome {
    if (!this.#isAbsenceTold) {
      this.#context.log("warn", "kuryr.kuryrPorts: the API has no kuryrports.openstack.org, so none are written");
      this.#isAbsenceTold = true;
    }
    return done;
  }
}

/** The pod's interfaces whose ports are ready, with the names that the node gives them. */
function interfacesOf(pod: PodFacts, ports: readonly ExternalPort[], profile: NpwgProfile): readonly KuryrInterface[] {
  if (pod.phase === "Succeeded" || pod.phase === "Failed") return [];
  const selection = parseSelection(pod.annotations.get(networksAnnotation), pod.namespace, profile);
  if (!selection.ok) return [];
  const names = assignInterfaceNames(selection.value.networks, defaultInterface);
  if (!names.ok) return [];
  return ports.flatMap((port) => {
    const name = names.value[port.spec.index];
    if (name === undefined || port.port === undefined || port.spec.podUid !== pod.uid) return [];
    return [{ name, port: port.port, isActive: conditionOf(port, "Active")?.status === "True" }];
  });
}
